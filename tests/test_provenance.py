"""Where a run was made: the commit is that of the package, or of nothing."""

import re
import subprocess
from pathlib import Path

import pytest
import torch

from repro.runs.provenance import commit_of, identity_changes, provenance


@pytest.fixture
def kept(tmp_path) -> Path:
    """Return a file of a repository of its own."""
    file = tmp_path / "kept.py"
    file.write_text("print(1)\n")
    (tmp_path / ".gitignore").write_text("installed/\n")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one", "--no-gpg-sign"]):
        subprocess.run([*git, *command], check=True)
    return file


def test_the_commit_says_whether_something_was_changed_since(kept):
    clean = commit_of(kept)
    assert re.fullmatch(r"[0-9a-f]{12}", clean)
    kept.write_text("print(2)\n")
    assert commit_of(kept) == f"{clean}-dirty"


def test_a_package_installed_below_the_repository_of_its_user_has_no_commit(kept):
    installed = kept.parent / "installed" / "provenance.py"
    installed.parent.mkdir()
    installed.write_text("")
    assert commit_of(installed) == "unknown"


def test_without_a_repository_or_git_there_is_no_commit(kept, tmp_path_factory, monkeypatch):
    alone = tmp_path_factory.mktemp("alone") / "provenance.py"
    alone.write_text("")
    assert commit_of(alone) == "unknown"
    monkeypatch.setenv("PATH", str(alone.parent))
    assert commit_of(kept) == "unknown"


def test_of_a_run_on_a_gpu_its_name_is_kept_before_that_of_the_processor(monkeypatch):
    beside = provenance(torch.device("cpu"), 1, "data")["processor"]
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"Card {device.index}")
    found = provenance(torch.device("cuda", 3), 1, "data")
    assert (found["device"], found["processor"]) == ("cuda", f"Card 3, {beside}")
    other = found | {"processor": f"Card 4, {beside}"}
    assert identity_changes(found, other) == ["GPU was Card 3, is Card 4"]
    assert identity_changes(found, found | {"processor": "Card 3, 1 x Another, SVE"}) == [], (
        "the card rounds, whatever lies beside it"
    )
