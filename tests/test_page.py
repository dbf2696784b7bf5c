"""The page of `repro page`: one file that holds all it needs, and a worker that answers."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command_line import refused, run
from engine_in_node import NODE, exported

from repro.analysis.reading import read
from repro.core.decoding import SearchConfig
from repro.core.numbering import FIRST
from repro.page.bundle import FOLDER, bundle
from repro.page.page import ANY_EXAMPLE, EXAMPLES, page_html
from repro.runs import gallery

SCRIPT = Path(__file__).with_name("run_page.mjs")
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


def test_a_later_question_ends_a_measurement(page):
    request = ask("translate", SENTENCE, changes=[], attention=False)
    kinds = [answer["kind"] for answer in answers(page, LOAD, ask("losses", SENTENCE), request)]
    assert kinds == ["loaded", "loss", "translation"]


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


def test_the_page_with_captions_is_small():
    html = page_html({"multi30k-base": gallery.load("multi30k-base")})
    assert len(html.encode()) < 6_000_000


def test_every_script_is_bundled_with_what_it_imports_first():
    for path in [*(FOLDER / "engine").rglob("*.js"), *(FOLDER / "front").glob("*.js")]:
        text = bundle(path.relative_to(FOLDER).as_posix())
        assert not re.findall(r"^(?:import|export)\b", text, re.M), path
        assert "</script" not in text
        defined: set[str] = set()
        for name, used in re.findall(r"^modules\['(.+?)'\] =|modules\['(.+?)'\]", text, re.M):
            assert not used or used in defined, path
            defined.add(name)


def test_every_corpus_of_the_gallery_has_sentences_to_begin_with():
    corpora = {gallery.load(name).config.data.corpus for name in gallery.names()}
    assert corpora == set(EXAMPLES) and ANY_EXAMPLE


def test_the_command_writes_a_page_and_writes_it_again(tmp_path, capsys):
    out = tmp_path / "heads.html"
    for _ in range(2):
        (line,) = run(capsys, "page", "gallery/base", "--out", str(out))
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
