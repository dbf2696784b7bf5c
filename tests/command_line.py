"""Commands of `repro` run in this process, ended well or with one line."""

import pytest

from repro.__main__ import main


def refused(capsys, *arguments: str) -> tuple[int, str]:
    """Run a command that must fail; return its exit code and its one line."""
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    lines = capsys.readouterr().err.strip().split("\n")
    assert len(lines) == 1 and len(lines[0]) <= 300
    return stopped.value.code, lines[0]


def run(capsys, *arguments: str) -> list[str]:
    """Run a command that must end well; return the lines it printed."""
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    captured = capsys.readouterr()
    assert stopped.value.code == 0, captured.err
    return captured.out.rstrip("\n").split("\n")
