"""Mistakes in a command line, and what Python or the machine lacks: one line each, in one form."""

import os
import subprocess
import sys

import pytest
from command_line import ended, refused

from repro.__main__ import main

pytestmark = pytest.mark.usefixtures("runs")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["evaluate"], "error: repro evaluate: missing argument 'RUN'. Fix: see `repro evaluate"),
        (
            ["train", "--systm", "base"],
            "error: repro train: no such option '--systm'. Fix: did you mean '--system'?",
        ),
        (["tarin"], "error: repro: no such command 'tarin'. Fix: did you mean 'train'"),
        (
            ["train", "--seed", "x"],
            (
                "error: repro train: invalid value for '--seed': 'x' is not a valid integer. Fix: "
                "see `repro train --help`"
            ),
        ),
        (
            ["translate", "x", "--penalty", "a\x1b[2J\nb"],
            "error: repro translate: invalid value for '--penalty': 'a\\\\x1b[2J\\\\nb' is",
        ),
    ],
)
def test_the_parsers_mistakes_have_the_form_of_all_others(capsys, arguments, line):
    code, told = refused(capsys, *arguments)
    assert code == 2 and told.startswith(line.replace("\\\\", "\\"))


def test_an_argument_without_end_is_cut(capsys):
    code, told = refused(capsys, "train", f"--{'x' * 5000}")
    assert code == 2 and "xxx...xxx" in told and ". Fix: " in told


def test_help_is_shown_where_no_command_is_given(capsys):
    code, out, err = ended(capsys)
    assert code in (0, 2) and "A first tour" in out + err and "error:" not in err


@pytest.mark.parametrize("place", [0, 1, 3])
def test_a_traceback_may_be_asked_for_anywhere(monkeypatch, place):
    monkeypatch.setattr("repro.cli.train.resolve", lambda *_: 1 / 0)
    arguments = ["train", "--system", "base"]
    arguments.insert(place, "--debug")
    with pytest.raises(ZeroDivisionError):
        main(arguments)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (
            ["-OO", "-m", "repro", "variants"],
            (
                "error: python -OO: takes every help text and description away. Fix: use python "
                "-O, or no option"
            ),
        ),
        (
            ["-c", "import sys; sys.modules['fcntl'] = None; import repro.__main__"],
            (
                "error: repro: runs on Linux and macOS. Fix: on Windows, install and start it "
                "inside WSL"
            ),
        ),
    ],
)
def test_what_repro_cannot_run_in_is_one_line(given, line):
    answer = subprocess.run(
        [sys.executable, *given], capture_output=True, text=True, check=False, env=os.environ
    )
    assert answer.returncode and (answer.stdout, answer.stderr) == ("", line + "\n")


@pytest.mark.parametrize(
    ("option", "line"),
    [
        (
            "0",
            (
                "search.beam: must be at least 1 and at most 1,000, found 0. Fix: use the usual "
                "5, or 1 for greedy search"
            ),
        )
    ],
)
def test_a_beam_that_is_none_is_told_alone(capsys, option, line):
    from repro.runs.gallery import FOLDER

    assert refused(capsys, "translate", str(FOLDER / "base"), "--beam", option) == (
        2,
        f"error: {line}",
    )


@pytest.mark.parametrize(
    ("command", "fix"),
    [
        (["data", "minigerman"], "split the corpus into smaller files, or use a machine with more"),
        (["train"], "lower train.batch_tokens or the model's width"),
        (["papers"], "close other programs, or use a machine with more"),
    ],
)
def test_memory_names_the_command_and_its_fix(capsys, monkeypatch, command, fix):
    def fail(*_, **__):
        raise MemoryError

    for place in (
        "repro.cli.train.survey_corpus",
        "repro.cli.train.resolve",
        "repro.papers.load_paper",
    ):
        monkeypatch.setattr(place, fail)
    told = f"error: memory: there is not enough of it for `repro {command[0]}`. Fix: {fix}"
    assert refused(capsys, *command) == (3, told)
