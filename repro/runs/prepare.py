"""Prepare a run: its encoded corpus, and whether it may resume.

Mistakes are found here, before hours are spent. They leave no run folder in which nothing was
trained.
"""

import contextlib
import shutil
import sys
from collections.abc import Iterator
from typing import Any

import torch

from repro.core.batches import MAX_SENTENCE, EncodedPairs
from repro.core.config import DataConfig
from repro.core.settings import READERS
from repro.core.subwords import Subwords
from repro.core.transformer import Transformer
from repro.data.catalogue import GENERATED
from repro.data.characters import describe_characters
from repro.data.corpora import ParallelCorpus, load_once, text_may_change
from repro.data.own_text import check_text_is_found, own_folder
from repro.errors import InputError, MachineError
from repro.files import write_atomic, write_json
from repro.reading import names_in, sha256
from repro.runs.behaviour import behaviour, changes
from repro.runs.checkpoint_folders import sound_checkpoints
from repro.runs.models import changed_code, load_subwords, warn_of_changed_code
from repro.runs.provenance import identity_changes, provenance
from repro.runs.run import Run


def check_finished(run: Run, allow_inexact: bool) -> None:
    """Refuse a finished run that is damaged, or whose text or code has changed.

    Raises:
        DamagedFileError: the final parameters are not what was written.
        InputError: the text or the output of the model is another one, and that is not allowed.
    """
    run.check_files()
    if allow_inexact:
        warn_of_changed_code(run)
        return
    if changed := changed_code(run):
        fix = "restore the code, or delete the run's folder to train it again"
        raise InputError(str(run.path), changed, fix)
    data = run.config.data
    if not text_may_change(data.corpus):
        return
    check_text_is_found(data.corpus, run.path)
    try:
        fingerprint = load_once(data.corpus, data.source, data.target).fingerprint
    except MachineError:  # a trained run needs no corpus
        return
    if fingerprint != run.provenance()["data_fingerprint"]:
        fix = "restore the text, or delete the run's folder to train it again"
        raise InputError(str(run.path), f"was trained on another version of {data.corpus}", fix)


@contextlib.contextmanager
def removed_if_empty(run: Run) -> Iterator[None]:
    """Remove the folder of a run if an error ends the block before anything was trained.

    So no command finds it.
    """
    try:
        yield
    except Exception:
        if not names_in(run.path / "checkpoints") and not run.is_finished and not run.metrics():
            # it may be gone already, and the error that ended the block says more
            shutil.rmtree(run.path, ignore_errors=True)
        raise


def prepare(
    run: Run, corpus: ParallelCorpus, start: Run | None, device: torch.device, allow_inexact: bool
) -> dict[str, EncodedPairs]:
    """Return the pairs of train, of dev, and of test where there is one, as ids.

    First write the provenance of the run, or check that the run may resume here. Subwords are
    fitted on the training split, or taken from the run that it starts from, once a run. Files of an
    attempt that ended before the first checkpoint are ignored.

    Raises:
        InputError: a split is missing or empty, no training pair is short enough, or a resume would
            not be exact.
        DamagedFileError: subwords, lengths or provenance are not what was written.
    """
    data = run.config.data
    texts, dev = _split_texts(corpus, "train", data), _split_texts(corpus, "dev", data)
    sources, targets = (side[: data.train_pairs] for side in texts)
    new = provenance(device, torch.get_num_threads(), corpus.fingerprint) | {
        "behaviour": behaviour(run.config)
    }
    goes_on = bool(sound_checkpoints(run.path))
    if goes_on:
        _check_provenance(run, new, allow_inexact)
        run.check_files()
    else:
        write_json(run.provenance_path, new)
        write_atomic(run.subwords_path, _first_subwords(start, [*sources, *targets], data))
    subwords = load_subwords(run.subwords_path)
    train_pairs = _encoded_pairs(
        subwords, sources, targets, run.config.model.source_end_mark, data.max_tokens
    )
    if not len(train_pairs):
        raise InputError(
            "data.max_tokens",
            f"no training pair has at most {data.max_tokens} subwords",
            "raise data.max_tokens",
        )
    _report_left_out(run, corpus, len(sources), len(sources) - len(train_pairs))
    held_out = {"dev": dev} | (
        {"test": corpus.pairs("test", data.source, data.target)} if "test" in corpus.splits else {}
    )
    if data.corpus not in GENERATED:  # generated text has no unknown characters
        others = (text for pair in held_out.values() for side in pair for text in side)
        _warn_of_unknown(run, subwords, [*sources, *targets, *others])
    if not goes_on:  # a model keeps the lengths that it was built with, whatever the text
        write_json(run.lengths_path, train_pairs.num_tokens())
        hashes = {path.name: sha256(path) for path in (run.subwords_path, run.lengths_path)}
        write_json(run.provenance_path, run.provenance() | {"files": hashes})
    end_mark = run.config.model.source_end_mark
    return {"train": train_pairs} | {
        split: _encoded_pairs(subwords, *pairs, end_mark, None) for split, pairs in held_out.items()
    }


def _report_left_out(run: Run, corpus: ParallelCorpus, num_pairs: int, num_long: int) -> None:
    """Say which training pairs were left out, and what was noted about the text."""
    data = run.config.data
    if own_folder(data.corpus):  # of published text, `repro data` says it
        for note in corpus.notes:
            print(f"{run.path}: {note}", file=sys.stderr)
    if corpus.dropped and own_folder(data.corpus):
        reasons = ", ".join(
            f"{count:,} ({reason})" for reason, count in sorted(corpus.dropped.items())
        )
        what = f"training pairs left out: {reasons}; repro data {data.corpus} names them"
        print(f"{run.path}: {what}", file=sys.stderr)
    if num_long:
        what = f"{num_long:,} of {num_pairs:,} training pairs have more than "
        what += f"data.max_tokens={data.max_tokens} subwords"
        print(f"{run.path}: {what}; they are left out", file=sys.stderr)


def _split_texts(
    corpus: ParallelCorpus, split: str, data: DataConfig
) -> tuple[list[str], list[str]]:
    """Return the texts of a split for a run, and refuse an empty one."""
    sources, targets = corpus.pairs(split, data.source, data.target)
    if not sources:
        left_out = ", ".join(
            f"{count:,} were left out: {reason}" for reason, count in sorted(corpus.dropped.items())
        )
        raise InputError(
            f"{corpus.name}, {split}",
            f"has no sentence pair{'; ' * bool(left_out)}{left_out}",
            "put some into its files",
        )
    return sources, targets


def _first_subwords(start: Run | None, sentences: list[str], data: DataConfig) -> bytes:
    """Fit subwords, or take those of the run that this one starts from."""
    if start is None:
        return Subwords.fit(sentences, data.vocab_size, data.subwords).model
    start.check_files()
    return start.subwords_path.read_bytes()


def _warn_of_unknown(run: Run, subwords: Subwords, texts: list[str]) -> None:
    """Say which characters of the texts of all splits have no piece."""
    if unknown := subwords.unknown_characters(texts):
        fate = "spelled in bytes" if subwords.has_bytes else "read as unknown and never written"
        print(f"{run.path}: no piece for {describe_characters(unknown)} ({fate})", file=sys.stderr)


def _encoded_pairs(
    subwords: Subwords, sources: list[str], targets: list[str], end_mark: bool, limit: int | None
) -> EncodedPairs:
    """Encode the pairs of a split that are short enough for the run."""
    pairs = zip(subwords.encode(sources), subwords.encode(targets), strict=True)
    kept = [(s, t) for s, t in pairs if limit is None or max(len(s), len(t)) <= limit]
    return EncodedPairs([s for s, _ in kept], [t for _, t in kept], end_mark)


def _check_provenance(run: Run, new: dict[str, Any], allow_inexact: bool) -> None:
    """Refuse to resume with another identity than the run began with, unless that is allowed.

    Then it is noted for good. The commits at which a run was resumed are noted in any case.
    """
    old = run.provenance()
    found = identity_changes(old, new)
    if other := changes(old.get("behaviour", {}), new["behaviour"]):
        found.append(f"this code computes {', '.join(other)} than when the run began")
    if found and not allow_inexact:
        afresh = f"`repro runs {run.path.name} --delete` and train it afresh"
        raise InputError(
            str(run.path),
            f"cannot resume exactly: {'; '.join(found)}",
            f"restore it, or {afresh}; `repro train --allow-inexact` goes on with it",
        )
    noted = {"inexact": old.get("inexact", []) + found} if found else {}
    commits = old.get("commits", [old["commit"]])
    if new["commit"] != commits[-1]:
        noted["commits"] = [*commits, new["commit"]]
    if noted:
        write_json(run.provenance_path, old | noted)


def check_lengths(model: Transformer, splits: dict[str, EncodedPairs]) -> None:
    """Refuse sentences that the model of a run cannot read, those of the test set included.

    Raises:
        InputError: an attention is not defined for so many tokens, or a held-out sentence would
            fill the memory.
    """
    for side, sites in READERS.items():
        limit = model.max_len(*sites)
        for name, pairs in splits.items():
            longest = (
                max(map(len, pairs.src), default=0)
                if side == "source"
                else max(map(len, pairs.tgt), default=0) + 1
            )
            if limit is not None and longest > limit:
                what = f"a {side} sentence of {name} has {longest} tokens with its mark, "
                what += f"but an attention is defined for {limit}"
                raise InputError(
                    name,
                    what,
                    f"raise its max_len to {longest} or more, lower data.max_tokens, "
                    "or use beyond='clamp'",
                )
            # data.max_tokens limits the sentences of train
            if longest > MAX_SENTENCE and name != "train":
                what = f"a {side} sentence of {name} has {longest:,} tokens with its mark, "
                what += "and attention takes memory with their square"
                raise InputError(
                    name, what, f"split it, or leave it out: the limit is {MAX_SENTENCE:,}"
                )
