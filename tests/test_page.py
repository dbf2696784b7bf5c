"""The page of `repro page`: one file that holds all it needs, and a worker that answers."""

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import refused, run
from engine_in_node import NODE, exported

from repro.analysis.reading import read
from repro.core.config import DataConfig
from repro.core.decoding import SearchConfig
from repro.core.numbering import FIRST
from repro.data.corpora import load_once
from repro.page.bundle import FOLDER, bundle
from repro.page.examples import SHOWN, Sentence, sentences_for
from repro.page.page import KINDS, page_html
from repro.page.stored import claims_drawn, head_facts, pruned_models
from repro.papers import PAPERS
from repro.records.schema import kind_of
from repro.records.stored import load_records, score_of
from repro.runs import gallery
from repro.runs.naming import run_name, system_of

SCRIPT = Path(__file__).with_name("run_page.mjs")
RESULTS = Path(__file__).resolve().parents[1] / "results"
SENTENCE = "The old teacher sees the small dog in the garden."


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(page_html({"base": gallery.load("base")}), encoding="utf-8")
    return path


def in_node(*arguments: str, given: str = "") -> str:
    if NODE is None:
        pytest.skip("node is not installed: the page's scripts are not run")
    command = [NODE, str(SCRIPT), *arguments]
    done = subprocess.run(command, input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def answers(page: Path, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the worker of a page answers to messages that are sent at once."""
    printed = in_node("worker", str(page), given=json.dumps(messages))
    return [json.loads(line) for line in printed.rstrip("\n").split("\n")]


def ask(kind: str, sentence: str, **rest: Any) -> dict[str, Any]:
    return {"kind": kind, "ticket": "t 1", "name": "base", "sentence": sentence} | rest


LOAD = {"kind": "load", "name": "base", "number": 0}


def test_states_are_undone_and_links_hold_them():
    in_node("state")


def test_layers_and_heads_have_the_numbers_of_python():
    names = (FOLDER / "engine" / "heads.js").read_text()
    assert f"const FIRST = {FIRST};" in names


def test_the_worker_of_the_page_reads_a_sentence_as_python_does(page, tmp_path):
    _, translator = exported("base", tmp_path)
    reading = read(translator, SENTENCE, SearchConfig(beam=1))
    request = ask("translate", SENTENCE, changes=[], attention=True)
    loaded, translation, attention = answers(page, LOAD, request)
    assert loaded["kind"] == "loaded" and len(loaded["heads"]) == 24
    words = [(word.text, pytest.approx(word.probability, abs=1e-3)) for word in reading.words]
    assert [(word["text"], word["probability"]) for word in translation["words"]] == words
    assert (translation["unknown"], translation["strange"]) == ([], [])
    assert len(attention["source"]) == len(reading.source)
    assert len(attention["target"]) == len(attention["written"]) == len(reading.target)


def test_the_worker_measures_all_heads_but_those_that_are_known(page):
    known = ["encoder_self.0.0", "cross.1.3"]
    *found, end = answers(page, LOAD, ask("losses", SENTENCE, known=known))[1:]
    assert end["kind"] == "losses" and len(found) == 22
    assert not {answer["key"] for answer in found} & {*known}
    assert max(answer["nats"] for answer in found) > 0.1


def test_questions_are_answered_while_heads_are_measured(page):
    request = ask("translate", SENTENCE, changes=[], attention=False)
    kinds = [answer["kind"] for answer in answers(page, LOAD, ask("losses", SENTENCE), request)]
    assert kinds[:3] == ["loaded", "loss", "translation"]
    assert (kinds.count("loss"), kinds[-1]) == (24, "losses")


def test_another_measurement_ends_the_one_before(page):
    again = ask("losses", "The dog sees a man.", ticket="t 2")
    found = answers(page, LOAD, ask("losses", SENTENCE), again)
    tickets = [answer["ticket"] for answer in found if answer["kind"] == "loss"]
    assert tickets == ["t 1"] + 24 * ["t 2"]
    assert [answer["ticket"] for answer in found if answer["kind"] == "losses"] == ["t 2"]


def test_heads_are_pruned_in_an_order(page):
    order = ["encoder_self.0.0", "cross.1.0", "decoder_self.1.1"]
    *found, end = answers(page, LOAD, ask("prune", SENTENCE, order=order))[1:]
    assert end["kind"] == "allPruned"
    assert [answer["count"] for answer in found] == [0, 1, 2, 3]
    assert found[0]["nats"] == 0 and found[0]["text"]


def test_a_step_is_told_in_words(page):
    request = ask("step", SENTENCE, changes=[], head="decoder_self.0.1", time=2)
    found = answers(page, LOAD, request)[1]
    assert (found["kind"], found["time"]) == ("step", 2)
    assert found["attended"] == found["target"][:3] and found["attended"][0] == "(start)"
    assert len(found["rows"]) == 3 and len(found["next"]) == 5
    late = answers(page, LOAD, request | {"time": 99})[1]
    assert late["time"] == len(late["target"]) - 1


@pytest.mark.parametrize(
    "sentence, message",
    [
        ("", "Type a sentence"),
        (" \u200b\u202e\t", "Type a sentence"),
        ("dog " * 2000, "too long for one sentence"),
        ("dog " * 400, "The sentence has 401 pieces; this page reads 250"),
    ],
)
def test_the_worker_refuses_in_words(page, sentence, message):
    _, answer = answers(page, LOAD, ask("translate", sentence, changes=[], attention=True))
    assert answer["kind"] == "refused" and message in answer["message"]


def test_what_is_strange_is_told(page):
    request = ask("translate", "The 😀 <b>xylophones</b> \ud83d.", changes=[], attention=False)
    _, answer = answers(page, LOAD, request)
    assert "😀" in answer["unknown"]
    assert any("xylophones" in strange["word"] for strange in answer["strange"])
    ends = ask("translate", "The xylophones!", changes=[], attention=False)
    ((strange,),) = [answer["strange"] for answer in answers(page, LOAD, ends)[1:]]
    assert strange["word"] == "xylophones" == "".join(strange["pieces"])


@pytest.mark.parametrize("text", ["", "AAAA", "no base64!"])
def test_a_model_that_cannot_be_unpacked_is_named(page, text):
    (answer,) = answers(page, LOAD | {"text": text})
    assert answer["message"] == "the model file is cut short or damaged"


def test_the_page_asks_nothing_of_other_machines(page):
    html = page.read_text(encoding="utf-8")
    assert "default-src 'none'" in html
    outside = set(re.findall(r"https?://[\w./]+", html))
    assert outside <= {"http://www.w3.org/2000/svg"}  # the name of a format, not an address
    assert not re.findall(r"<(?:link|img|iframe)\b|\bsrc=", html.partition("<script")[0])


def test_only_the_first_model_stands_before_the_script_that_starts_the_page():
    html = page_html({name: gallery.load(name) for name in ("base", "hc-sa")})
    first, second = (html.index(f'data-model="{name}"') for name in ("base", "hc-sa"))
    assert first < html.index("start(document)") < second


def test_the_page_has_letters_of_ascii_alone():
    """Others would double what a browser keeps of it, and the time to decode it."""
    assert page_html({"Grün → 🐕": gallery.load("hc-sa")}, RESULTS).isascii()


def test_the_page_with_captions_is_small():
    html = page_html({"multi30k-base": gallery.load("multi30k-base")})
    assert len(html.encode()) < 6_000_000


def test_the_page_with_the_whole_gallery_is_small():
    runs = {name: gallery.load(name) for name in gallery.names()}
    assert len(page_html(runs, RESULTS).encode()) < 16_000_000


def test_every_script_is_bundled_with_what_it_imports_first():
    for path in [*(FOLDER / "engine").rglob("*.js"), *(FOLDER / "front").glob("*.js")]:
        text = bundle(path.relative_to(FOLDER).as_posix())
        assert not re.findall(r"^(?:import|export)\b", text, re.M), path
        assert "</script" not in text
        defined: set[str] = set()
        for name, used in re.findall(r"^modules\['(.+?)'\] =|modules\['(.+?)'\]", text, re.M):
            assert not used or used in defined, path
            defined.add(name)


def test_scripts_use_what_they_import_and_are_within_100_columns():
    for path in [*(FOLDER / "engine").rglob("*.js"), *(FOLDER / "front").glob("*.js")]:
        text = path.read_text(encoding="utf-8")
        for names in re.findall(r"^import \{([^}]*)\}", text, re.M):
            for name in filter(None, re.split(r",\s*|\s+", names.strip())):
                assert len(re.findall(rf"\b{name}\b", text)) > 1, (path, name)
        assert max(map(len, text.split("\n"))) <= 100, path


def test_every_model_of_the_gallery_has_sentences_to_begin_with():
    for name in gallery.names():
        data = gallery.load(name).config.data
        sentences = sentences_for(data)
        assert len({sentence.source for sentence in sentences}) >= 3
        assert all(sentence.reference for sentence in sentences) == (data.corpus == "minigerman")
    assert len(sentences_for(replace(data, corpus="tatoeba", source="de", target="en"))) == 1


def test_the_generated_sentences_are_of_the_test_set_and_differ():
    corpus = load_once("minigerman", "en", "de")
    pairs = set(zip(*corpus.pairs("test", "en", "de"), strict=True))
    english, german = DataConfig(), replace(DataConfig(), source="de", target="en")
    shown = sentences_for(english)
    assert set(shown) <= pairs and len(shown) == len(SHOWN)
    assert sentences_for(german) == [Sentence(*sentence[::-1]) for sentence in shown]


def test_what_is_on_record_of_heads_is_the_records():
    run = gallery.load("base")
    path = RESULTS / "minigerman.en-de" / "heads" / f"{run_name(run.config)}.json"
    record = json.loads(path.read_text())
    found = head_facts(run, [{"kind": "heads", "run": "other"}, record])
    assert found["factsOver"] == record["measured"]["sentences"]
    assert len(found["facts"]) == 24
    site = record["sites"]["cross"]
    assert found["facts"]["cross.1.2"] == {
        "roles": site["roles"][1][2],
        "confidence": site["confidence"][1][2],
        "relevance": site["relevance"][1][2],
    }
    assert head_facts(run, []) == {}


def test_the_claims_of_the_page_are_the_stored_verdicts(tmp_path):
    drawn = claims_drawn(RESULTS)
    assert [paper["name"] for paper in drawn["papers"]] == list(PAPERS)
    stored = json.loads((RESULTS / "claims" / "tatoeba.json").read_text())["verdicts"]
    values = {
        float(f"{condition['value']:.4g}")
        for verdict in stored.values()
        for condition in verdict["conditions"]
        if "value" in condition
    }
    rows = [
        row["score"]["value"]
        for paper in drawn["papers"]
        for group in paper["groups"]
        for effect in group["effects"]
        for row in effect["rows"]
        if row["label"] == "tatoeba" and row["score"]
    ]
    assert len(rows) > 20 and set(rows) <= values
    assert claims_drawn(tmp_path) == {}


def test_the_pruned_models_of_the_page_are_the_stored_ones():
    records = load_records(RESULTS, None, {"minigerman"})
    series = pruned_models(records)
    assert len(series) == sum(kind_of(record) == "pruning" for record in records) > 0
    scores = {
        (
            round(score_of(record, "BLEU")["value"], 2),
            round(record["training"]["best_dev_nll"], 3),
        )
        for record in records
        if kind_of(record) == "scores"
    }
    for each in series:
        heads = [model["heads"] for model in each["models"]]
        assert heads == sorted(heads) and heads[-1] == each["heads"] == 48
        assert {(model["bleu"], model["nats"]) for model in each["models"]} <= scores
        for model in each["models"]:
            kept = {site: [len(layer) for layer in model["kept"][site]] for site in model["kept"]}
            assert sum(map(sum, kept.values())) == model["heads"]
        assert kept == each["layers"]  # the last one has all of them


def test_every_system_of_the_gallery_is_told_in_words():
    systems = {system_of(gallery.load(name).config.model) for name in gallery.names()}
    assert systems == set(KINDS)


def test_the_command_writes_a_page_and_writes_it_again(tmp_path, capsys):
    out = tmp_path / "heads.html"
    for _ in range(2):
        where = ("--out", str(out), "--results", str(tmp_path / "none"))
        (line,) = run(capsys, "page", "gallery/base", *where)
        assert re.fullmatch(rf"{re.escape(str(out))}  \d\.\d MB", line)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("gallery/base", "--out", "page.txt"), "is not the name of a page"),
        (("gallery/base", "gallery/base"), "a model is named twice"),
        (("gallery/nothing",), "there is no model 'nothing'"),
        (("gallery/base", "--out", "mine.html"), "was not written by this command"),
        (("gallery/base", "--out", "folder.html"), "is a folder"),
    ],
)
def test_the_command_refuses_in_one_line(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("mine.html").write_text("<p>mine</p>")
    Path("folder.html").mkdir()
    assert message in refused(capsys, "page", *arguments)[1]
    assert Path("mine.html").read_text() == "<p>mine</p>"
