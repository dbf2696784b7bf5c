"""The corpora by name, and the one function that loads them.

>>> from repro.data.corpora import load_corpus
>>> corpus = load_corpus("minigerman")                    # generated
>>> corpus = load_corpus("multi30k", "en", "de")          # from the folder REPRO_DATA/multi30k, else from the Hugging Face Hub
>>> corpus = load_corpus("local:my/folder", "en", "de")   # your own files
"""

import functools
import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from repro.data.formats import Sides, read_columns, read_folder
from repro.data.hub import HubSource, articles_and_summaries, contexts_and_replies, load_from_hub, read_tables
from repro.data.leaks import Overlap, SentenceIndex, find_overlap, leak_free_split, without_overlap
from repro.data.parallel import ParallelCorpus, Skipped, Split, align, digest
from repro.data.text import MAX_CHARS, TextLines, read_lines
from repro.errors import DamagedFileError, InputError, MachineError, did_you_mean

__all__ = ["CORPORA", "CorpusRecord", "ParallelCorpus", "load_corpus"]

OnLeak = Literal["error", "drop", "allow"]
Task = Literal["translation", "summarisation", "dialogue"]
LOCAL = "local:"
TATOEBA_DEV, TATOEBA_TEST = 1_000, 2_000  # pairs


@dataclass(frozen=True)
class CorpusRecord:
    """What is known about a corpus before it is read.

    Args:
        languages: their codes; the first two are loaded where a source has one pair at a time. Where the task is not translation,
            what the two columns are.
        about: what it is, and what a reader of results must know.
        licence: the terms of its texts.
        citation: who made it, and where it is.
        folder: its name inside REPRO_DATA.
        read: reads that folder.
        hub: where it lies on the Hub, if it does.
        renamed: our name of a split by its own; the own name goes on working.
        on_leak: what is done about held-out sentences that are in train too. Published splits stay as they are, since other scores
            are on them, and their overlaps are counted in ``ParallelCorpus.leaks``.
        split: cuts a corpus that comes without dev and test.
        checksums: SHA-256 of the text of each file of the published splits, as in ``{"train.en": ...}``.
        task: what the second column is to the first; it decides the metrics.
        prepare: what is done to every line before anything else sees it.
    """

    languages: tuple[str, ...]
    about: str
    licence: str
    citation: str
    folder: str | None = None
    read: Callable[[Path, Sequence[str], int], Sides] = read_folder
    hub: HubSource | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    on_leak: OnLeak = "allow"
    split: Callable[[Mapping[str, Sequence[str]]], dict[str, list[int]]] | None = None
    checksums: Mapping[str, str] = field(default_factory=dict)
    task: Task = "translation"
    prepare: Callable[[str], str] | None = None


def load_corpus(
    name: str,
    source: str | None = None,
    target: str | None = None,
    root: Path | None = None,
    on_leak: OnLeak | None = None,
    max_chars: int = MAX_CHARS,
) -> ParallelCorpus:
    """Load a corpus by name, check it, and say what was found.

    Args:
        name: a key of ``CORPORA``, or ``local:`` and a folder.
        source, target: languages to load; by default all that the corpus has. A pair with a bad line in a language that is not loaded
            stays.
        root: folder of the corpora, by default the environment variable REPRO_DATA. A corpus that is not there comes from the Hub.
        on_leak: what to do when sentences of dev or test, or one side of them, are in train: ``error``, ``drop`` (from train), ``allow``
            (count them in ``leaks``). By default ``error`` for your own files, and what its record says for a published corpus.
        max_chars: longer lines are left out of train and are an error in dev and test.

    Raises:
        InputError: an unknown name or language, or files that are not clean parallel text.
        MachineError: neither the folder nor the Hub has it.
        DamagedFileError: a published file that is not what was published.
    """
    languages = tuple(language for language in (source, target) if language)
    record = check_languages(name, *languages)
    if on_leak not in (None, "error", "drop", "allow"):
        raise InputError("on_leak", f"unknown value '{on_leak}'", did_you_mean(str(on_leak), ["error", "drop", "allow"]))
    sides, is_from_hub = _read(name, record, languages, root, max_chars)
    sides = {
        split: {language: replace(text, lines=prepare_lines(name, text.lines)) for language, text in columns.items()}
        for split, columns in sides.items()
    }
    corpus = _align_splits(name, record, sides, max_chars)
    if record.split:
        corpus = _cut(corpus, record.split)
    if max_chars >= MAX_CHARS:
        _check_sums(corpus, record, is_from_hub)
    return _check_leaks(corpus, on_leak or record.on_leak)


def prepare_lines(name: str, lines: Sequence[str]) -> list[str]:
    """Return lines as they would stand in a corpus, which is how its models have read text: in lower case for ``multi30k-lc``."""
    prepare = _find_record(name).prepare
    return [prepare(line) for line in lines] if prepare else list(lines)


def load_pairs(name: str, source: str, target: str, split: str) -> tuple[list[str], list[str]]:
    """Return both sides of a split; see `load_corpus`.

    A corpus that is not your own does not change, so it is read once a process: every score that is computed again asks for it.
    """
    if name.startswith(LOCAL):
        return load_corpus(name, source, target).pairs(split, source, target)
    return _load_pairs(name, source, target, split, os.environ.get("REPRO_DATA"))


@functools.lru_cache(maxsize=16)
def _load_pairs(name: str, source: str, target: str, split: str, _root: str | None) -> tuple[list[str], list[str]]:
    return load_corpus(name, source, target).pairs(split, source, target)


def check_languages(name: str, *languages: str) -> CorpusRecord:
    """Return what is known about a corpus, without reading it; every corpus has each language it is asked for.

    Raises:
        InputError: an unknown name or language.
    """
    record = _find_record(name)
    for language in languages:
        if record.languages and language not in record.languages:
            raise InputError(name, f"has no language '{language}'", did_you_mean(language, record.languages))
    return record


def task_of(name: str) -> Task:
    """Return the task of a corpus, without reading it; your own files are translations."""
    return _find_record(name).task


def _find_record(name: str) -> CorpusRecord:
    if name.startswith(LOCAL):
        return CorpusRecord((), "your own files", "yours", "yours", read=read_folder, renamed=IWSLT16_SETS, on_leak="error")
    if name not in CORPORA:
        raise InputError("data.corpus", f"unknown corpus '{name}'", did_you_mean(name, [*CORPORA, "local:FOLDER"]))
    return CORPORA[name]


def _read(name: str, record: CorpusRecord, languages: tuple[str, ...], root: Path | None, max_chars: int) -> tuple[Sides, bool]:
    """Return the sides of all splits, and whether they came from the Hub."""
    if name.startswith(LOCAL):
        return record.read(Path(name.removeprefix(LOCAL)).expanduser(), languages, max_chars), False
    if record.folder is None:
        return record.read(Path(), languages or record.languages, max_chars), False
    root = root or os.environ.get("REPRO_DATA")
    if root and not Path(root).is_dir():
        raise InputError("REPRO_DATA", f"{root} is not a folder", "set it to the folder that holds the corpora, or unset it")
    if root and (Path(root) / record.folder).is_dir():
        return record.read(Path(root) / record.folder, languages or record.languages, max_chars), False
    if record.hub is None:
        what = f"is not in REPRO_DATA ({root})" if root else "needs REPRO_DATA, which is not set"
        raise MachineError(name, what, f"get it from {record.citation.split()[-1]} and set REPRO_DATA to the parent of {record.folder}/")
    return load_from_hub(name, record.hub, languages or record.languages[:2], max_chars), True


def _align_splits(name: str, record: CorpusRecord, sides: Sides, max_chars: int) -> ParallelCorpus:
    is_official = not name.startswith(LOCAL)
    splits: dict[str, Split] = {}
    skipped: list[Skipped] = []
    notes: list[str] = []
    renamed = {own: ours for own, ours in record.renamed.items() if own in sides and ours not in sides}
    for own_name in sides:
        split_name = renamed.get(own_name, own_name)
        splits[split_name], more_skipped, more_notes = align(split_name, sides[own_name], is_official, max_chars)
        skipped += more_skipped
        notes += more_notes
    order = [split for split in ("train", "dev", "test") if split in splits]
    splits = {split: splits[split] for split in [*order, *(split for split in splits if split not in order)]}
    languages = tuple(next(iter(splits.values())).columns)
    mends = (
        {"train": f"put its training files into REPRO_DATA/{record.folder}/ (from {record.citation.split()[-1]})"} if record.folder else {}
    )
    return ParallelCorpus(name, languages, splits, skipped, notes=notes, aliases=renamed, mends=mends)


def _cut(corpus: ParallelCorpus, cut: Callable[[Mapping[str, Sequence[str]]], dict[str, list[int]]]) -> ParallelCorpus:
    """Cut the one split of a corpus into three."""
    whole = corpus.splits["train"]
    splits = {name: whole.select(places) for name, places in cut(whole.columns).items()}
    return ParallelCorpus(corpus.name, corpus.languages, splits, corpus.skipped, notes=corpus.notes)


def _check_sums(corpus: ParallelCorpus, record: CorpusRecord, is_from_hub: bool) -> None:
    """Compare the texts with the published ones; a copy on the Hub may differ in spacing, which is noted but not refused."""
    for key, expected in record.checksums.items():
        split, _, language = key.partition(".")
        if split not in corpus.splits or language not in corpus.languages:
            continue
        found = digest(corpus.splits[split].columns[language])
        if found == expected:
            continue
        what = f"SHA-256 of its text is {found[:12]}…, of the published one {expected[:12]}…"
        if not is_from_hub:
            file = corpus.splits[split].names[language]
            raise DamagedFileError(f"{corpus.name}/{file}", what, "get it again, or load the folder as local:FOLDER")
        corpus.notes.append(f"{key}: {what}")


def _check_leaks(corpus: ParallelCorpus, on_leak: OnLeak) -> ParallelCorpus:
    """Look for held-out sentences in train, and for those of test sets in dev, and do what was asked about them."""
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
        found = [overlap for name in held_out if (overlap := find_overlap(name, indices[name], other, indices[other]))]
        if found and on_leak == "error":
            _refuse(corpus, found[0])
        if found and on_leak == "drop":
            kept = without_overlap(indices[other], [indices[name] for name in held_out])
            language = corpus.languages[0]
            dropped = sorted(set(range(len(splits[other]))) - set(kept))
            skipped += [Skipped(other, splits[other].names[language], splits[other].numbers[language][place], "leak") for place in dropped]
            splits[other] = splits[other].select(kept)
            indices[other] = SentenceIndex(splits[other].columns)
        else:
            leaks += found
    return ParallelCorpus(corpus.name, corpus.languages, splits, skipped, leaks, corpus.notes, corpus.aliases, corpus.mends)


def _refuse(corpus: ParallelCorpus, overlap: Overlap) -> None:
    language = overlap.kind if overlap.kind in corpus.languages else corpus.languages[0]
    held_place = corpus.splits[overlap.held_out].place(overlap.first[0], language)
    other_place = corpus.splits[overlap.other].place(overlap.first[1], language)
    what = f"this sentence is also {other_place}" if overlap.kind == language else f"this pair is also {other_place} ({overlap.kind})"
    sides = ", ".join(f"{number} {language}" for language, number in overlap.one_side.items()) or "0"
    counts = f"{overlap.held_out} in {overlap.other}: {overlap.exact} exact, {overlap.normalised} normalised, one side {sides}"
    raise InputError(held_place, f"{what}; {counts}", f"on_leak=drop leaves them out of {overlap.other}, on_leak=allow records them")


def _read_tatoeba(folder: Path, languages: Sequence[str], max_chars: int) -> Sides:
    columns = read_columns(read_lines(folder / "deu.txt", 3 * max_chars), ["en", "de"], max_chars)
    return {"train": {language: columns[language] for language in languages}}


def _generate_minigerman(_folder: Path, languages: Sequence[str], _max_chars: int) -> Sides:
    sides: Sides = {}
    for split, examples in _minigerman_splits().items():
        texts = {"en": [example.english for example in examples], "de": [example.german for example in examples]}
        numbers = range(1, len(examples) + 1)
        sides[split] = {language: TextLines(f"{split}.{language}", texts[language], numbers) for language in languages}
    return sides


@functools.cache
def _minigerman_splits() -> dict[str, list]:
    """Generate the corpus once a process: it takes seconds."""
    from repro.data import minigerman  # only this corpus needs the grammar

    return minigerman.splits()


def _generate_pairs(name: str, _folder: Path, columns: Sequence[str], _max_chars: int) -> Sides:
    record = CORPORA[name]
    sides: Sides = {}
    for split, pairs in _generated_pairs(name).items():
        texts = dict(zip(record.languages, zip(*pairs, strict=True), strict=True))
        sides[split] = {column: TextLines(split, list(texts[column]), range(1, len(pairs) + 1)) for column in columns}
    return sides


@functools.cache
def _generated_pairs(name: str) -> dict[str, list]:
    """Do the same for a corpus of pairs of texts."""
    return importlib.import_module(f"repro.data.{name}").splits()


# Every published result on IWSLT16 German-English that we compare with is on tst2013. tst2012 chooses the checkpoint, so that no
# choice is made on the test set.
IWSLT16_SETS = {"tst2013": "test", "tst2012": "dev"}
WIT3 = "Cettolo, Girardi and Federico 2012, WIT3: Web Inventory of Transcribed and Translated Talks, https://wit3.fbk.eu"

CNNDM = HubSource("abisee/cnn_dailymail", "3.0.0", columns=articles_and_summaries)
PERSONACHAT = HubSource("bavard/personachat_truecased", "full", splits=("train", "validation"), columns=contexts_and_replies)

CORPORA: dict[str, CorpusRecord] = {
    "minigerman": CorpusRecord(
        languages=("en", "de"),
        about="Generated English-German sentences with known trees, alignments and senses.",
        licence="MIT, as this package",
        citation="repro.data.minigerman",
        read=_generate_minigerman,
        on_leak="error",
    ),
    "minisummary": CorpusRecord(
        languages=("article", "summary"),
        about="Generated English articles of a few sentences, with the headline that tells their one event.",
        licence="MIT, as this package",
        citation="repro.data.minisummary",
        read=functools.partial(_generate_pairs, "minisummary"),
        on_leak="error",
        task="summarisation",
    ),
    "minidialogue": CorpusRecord(
        languages=("context", "reply"),
        about="Generated English personas with a question, and the reply that they decide. No context comes twice; replies do.",
        licence="MIT, as this package",
        citation="repro.data.minidialogue",
        read=functools.partial(_generate_pairs, "minidialogue"),
        task="dialogue",
    ),
    "multi30k": CorpusRecord(
        languages=("en", "de", "fr"),
        about="Captions of pictures, translated. On the Hub only English and German, without the test sets of 2017.",
        licence="CC BY-NC-SA 4.0, for research",
        citation="Elliott et al. 2016, Multi30K; Elliott et al. 2017 (test sets, French), https://github.com/multi30k/dataset",
        folder="multi30k",
        hub=HubSource("bentrevett/multi30k"),
        renamed={"test_2016_flickr": "test"},
        checksums={
            "train.en": "1b9c6fae1605bc3a5f148410b0db7b092829296a4174aeff2a4080c9e1fda56d",
            "train.de": "fbc65c96f0aa74fe1341e0d28225b20e7fb809ec5ebce4870bfa963a83d049e7",
            "train.fr": "74d8979201783ed0d1e7370dedcbb03e2213a37ee2c68ff97491b3020b438248",
            "dev.en": "eecab95d3e8e3b4e82c0e049625a6aa8ffb65314acf78c357a049d349d1cfb8d",
            "dev.de": "1aad18941ede1c8afadc75f9f3356e72944041c7ad45bcfac7d589b13733f543",
            "dev.fr": "390c59f28cebab5d95a319f8fda0685d4e5d9e33ea73ee3a5be409a34b2cdc38",
            "test.en": "a1efdee92d83876dbd9bc65f019b58eda88f1fc910e954aea943914d23fe89ca",
            "test.de": "bb3e48712d8d4f8d6e16352ea830d2b3c64ff50439cb6e02486e02f8475d138e",
            "test.fr": "70844453052cb8f87288cbd117605065586d5842bffdac6ca4742a1343321097",
        },
    ),
    "tatoeba": CorpusRecord(
        languages=("en", "de"),
        about="Sentence pairs of volunteers, mostly short. Cut here, without leaks: pairs that share an English or a German sentence, also "
        "through other pairs, are in the same split. The file grows with time: compare fingerprints before scores.",
        licence="CC BY 2.0 FR, by the contributors of tatoeba.org",
        citation="tatoeba.org, exported by https://www.manythings.org/anki",
        folder="tatoeba-deu-eng",
        read=_read_tatoeba,
        split=lambda columns: leak_free_split(columns, TATOEBA_DEV, TATOEBA_TEST),
        on_leak="error",
    ),
    "enja": CorpusRecord(
        languages=("en", "ja"),
        about="Short sentences of the Tanaka corpus. They are published tokenised, the English in lower case, and stay so: scores are on "
        "tokens, and comparable only with others on this corpus.",
        licence="CC BY 2.0 FR",
        citation="small_parallel_enja, https://github.com/odashi/small_parallel_enja",
        folder="small_parallel_enja",
        checksums={
            "train.en": "9b9650da8b9ad781c5bce21c1eeb9df935d636dec3a454d0560506279640fa13",
            "train.ja": "514110161c1262bb939cdf503ea54b1bbae9202379fc6ef3fb41048953f4758b",
            "dev.en": "09aaaedaa34b495d548b90628e827f923aee40b3bf708ef1a2e0a8f04dd117e1",
            "dev.ja": "efa68cbb02a178c239160b5b58e089787c513b6cde0abb1790c250f86e2c858a",
            "test.en": "3210c59c5cf86af220a87b7cfa85b2cfcea98a0676290b8219a464a270610512",
            "test.ja": "40f89bc5982d116a143fe8b4774f92485b2bc6181d5a071002174bab3060c512",
        },
    ),
    "iwslt14": CorpusRecord(
        languages=("de", "en"),
        about="TED talks, in the split of 160,239 / 7,283 / 6,750 pairs that most papers use.",
        licence="CC BY-NC-ND 4.0 (TED)",
        citation=f"Cettolo et al. 2014, IWSLT evaluation campaign; {WIT3}",
        folder="iwslt14",
        hub=HubSource("bbaaaa/iwslt14-de-en"),
    ),
    "iwslt15-en-vi": CorpusRecord(
        languages=("en", "vi"),
        about="TED talks, as cut and tokenised for Luong and Manning: dev is tst2012, test is tst2013.",
        licence="CC BY-NC-ND 4.0 (TED)",
        citation=f"Luong and Manning 2015, Stanford NMT systems for spoken language domains; {WIT3}",
        folder="iwslt15-en-vi",
        hub=HubSource("thainq107/iwslt2015-en-vi"),
    ),
    "iwslt16": CorpusRecord(
        languages=("de", "en"),
        about="TED talks. test is tst2013, which You et al. 2020 report; dev is tst2012; the other sets keep their names. "
        "As published, tedx_dev2012 is out of step by one segment over some 70 segments: do not score on it.",
        licence="CC BY-NC-ND 4.0 (TED)",
        citation=f"Cettolo et al. 2016, IWSLT evaluation campaign; {WIT3}",
        folder="ted-en-de",
        renamed=IWSLT16_SETS,
        checksums={
            "dev.de": "027830987467ee12d7d10f4d8403608efb8531f004ecc773a5926c79c2919309",
            "dev.en": "3988b184acd07a631265b7ba530ac7e2c1f096012be761ac8d7d9b8652a62805",
            "test.de": "dc5d4a82e0846c46d6d5f6ec9c2f077957523087b67b485b5b5f1c7ead4d36f0",
            "test.en": "217d2bbb78635b2125c3de40ceb645a0b4772043cc375208bbb60f4a38521b10",
        },
    ),
    "iwslt17": CorpusRecord(
        languages=("en", "de", "fr", "ja", "ar", "ko", "zh"),
        about="TED talks, English with one other language at a time.",
        licence="CC BY-NC-ND 4.0 (TED)",
        citation=f"Cettolo et al. 2017, IWSLT evaluation campaign; {WIT3}",
        folder="iwslt17",
        hub=HubSource("IWSLT/iwslt2017", "iwslt2017-en-{other}"),
    ),
    "wmt16-en-ro": CorpusRecord(
        languages=("en", "ro"),
        about="Parliament and news; dev is newsdev2016, test is newstest2016.",
        licence="of its parts: Europarl and SETimes, free for research",
        citation="Bojar et al. 2016, Findings of WMT16, https://www.statmt.org/wmt16",
        folder="wmt16-en-ro",
        hub=HubSource("wmt/wmt16", "ro-en"),
    ),
    "cnndm": CorpusRecord(
        languages=("article", "summary"),
        about="News with the highlights that their editors wrote, not anonymised. Of an article the first 400 words are read, as See et "
        "al. 2017 do; the highlights are one line.",
        licence="Apache 2.0 for the collection; the texts are the publishers'",
        citation="Hermann et al. 2015; See, Liu and Manning 2017, Get To The Point, https://huggingface.co/datasets/abisee/cnn_dailymail",
        folder="cnndm",
        read=functools.partial(read_tables, CNNDM),
        hub=CNNDM,
        task="summarisation",
    ),
    "personachat": CorpusRecord(
        languages=("context", "reply"),
        about="Chats of people who play a persona, with case and usual punctuation. A context is the persona and the last three turns. "
        "Test is the public validation set; dev is the last twentieth of the conversations for training, whose personas train may know.",
        licence="CC BY 4.0",
        citation="Zhang et al. 2018, Personalizing Dialogue Agents, https://huggingface.co/datasets/bavard/personachat_truecased",
        folder="personachat",
        read=functools.partial(read_tables, PERSONACHAT),
        hub=PERSONACHAT,
        task="dialogue",
    ),
}

CORPORA["multi30k-lc"] = replace(
    CORPORA["multi30k"],
    about="Multi30k in lower case, as most published systems read it. Only lower-cased scores on it stand beside others.",
    checksums={},
    prepare=str.lower,
)

GENERATED = tuple(name for name, record in CORPORA.items() if record.folder is None)
"""The corpora that are made here: scores on them stand beside no paper's."""
