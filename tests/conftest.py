"""What several test files need: every test seeds itself, and real corpora are used where they
are."""

import os
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import torch
from paper_records import BASE, HARD, damaged, score_record
from quick_workers import QuickWorkers
from tiny_runs import tiny

from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.core.decoding import Translator
from repro.data.corpora import load_once
from repro.presets import SCALES
from repro.records.sentences import SUFFIX
from repro.runs import gallery
from repro.runs.models import load_translator
from repro.runs.run import Run
from repro.runs.train import train

# The tensors of the tests are small, and threads that wait for each other make a busy machine many
# times slower.
torch.set_num_threads(1)
os.environ["OMP_NUM_THREADS"] = "1"  # so for the processes that tests start

SLOW = (
    "test_adding_a_variant.py",
    "test_jobs.py",
    "test_real_corpora.py",
    "test_attention_contract.py",
    "test_resuming.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, so that workers which share the files end
    together."""
    items.sort(key=lambda item: item.path.name not in SLOW)


@pytest.fixture(autouse=True)
def seeded():
    """Give every test the same random numbers, whatever ran before it."""
    torch.manual_seed(0)


@pytest.fixture(scope="session", autouse=True)
def corpora() -> Iterator[str]:
    """Take the real corpora from all tests but those that ask for them; return their folder.

    So a test does the same where the corpora are and where they are not.
    """
    with pytest.MonkeyPatch.context() as patch:
        folder = os.environ.get("REPRO_DATA", "")
        patch.delenv("REPRO_DATA", raising=False)
        yield folder


@pytest.fixture
def real_data(corpora, monkeypatch) -> Path:
    """Return the folder of the real corpora, or skip: they are not part of the repository."""
    if not corpora:
        pytest.skip("REPRO_DATA does not name the folder of the real corpora")
    monkeypatch.setenv("REPRO_DATA", corpora)
    return Path(corpora)


@pytest.fixture(scope="session")
def refs() -> list[str]:
    """Return the references of the generated test set."""
    return load_once("minigerman", "en", "de").pairs("test", "en", "de")[1]


@pytest.fixture(scope="session")
def evidence(refs) -> Evidence:
    """Return evidence of two systems and two seeds, whose scores are made up."""
    records = [score_record(BASE, damaged(refs, 4)), score_record(HARD, damaged(refs, 8))]
    records += [
        score_record(BASE, damaged(refs, 4, 1), 2),
        score_record(HARD, damaged(refs, 8, 1), 2),
    ]
    return Evidence("smoke", records)


@pytest.fixture(scope="session")
def whole(tmp_path_factory) -> Callable[..., Run]:
    """Return what gives the run of some options that nobody stopped; each is trained once."""
    return cache(
        lambda *options: train(tiny(*options), tmp_path_factory.mktemp("whole"), quiet=True)
    )


@pytest.fixture
def runs(tmp_path, monkeypatch) -> Path:
    """Return the folder of runs of a test that works in a folder of its own."""
    monkeypatch.setenv("REPRO_RUNS", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"


@pytest.fixture(scope="module")
def short_translations() -> Iterator[None]:
    """Let no model write more than eight tokens: after a few updates none knows where to end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("repro.core.decoding.MAX_TOKENS", 8)
        yield


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Forget the scales that a test reads from files, or those of other tests would be alike."""
    before = dict(SCALES)
    yield
    SCALES.clear()
    SCALES.update(before)


@pytest.fixture
def quick_workers(monkeypatch) -> None:
    """Let the workers of `repro.runs.jobs` begin at once; see `QuickWorkers`."""
    monkeypatch.setattr("repro.runs.jobs.get_context", lambda method: QuickWorkers)


@pytest.fixture(scope="module")
def translator() -> Translator:
    """Return a trained model that came with the package."""
    return load_translator(gallery.load("base"))


@pytest.fixture(scope="module")
def gated() -> Translator:
    """Return one whose gates have shut off some of its heads."""
    return load_translator(gallery.load("gated"))


@pytest.fixture
def results(tmp_path) -> Path:
    """Return a folder with a copy of a few stored results."""
    stored = Path(__file__).resolve().parents[1] / "results" / "minigerman.en-de"
    folder = tmp_path / "results" / stored.name
    folder.mkdir(parents=True)
    for system in ("base", "hc-sa", "hc-all"):
        (path,) = stored.glob(f"*-{Setting(system).config('smoke').digest()}.test.json")
        for beside in (path, *stored.glob(f"{path.stem}*{SUFFIX}")):
            shutil.copy(beside, folder)
    for path in stored.glob(f"references.test.*{SUFFIX}"):
        shutil.copy(path, folder)
    return folder.parent
