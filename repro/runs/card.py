"""Write the model card of a finished run: what it is, from what it was made, how it is used."""

from repro.core.config import RunConfig
from repro.data.corpora import check_languages
from repro.data.own_text import own_folder
from repro.files import write_atomic
from repro.markdown import escape
from repro.presets import SYSTEMS
from repro.runs.naming import conditions_of, scale_of, system_of
from repro.runs.run import Run

CARD = "README.md"


def write_card(run: Run) -> None:
    """Write the card of a finished run into its folder; nothing reads it again."""
    write_atomic(run.path / CARD, card(run).encode())


def card(run: Run) -> str:
    """Return the card of a finished run as Markdown."""
    config, state, origin = run.config, run.state(), run.provenance()
    data, model, train = config.data, config.model, config.train
    differs = ", ".join(conditions_of(config)) or "nothing"
    versions = ", ".join(f"{name} {version}" for name, version in origin["versions"].items())
    rows = {
        "system": f"{system_of(model)}{_changes(config)}",
        "text": f"{data.corpus}, {data.source} to {data.target}; fingerprint "
        f"{origin['data_fingerprint']}",
        "licence of the text": _licence(data.corpus),
        "shape": f"{model.encoder_layers}+{model.decoder_layers} layers, {model.embed_dim} wide, "
        f"{model.num_heads} heads, {state['parameters']:,} parameters",
        "training": f"{state['update']:,} updates of up to {train.batch_tokens:,} tokens, seed "
        f"{train.seed}, {state['seconds'] / 60:.1f} minutes",
        "differs from its scale": f"{differs} ({scale_of(config) or 'no scale has this corpus'})",
        "best dev loss": _in_nats(state["best_dev_nll"]),
        "made": f"{origin['started']} on {origin['device']}, {origin['processor']}; commit "
        f"{origin['commit']}; Python {origin['python']}, {versions}",
    }
    listed = "\n".join(f"- {name}: {escape(str(value))}" for name, value in rows.items())
    return (
        f"# {run.path.name}\n\n{listed}\n\nUse it:\n\n"
        f"    repro translate {run.path.name} < sentences.{data.source}\n"
        f"    repro evaluate {run.path.name}\n\n"
        "It was trained on text of one kind and translates no other kind well. Its scores are in "
        "`evaluations/`, once it was evaluated.\n"
    )


def _changes(config: RunConfig) -> str:
    """Return what a named system changes, in brackets."""
    changed = SYSTEMS.get(system_of(config.model), {})
    said = ", ".join(f"{key}={value}" for key, value in changed.items())
    return f" ({said})" if said else ""


def _licence(corpus: str) -> str:
    return "yours" if own_folder(corpus) else check_languages(corpus).licence


def _in_nats(loss: float | None) -> str:
    return "none" if loss is None else f"{loss:.3f} nats per token"
