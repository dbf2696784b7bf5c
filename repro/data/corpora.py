"""Load a corpus by its name.

Generated:

>>> from repro.data.corpora import load_corpus
>>> corpus = load_corpus("minigerman")

From the folder REPRO_DATA/multi30k, else from the Hugging Face Hub:

>>> corpus = load_corpus("multi30k", "en", "de")

Your own files; sentences of dev or test in train are an error:

>>> corpus = load_corpus("local:my/folder", "en", "de")

The same, but leave such sentences out of train; the name says so in every result:

>>> corpus = load_corpus("local-drop-leaks:my/folder")

Clean the references too, and accept everything:

>>> corpus = load_corpus("local-clean:my/folder")
"""

import functools
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from repro.data.aligning import Cleaning, align
from repro.data.catalogue import CORPORA, OWN_SETS, CorpusRecord, OnLeak, Task
from repro.data.characters import clean_line
from repro.data.formats import Sides, unread_files
from repro.data.hub import load_from_hub
from repro.data.joining import join_corpora, test_set_of_parts
from repro.data.leaks import (
    Overlap,
    SentenceIndex,
    find_overlap,
    leak_free_split,
    pairs_without_overlap,
)
from repro.data.own_text import (
    CLEAN_PREFIX,
    OWN_PREFIXES,
    check_moved_test_set,
    current_folder,
    own_folder,
)
from repro.data.parallel import MAIN_SPLITS, ParallelCorpus, Skipped, column_digest
from repro.data.text import MAX_CHARS, compose_accents, together
from repro.errors import (
    DamagedFileError,
    InputError,
    MachineError,
    check_kind,
    did_you_mean,
)


def load_corpus(
    name: str,
    source: str | None = None,
    target: str | None = None,
    root: Path | None = None,
    max_chars: int = MAX_CHARS,
) -> ParallelCorpus:
    """Load a corpus by name, check it, and note what was found.

    Args:
        name: a key of ``CORPORA``, or ``local:`` and a folder, whose text is composed (NFC). With
            ``local:``, sentences of dev or test in train are an error, also if only one side
            occurs there. ``local-drop-leaks:`` leaves them out of train; ``local-allow-leaks:``
            counts them in ``leaks``. ``local-clean:`` counts them too, and notes sides that are
            shifted against each other instead of refusing them. It also cleans the references,
            which are otherwise scored unchanged.
        source, target: the two languages to load; by default all languages of the corpus. A bad
            line in another language drops no pair.
        root: folder of the corpora, by default the environment variable REPRO_DATA. A corpus that
            is not there comes from the Hub.
        max_chars: longer lines are left out of train and are an error in dev and test.

    Raises:
        InputError: an unknown name or language, only one language, or files that are not clean
            parallel text.
        MachineError: neither the folder nor the Hub has the corpus.
        DamagedFileError: a file differs from the published one.
    """
    corpus = survey_corpus(name, source, target, root, max_chars)
    check_leaks(corpus)
    return corpus


def survey_corpus(
    name: str,
    source: str | None = None,
    target: str | None = None,
    root: Path | None = None,
    max_chars: int = MAX_CHARS,
) -> ParallelCorpus:
    """Load a corpus as `load_corpus` does, but count all leaks; `check_leaks` refuses them."""
    check_kind("name", name, "give the name of a corpus, as in load_corpus('minigerman')", str)
    languages = tuple(language for language in (source, target) if language)
    record = check_languages(name, *languages)
    if languages and len(set(languages)) < 2:  # a corpus of one side has no pairs
        raise InputError(
            name,
            f"was asked for {languages[0]} alone",
            "name two languages, or none for all that there are",
        )
    return _find_leaks(_assemble(name, record, languages, root, max_chars), record.on_leak)


def _assemble(
    name: str, record: CorpusRecord, languages: tuple[str, ...], root: Path | None, max_chars: int
) -> ParallelCorpus:
    """Read a corpus, align and cut it, and compare it with its checksums."""
    if record.parts:
        return join_corpora(
            name,
            {
                part: _assemble(part, CORPORA[part], languages or record.languages, root, max_chars)
                for part in record.parts
            },
        )
    try:
        sides, is_from_hub = _read_sides(name, record, languages, root, max_chars)
    except MachineError:
        if record.test_sets is None or not _is_on_disk(record.test_sets[0], root):
            raise
        return _test_set_alone(name, record, record.test_sets, languages, root, max_chars)
    sides = {
        split: {
            language: replace(text, lines=_apply_preparation(record, text.lines))
            for language, text in columns.items()
        }
        for split, columns in sides.items()
    }
    corpus = _align_splits(name, record, sides, max_chars)
    if record.held_out:
        corpus = _cut_into_splits(corpus, *record.held_out)
    if max_chars >= MAX_CHARS:
        _check_sums(corpus, record, is_from_hub)
    return corpus


def _test_set_alone(
    name: str,
    record: CorpusRecord,
    test_sets: tuple[str, tuple[str, ...]],
    languages: tuple[str, ...],
    root: Path | None,
    max_chars: int,
) -> ParallelCorpus:
    """Return the test set of a corpus that is not at hand, from the sets of another that is."""
    other, sets = test_sets
    described = replace(CORPORA[other], cleaning=record.cleaning, checksums={})
    found = _assemble(other, described, languages or record.languages, root, max_chars)
    fixes = _fixes_for_missing_splits(name, record, found.languages)
    return test_set_of_parts(name, found, sets, fixes)


def _is_on_disk(name: str, root: Path | None) -> bool:
    """Return whether the folder of a published corpus is on this machine."""
    folder, given = CORPORA[name].folder, root or os.environ.get("REPRO_DATA")
    return bool(given and folder) and (Path(given or "") / (folder or "")).is_dir()


def prepare_lines(name: str, lines: Sequence[str]) -> list[str]:
    """Return lines as models of a corpus read them: clean, and lower-cased for ``multi30k-lc``."""
    return _apply_preparation(_find_record(name), map(clean_line, lines))


def cased_form(name: str) -> str | None:
    """Return the corpus with the same sentences and their capitals, if this one has lost them."""
    return _find_record(name).cased


def _apply_preparation(record: CorpusRecord, lines: Iterable[str]) -> list[str]:
    """Return lines as the corpus's record prepares them."""
    return [record.prepare(line) for line in lines] if record.prepare else list(lines)


def load_pairs(name: str, source: str, target: str, split: str) -> tuple[list[str], list[str]]:
    """Return both sides of a split, prepared as text of this corpus; see `load_once`.

    Args:
        name: the corpus.
        source, target: its languages.
        split: its split, or that of another corpus, as in `iwslt16:test`.

    Raises:
        InputError: what `load_corpus` refuses, an unknown split, or a corpus of another task.
    """
    check_kind("split", split, "give the name of a test set, as in 'dev'", str)
    other, _, own_split = split.rpartition(":")
    if f"{other}:" in OWN_PREFIXES:
        raise InputError(
            split,
            "names a folder, but no split of it",
            f"write {split}:test, or another split that is there",
        )
    if other:
        if other == name:
            raise InputError(
                split, "is a split of the corpus of the run itself", f"write {own_split}"
            )
        if task_of(other) != task_of(name):
            raise InputError(
                split,
                f"is for {task_of(other)}, {name} is for {task_of(name)}",
                "choose a corpus of the same task",
            )
        check_moved_test_set(split, other)
        sources, refs = load_pairs(other, source, target, own_split)
        return prepare_lines(name, sources), _apply_preparation(_find_record(name), refs)
    return load_once(name, source, target).pairs(split, source, target)


def load_once(name: str, source: str, target: str) -> ParallelCorpus:
    """Load a corpus as `load_corpus` does, and keep it for this process unless it is your own.

    Every number that is derived again asks for its corpus; your own files may change meanwhile.
    """
    if own_folder(name):
        return load_corpus(name, source, target)
    return _load_published_once(os.environ.get("REPRO_DATA"), name, source, target)


@functools.lru_cache(maxsize=8)
def _load_published_once(_root: str | None, name: str, source: str, target: str) -> ParallelCorpus:
    """Load a published corpus, once a process."""
    return load_corpus(name, source, target)


def count_pairs_in_train(name: str, source: str, target: str, split: str) -> dict[str, int]:
    """Count the pairs of a split that occur in train, ignoring case, punctuation and spacing.

    Returns:
        `pairs`: how many occur in train; and by language, how many others have only that side
        in train, with another translation.
    """
    test = dict(zip((source, target), load_pairs(name, source, target, split), strict=True))
    # Your own files may have changed since they were indexed.
    index_train = _index_train.__wrapped__ if own_folder(name) else _index_train
    found = find_overlap(
        split,
        SentenceIndex(test),
        "train",
        index_train(name, source, target, os.environ.get("REPRO_DATA")),
    )
    if not found:
        return dict.fromkeys(("pairs", source, target), 0)
    return {"pairs": found.exact + found.normalised} | {
        side: found.one_side.get(side, 0) for side in (source, target)
    }


@functools.lru_cache(maxsize=2)
def _index_train(name: str, source: str, target: str, _root: str | None) -> SentenceIndex:
    """Index the sentences of the training split, to find leaks."""
    return SentenceIndex(
        dict(zip((source, target), load_pairs(name, source, target, "train"), strict=True))
    )


def check_languages(name: str, *languages: str) -> CorpusRecord:
    """Return the description of a corpus, without reading it, if it has these languages.

    Raises:
        InputError: an unknown name or language.
    """
    record = _find_record(name)
    for language in languages:
        if record.languages and language not in record.languages:
            raise InputError(
                name, f"has no language '{language}'", did_you_mean(language, record.languages)
            )
    return record


def task_of(name: str) -> Task:
    """Return the task of a corpus without reading it; your own files are translations."""
    return _find_record(name).task


def text_may_change(name: str) -> bool:
    """Return whether the text of this name may change: true without published checksums."""
    return not _find_record(name).checksums


def _find_record(name: str) -> CorpusRecord:
    """Return the record of a corpus, and refuse an unknown name."""
    if own_folder(name):
        if name.endswith(":"):
            raise InputError(
                "data.corpus",
                f"'{name}' names no folder",
                f"write it after the colon, as in {name}my/folder",
            )
        on_leak = OWN_PREFIXES[name[: name.index(":") + 1]]
        cleaning = Cleaning(
            is_published=name.startswith(CLEAN_PREFIX),
            cleans_references=name.startswith(CLEAN_PREFIX),
        )
        return CorpusRecord(
            (),
            "your own files",
            "yours",
            "yours",
            renamed=OWN_SETS,
            on_leak=on_leak,
            cleaning=cleaning,
        )
    if not name:  # as a path, "" would be this folder
        raise InputError(
            "data.corpus",
            "is empty",
            f"name a corpus, such as {next(iter(CORPORA))}, or your own files as local:my/folder",
        )
    if name not in CORPORA and Path(name).is_dir():
        raise InputError(
            "data.corpus",
            f"unknown corpus '{name}'",
            f"for the files in this folder, write local:{name}",
        )
    if name not in CORPORA:
        raise InputError(
            "data.corpus",
            f"unknown corpus '{name}'",
            did_you_mean(name, [*CORPORA, *(f"{own}FOLDER" for own in OWN_PREFIXES)]),
        )
    return CORPORA[name]


def _read_sides(
    name: str, record: CorpusRecord, languages: tuple[str, ...], root: Path | None, max_chars: int
) -> tuple[Sides, bool]:
    """Return the sides of all splits, and whether they came from the Hub."""
    if own := own_folder(name):
        sides = record.read(current_folder(own), languages, max_chars)
        return {
            split: {language: compose_accents(side) for language, side in columns.items()}
            for split, columns in sides.items()
        }, False
    if record.folder is None:
        return record.read(Path(), languages or record.languages, max_chars), False
    root = root or os.environ.get("REPRO_DATA")
    if root and not Path(root).is_dir():
        raise MachineError(
            "REPRO_DATA",
            f"{root} is not a folder",
            "set it to the folder that holds the corpora, or unset it",
        )
    if root and (Path(root) / record.folder).is_dir():
        return record.read(
            Path(root) / record.folder, languages or record.languages, max_chars
        ), False
    if record.hub is None:
        what = f"is not in REPRO_DATA ({root})" if root else "needs REPRO_DATA, which is not set"
        raise MachineError(
            name,
            what,
            f"get it from {record.citation.split()[-1]} and set REPRO_DATA to the parent of "
            f"{record.folder}/",
        )
    return load_from_hub(name, record.hub, languages or record.languages[:2], max_chars), True


def _align_splits(name: str, record: CorpusRecord, sides: Sides, max_chars: int) -> ParallelCorpus:
    """Align the sides of all splits, and report all faults in one error."""
    renamed: dict[str, str] = {}
    for own, ours in record.renamed.items():
        if own in sides and ours not in {*sides, *renamed.values()}:
            renamed[own] = ours
    aligned = {
        renamed.get(own, own): align(renamed.get(own, own), columns, record.cleaning, max_chars)
        for own, columns in sides.items()
    }
    if errors := [error for found in aligned.values() for error in found.errors]:
        raise together(errors)
    splits = {split: found.split for split, found in aligned.items() if found.split is not None}
    order = [split for split in MAIN_SPLITS if split in splits]
    splits = {
        split: splits[split]
        for split in [*order, *(split for split in splits if split not in order)]
    }
    languages = tuple(next(iter(splits.values())).columns)
    notes = [note for found in aligned.values() for note in found.notes] + _notes_on_folder(
        name, sides
    )
    skipped = [skip for found in aligned.values() for skip in found.skipped]
    return ParallelCorpus(
        name,
        languages,
        splits,
        skipped,
        notes=notes,
        aliases=renamed,
        fixes=_fixes_for_missing_splits(name, record, languages),
    )


def _notes_on_folder(name: str, sides: Sides) -> list[str]:
    """Note the folder of your own files if it is not that of the name, and the unread files."""
    if not (folder := own_folder(name)):
        return []
    place = current_folder(folder)
    notes = [f"read from {place}, since {folder} is not a folder"] if place != folder else []
    if unread := unread_files(
        place, {side.name for columns in sides.values() for side in columns.values()}
    ):
        notes.append(f"not read: {', '.join(unread)}")
    return notes


def _fixes_for_missing_splits(
    name: str, record: CorpusRecord, languages: Sequence[str]
) -> dict[str, str]:
    """Return how to get each of the main splits in case it is missing."""
    if own_folder(name):
        files = {
            split: f"{split}.{languages[0]} and {split}.{languages[1]}" for split in MAIN_SPLITS
        }
        return {split: f"add {files[split]}, or a table, to the folder" for split in MAIN_SPLITS}
    if not record.folder:
        return {}
    if record.is_test_only:
        return {"train": "train on another corpus; the sets of this one are for scoring"}
    files = " and ".join(record.train_files) or "its training files"
    return {
        "train": f"put {files} into REPRO_DATA/{record.folder}/ "
        f"(from {record.citation.split()[-1]})"
    }


def _cut_into_splits(corpus: ParallelCorpus, dev: int, test: int) -> ParallelCorpus:
    """Cut the only split of a corpus into three, with that many pairs in dev and test."""
    whole = corpus.splits["train"]
    cut = leak_free_split(whole.columns, dev, test)
    splits = {name: whole.select(places) for name, places in cut.items()}
    return ParallelCorpus(corpus.name, corpus.languages, splits, corpus.skipped, notes=corpus.notes)


def _check_sums(corpus: ParallelCorpus, record: CorpusRecord, is_from_hub: bool) -> None:
    """Compare the texts with the published checksums.

    A copy on the Hub may differ in spacing: this is noted, not refused.
    """
    for key, expected in record.checksums.items():
        split, _, language = key.partition(".")
        if split not in corpus.splits or language not in corpus.languages:
            continue
        found = column_digest(corpus.splits[split].columns[language])
        if found == expected:
            continue
        what = f"SHA-256 of its text is {found[:12]}…, of the published one {expected[:12]}…"
        if not is_from_hub:
            file = corpus.splits[split].names[language][0]
            raise DamagedFileError(
                f"{corpus.name}/{file}", what, "get it again, or load the folder as local:FOLDER"
            )
        corpus.notes.append(f"{key}: {what}")


def _find_leaks(corpus: ParallelCorpus, on_leak: OnLeak) -> ParallelCorpus:
    """Find sentences of dev and test sets in train, and of test sets in dev; drop or count them.

    The counts are in `leaks`, the worst first.
    """
    indices = {name: SentenceIndex(split.columns) for name, split in corpus.splits.items()}
    for name, index in indices.items():
        if repeated := len(corpus.splits[name]) - len(index.exact_at):
            corpus.notes.append(f"{name}: {repeated:,} pairs are repetitions")
    tests = [name for name in corpus.splits if name not in ("train", "dev")]
    splits, skipped = dict(corpus.splits), list(corpus.skipped)
    leaks: list[Overlap] = []
    # Dev comes first, so that what is dropped from dev need not be dropped from train.
    for other, held_out in (("dev", tests), ("train", ["dev", *tests])):
        held_out = [name for name in held_out if name in splits]
        if other not in splits:
            continue
        found = [
            overlap
            for name in held_out
            if (overlap := find_overlap(name, indices[name], other, indices[other]))
        ]
        if found and on_leak == "drop":
            corpus.notes.extend(f"{leak}; these pairs are left out of {other}" for leak in found)
            kept = pairs_without_overlap(indices[other], [indices[name] for name in held_out])
            language = corpus.languages[0]
            dropped = sorted(set(range(len(splits[other]))) - set(kept))
            skipped += [
                Skipped(
                    other,
                    splits[other].names[language][place],
                    splits[other].numbers[language][place],
                    "leak",
                )
                for place in dropped
            ]
            splits[other] = splits[other].select(kept)
            if other == "dev":  # train is compared with nothing further
                indices[other] = SentenceIndex(splits[other].columns)
        else:
            leaks += found
    leaks.sort(
        key=lambda leak: (leak.exact + leak.normalised, leak.exact, sum(leak.one_side.values())),
        reverse=True,
    )
    return replace(corpus, splits=splits, skipped=skipped, leaks=leaks)


def check_leaks(corpus: ParallelCorpus) -> None:
    """Refuse a corpus with held-out sentences in train or dev, unless its name allows them.

    Raises:
        InputError: names the first case of the worst leak, and the counts of all leaks.
    """
    if not corpus.leaks or _find_record(corpus.name).on_leak != "error":
        return
    worst = corpus.leaks[0]
    language = worst.kind if worst.kind in corpus.languages else corpus.languages[0]
    held_out, other = corpus.splits[worst.held_out], corpus.splits[worst.other]
    is_same = held_out.columns[language][worst.first[0]] == other.columns[language][worst.first[1]]
    what = "sentence" if worst.kind == language else "pair"
    found = f"{what} is also {other.place(worst.first[1], language)}"
    kind = (
        f" ({worst.kind})"
        if worst.kind != language
        else ""
        if is_same
        else ", but for case, punctuation, spacing or invisible characters"
    )
    fix = f"leave the sentences of {worst.held_out} out of {worst.other}"
    if own_folder(corpus.name):
        fix += ", or name the corpus local-drop-leaks:FOLDER, or local-allow-leaks:FOLDER"
    counts = "; ".join(str(leak) for leak in corpus.leaks)
    raise InputError(held_out.place(worst.first[0], language), f"this {found}{kind}; {counts}", fix)
