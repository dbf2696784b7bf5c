"""Every example on a page of `--help` runs, in a folder such as its reader has.

One trains every experiment of every paper: `make examples` runs it, in minutes.
"""

import re
import shlex
import shutil
from importlib.util import find_spec
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from command_line import ended
from few_pairs import few_pairs
from made_submissions import RIGHT, WRONG, write_notebook
from test_variants_in_files import ALIBI
from test_written_commands import parsed
from tiny_runs import tiny

from repro.__main__ import cli
from repro.claims import settings
from repro.claims.evidence import Evidence
from repro.measures.scores import evaluate_run
from repro.papers import find_experiments
from repro.papers.runner import Plan, plan
from repro.papers.verdicts import claims_of
from repro.presets import resolve
from repro.records.stored import load_record, load_records, publish
from repro.runs.run import Run
from repro.runs.train import train
from repro.scales import SCALES, load_scale
from repro.verify.verify import verify_records

ROOT = Path(__file__).parents[1]
EXAMPLES = {
    name: re.findall(r"^ +(repro .*?)(?:  +[^ ].*)?$", command.help or "", re.MULTILINE)
    for name, command in [("", cli), *cli.commands.items()]
}
EVERYTHING = "repro run all --scale my.toml --results mine"
EXPORT = "repro export gallery/base --out base-ct2"
COMET = "def comet(sources, translations, references):\n    return len(translations)\n"
NEEDED = {
    "repro runs first --json": ["repro runs base --name first"],
    "repro runs first --delete --yes": ["repro runs base --name first"],
    "repro data local:plain --direction en-fr": [
        "repro split fra.txt --direction en-fr --out plain"
    ],
    "repro data local-drop-leaks:plain --direction en-fr": [
        "repro split fra.txt --direction en-fr --out plain"
    ],
    "repro verify --results mine": ["repro evaluate base --record mine"],
}
FILES = {
    "sentences.en": "The old man sees a dog.\n",
    "news.en": "The old man sees a dog.\n",
    "news.de": "Der alte Mann sieht einen Hund.\n",
    "fra.txt": "".join(f"Dog number {n}.\tChien numéro {n}.\n" for n in range(2_100)),
    "my.py": f"{ALIBI}\n\n{COMET}",
    "my.toml": (
        'base = "smoke"\ndata.corpus = "local:text"\ntrain.max_updates = 2\ntrain.warmup = 1\n'
    ),
    "data/word-align-gold/bicici-europarl-de-en/test.de": "der hund\nein alter mann\n",
    "data/word-align-gold/bicici-europarl-de-en/test.en": "the dog\nan old man\n",
    "data/word-align-gold/bicici-europarl-de-en/de-en.wa": "0-0 1-1\n0-0 1-1 2-2\n",
    "data/mucow-de-en/de-en.text.txt": "Das Schloss ist alt.\nEr sitzt auf der Bank.\n",
    "data/mucow-de-en/de-en.ref.txt": "The castle is old.\nHe sits on the bench.\n",
    "data/mucow-de-en/de-en.key.txt": (
        "1\tted\tSchloss\tcastle\tlock\n2\ttatoeba\tBank\tbench\tbank\n"
    ),
}
LINES = [line for lines in EXAMPLES.values() for line in lines]


def check_everything(page):
    experiments = [experiment for _, experiment in find_experiments("all")]
    evidence = Evidence(load_scale("my.toml"), load_records(Path("mine"), None))
    assert plan(experiments, evidence, 1) == Plan([], [], [], [])
    assert not verify_records(Path("mine")).faults
    assert page.split() == ["reports/run.html", "reports/run.md"]
    report = Path("reports/run.md").read_text()
    for paper, experiment in find_experiments("all"):
        assert f"\n`{paper.name}.{experiment.name}`\n" in report
    assert {claim.name for claim in claims_of()} <= {*re.findall(r"^\| (\w-\w+) \|", report, re.M)}


def check_record(page):
    (path,) = Path("results").rglob(Path(page.split()[-1]).name)
    record = load_record(path)
    assert record["kind"] == "alignments" and record["gold"]["sentences"] == 2


def check_smaller_models(page):
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    assert [row[0] for row in rows[2:]] == ["all", "6", "4"]
    whole, *smaller = [Run.find(row[-1]) for row in rows[2:]]
    for run in smaller:
        run.check_finished()
        assert run.path != whole.path and run.config.train.cut_from


def check_export(page):
    assert {path.name for path in Path("base-ct2").iterdir()} >= {"model.bin", "README.txt"}


def check_points(page):
    header, *rows = Path("points.csv").read_text().splitlines()
    assert header.startswith("submission,points,of,")
    assert [row.split(",")[:3] for row in rows] == [["ann", "4", "4"], ["bob", "2", "4"]]
    assert "bob  2 of 4  split_heads: only_reshaped" in page


WRITTEN = {
    EVERYTHING: check_everything,
    "repro prune base --heads 6 --heads 4 --sites encoder": check_smaller_models,
    "repro measure base alignments --record results": check_record,
    EXPORT: check_export,
    "repro grade submissions --tutorial 01 --csv points.csv": check_points,
}


def test_every_page_has_an_example():
    assert [name for name, lines in EXAMPLES.items() if not lines] == []
    assert WRITTEN.keys() <= {*LINES}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Return a folder with files, two runs of seconds, records of theirs and stored ones."""
    folder = tmp_path_factory.mktemp("lab")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    shutil.copytree(few_pairs().removeprefix("local:"), folder / "text")
    for path in (folder / "text").glob("dev.*"):  # every head is measured on each of its sentences
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:3]))
    (folder / "submissions").mkdir()
    write_notebook(folder / "submissions/ann.ipynb", [RIGHT])
    write_notebook(folder / "submissions/bob.ipynb", [RIGHT, WRONG])
    stored = folder / "results/multi30k.en-de"
    stored.mkdir(parents=True)
    for name in ("base-seed[12]-*", "hc-sa-seed[12]-*", "references"):
        for split in ("test", "test_2017_flickr"):
            for path in (ROOT / "results/multi30k.en-de").glob(f"{name}.{split}.*"):
                shutil.copy(path, stored)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SCALES, "smoke", tiny())
        for system in ("base", "hc-sa"):
            run = train(resolve("smoke", system), folder / "runs", quiet=True)
            publish(evaluate_run(run), folder / "results")
    return folder


@pytest.fixture(autouse=True)
def asked_anew():
    """Keep configurations of the tiny `smoke` of these tests from others, and others from these."""
    settings._config.cache_clear()
    yield
    settings._config.cache_clear()


def test_the_example_that_takes_minutes_can_be_typed(lab, monkeypatch):
    monkeypatch.chdir(lab)
    assert parsed(EVERYTHING).info_name == "run"


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(line, marks=pytest.mark.minutes if line == EVERYTHING else (), id=line)
        for line in LINES
    ],
)
def test_an_example_does_what_its_page_says(
    line, lab, tmp_path, monkeypatch, capsys, quick_workers
):
    if line == EXPORT and not find_spec("ctranslate2"):
        pytest.skip("CTranslate2 is not installed; `make exports` installs it")
    shutil.copytree(lab, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REPRO_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("REPRO_DATA", str(tmp_path / "data"))
    monkeypatch.setitem(SCALES, "smoke", tiny())
    command = line.partition(" > ")[0]
    command, _, given = command.partition(" < ")
    for before in NEEDED.get(line, ()):
        assert ended(capsys, *shlex.split(before)[1:])[0] == 0
    text = BytesIO(Path(given).read_bytes() if given else b"")
    monkeypatch.setattr("sys.stdin", TextIOWrapper(text))
    code, page, error = ended(capsys, *shlex.split(command)[1:])
    assert code == 0, error
    assert page
    WRITTEN.get(line, str)(page)
