"""The gallery: its models are the runs of their records, and none of its files changes unseen."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from captions_with_numbers import translate_captions
from expected_errors import refuses

import repro.runs.storage
from repro.data.corpora import load_corpus
from repro.errors import DamagedFileError, InputError
from repro.files import write_json
from repro.measures.scores import describe_run
from repro.records.stored import load_record
from repro.records.translations import hypotheses_of
from repro.runs import bundling, gallery
from repro.runs.models import load_model, load_translator
from repro.runs.naming import run_name
from repro.runs.run import Run
from repro.runs.tensors import load_final

RESULTS = Path(__file__).resolve().parents[1] / "results"
NAMES = gallery.names()


def record_of(run: Run) -> dict:
    data = run.config.data
    return load_record(
        RESULTS / f"{data.corpus}.{data.source}-{data.target}" / f"{run_name(run.config)}.test.json"
    )


@pytest.fixture(scope="module")
def sentences() -> list[str]:
    return load_corpus("minigerman", "en", "de").pairs("test", "en", "de")[0][:12]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "multi30k-base"])
def test_a_model_translates_as_its_record_says(name, sentences):
    run = gallery.load(name)
    found = load_translator(run).translate(sentences)
    same = sum(
        hyp == stored for hyp, stored in zip(found, hypotheses_of(record_of(run)), strict=False)
    )
    assert same == 12 if "half_precision" not in run.state() else same >= 11


def test_the_real_model_translates_a_sentence():
    run = gallery.load("multi30k-base")
    assert load_translator(run).translate(["A man is riding a red bicycle."]) == [
        "Ein Mann fährt auf einem roten Fahrrad."
    ]
    assert record_of(run)["system"] == "base"


def test_a_loaded_model_is_the_one_that_translates():
    run = gallery.load("gated")
    model, translating = load_model(run), load_translator(run, "cpu").model
    assert not model.training
    torch.testing.assert_close(
        dict(model.named_parameters()), dict(translating.named_parameters()), rtol=0, atol=0
    )
    with refuses(InputError, "run", "'gated'"):
        load_model("gated")


def test_the_models_are_small_and_have_their_training_record():
    assert {
        "base",
        "hc-sa",
        "sh-x",
        "7Ftoken+1L",
        "mma",
        "ran-all",
        "syn-r",
        "gated",
        "multi30k-base",
    } <= set(NAMES)
    for name in NAMES:
        run = Run(gallery.FOLDER / name)
        assert sum(file.stat().st_size for file in bundling.files(run.path)) < 4_500_000, name
        assert run.metrics()[-1]["update"] == run.state()["update"], name
        assert not (run.path / "checkpoints").exists(), name


def test_a_record_names_the_run_and_not_its_folder():
    run = gallery.load("base")
    assert describe_run(run)["run"] == record_of(run)["run"] != run.path.name


def test_the_page_is_generated_from_what_lies_there():
    assert (gallery.FOLDER / "README.md").read_text() == bundling.readme()


@pytest.fixture
def copy(tmp_path) -> Path:
    """Return a gallery of one model, made by `add`."""
    bundling.add(gallery.load("base"), "small", tmp_path / "gallery")
    return tmp_path / "gallery"


def test_a_model_that_was_evaluated_is_described_as_before(copy):
    before = bundling.readme(copy)
    write_json(
        copy / "small" / "evaluations" / "test-12345678.json",
        {"scores": ["Er sieht sie."] * 10_000},
    )
    assert bundling.readme(copy) == before


def test_adding_a_run_keeps_its_parameters(copy):
    before, after = (load_final(run) for run in (gallery.load("base"), gallery.load("small", copy)))
    assert before.keys() == after.keys() and all(
        torch.equal(before[key], after[key]) for key in before
    )
    bundling.add(gallery.load("hc-sa"), "other", copy)
    assert gallery.names(copy) == ["other", "small"]


@pytest.mark.parametrize(
    "file",
    [
        "subwords.model",
        "provenance.json",
        "metrics.jsonl",
        "final/model.safetensors",
        "final/state.json",
    ],
)
def test_a_changed_file_is_refused(copy, file):
    path = copy / "small" / file
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with refuses(DamagedFileError, str(Path(file).name), gallery.AGAIN):
        gallery.load("small", copy)


def test_a_changed_configuration_is_refused(copy):
    """Its values, its names, which are told apart, and its form."""
    config = copy / "small" / "config.json"
    whole = config.read_text()
    for written, changed, where in (
        ('"num_heads": 4', '"num_heads": 2', "config.json"),
        ('"num_heads": 4', '"num_heads": "4"', "config.json.model.num_heads"),
        ('"num_heads"', '"num_headr"', "config.json.model"),
        ("{", "z", "config.json"),
    ):
        assert written in whole
        config.write_text(whole.replace(written, changed, 1))
        with refuses(DamagedFileError, where, gallery.AGAIN):
            gallery.load("small", copy)


def test_a_changed_file_is_refused_also_by_who_names_the_folder(copy, monkeypatch):
    """So does the command line: half of the heads would translate, and nobody would see why it is
    worse."""
    config = copy / "small" / "config.json"
    config.write_text(config.read_text().replace('"num_heads": 4', '"num_heads": 2'))
    with refuses(DamagedFileError, "config.json", "final/MANIFEST.json"):
        load_translator(Run.find(str(copy / "small")))
    bundling.add(gallery.load("base"), "small", copy)
    (copy / "small" / "final" / "model.safetensors").write_bytes(b"no parameters")
    with refuses(DamagedFileError, "model.safetensors", "MANIFEST.json"):
        load_translator(Run.find(str(copy / "small")))
    monkeypatch.setattr(
        "repro.runs.bundling._same_translations",
        lambda _, rounded: rounded.check_files() or {"same": 1, "sentences": 1},
    )
    # which reads the new files before it lists their hashes
    bundling.add(gallery.load("hc-sa"), "small", copy, half=True)
    assert load_translator(Run.find(str(copy / "small"))).model.config.encoder_self == "gaussian"


def test_a_missing_file_is_refused(copy):
    (copy / "small" / "subwords.model").unlink()
    with refuses(DamagedFileError, "subwords.model", gallery.AGAIN):
        gallery.load("small", copy)


def test_parameters_and_manifest_cannot_be_exchanged_together(copy):
    """The manifest of the parameters pins the files beside them."""
    shutil.rmtree(copy / "small" / "final")
    shutil.copytree(gallery.FOLDER / "mma" / "final", copy / "small" / "final")
    with refuses(DamagedFileError, "config.json", "final/MANIFEST.json"):
        gallery.load("small", copy)


def test_mistakes_meet_one_line(copy, tmp_path):
    with refuses(InputError, "gallery", "'smal'", "'small'"):
        gallery.load("smal", copy)
    with pytest.raises(InputError, match="gallery: there is no model 'base'"):
        gallery.load("base", tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"name: wants str, found \['small'\]"):
        gallery.load(["small"], copy)
    with pytest.raises(InputError, match="folder: wants str or PathLike, found None"):
        gallery.load("small", None)


def test_a_model_is_named_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert gallery.find("gallery/base").path == gallery.FOLDER / "base"
    assert [run.path.name for run in gallery.find_all("gallery/mma")] == ["mma"]
    with refuses(InputError, "gallery", "'bas'", "'base'"):
        gallery.find("gallery/bas")
    bundling.add(gallery.load("mma"), "base", tmp_path / "gallery")  # a folder of one's own
    assert gallery.find("gallery/base").path == Path("gallery/base")


@pytest.mark.parametrize("load", [load_model, load_translator])
def test_a_run_is_checked_once_and_then_trusted(monkeypatch, load):
    hashed, original = [], repro.runs.storage.sha256
    monkeypatch.setattr(
        "repro.runs.storage.sha256", lambda path: (hashed.append(path), original(path))[1]
    )
    run = gallery.load("base")
    load(run), run.metrics(), run.provenance(), run.state(), run.check_files()
    listed = [path for path in bundling.files(run.path) if path.name != "MANIFEST.json"]
    assert sorted(hashed) == listed


def test_only_finished_runs_of_known_licence_are_added(tmp_path):
    values = json.loads((gallery.FOLDER / "base" / "config.json").read_text())
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.json").write_text(json.dumps(values))
    with pytest.raises(InputError, match="is not finished"):
        bundling.add(Run(tmp_path / "run"), "run", tmp_path / "gallery")
    values["data"]["corpus"] = "enja"
    (tmp_path / "run" / "config.json").write_text(json.dumps(values))
    (tmp_path / "run" / "final").mkdir()
    with pytest.raises(InputError, match="enja: a model of this corpus has no licence here"):
        bundling.add(Run(tmp_path / "run"), "run", tmp_path / "gallery")
    assert not (tmp_path / "gallery").exists()


def test_the_model_of_captions_reads_every_character_of_captions():
    """Its digits are still rare in the text that it learned from: it has few of them right."""
    _, found = translate_captions(load_translator(gallery.load("multi30k-base")))
    assert (found.unreadable, found.numbered) == (0, 43)
    assert found.kept >= 9
