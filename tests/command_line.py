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


def ended(capsys, *arguments: str) -> tuple[int, str, str]:
    """Return exit status, standard output and standard error of a command, however it ended."""
    code = 0
    try:
        main(list(arguments))
    except SystemExit as end:
        code = end.code or 0
    printed = capsys.readouterr()
    return code, printed.out, printed.err
