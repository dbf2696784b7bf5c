"""Commands and lines of Python that pages tell to type: they name commands, options, systems and
scales that there are."""

import re
import shlex
from pathlib import Path

import click
import pytest

from repro.__main__ import cli
from repro.cli.run import _asked_for
from repro.presets import SCALES, SYSTEMS
from repro.scales import is_own

ROOT = Path(__file__).parents[1]
PAGES = [
    "docs/adding-a-variant.md",
    "docs/corpora.md",
    "docs/data.md",
    "docs/papers.md",
    "docs/running.md",
    "tutorials/projects.md",
]
COMMANDS = sorted(
    (page, line.partition("  #")[0].rstrip())
    for page in PAGES
    for line in re.findall(
        r"^    (?:echo [^|]*\| )?(repro .*)$", (ROOT / page).read_text(), re.MULTILINE
    )
)
(OWN_SCALE,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/data.md").read_text(), re.DOTALL)


def parsed(line: str) -> click.Context:
    """Return what the command line makes of a line, without doing it."""
    words = shlex.split(line)[1:]
    group = click.Context(cli)
    name, command, rest = cli.resolve_command(group, words)
    return command.make_context(name, rest, parent=group)


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_a_command_on_a_page_can_be_typed(page, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.toml").write_text(OWN_SCALE)
    given = parsed(line.partition(" > ")[0]).params
    assert (given.get("scale") or "smoke") in SCALES  # compare has no default
    assert given.get("system") is None or given["system"] in SYSTEMS
    if "names" in given:
        _asked_for(given["names"], given["scale"])
    for name in [name for name in SCALES if is_own(name)]:
        SCALES.pop(name)


def test_commands_are_found_and_a_mistake_is_seen():
    assert {page for page, _ in COMMANDS} == set(PAGES)
    with pytest.raises(click.UsageError):
        parsed("repro train --varant base")


def test_the_lines_of_python_of_the_projects_run(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    masked, different = re.findall(
        r"```python\n(.*?)```", (ROOT / "tutorials/projects.md").read_text(), re.DOTALL
    )
    exec(masked, {})
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "G",
        "L",
        "F",
        "B",
    ]
    exec(different, {})
    assert re.fullmatch(r"\d+ of 1000 sentences differ\n", capsys.readouterr().out)
