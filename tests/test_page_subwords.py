"""The page's engine cuts text into subwords as sentencepiece does, and joins them again."""

import gzip
import random

import pytest
from engine_in_node import exported, run_engine

from repro.core.batches import mark_source
from repro.core.config import DataConfig, ModelConfig
from repro.core.subwords import PAD_ID, Subwords
from repro.core.transformer import Transformer
from repro.data.characters import clean_line
from repro.data.corpora import prepare_lines
from repro.page.export import file_of

MODELS = ("base", "multi30k-base")  # whose subwords are of the forms `nfkc` and `exact`

LINES = [
    "",
    "   ",
    "A dog sleeps.",
    "  two   blanks\tand a tab  ",
    "\u00a0no-break\u00a0space and \u3000ideographic\u3000",
    "a ▁ real mark, ▁▁ and </s> <s> <unk> <pad>",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich",
    "Zwo\u0308lf in pieces, e\u0301 and \u212b",
    "ﬁne ligatures, ｆｕｌｌ ｗｉｄｔｈ, … ½ № ① ㌔",  # noqa: RUF001
    "👩‍👩‍👧 emoji 😀😀 🏳️‍🌈 and 🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "日本語の文を読みます。 彼は犬が好きだ。",
    "מימין לשמאל \u202eright to left\u202c and \u200fmarks\u200e",
    "<b>markup</b> &amp; \u003cscript\u003ealert(1)\u003c/script\u003e",
    "control \x00\x07 characters, line\u2028breaks\x85and\x1cseparators",
    "zero\u200bwidth \ufeffmarks \u00adand soft hyphens",
    "ภาษา\u200bไทย\u200bคำ",
    "نمی\u200cخواهم",  # noqa: RUF001
    "\ufdd0 noncharacters \uffff \U0001ffff and \ufffd",
    "a" * 300,
    "qsssq qlll qtttttq qeee",  # of overlapping pairs the leftmost is joined
    "Don't — “quote” ‘single’ 1,234.56 %",  # noqa: RUF001
]


def made_up(count: int) -> list[str]:
    """Return lines of random characters from blocks that normalisation changes."""
    random.seed(1)
    blocks = [(32, 126), (160, 591), (768, 879), (0x2000, 0x2FFF), (0x3000, 0x33FF)]
    blocks += [(0xAC00, 0xAC80), (0xF900, 0xFB4F), (0xFE70, 0xFFEF), (0x1F300, 0x1F6FF)]
    return [
        "".join(chr(random.randint(*random.choice(blocks))) for _ in range(random.randint(1, 30)))
        for _ in range(count)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


def check_encoding(name: str, folder, lines: list[str]) -> None:
    path, translator = exported(name, folder)
    expected = translator.encode(lines)
    found = run_engine(path, *(("encode", {"sentence": line}) for line in lines))
    wrong = [case for case in zip(lines, found, expected, strict=True) if case[1] != case[2]]
    assert not wrong, wrong[:3]


@pytest.mark.parametrize("name", MODELS)
def test_lines_of_every_kind_are_cut_as_sentencepiece_cuts_them(name, folder):
    check_encoding(name, folder, LINES + made_up(400))


@pytest.mark.real_data
@pytest.mark.parametrize("name", MODELS)
def test_two_thousand_real_lines_are_cut_as_sentencepiece_cuts_them(name, folder, real_data):
    check_encoding(name, folder, real_lines(real_data))


def real_lines(folder) -> list[str]:
    """Return 2,000 lines: captions, Tatoeba, Bible, manuals, Japanese, and lines with emoji."""

    def lines(path: str, count: int) -> list[str]:
        data = (folder / path).read_bytes()
        text = gzip.decompress(data) if path.endswith(".gz") else data
        found = text.decode().split("\n")[1 : 100 * count]
        return found[:: max(1, len(found) // count)][:count]

    found = lines("multi30k/test_2016_flickr.en.gz", 300)
    found += lines("multi30k/test_2016_flickr.de.gz", 200)
    found += lines("tatoeba-test-de-en/clean-against-2018-export.de", 300)
    found += lines("tatoeba-deu-eng/deu.txt", 200)
    found += lines("bible-de-en/test.tsv.gz", 300)
    found += lines("docs-de-en/test.tsv.gz", 300)
    found += lines("small_parallel_enja/test.ja", 300)
    captions = gzip.decompress((folder / "multi30k/train.en.gz").read_bytes()).decode().split("\n")
    found += [line for line in captions if any(ord(letter) > 0x2FFF for letter in line)]
    found += [
        f"{line} {emoji}" for line, emoji in zip(found[:100], "😀👍🏽🐶🇩🇪" * 30, strict=False)
    ]
    assert len(found) >= 2000
    return found[-2000:]


@pytest.mark.parametrize("name", MODELS)
def test_lines_are_cleaned_as_those_of_the_corpus(name, folder):
    path, translator = exported(name, folder)
    lines = LINES + made_up(100)
    expected = translator.prepare(lines)
    assert run_engine(path, *(("prepare", {"sentence": line}) for line in lines)) == expected


@pytest.mark.parametrize("name", MODELS)
def test_ids_become_the_text_that_sentencepiece_makes_of_them(name, folder):
    path, translator = exported(name, folder)
    random.seed(2)
    size = len(translator.subwords)
    rows = [[random.randrange(size) for _ in range(random.randint(0, 9))] for _ in range(300)]
    expected = translator.subwords.decode(rows)
    assert run_engine(path, *(("decode", {"ids": row}) for row in rows)) == expected


@pytest.mark.parametrize("name", MODELS)
def test_unknown_characters_are_found(name, folder):
    path, translator = exported(name, folder)
    found = run_engine(path, *(("unknown", {"sentence": line}) for line in LINES))
    expected = [translator.subwords.unknown_characters([clean_line(line)]) for line in LINES]
    assert [sorted(row) for row in found] == [sorted(counts) for counts in expected]


@pytest.fixture(scope="module")
def bytes_model(folder):
    """Return a model file whose subwords spell rare characters in bytes, and the subwords."""
    rare = ["".join(chr(0x4E00 + 20 * i + k) for k in range(20)) for i in range(20)]
    subwords = Subwords.fit(["Der Hund bellt, die Katze schläft."] * 30_000 + rare, 330)
    assert subwords.has_bytes
    config = ModelConfig(encoder_layers=1, decoder_layers=1, embed_dim=8, ffn_dim=8, num_heads=2)
    model = Transformer(config, len(subwords), PAD_ID, subwords.starts_word())
    data = DataConfig(corpus="multi30k-lc")
    path = folder / "bytes.bin"
    path.write_bytes(file_of(model, subwords, data, None, "bytes"))
    return path, subwords


def test_rare_characters_are_spelled_in_bytes_and_put_together_again(bytes_model):
    path, subwords = bytes_model
    lines = LINES + made_up(100)
    found = run_engine(path, *(("encode", {"sentence": line}) for line in lines))
    ids = subwords.encode(prepare_lines("multi30k-lc", lines))
    assert found == [mark_source(row, True) for row in ids]
    random.seed(4)
    rows = ids + [[random.randrange(4, 280) for _ in range(12)] for _ in range(200)]
    assert run_engine(path, *(("decode", {"ids": row}) for row in rows)) == subwords.decode(rows)
