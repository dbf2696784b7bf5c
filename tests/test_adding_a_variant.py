"""Do what the pages say: their lines of Python, and a variant, which is one file and one line."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Three seeds to their end take minutes: in the copy each has a fiftieth of its updates and fits its
# subwords on a tenth of the text. After so few updates a model does not know where to end: five
# tokens a sentence are all that it writes.
QUICK = (
    ("repro/runs/checkpoints.py", "config.max_updates", "config.max_updates // 50"),
    ("repro/runs/prepare.py", "Subwords.fit(sentences,", "Subwords.fit(sentences[::10],"),
    ("repro/core/decoding.py", 'model.max_len(*READERS["target"]) or MAX_TOKENS', "5"),
)

# Each line is a command; all of them in one process, which imports torch once.
COMMANDS = """
import shlex, sys
from repro.__main__ import cli

for line in sys.argv[1:]:
    print("$", line)
    if code := cli(shlex.split(line), standalone_mode=False):
        sys.exit(code)
"""


def test_the_variant_of_the_page_is_one_file_and_one_line(tmp_path):
    for part in ("repro", "tests", "results"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    page = (ROOT / "docs/adding-a-variant.md").read_text()
    file, line, own = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "repro/core/attention/nearness.py").write_text(file)
    (tmp_path / "my.py").write_text(own)
    registry = tmp_path / "repro/core/attention/variants.py"
    text = registry.read_text()
    registry.write_text(text.replace("VARIANTS = {\n", "VARIANTS = {\n" + line))
    for path, long, short in QUICK:
        text = (tmp_path / path).read_text()
        assert long in text
        (tmp_path / path).write_text(text.replace(long, short))

    def run(*arguments: str) -> str:
        environment = os.environ | {
            "PYTHONPATH": str(tmp_path),
            "REPRO_RUNS": str(tmp_path / "runs"),
            "OMP_NUM_THREADS": "1",
        }
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    checks = ("tests/test_attention_contract.py", "tests/test_layers.py")
    report = run(
        *("-m", "pytest", "-p", "no:cacheprovider", "-p", "no:nbval", "-vv", *checks),
        *("-k", "nearness"),
    )
    for site in ("encoder_self", "decoder_self", "cross"):
        assert report.count(f"nearness-{site}] PASSED") >= 10
    assert "nearness.py] PASSED" in report
    lines = re.findall("^    repro (.*)$", page, re.MULTILINE)
    printed = run("-c", COMMANDS, "variants", "check my.py:alibi", *lines)
    of_line = dict(part.split("\n", 1) for part in f"\n{printed}".split("\n$ ")[1:])
    assert "Attention that fades with distance" in of_line["variants"]
    assert of_line["check my.py:alibi"].count("keeps every promise") == 3
    assert list(of_line)[2:] == lines
    said = of_line[lines[-1]].splitlines()
    seeds = [path.name for path in sorted((tmp_path / "runs").iterdir())]
    assert [name[: len("encoder_self=nearness-seed1-")] for name in seeds] == [
        f"encoder_self=nearness-seed{number}-" for number in (1, 2, 3)
    ]
    stored = sorted(
        path.name.partition(".")[0]
        for path in (ROOT / "results/minigerman.en-de").glob("base-seed?-*.test.json")
    )
    assert said[0].startswith(f"{', '.join(seeds)} against base-seed1-")
    named = said[1].removeprefix("records in results: ").split(", ")
    assert len(named) > 1 and set(named) < set(stored)
    assert said[2] == f"runs on this machine: {', '.join(seeds)}"
    few, many = sorted((len(seeds), len(named)))
    assert said[-1] == (
        f"means over {few} to {many} seeds; intervals over test sentences and training seeds"
    )


def test_the_lines_of_python_of_the_pages_do_what_they_say(capsys, tmp_path, monkeypatch):
    lines, of_suite = (
        re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)[0]
        for page in ("running.md", "data.md")
    )
    found: dict = {}
    exec(lines, found)
    translation = found["translator"].translate(["The old man sees a dog."])
    weights = found["repro"].weights("gaussian(std=0.5)", length=7)
    assert capsys.readouterr().out == f"{translation}\n{weights}\n"
    assert weights.shape == (4, 7, 7)
    (tmp_path / "my").mkdir()
    entry = {
        "source": "The dog sees a man.",
        "reference": "Der Hund sieht einen Mann.",
        "errors": [{"type": "np", "contrastive": "Das."}],
    }
    (tmp_path / "my/suite.json").write_text(json.dumps([entry]))
    monkeypatch.chdir(tmp_path)
    exec(of_suite, found)
    assert capsys.readouterr().out.startswith("[{'group': 'np', 'right': 1, 'total': 1, ")
