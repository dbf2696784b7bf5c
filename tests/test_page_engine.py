"""The page's engine computes what PyTorch computes, and makes the same decisions in search."""

import gzip
import math
import os
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from engine_in_node import exported, round_to_half, run_engine, run_jobs
from replaced_head import replaced_head

from repro.analysis.ablation import heads_of, scaled_heads
from repro.analysis.heads import measure_heads
from repro.analysis.weights import collect_weights
from repro.core.attention.base import AttentionWeights
from repro.core.attention.fixed import PATTERNS, Fixed
from repro.core.attention.gaussian_variants import GaussianWithOptions
from repro.core.attention.uniform import Uniform
from repro.core.attention.variants import VARIANTS, options_of
from repro.core.config import SITES, DataConfig, ModelConfig
from repro.core.contract_cases import is_defined, specs_of
from repro.core.decoding import SearchConfig
from repro.core.subwords import BOS_ID, EOS_ID, PAD_ID
from repro.core.transformer import Transformer
from repro.data.corpora import load_once
from repro.errors import InputError
from repro.page.examples import CAPTIONS
from repro.page.export import IN_PAGE, file_of, half_precision, model_file
from repro.runs import gallery
from repro.runs.models import load_model, load_with_subwords

GENERATED = [
    name for name in gallery.names() if gallery.load(name).config.data.corpus != "multi30k"
]
ROOT = Path(__file__).parents[1]
ALL = "ALL_SENTENCES" in os.environ  # not a sample of those that are translated
SRC, TGT = [17, 404, 9, 33, 250, 61, 8, 777, EOS_ID], [5, 99, 310, 42, 7, 600]
BELL = {"std": 1, "kernel": "density", "renormalize": False, "gamma": 1, "floor": False}
ROUNDING = 2e-5  # torch adds in single precision, the engine in double


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("models")


@torch.no_grad()
def token_log_probs(model: Transformer, src: list[int], ids: list[int]) -> torch.Tensor:
    """Return the log-probability of each token and of the end mark, as `scoreTokens` does."""
    logits = model(torch.tensor([src]), torch.tensor([[BOS_ID, *ids]]))[0]
    logits[:, [PAD_ID, 1, BOS_ID]] = -torch.inf
    chosen = torch.tensor([*ids, EOS_ID])
    return logits.log_softmax(-1).gather(1, chosen[:, None])[:, 0]


def close(found: list[float], expected: torch.Tensor, atol: float = ROUNDING) -> None:
    torch.testing.assert_close(
        torch.tensor(found, dtype=torch.float),
        expected.float(),
        rtol=ROUNDING,
        atol=atol,
        check_stride=False,
    )


# The numbers of a file.


@pytest.mark.parametrize("name", gallery.names())
def test_every_stored_parameter_is_within_a_thousandth_of_the_runs(name):
    model = load_model(gallery.load(name))
    index, numbers = half_precision(model)
    for key, tensor in model.state_dict().items():
        start, shape = index[key]["start"], index[key]["shape"]
        stored = torch.from_numpy(numbers[start : start + tensor.numel()]).view(shape).float()
        torch.testing.assert_close(stored, tensor, rtol=0, atol=1e-3)


def test_the_engine_reads_the_numbers_that_were_stored(folder):
    path, translator = exported("gated", folder)
    state = translator.model.state_dict()
    found = run_engine(path, *(("parameter", {"name": key}) for key in state))
    for numbers, tensor in zip(found, state.values(), strict=True):
        assert torch.equal(torch.tensor(numbers), tensor.flatten())


@pytest.mark.parametrize("name", gallery.names())
def test_every_attention_weight_of_a_trained_model_is_pytorchs(name, folder):
    path, translator = exported(name, folder)
    (found,) = run_engine(path, ("attention", {"src": SRC, "ids": TGT}))
    weights = collect_weights(translator.model, torch.tensor([SRC]), torch.tensor([[BOS_ID, *TGT]]))
    for site in SITES:
        for layer, expected in enumerate(getattr(weights, site)):
            if expected is None:
                assert found[site][layer] is None
            else:
                close(found[site][layer], expected[0])


# Search.


def check_translations(name: str, folder: Path, sentences: list[str], **search: Any) -> None:
    path, translator = exported(name, folder)
    expected = translator.translate(sentences, SearchConfig(**search))
    jobs = [("translate", {"sentence": text, "search": search}) for text in sentences]
    found = run_engine(path, *jobs)
    assert [answer["text"] for answer in found] == expected
    for sentence, answer in zip(sentences, found, strict=True):
        (src,) = translator.encode([sentence])
        close(answer["logProbs"], token_log_probs(translator.model, src, answer["ids"]), 1e-4)


@pytest.mark.parametrize("beam", [1, 5])
@pytest.mark.parametrize("name", GENERATED)
def test_generated_sentences_are_translated_alike(name, beam, folder):
    step = 1 if ALL else 40
    sentences = load_once("minigerman", "en", "de").pairs("test", "en", "de")[0][:200:step]
    check_translations(name, folder, sentences, beam=beam)


@pytest.mark.real_data
@pytest.mark.parametrize("beam", [1, 5])
def test_a_sample_of_captions_is_translated_alike(beam, folder, real_data):
    data = (real_data / "multi30k" / "test_2016_flickr.en.gz").read_bytes()
    sentences = gzip.decompress(data).decode().split("\n")[:1000:200]
    check_translations("multi30k-base", folder, sentences, beam=beam)


@pytest.mark.real_data
@pytest.mark.skipif(not ALL, reason="takes minutes: ALL_SENTENCES=1")
@pytest.mark.parametrize("beam", [1, 5])
def test_nearly_all_captions_are_translated_alike(beam, folder, real_data):
    path, translator = exported("multi30k-base", folder)
    data = (real_data / "multi30k" / "test_2016_flickr.en.gz").read_bytes()
    sentences = gzip.decompress(data).decode().rstrip("\n").split("\n")
    assert len(sentences) == 1000
    expected = translator.translate(sentences, SearchConfig(beam=beam))
    jobs = [("translate", {"sentence": text, "search": {"beam": beam}}) for text in sentences]
    found = [answer["text"] for answer in run_engine(path, *jobs)]
    same = sum(map(str.__eq__, found, expected))
    print(f"beam {beam}: {same} of {len(sentences)} translations are the same")
    assert same >= 995


@pytest.mark.parametrize("search", [{"penalty": "wu", "alpha": 0.6}, {"beam": 2, "alpha": 0.0}])
def test_other_searches_decide_alike(search, folder):
    sentences = load_once("minigerman", "en", "de").pairs("test", "en", "de")[0][:4]
    check_translations("base", folder, sentences, **search)


def test_a_search_ends_at_its_length_limit_and_says_so(folder):
    path, translator = exported("base", folder)
    sentence = "A tall man sees an old dog in the garden."
    expected = translator.search([sentence], SearchConfig(beam=3, extra_tokens=0))
    search = {"beam": 3, "extraTokens": 0}
    (found,) = run_engine(path, ("translate", {"sentence": sentence, "search": search}))
    assert (found["ids"], found["cut"]) == (expected[0].ids, expected[0].cut)


def test_an_empty_sentence_has_an_empty_translation(folder):
    path, _ = exported("base", folder)
    assert [
        answer["text"] for answer in run_engine(path, *[("translate", {"sentence": "  "})] * 2)
    ] == ["", ""]


def test_a_sentence_that_is_too_long_for_the_attention_is_refused(folder):
    path, _ = exported("ran-all", folder)
    (answer,) = run_engine(path, ("translate", {"sentence": "dog " * 300}))
    assert re.fullmatch(
        r"The sentence has \d+ tokens; this model reads 256. Shorten it.", answer["error"]
    )


# Every variant with every option.


def random_model(folder: Path, name: str, **options: Any) -> tuple[Path, Transformer]:
    """Return a model file of random numbers, and the model with the same ones."""
    subwords = load_with_subwords(gallery.load("base"))[1]
    shape = {"encoder_layers": 2, "decoder_layers": 2, "embed_dim": 24, "ffn_dim": 20}
    config = ModelConfig(**(shape | options))
    model = Transformer(config, len(subwords), PAD_ID, subwords.starts_word(), 1.2).eval()
    round_to_half(model)
    path = folder / f"{name}.bin"
    path.write_bytes(file_of(model, subwords, DataConfig(), 1.2, name))
    return path, model


def shortened_tables(spec: str) -> str:
    """Return a variant whose tables of positions are small, since large ones take long."""
    name, _, options = spec.removesuffix(")").partition("(")
    if "max_len" in options or "max_len" not in options_of(name):
        return spec
    return f"{name}({', '.join(part for part in ('max_len=12', options) if part)})"


@pytest.mark.parametrize("variant", IN_PAGE)
def test_a_variant_with_every_option_computes_what_pytorch_computes(variant, folder):
    cases, jobs = [], []
    for spec in specs_of(variant):
        for site in SITES:
            if is_defined(spec, site):
                name = f"{variant}{len(cases)}"
                path, model = random_model(folder, name, **{site: shortened_tables(spec)})
                cases.append((f"{spec} at {site}", model))
                jobs.append(("score", path, {"src": SRC, "ids": TGT}))
    assert cases
    for found, (case, model) in zip(run_jobs(jobs), cases, strict=True):
        assert isinstance(found, list), (case, found)
        expected = token_log_probs(model, SRC, TGT)
        assert (torch.tensor(found) - expected).abs().max() < 5 * ROUNDING, case


@pytest.mark.parametrize(
    "options",
    [
        {"norm": "post"},
        {"tie_embeddings": False, "source_end_mark": False},
        {"encoder_positions": False, "decoder_positions": False},
        {"feed_forward": False, "encoder_layers": 1},
        {"gated_sites": ("encoder_self", "cross"), "gate_rule": "soft"},
        {"gated_sites": ("decoder_self",)},
        {"cross": "none; last: dot-product(heads=1)", "encoder_self": "uniform; first: none"},
        {"decoder_self": "dot-product(heads=3, head_dim=8); 2: dot-product(heads=1, head_dim=8)"},
    ],
    ids=lambda options: next(iter(options)),
)
def test_a_model_of_another_make_computes_what_pytorch_computes(options, folder):
    path, model = random_model(folder, "other", **options)
    (found,) = run_engine(path, ("score", {"src": SRC, "ids": TGT}))
    close(found, token_log_probs(model, SRC, TGT), 5 * ROUNDING)


def test_the_losses_of_heads_are_those_of_pytorch(folder):
    path, translator = exported("gated", folder)
    model = translator.model
    (found,) = run_engine(path, ("losses", {"src": SRC, "ids": TGT}))
    whole = token_log_probs(model, SRC, TGT).sum()
    gates = {
        (site, layer): place.gate()
        for site, places in model.attentions().items()
        for layer, place in enumerate(places)
    }
    heads = [head for site in SITES for head in heads_of(model, site)]
    open_heads = [head for head in heads if gates[head.site, head.layer][head.head] > 0]
    assert len(open_heads) < len(heads)
    assert [(each["site"], each["layer"], each["head"]) for each in found] == open_heads
    for each, head in zip(found, open_heads, strict=True):
        row = [float(number != head.head) for number in range(4)]
        with scaled_heads(model, {(head.site, head.layer): row}):
            loss = whole - token_log_probs(model, SRC, TGT).sum()
        assert each["nats"] == pytest.approx(float(loss), abs=1e-3)


def test_heads_are_switched_off_one_after_another(folder):
    path, translator = exported("base", folder)
    model = translator.model
    order = ["cross.1.3", "encoder_self.0.2"]
    (found,) = run_engine(path, ("pruned", {"src": SRC, "ids": TGT, "order": order}))
    whole = token_log_probs(model, SRC, TGT).sum()
    rows = {("cross", 1): [1.0, 1.0, 1.0, 0.0], ("encoder_self", 0): [1.0, 1.0, 0.0, 1.0]}
    with scaled_heads(model, rows):
        loss = whole - token_log_probs(model, SRC, TGT).sum()
    assert [each["count"] for each in found] == [0, 1, 2]
    assert found[0]["nats"] == 0
    assert found[2]["nats"] == pytest.approx(float(loss), abs=1e-3)


@pytest.mark.parametrize("name", ["base", "7Ftoken+1L", "hc-sa", "mma", "syn-r", "gated"])
def test_a_step_taken_apart_is_the_step_of_pytorch(name, folder):
    path, translator = exported(name, folder)
    model, time = translator.model, 3
    heads = [{"site": site, "layer": 1, "head": 2} for site in ("decoder_self", "cross")]
    jobs = [("step", {"src": SRC, "ids": TGT, "time": time, "head": head}) for head in heads]
    weights = collect_weights(model, torch.tensor([SRC]), torch.tensor([[BOS_ID, *TGT[:time]]]))
    with torch.no_grad():
        logits = model(torch.tensor([SRC]), torch.tensor([[BOS_ID, *TGT[:time]]]))[0, -1]
    logits[[PAD_ID, 1, BOS_ID]] = -torch.inf
    for head, found in zip(heads, run_engine(path, *jobs), strict=True):
        site, rows = head["site"], found["rows"]
        close([row["weight"] for row in rows], getattr(weights, site)[1][0, 2, time])
        likeliest = logits.softmax(-1).topk(5)
        assert [each["id"] for each in found["next"]] == likeliest.indices.tolist()
        close([each["probability"] for each in found["next"]], likeliest.values)
        if found["query"] is None:
            assert model.attentions()[site][1].weights.__class__.__name__ != "DotProduct"
            continue
        shares = torch.tensor([row["score"] for row in rows]).softmax(0)
        close([row["weight"] for row in rows], shares)
        products = torch.tensor([row["key"] for row in rows]) @ torch.tensor(found["query"])
        close([row["product"] for row in rows], products, 1e-4)
        assert found["total"] == pytest.approx(float((products * found["scale"]).exp().sum()), 1e-4)
        is_open = float(model.attentions()[site][1].gate()[2]) if name == "gated" else 1.0
        values = torch.tensor([row["value"] for row in rows])
        close(found["sum"], is_open * (shares[:, None] * values).sum(0), 1e-4)


@pytest.mark.parametrize(
    "site, options, change",
    [
        ("decoder_self", {"decoder_self": "mixed(types='FLBG', window=1)"}, {}),
        ("cross", {}, {"forbidden": [[3, 2], [3, 5], [1, 1]]}),
    ],
    ids=["mixed", "painted"],
)
def test_the_shares_of_a_step_follow_from_the_scores_that_its_head_may_see(
    site, options, change, folder
):
    path, _ = random_model(folder, "shut", num_heads=4, **options)
    heads = [{"site": site, "layer": 1, "head": head} for head in range(4)]
    jobs = [
        ("step", {"src": SRC, "ids": TGT, "time": 3, "head": head, "changes": [head | change]})
        for head in heads
    ]
    shut = []
    for found in run_engine(path, *jobs):
        powers = [row["score"] for row in found["rows"] if not row["blocked"]]
        assert found["total"] == pytest.approx(float(torch.tensor(powers).exp().sum()), 1e-5)
        for row in found["rows"]:
            share = 0 if row["blocked"] else math.exp(row["score"]) / found["total"]
            assert row["weight"] == pytest.approx(share, abs=1e-6)
        shut.append([place for place, row in enumerate(found["rows"]) if row["blocked"]])
    assert shut == ([[0, 1, 2], [0, 1], [], []] if site == "decoder_self" else [[2, 5]] * 4)


@pytest.mark.parametrize("name", ["base", "hc-sa", "7Ftoken+1L", "sh-x", "no end mark"])
def test_the_statistics_of_a_head_are_those_of_its_records(name, folder):
    if name == "no end mark":
        path, model = random_model(folder, "marks", tie_embeddings=False, source_end_mark=False)
        src = SRC[:-1]
    else:
        path, translator = exported(name, folder)
        model, src = translator.model, SRC
    batch = (torch.tensor([src]), torch.tensor([[BOS_ID, *TGT]]))
    measured = measure_heads(model, [batch])
    heads = [head for site in SITES for head in heads_of(model, site)]
    jobs = [("statistics", {"src": src, "ids": TGT, **head._asdict()}) for head in heads]
    for head, found in zip(heads, run_engine(path, *jobs), strict=True):
        for number in ("confidence", "entropy", "distance"):
            expected = getattr(measured[head.site], number)[head.layer, head.head]
            assert found[number] == pytest.approx(expected, abs=1e-4), (head, number)


def test_a_replaced_head_has_no_query(folder):
    path, _ = exported("base", folder)
    head = {"site": "cross", "layer": 1, "head": 2}
    change = head | {"pattern": {"variant": "uniform", "options": {}}}
    job = {"src": SRC, "ids": TGT, "time": 1, "head": head, "changes": [change]}
    (found,) = run_engine(path, ("step", job))
    assert found["query"] is None and found["total"] is None
    close([row["weight"] for row in found["rows"]], torch.full((len(SRC),), 1 / len(SRC)))


def test_a_bell_before_the_word_changes_the_translation_where_the_lesson_says_so(folder):
    lesson = (ROOT / "docs/teaching/lesson.md").read_text(encoding="utf-8")
    layer, head = map(int, re.search(r"the encoder's layer\s+(\d),\s+head (\d)", lesson).groups())
    path, _ = exported("multi30k-base", folder)
    place = {"site": "encoder_self", "layer": layer - 1, "head": head - 1}
    bells = [
        place | {"pattern": {"variant": "gaussian", "options": BELL | {"centers": [center]}}}
        for center in (-1, 0, 1)
    ]
    jobs = [
        ("translate", {"sentence": CAPTIONS[0], "search": {"beam": 1}, "changes": changes})
        for changes in ([], *([bell] for bell in bells))
    ]
    whole, before, at, after = (found["text"] for found in run_engine(path, *jobs))
    assert before != whole
    assert at == after == whole


def test_the_engine_has_the_variants_that_are_exported(folder):
    assert set(IN_PAGE) <= set(VARIANTS)
    path, _ = exported("base", folder)
    assert run_engine(path, ("variants", {})) == [list(IN_PAGE)]


def test_a_variant_that_the_engine_lacks_is_refused(monkeypatch):
    monkeypatch.setattr("repro.page.export.IN_PAGE", ("uniform",))
    with pytest.raises(InputError, match="model.encoder_self: 'dot-product' is not in the page"):
        model_file(gallery.load("base"), "base")


# Changed heads.


@pytest.mark.parametrize("name", ["base", "gated", "7Ftoken+1L", "sh-x", "ran-all"])
@pytest.mark.parametrize("factor", [0.0, 0.5])
def test_a_scaled_head_changes_the_scores_as_in_pytorch(name, factor, folder):
    path, translator = exported(name, folder)
    model, jobs, expected = translator.model, [], []
    for site in SITES:
        head = heads_of(model, site)[-1]
        row = [1.0] * model.num_heads()[site][head.layer]
        row[head.head] = factor
        with scaled_heads(model, {(site, head.layer): row}):
            expected.append(token_log_probs(model, SRC, TGT))
        change = {"site": site, "layer": head.layer, "head": head.head, "factor": factor}
        jobs.append(("score", {"src": SRC, "ids": TGT, "changes": [change]}))
    for found, scores in zip(run_engine(path, *jobs), expected, strict=True):
        close(found, scores, 5 * ROUNDING)


def patterns(head_dim: int) -> list[tuple[dict[str, Any], AttentionWeights]]:
    """Return what a head may be replaced by: for the engine, and for PyTorch."""
    found: list[tuple[dict[str, Any], AttentionWeights]] = []
    for renormalize in (False, True):
        options = {"centers": [-1.25], "std": 0.7, "kernel": "density", "gamma": 1, "floor": False}
        pattern = {"variant": "gaussian", "options": options | {"renormalize": renormalize}}
        torchs = GaussianWithOptions((-1.25,), head_dim, 0.7, 1.0, False, "density", renormalize)
        found.append((pattern, torchs))
    for name in PATTERNS:
        options = {"patterns": [name], "learned": 0, "heads": 1, "unit": "token"}
        options |= {"right_context": "literal", "empty": "zero", "spread": "normalize"}
        found.append(({"variant": "fixed", "options": options}, Fixed((name,), None, head_dim)))
    return [*found, ({"variant": "uniform", "options": {}}, Uniform(1, head_dim))]


@pytest.mark.parametrize("site", SITES)
def test_a_replaced_head_changes_the_scores_as_in_pytorch(site, folder):
    path, translator = exported("base", folder)
    model, jobs, expected = translator.model, [], []
    forbidden = [[2, 0], [2, 1], [3, 1], [0, 0]]
    for pattern, weights in [*patterns(16), (None, None)]:
        for pairs in ([], forbidden):
            with replaced_head(model, site, 1, 2, weights, pairs):
                expected.append(token_log_probs(model, SRC, TGT))
            change = {"site": site, "layer": 1, "head": 2, "pattern": pattern, "forbidden": pairs}
            jobs.append(("score", {"src": SRC, "ids": TGT, "changes": [change]}))
    for found, scores in zip(run_engine(path, *jobs), expected, strict=True):
        close(found, scores, 5 * ROUNDING)


# Files that are none.


@pytest.mark.parametrize("cut", [3, 40, 5000, -1])
def test_a_file_that_is_cut_short_is_named(cut, folder):
    whole = exported("base", folder)[0].read_bytes()
    path = folder / "cut.bin"
    path.write_bytes(whole[:cut])
    (answer,) = run_engine(path, ("encode", {"sentence": "a"}))
    assert answer == {"error": "the model file is cut short"}


def test_a_file_of_another_kind_is_named(folder):
    path = folder / "other.bin"
    path.write_bytes(b"PK\x03\x04 and so on")
    (answer,) = run_engine(path, ("encode", {"sentence": "a"}))
    assert answer == {"error": "the model is not a model file of repro"}
