"""A scale of one's own: a file wherever a scale is named, and verdicts that know what it was."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import ended
from own_files import write_corpus

from repro import scales
from repro.claims.settings import Setting
from repro.errors import InputError
from repro.papers.raganato2020.claims import SCALES_WITH_SUITES
from repro.papers.verdicts import claims_of, load_verdicts
from repro.papers.you2020.experiments import INTO_GERMAN, LONG_ENOUGH, WITH_MIDDLE
from repro.presets import SCALES, resolve
from repro.records.sentences import SUFFIX
from repro.runs.naming import conditions_of

STORED = Path(__file__).resolve().parents[1] / "results/minigerman.de-en"
# `smoke` in the other direction: the length is said, to be changed below
BACK = 'base = "smoke"\ndirection = "de-en"\ntrain.max_updates = 1200\n'


def write(folder: Path, text: str, name: str = "mine.toml") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_what_a_file_says_is_laid_over_its_base(tmp_path):
    file = write(
        tmp_path,
        'base = "multi30k-long"\ndirection = "fr-en"\ndata.corpus = "local:plain"\n'
        "model.embed_dim = 96\n[train]\nmax_updates = 9\n",
    )
    config, base = resolve(file, "hc-sa", seed=3), resolve("multi30k-long", "hc-sa", seed=3)
    data = replace(base.data, corpus=f"local:{tmp_path}/plain", source="fr", target="en")
    model, train = replace(base.model, embed_dim=96), replace(base.train, max_updates=9)
    assert config == replace(base, data=data, model=model, train=train)
    assert conditions_of(config) == [], "it is the usual one of its own scale"


def test_a_name_holds_the_content(tmp_path):
    first = scales.load_scale(write(tmp_path, 'base = "smoke"\n'))
    again = scales.load_scale(write(tmp_path, '# a comment\nbase = "smoke"\n'))
    other = scales.load_scale(write(tmp_path, 'base = "smoke"\nmodel.embed_dim = 96\n'))
    assert first == again and first != other and first.startswith("mine-")
    assert all(map(scales.is_own, (first, other))) and not scales.is_own("smoke")
    assert SCALES[other].model.embed_dim == 96


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('base = "multi30k-lnog"', r"base: is 'multi30k-lnog'.* mean 'multi30k-long'\?"),
        ("base = 3", "base: is 3, which is not a scale"),
        ("data.corpsu = 'local:x'", "data: unknown key 'corpsu'. Fix: did you mean 'corpus'?"),
        ("train.max_updates = 'ten'", "train.max_updates: wants int, found 'ten'"),
        ("model.num_heads = 7", "model.num_heads: 7 heads do not divide embed_dim 64"),
        ("model = 3", "model: wants dict, found 3. Fix: write model.NAME = VALUE"),
        ("corpus = 'x'", "corpus: is not a part of a scale. Fix: did you mean 'data.corpus'?"),
        ("train.seed = 2", "train.seed: is of a run, not of a scale"),
        ("model.cross = 'none'", "model.cross: is of a system, not of a scale"),
        ("direction = 'fr-fr'", "--direction: source and target are both 'fr'"),
        ("direction = 'fr-en'\ndata.source = 'fr'", "direction: is given beside data.source"),
        ("base = ", "is not valid TOML: Invalid value"),
    ],
)
def test_a_mistake_in_the_file_has_a_line(tmp_path, text, message):
    with pytest.raises(InputError, match=f"mine.toml.*{message}|^{message}"):
        resolve(write(tmp_path, text))


def test_a_file_that_is_not_there_and_a_wrong_name_say_what_to_write():
    with pytest.raises(InputError, match=r"none\.toml: is not there\. Fix: write it: base = "):
        resolve("none.toml")
    with pytest.raises(InputError, match=r"unknown scale 'multi30'.* own is a file"):
        resolve("multi30")


def test_what_can_be_tested_depends_on_what_the_scale_is(tmp_path):
    corpus = write_corpus(tmp_path)

    def at(direction: str, more: str = "") -> list[bool]:
        text = f'direction = "{direction}"\ndata.corpus = "{corpus}"\n{more}'
        name = scales.load_scale(write(tmp_path, text))
        return [name in of for of in (WITH_MIDDLE, INTO_GERMAN, SCALES_WITH_SUITES, LONG_ENOUGH)]

    assert at("en-de") == [False, True, True, True]
    assert at("de-en", "model.encoder_layers = 4") == [True, False, True, True]
    lower = scales.load_scale(write(tmp_path, 'base = "multi30k-lc"\nmodel.dropout = 0.2'))
    assert lower in WITH_MIDDLE and lower in SCALES_WITH_SUITES, "its cased form is known"
    assert "smoke" in LONG_ENOUGH and "tatoeba" not in LONG_ENOUGH


def test_claims_and_reports_and_verification_at_a_scale_of_ones_own(tmp_path, capsys):
    results = tmp_path / "results"
    (results / STORED.name).mkdir(parents=True)
    file, back = write(tmp_path, BACK), Setting("base", reverse=True).config("smoke")
    assert resolve(file) == back
    stored = [path for path in STORED.glob(f"references.test.*{SUFFIX}")]
    for system in ("base", "hc-all"):
        for seed in (1, 2):
            digest = resolve(file, system, seed=seed).digest()
            stored += STORED.glob(f"*-{digest}.test*")
    for path in stored:
        shutil.copy(path, results / STORED.name)

    def told(*arguments: str) -> tuple[int, str, str]:
        return ended(capsys, *arguments, "--results", str(results))

    planned = told("run", "base", "hc-all", "--seeds", "2", "--scale", file, "--dry-run")[2]
    assert planned.startswith("0 runs to train, 0 to measure")
    code, page, _ = told("claims", "you2020", "--scale", file)
    assert code == 0 and "\nY-02  reproduced " in page
    name = scales.load_scale(file)
    SCALES.pop(name)  # as in another process
    (path,) = (results / "claims").glob("*.json")
    values = json.loads(path.read_bytes())
    assert path.stem == values["scale"] == name
    assert load_verdicts(results, name)["Y-02"]["status"] == "reproduced"
    code, said, errors = told("verify")
    assert code == 0 and f"{len(claims_of('you2020'))} verdicts derived again: no fault" in said, (
        errors
    )
    page = tmp_path / "page.md"
    assert told("report", "you2020", "--scale", file, "--out", str(page))[0] == 0
    text = page.read_text()
    assert text.startswith(f"# What you2020 claim, at {name}") and "de to en" in text
    assert f"`repro claims --scale {file} --results " in text
    write(tmp_path, BACK.replace("1200", "1210"))
    assert told("claims", "Y-02", "--scale", file)[1].startswith("Y-02  not run "), "another scale"
    SCALES.pop(name)
    values["configuration"]["train"]["max_updates"] = 1210
    path.write_text(json.dumps(values))
    code, _, errors = told("verify")
    assert code == 4 and f"{path.name}: is not a file of verdicts" in errors
