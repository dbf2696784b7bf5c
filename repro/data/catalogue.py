"""Describe each corpus: languages, licence, source, how to read its folder, and its checksums.

To add a corpus, add an entry to `CORPORA`; `corpora.py` does the rest.
"""

import functools
import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from repro.data.aligning import Cleaning
from repro.data.formats import Sides, read_columns, read_folder
from repro.data.hub import (
    SPLITS,
    HubSource,
    articles_and_summaries,
    contexts_and_replies,
    read_parquet_folder,
)
from repro.data.leaks import leak_free_split
from repro.data.text import TextLines, read_lines
from repro.generated import minigerman

OnLeak = Literal["error", "drop", "allow"]
Task = Literal["translation", "summarisation", "dialogue"]
PUBLISHED = Cleaning(is_published=True)
TATOEBA_DEV, TATOEBA_TEST = 1_000, 2_000  # pairs


@dataclass(frozen=True)
class CorpusRecord:
    """Description of a corpus that needs none of its text.

    Args:
        languages: language codes; from a source with one pair at a time, the first two are loaded.
            For tasks other than translation, the names of the two columns.
        about: what the corpus is, and what a reader of results must know.
        licence: the terms of its texts.
        citation: who made it, and its address.
        folder: its name inside REPRO_DATA.
        read: reads that folder.
        hub: its place on the Hub, if it is there.
        renamed: original name of a split -> our name; the original name keeps working.
        on_leak: what to do about held-out sentences that also occur in train. Published splits
            stay unchanged, because other scores depend on them; ``ParallelCorpus.leaks`` counts
            their overlaps.
        split: cuts a corpus without dev and test into splits.
        checksums: SHA-256 of the text of each published file, as in ``{"train.en": ...}``.
        task: what the second column is to the first; it decides the metrics.
        prepare: applied to every line before anything else sees it.
        cleaning: how to handle faulty lines.
        train_files: names of the training files, if they may be missing.
        is_test_only: whether it has no training text, but sets that score models of other corpora.
        parts: the corpora that it joins, which must have the same languages; see `join_corpora`.
        test_sets: another corpus and its splits that are the test set of this one, in order. They
            serve where this corpus itself is not at hand.
        cased: the corpus with the same sentences and their capitals, if this one has lost them.
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
    cleaning: Cleaning = PUBLISHED
    train_files: tuple[str, ...] = ()
    is_test_only: bool = False
    parts: tuple[str, ...] = ()
    test_sets: tuple[str, tuple[str, ...]] | None = None
    cased: str | None = None


def _read_tatoeba(folder: Path, languages: Sequence[str], max_chars: int) -> Sides:
    """Read Tatoeba's file of sentence pairs."""
    columns = read_columns(read_lines(folder / "deu.txt", 3 * max_chars), ["en", "de"], max_chars)
    return {"train": {language: columns[language] for language in languages}}


# In the German text: verse numbers of another edition, as in "(H5:20) Wenn ...", and the notes of
# the editors behind a verse, as in "... ihres Hauses. (1) d.i. Gideon."
_NO_BIBLE_TEXT = re.compile(r" *\([GH]\d+:\d+\) *| *\(1\).*")


def _read_bible(folder: Path, languages: Sequence[str], max_chars: int) -> Sides:
    """Read the verses without their numbers."""
    return {
        split: {
            language: replace(
                side, lines=[_NO_BIBLE_TEXT.sub(" ", line).strip() for line in side.lines]
            )
            for language, side in columns.items()
        }
        for split, columns in read_folder(folder, languages, max_chars).items()
    }


def _read_tatoeba_test(folder: Path, languages: Sequence[str], max_chars: int) -> Sides:
    """Read the test set of Tatoeba in a folder, a file per language."""
    files = {language: folder / f"clean-against-2018-export.{language}" for language in languages}
    return {"test": {language: read_lines(path, max_chars) for language, path in files.items()}}


def _read_opus(name: str, folder: Path, languages: Sequence[str], max_chars: int) -> Sides:
    """Read a corpus of OPUS in its Moses format: two files of lines, without splits."""
    files = {language: folder / f"{name}.{language}" for language in languages}
    return {"train": {language: read_lines(path, max_chars) for language, path in files.items()}}


def _without_merges(line: str) -> str:
    """Return a line of subword-nmt with its words put together again."""
    return line.replace("@@ ", "").removesuffix("@@")


def _wmt(year: int, pair: str, *, splits: Sequence[str] = tuple(SPLITS)) -> HubSource:
    """Return the place of the task of a year on the Hub, whose tables are on its main branch."""
    files = "{config}/{split}-*.parquet"
    return HubSource(f"wmt/wmt{year}", pair, "main", tuple(splits), files)


def _generate_minigerman(_folder: Path, languages: Sequence[str], _max_chars: int) -> Sides:
    """Generate the splits of minigerman."""
    sides: Sides = {}
    for split, examples in minigerman_splits().items():
        texts = {
            "en": [example.english for example in examples],
            "de": [example.german for example in examples],
        }
        numbers = range(1, len(examples) + 1)
        sides[split] = {
            language: TextLines(f"{split}.{language}", texts[language], numbers)
            for language in languages
        }
    return sides


@functools.cache
def minigerman_splits() -> dict[str, list]:
    """Generate the splits of `minigerman`, once per process because it takes seconds."""

    return minigerman.splits()


def _generate_pairs(name: str, _folder: Path, columns: Sequence[str], _max_chars: int) -> Sides:
    """Generate the splits of another generated corpus."""
    record = CORPORA[name]
    sides: Sides = {}
    for split, pairs in _generated_pairs(name).items():
        texts = dict(zip(record.languages, zip(*pairs, strict=True), strict=True))
        sides[split] = {
            column: TextLines(split, list(texts[column]), range(1, len(pairs) + 1))
            for column in columns
        }
    return sides


@functools.cache
def _generated_pairs(name: str) -> dict[str, list]:
    """Generate the splits of `minisummary` or `minidialogue`, once per process."""
    return importlib.import_module(f"repro.generated.{name}").splits()


# We compare with published results on tst2013, so tst2012 chooses the checkpoint and no choice is
# made on the test set.
IWSLT16_SETS = {"tst2013": "test", "tst2012": "dev"}
# The order of prepare-iwslt14.sh in fairseq, whose split most papers use.
IWSLT14_TEST = ("dev2010", "tedx_dev2012", "tst2010", "tst2011", "tst2012")
OPUS_DEV, OPUS_TEST = 10_000, 10_000  # pairs, as many as Voita et al. 2018 hold out
# Your own files may use these names of the IWSLT sets. FLORES has only devtest: its test set is
# not public.
OWN_SETS = {**IWSLT16_SETS, "devtest": "test"}
WIT3 = (
    "Cettolo, Girardi and Federico 2012, WIT3: Web Inventory of Transcribed and Translated Talks, "
    "https://wit3.fbk.eu"
)

WMT_LICENCE = "of its parts: Europarl, Common Crawl and news, free for research"

CNNDM = HubSource("abisee/cnn_dailymail", "3.0.0", columns=articles_and_summaries)
PERSONACHAT = HubSource(
    "bavard/personachat_truecased",
    "full",
    splits=("train", "validation"),
    columns=contexts_and_replies,
)

CORPORA: dict[str, CorpusRecord] = {
    "minigerman": CorpusRecord(
        languages=("en", "de"),
        about="Generated English-German sentences with known trees, alignments and senses.",
        licence="MIT, as this package",
        citation="repro.generated.minigerman",
        read=_generate_minigerman,
        on_leak="error",
    ),
    "minisummary": CorpusRecord(
        languages=("article", "summary"),
        about="Generated English articles of a few sentences, with a headline for the one event.",
        licence="MIT, as this package",
        citation="repro.generated.minisummary",
        read=functools.partial(_generate_pairs, "minisummary"),
        on_leak="error",
        task="summarisation",
    ),
    "minidialogue": CorpusRecord(
        languages=("context", "reply"),
        about="Generated English personas with a question, and the reply that follows from them. "
        "No context occurs twice; replies do.",
        licence="MIT, as this package",
        citation="repro.generated.minidialogue",
        read=functools.partial(_generate_pairs, "minidialogue"),
        task="dialogue",
    ),
    "multi30k": CorpusRecord(
        languages=("en", "de", "fr"),
        about="Translated captions of pictures. The Hub has only English and German, without the "
        "test sets of 2017.",
        licence="CC BY-NC-SA 4.0, for research",
        citation="Elliott et al. 2016, Multi30K; Elliott et al. 2017 (test sets, French), "
        "https://github.com/multi30k/dataset",
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
        about="Sentence pairs of volunteers, mostly short, cut into splits here without leaks. "
        "Pairs that share an English or a German sentence, also through other pairs, are in the "
        "same split. Each direction is cut by itself: test pairs of one may be train pairs of the "
        "other, so do not score round trips on it. The file grows with time: compare fingerprints "
        "before scores.",
        licence="CC BY 2.0 FR, by the contributors of tatoeba.org",
        citation="tatoeba.org, exported by https://www.manythings.org/anki",
        folder="tatoeba-deu-eng",
        read=_read_tatoeba,
        split=lambda columns: leak_free_split(columns, TATOEBA_DEV, TATOEBA_TEST),
        on_leak="error",
        # The cut depends on the text, so training lines keep theirs.
        cleaning=Cleaning(is_published=True, fixes_train=False),
    ),
    "bible": CorpusRecord(
        languages=("en", "de"),
        about="Five German and five English translations of the Bible, paired one to one: about "
        "31,000 verses, each in five renderings, long sentences, partly archaic. 40 chapters are "
        "held out in all translations: half for dev, half for test. Verse numbers of other "
        "editions, and the notes behind some 1,000 verses of Zürcher, are left out.",
        licence="public domain; the Berean Standard Bible CC0",
        citation="translations by Menge 1939, Elberfelder 1905, Textbibel 1906, Zürcher 1931 and "
        "Grünewald 1924 with BSB, ASV 1901, NHEB, ACV and Darby 1890, SWORD modules of "
        "https://github.com/scrollmapper/bible_databases",
        folder="bible-de-en",
        read=_read_bible,
        on_leak="drop",
        checksums={
            "train.en": "b94c9041f4a1f87124189d4f5e76e2871c52adc9d98ce847269c83e53882bf22",
            "train.de": "730881f46f766710a25933eaf053a728f458df719300d40e5f6411a535cd22ab",
            "dev.en": "22a2971b10c937502dd721aa5ead96ea1f1950e91f8a17f807bbe70623af2dcf",
            "dev.de": "4f2eeb1fd9a917ef6bc5d1f64c85d4a994c786b0722a39eb5b9bfcaf249313a5",
            "test.en": "91a99f835589e5b69eaa693766c7ce1077b09a82b8a5e4c90989739bb4e7895f",
            "test.de": "a0df16bb26e08e8ca58c6ef9bbdb9b905bc785b1637669f8e96980a32b9c8093",
        },
    ),
    "docs": CorpusRecord(
        languages=("en", "de"),
        about="Modern technical text, cut into splits by page: descriptions of Debian packages, "
        "the help of LibreOffice 7.4, the manual of PHP.",
        licence="that of each package (DFSG); MPL 2.0; CC BY 3.0",
        citation="Debian Description Translation Project; LibreOffice help; PHP documentation, "
        "https://github.com/php/doc-de",
        folder="docs-de-en",
        on_leak="drop",
        checksums={
            "train.en": "d6908162b0c7429c49871c64475cf1eeec8fe67a1f85d10bbaef3e84ae4c04b9",
            "train.de": "e4eb2b62aeb5eb3060f01b8e01c2aa9c57c2e8d368b5ce399a7713fa17596c4d",
            "dev.en": "b158e00eb1aba10b3a2d0abac2fff6794d3d3853b2c71caeea838d10f8334a66",
            "dev.de": "58ff4c70eafd6049a1b7745dfd81cf1abf99e4c9e534ca4e20e2ccaf20d997ec",
            "test.en": "0b788adc84635fe8a47e24fc7c0e5c89fb4d331abb54fca13c8df1b3fbdeea52",
            "test.de": "063dd2ab71301339b76f27e9c041455ec7eafcb57cfc0ae44f4a046e99200bb6",
        },
    ),
    "enja": CorpusRecord(
        languages=("en", "ja"),
        about="Short sentences of the Tanaka corpus, kept as published: tokenised, the English in "
        "lower case. Scores are on tokens, and comparable only with others on this corpus.",
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
    "wmt-news": CorpusRecord(
        languages=("de", "en"),
        about="News test sets of WMT from 2008 to 2020, to score models of other corpora on: "
        "`--split wmt-news:newstest2014`. test is newstest2014 and dev newstest2013, as in most "
        "papers. References are scored as published.",
        licence="WMT, for research",
        citation="Bojar et al. 2014, Findings of WMT14, and later years; "
        "https://github.com/Helsinki-NLP/OPUS-MT-testsets",
        folder="wmt-news-de-en",
        renamed={"newstest2014": "test", "newstest2013": "dev"},
        is_test_only=True,
    ),
    "tatoeba-test": CorpusRecord(
        languages=("de", "en"),
        about="The Tatoeba test set of OPUS-MT (v2021-08-07) without the pairs of which either "
        "side is in tatoeba: an outside yardstick for its models, `--split tatoeba-test:test`.",
        licence="CC BY 2.0 FR, by the contributors of tatoeba.org",
        citation="Tiedemann 2020, The Tatoeba Translation Challenge, "
        "https://github.com/Helsinki-NLP/OPUS-MT-testsets",
        folder="tatoeba-test-de-en",
        read=_read_tatoeba_test,
        is_test_only=True,
    ),
    "iwslt14": CorpusRecord(
        languages=("de", "en"),
        about="TED talks, in the split of 160,239 / 7,283 / 6,750 pairs that most papers use. "
        "Without the corpus, test is joined from the sets of iwslt16, with its case and spacing; "
        "the sides of one of them, tedx_dev2012, are shifted over some 70 segments as published.",
        licence="CC BY-NC-ND 4.0 (TED)",
        citation=f"Cettolo et al. 2014, IWSLT evaluation campaign; {WIT3}",
        folder="iwslt14",
        hub=HubSource("bbaaaa/iwslt14-de-en"),
        test_sets=("iwslt16", IWSLT14_TEST),
    ),
    "iwslt15-en-vi": CorpusRecord(
        languages=("en", "vi"),
        about="TED talks, as cut and tokenised for Luong and Manning: dev is tst2012, test is "
        "tst2013.",
        licence="CC BY-NC-ND 4.0 (TED)",
        citation="Luong and Manning 2015, Stanford NMT systems for spoken language domains; "
        f"{WIT3}",
        folder="iwslt15-en-vi",
        hub=HubSource("thainq107/iwslt2015-en-vi"),
    ),
    "iwslt16": CorpusRecord(
        languages=("de", "en"),
        about="TED talks. test is tst2013, which You et al. 2020 report; dev is tst2012; the "
        "other sets keep their names. As published, the sides of tedx_dev2012 are shifted by one "
        "segment over some 70 segments: do not score on it.",
        licence="CC BY-NC-ND 4.0 (TED)",
        citation=f"Cettolo et al. 2016, IWSLT evaluation campaign; {WIT3}",
        folder="ted-en-de",
        renamed=IWSLT16_SETS,
        # All stored results were made with cleaned references.
        cleaning=Cleaning(is_published=True, cleans_references=True),
        train_files=("train.tags.de-en.de", "train.tags.de-en.en"),
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
    "iwslt14-fairseq": CorpusRecord(
        languages=("de", "en"),
        about="The same talks as `prepare-iwslt14.sh` of fairseq writes them: tokenised, in lower "
        "case, cut into train, valid and test. Its merges are undone, and subwords learned here. "
        "Scores are on tokens, and comparable only with others on this cut.",
        licence="CC BY-NC-ND 4.0 (TED)",
        citation=f"Cettolo et al. 2014, IWSLT evaluation campaign; {WIT3}; cut by "
        "https://github.com/facebookresearch/fairseq",
        folder="iwslt14.tokenized.de-en",
        prepare=_without_merges,
    ),
    "wmt14-en-de": CorpusRecord(
        languages=("en", "de"),
        about="Parliament, web pages and news commentary, 4.5 million pairs; dev is newstest2013, "
        "test is newstest2014.",
        licence=WMT_LICENCE,
        citation="Bojar et al. 2014, Findings of WMT14, https://www.statmt.org/wmt14",
        folder="wmt14-en-de",
        hub=_wmt(14, "de-en"),
    ),
    "wmt14-en-fr": CorpusRecord(
        languages=("en", "fr"),
        about="As wmt14-en-de, with the United Nations: 41 million pairs. You et al. 2020 take "
        "Europarl and Common Crawl alone.",
        licence=WMT_LICENCE,
        citation="Bojar et al. 2014, Findings of WMT14, https://www.statmt.org/wmt14",
        folder="wmt14-en-fr",
        hub=_wmt(14, "fr-en"),
    ),
    "wmt17": CorpusRecord(
        languages=("en", "tr", "fi", "lv", "de", "ru", "cs"),
        about="English with one other language at a time; dev is newstest2016 (Latvian: "
        "newsdev2017), test is newstest2017.",
        licence=WMT_LICENCE,
        citation="Bojar et al. 2017, Findings of WMT17, https://www.statmt.org/wmt17",
        folder="wmt17",
        hub=_wmt(17, "{other}-en"),
    ),
    "wmt19-de-en": CorpusRecord(
        languages=("de", "en"),
        about="The whole task, 35 million pairs with ParaCrawl; dev is newstest2018. Test sets are "
        "in wmt-news: `--split wmt-news:newstest2019`. Raganato et al. 2020 train on 2.9 and 11.5 "
        "million of these pairs: `data.train_pairs`.",
        licence=WMT_LICENCE,
        citation="Barrault et al. 2019, Findings of WMT19, https://www.statmt.org/wmt19",
        folder="wmt19-de-en",
        hub=_wmt(19, "de-en", splits=("train", "validation")),
    ),
    "opensubtitles-en-ru": CorpusRecord(
        languages=("en", "ru"),
        about="Subtitles of films, in the Moses format of OPUS, cut into splits here without "
        "leaks. Voita et al. 2019 keep 6 million pairs whose frames overlap by 0.9 in time; the "
        "text alone does not say which.",
        licence="OPUS, for research; the texts are of opensubtitles.org",
        citation="Lison, Tiedemann and Kouylekov 2018, OpenSubtitles2018, "
        "https://opus.nlpl.eu/OpenSubtitles-v2018.php",
        folder="opensubtitles-en-ru",
        read=functools.partial(_read_opus, "OpenSubtitles.en-ru"),
        split=lambda columns: leak_free_split(columns, OPUS_DEV, OPUS_TEST),
        on_leak="error",
        cleaning=Cleaning(is_published=True, fixes_train=False),
        train_files=("OpenSubtitles.en-ru.en", "OpenSubtitles.en-ru.ru"),
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
        about="News with the highlights that their editors wrote, not anonymised. The first 400 "
        "words of an article are read, as See et al. 2017 do; the highlights are one line.",
        licence="Apache 2.0 for the collection; the texts are the publishers'",
        citation="Hermann et al. 2015; See, Liu and Manning 2017, Get To The Point, "
        "https://huggingface.co/datasets/abisee/cnn_dailymail",
        folder="cnndm",
        read=functools.partial(read_parquet_folder, CNNDM),
        hub=CNNDM,
        task="summarisation",
    ),
    "personachat": CorpusRecord(
        languages=("context", "reply"),
        about="Chats of people who play a persona, with case and usual punctuation. A context is "
        "the persona and the last three turns. Test is the public validation set; dev is the last "
        "twentieth of the training conversations, whose personas may also occur in train.",
        licence="CC BY 4.0",
        citation="Zhang et al. 2018, Personalizing Dialogue Agents, "
        "https://huggingface.co/datasets/bavard/personachat_truecased",
        folder="personachat",
        read=functools.partial(read_parquet_folder, PERSONACHAT),
        hub=PERSONACHAT,
        task="dialogue",
    ),
}

CORPORA["multi30k-lc"] = replace(
    CORPORA["multi30k"],
    about="Multi30k in lower case, as most published systems read it. Its scores are comparable "
    "only with other lower-cased scores.",
    checksums={},
    prepare=str.lower,
    cased="multi30k",
)

CORPORA["general"] = CorpusRecord(
    languages=("en", "de"),
    about="Tatoeba, captions, technical text and the Bible together. Dev and test are 500 pairs of "
    "each; test_tatoeba and so on are the whole test sets. Training pairs that share a sentence "
    "with a held-out pair of any part are left out. Directions differ as those of tatoeba do.",
    licence="those of tatoeba, multi30k, docs and bible",
    citation="tatoeba, multi30k, docs and bible, which see",
    parts=("tatoeba", "multi30k", "docs", "bible"),
    on_leak="drop",
)

GENERATED = tuple(
    name for name, record in CORPORA.items() if record.folder is None and not record.parts
)
"""The corpora generated here: no paper has scores on them."""
