"""Every example on a page of `--help` runs, in a folder such as its reader has.

What takes minutes even of a tiny run is only parsed.
"""

import re
import shlex
import shutil
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from command_line import ended
from test_variants_in_files import ALIBI
from test_written_commands import parsed
from tiny_runs import tiny

from repro.__main__ import cli
from repro.claims import settings
from repro.measures.scores import evaluate_run
from repro.presets import resolve
from repro.records.stored import publish
from repro.runs.train import train
from repro.scales import SCALES

ROOT = Path(__file__).parents[1]
EXAMPLES = {
    name: re.findall(r"^ +(repro .*?)(?:  +[^ ].*)?$", command.help or "", re.MULTILINE)
    for name, command in [("", cli), *cli.commands.items()]
}
# each has tests of its own with stand-ins for what it needs
COSTLY = {
    "repro run all --scale my.toml --results mine": "every experiment of every paper",
    "repro prune base --heads 6 --heads 4 --sites encoder": "trains for every penalty",
    "repro measure base alignments --record results": "needs gold alignments",
    "repro export gallery/base --out base-ct2": "needs CTranslate2",
    "repro grade submissions --tutorial 01 --csv points.csv": "starts a process a notebook",
}
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
    "my.toml": 'base = "smoke"\ntrain.warmup = 4\n',
}
LINES = [(name, line) for name, lines in EXAMPLES.items() for line in lines]


def test_every_page_has_an_example():
    assert [name for name, lines in EXAMPLES.items() if not lines] == []
    assert COSTLY.keys() <= {line for _, line in LINES}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Return a folder with files, two runs of seconds, records of theirs and stored ones."""
    folder = tmp_path_factory.mktemp("lab")
    for name, text in FILES.items():
        (folder / name).write_text(text)
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


@pytest.mark.parametrize(("name", "line"), LINES, ids=[line for _, line in LINES])
def test_an_example_does_what_its_page_says(
    name, line, lab, tmp_path, monkeypatch, capsys, quick_workers
):
    shutil.copytree(lab, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REPRO_RUNS", str(tmp_path / "runs"))
    monkeypatch.setitem(SCALES, "smoke", tiny())
    command = line.partition(" > ")[0]
    command, _, given = command.partition(" < ")
    if line in COSTLY:
        (tmp_path / "submissions").mkdir()
        assert parsed(command).info_name == name
        return
    for before in NEEDED.get(line, ()):
        assert ended(capsys, *shlex.split(before)[1:])[0] == 0
    text = BytesIO(Path(given).read_bytes() if given else b"")
    monkeypatch.setattr("sys.stdin", TextIOWrapper(text))
    code, page, error = ended(capsys, *shlex.split(command)[1:])
    assert code == 0, error
    assert page
