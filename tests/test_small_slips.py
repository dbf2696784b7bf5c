"""Small things that users and their tools do: none costs work that was done, and advice that is
given does no harm."""

import importlib
import json
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import ended, refused
from expected_errors import refuses
from own_files import DE, EN, write_corpus
from tiny_runs import TINY, assert_same, cut_short, tiny

from repro.analysis.ablation import ablate
from repro.contrastive.scoring import score_suite
from repro.core.attention.spec import build_weights
from repro.core.decoding import Translator
from repro.core.subwords import Subwords
from repro.data.corpora import load_corpus
from repro.errors import DamagedFileError, InputError
from repro.files import write_json
from repro.measures.heads import describe_heads
from repro.measures.scores import evaluate_run
from repro.papers.summary import update_pages
from repro.papers.verdicts import FORMAT, further_test_sets, load_verdicts, scales_with_verdicts
from repro.presets import resolve
from repro.records.stored import load_record, load_records, of_this_text, publish
from repro.runs import gallery
from repro.runs.checkpoint_folders import all_checkpoints
from repro.runs.models import load_translator
from repro.runs.run import Run, runs_root
from repro.runs.storage import check_folder, write_folder
from repro.runs.train import train
from repro.statistics.comparing import score_all


def test_what_a_file_browser_leaves_in_a_folder_is_no_damage(tmp_path):
    write_folder(tmp_path / "made", lambda folder: (folder / "a").write_text("1"))
    (tmp_path / "made" / ".DS_Store").write_bytes(b"\0")
    check_folder(tmp_path / "made")
    (tmp_path / "made" / "b").write_text("2")
    with pytest.raises(DamagedFileError, match="b: is missing, or is not in the"):
        check_folder(tmp_path / "made")


def test_training_goes_on_where_it_was_though_a_browser_looked_into_its_checkpoints(
    tmp_path, monkeypatch, capfd, whole
):
    run = cut_short(tmp_path, monkeypatch)
    for checkpoint in all_checkpoints(run.path):
        (checkpoint / ".DS_Store").write_bytes(b"\0")
        (checkpoint / ".ipynb_checkpoints").mkdir()
    assert_same(train(tiny(), tmp_path, quiet=True), whole())
    assert "damaged" not in capfd.readouterr().err and not all_checkpoints(run.path)


def test_results_of_an_older_text_of_ones_own_do_not_count(tmp_path, monkeypatch):
    (tmp_path / "text").mkdir()
    corpus = write_corpus(tmp_path / "text", train_en=EN[:20], train_de=DE[:20])
    options = (
        "data.vocab_size=100",
        "train.max_updates=1",
        "train.eval_every=1",
        f"data.corpus={corpus}",
    )
    config = resolve("smoke", "base", overrides=options)
    records = [evaluate_run(train(config, tmp_path / "runs", quiet=True))]
    # both are of one text
    directions = [config.data, replace(config.data, source="de", target="en")]
    assert [of_this_text(records, data) for data in directions] == [records, records]
    write_corpus(tmp_path / "text", train_en=EN[30:50], train_de=DE[30:50])
    assert [of_this_text(records, data) for data in directions] == [[], []]
    # it is another corpus that was asked for
    assert of_this_text(records, resolve("smoke").data) == records


def test_a_source_of_ones_own_that_changed_is_translated_again_though_its_reference_did_not(
    tmp_path,
):
    (tmp_path / "text").mkdir()
    options = (
        "data.vocab_size=100",
        "train.max_updates=1",
        "train.eval_every=1",
        f"data.corpus={write_corpus(tmp_path / 'text')}",
    )
    run = train(resolve("smoke", "base", overrides=options), tmp_path / "runs", quiet=True)
    (tmp_path / "other").mkdir()
    split = f"{write_corpus(tmp_path / 'other')}:test"
    evaluate_run(run, split)
    write_corpus(tmp_path / "other", test_en=EN[27:31])
    evaluate_run(run, split)
    assert len(list((run.path / "evaluations").glob("*.json"))) == 2


def test_a_configuration_made_by_hand_is_as_good_as_one_from_a_file():
    config = resolve("smoke")
    assert isinstance(replace(config.train, learning_rate=1).learning_rate, float)
    for part, change, message in [
        (
            config.model,
            {"norm": "Post"},
            "model.norm: unknown value 'Post'. Fix: did you mean 'post'",
        ),
        (config.model, {"num_heads": "8"}, "model.num_heads: wants int, found '8'"),
        (config.train, {"max_updates": 2.5}, "train.max_updates: wants int, found 2.5"),
        (config.data, {"vocab_size": None}, "data.vocab_size: wants int, found None"),
    ]:
        with pytest.raises(InputError, match=message):
            replace(part, **change)


def test_a_run_whose_rate_was_written_as_a_whole_number_is_found_again(tmp_path):
    config = tiny()
    config = replace(config, train=replace(config.train, clip_norm=1))
    assert Run.create(config, tmp_path).path == Run.create(config, tmp_path).path


@pytest.mark.parametrize(
    "change",
    [
        {"status": "maybe"},
        {"conditions": [5]},
        {"conditions": [{"condition": "a", "outcome": "holds"}]},
        {"claim": "Y-99"},
    ],
)
def test_an_edited_file_of_verdicts_has_a_name(tmp_path, change):
    verdict = {"claim": "Y-01", "test": "0", "status": "undecided", "conditions": []}
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / "smoke.json").write_text(
        json.dumps({"format": FORMAT, "scale": "smoke", "verdicts": {"Y-01": verdict}})
    )
    assert load_verdicts(tmp_path, "smoke") == {"Y-01": verdict}
    (tmp_path / "claims" / "smoke.json").write_text(
        json.dumps({"format": FORMAT, "scale": "smoke", "verdicts": {"Y-01": verdict | change}})
    )
    with pytest.raises(DamagedFileError, match="smoke.json: is not a file of verdicts"):
        load_verdicts(tmp_path, "smoke")


@pytest.mark.parametrize("name", ["._smoke.json", ".smoke.json"])
def test_what_is_hidden_beside_verdicts_is_none(tmp_path, name):
    """macOS leaves such files on disks of others, and editors leave copies."""
    (tmp_path / "claims").mkdir()
    write_json(
        tmp_path / "claims" / "smoke.json", {"format": FORMAT, "scale": "smoke", "verdicts": {}}
    )
    (tmp_path / "claims" / name).write_bytes(b"\0\5\x16\7")
    assert scales_with_verdicts(tmp_path) == ["smoke"] and further_test_sets(tmp_path) == []


def test_nobody_is_told_to_delete_a_file_that_is_no_record(tmp_path):
    shutil.copytree(gallery.load("base").path, tmp_path / "runs" / "base")
    with pytest.raises(
        DamagedFileError, match="is not a result record. Fix: name the folder of results"
    ) as told:
        load_records(tmp_path / "runs")
    assert "or delete it" not in str(told.value)


def test_a_readme_in_another_encoding_stays_as_it_is(results):
    readme = results.parent / "README.md"
    readme.write_bytes(b"Gr\xfc\xdfe\n")
    assert (
        update_pages(results) == [results / "README.md"] and readme.read_bytes() == b"Gr\xfc\xdfe\n"
    )


def test_a_closed_standard_error_stops_no_command(capsys, monkeypatch, runs):
    runs.mkdir(exist_ok=True)
    shutil.copytree(gallery.load("base").path, runs / "base")
    monkeypatch.setattr(sys, "stderr", None)
    code, printed, _ = ended(capsys, "evaluate", "base", "--split", "dev", "--beam", "1")
    assert code == 0 and "BLEU" in printed


def test_a_folder_for_a_corpus_is_told_its_prefix(capsys, tmp_path):
    assert refused(capsys, "data", str(tmp_path))[1].endswith(
        f"Fix: for the files in this folder, write local:{tmp_path}"
    )


def test_a_split_that_is_missing_or_was_left_out_is_named_with_its_reason(tmp_path):
    corpus = write_corpus(tmp_path)
    (tmp_path / "dev.en").unlink(), (tmp_path / "dev.de").unlink()
    config = resolve("smoke", overrides=(f"data.corpus={corpus}", *TINY))
    with pytest.raises(
        InputError,
        match="has no split 'dev'. Fix: add dev.en and dev.de, or a table, to the folder",
    ):
        train(config, tmp_path / "runs", quiet=True)
    write_corpus(tmp_path, train_en=[" "] * 20)
    with refuses(InputError, "train", "20"):
        train(config, tmp_path / "runs", quiet=True)


def test_a_long_field_beside_the_texts_makes_no_text_too_long(tmp_path):
    for split, size in (("train", 20), ("dev", 3), ("test", 4)):
        start = {"train": 0, "dev": 20, "test": 30}[split]
        rows = [{"en": EN[i], "de": DE[i], "doc": "x" * 11_000} for i in range(start, start + size)]
        (Path(tmp_path) / f"{split}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows)
        )
    assert len(load_corpus(f"local:{tmp_path}", "en", "de")["train"]) == 20


@pytest.mark.parametrize(
    ("work", "command"),
    [
        ("repro.measures.scores.evaluate_run", ["evaluate", "RUN", "--record", "taken/records"]),
        ("repro.measures.scores.evaluate_run", ["report", "RUN", "--out", "taken/report.md"]),
        ("repro.records.stored.load_records", ["report", "--out", "taken/report.md"]),
        ("repro.measures.heads.describe_heads", ["heads", "RUN", "--figures", "taken/figures"]),
        ("repro.measures.heads.describe_heads", ["heads", "RUN", "--record", "taken/records"]),
        ("repro.papers.runner.execute_plan", ["run", "base", "--out", "taken/report.md"]),
        ("repro.papers.runner.execute_plan", ["run", "base", "--results", "taken/results"]),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    capsys, tmp_path, monkeypatch, work, command
):
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("a file where a folder would have to be")
    module, _, name = work.rpartition(".")
    monkeypatch.setattr(
        importlib.import_module(module), name, lambda *_, **__: pytest.fail("was worked for")
    )
    given = [str(Path(gallery.load("base").path)) if word == "RUN" else word for word in command]
    code, line = refused(capsys, *given)
    assert (
        code == 3
        and line.startswith("error: taken")
        and line.endswith(
            "cannot be written: a file is where a folder must be. Fix: name another place"
        )
    )


def test_a_report_is_not_written_over_a_folder(capsys, tmp_path):
    code, line = refused(capsys, "report", "--out", str(tmp_path))
    assert (code, line) == (
        2,
        f"error: --out: {tmp_path} is a folder. Fix: name a file in it: {tmp_path}/report.md",
    )


@pytest.mark.parametrize("command", [["claims", "voita2019"], ["report", "--out", "report.md"]])
def test_a_number_missing_deep_in_a_record_names_the_record(capsys, tmp_path, monkeypatch, command):
    """Reading checks what all records have; what only a claim asks for is missed by that claim."""
    monkeypatch.chdir(tmp_path)
    (stored,) = (Path(__file__).parents[1] / "results" / "minigerman.en-de" / "pruning").glob(
        "*-seed1-*.json"
    )
    record = json.loads(stored.read_bytes())
    del record["series"]["encoder"]["points"][0]["heads"]
    copy = tmp_path / "results" / "minigerman.en-de" / "pruning" / stored.name
    write_json(copy, record)
    code, line = refused(capsys, *command)
    assert code == 4 and line.startswith("error: results: cannot be read in full: ")
    assert (
        " is damaged (KeyError: 'heads'). Fix: restore the records that `repro verify` names"
        in line
    )


def test_a_mistake_of_ours_is_not_blamed_on_sound_records(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("repro.papers.verdicts.update_verdicts", lambda *_: {}["ours"])
    (stored,) = (Path(__file__).parents[1] / "results" / "minigerman.en-de").glob(
        f"base-seed2-{resolve('smoke', seed=2).digest()}.test.json"
    )
    publish(load_record(stored), tmp_path / "results")
    code, line = refused(capsys, "claims")
    assert code == 70 and line.startswith("error: a bug in repro: KeyError: 'ours'")


def test_the_home_folder_is_known_where_no_shell_has_put_it_in(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("REPRO_RUNS", "~/runs")
    assert runs_root() == tmp_path / "runs"


def translator() -> Translator:
    return load_translator(gallery.load("base"))


@pytest.mark.parametrize(
    "call, line",
    [
        (
            lambda: load_translator("base"),
            "run: wants Run, found 'base'. Fix: find it by its name, as in repro.Run.find('base')",
        ),
        (
            lambda: evaluate_run("base"),
            "run: wants Run, found 'base'. Fix: find it by its name, as in repro.Run.find('base')",
        ),
        (
            lambda: train("smoke"),
            "config: wants RunConfig, found 'smoke'. Fix: make one, as in repro.resolve('smoke')",
        ),
        (
            lambda: Run.find(None),
            (
                "name: wants str or PathLike, found None. Fix: give the name of a run, as in "
                "repro.Run.find('base')"
            ),
        ),
        (
            lambda: Run(None),
            (
                "path: wants str or PathLike, found None. Fix: give a folder, as in "
                "repro.Run('runs/base-seed1-...')"
            ),
        ),
        (
            lambda: load_corpus(None),
            (
                "name: wants str, found None. Fix: give the name of a corpus, as in "
                "load_corpus('minigerman')"
            ),
        ),
        (
            lambda: resolve("smoke", ["base"]),
            (
                "--system: wants str, found ['base']. Fix: give one name, as in resolve('smoke', "
                "'base')"
            ),
        ),
        (
            lambda: resolve("smoke", overrides=None),
            "overrides: wants list or tuple, found None. Fix: give a list, as in overrides=[",
        ),
        (
            lambda: resolve("smoke", overrides="a=b"),
            "overrides: wants list or tuple, found 'a=b'. Fix: give a list, as in overrides=[",
        ),
        (
            lambda: resolve("smoke", overrides=[("a", 1)]),
            "overrides: wants str, found ('a', 1). Fix: write each as text, as in overrides=[",
        ),
        (
            lambda: resolve("smoke", direction=("de", "en")),
            "--direction: wants str, found ('de', 'en'). Fix: write source-target, for",
        ),
        (
            lambda: Subwords.fit("a dog", 300),
            "sentences: are one text, not a list. Fix: write [text]",
        ),
        (
            lambda: evaluate_run(gallery.load("base"), search={"beam": 1}),
            "search: wants SearchConfig, found {'beam': 1}. Fix: write it as",
        ),
        (
            lambda: evaluate_run(gallery.load("base"), None),
            "split: wants str, found None. Fix: give the name of a test set, as in 'dev'",
        ),
        (
            lambda: train(resolve("smoke"), 5),
            (
                "root: wants str or PathLike or NoneType, found 5. Fix: give the folder of all "
                "runs, or leave"
            ),
        ),
        (
            lambda: score_all(["a"], ["b"], None),
            (
                "target: wants str, found None. Fix: give the language code of the references, as "
                "in 'de'"
            ),
        ),
        (
            lambda: load_corpus("minigerman", 1, 2),
            "minigerman: has no language '1'. Fix: use one of en, de",
        ),
        (
            lambda: build_weights("uniform", 1, 2, 64, 4),
            "site: unknown site '1'. Fix: use one of encoder_self, decoder_self, cross",
        ),
        (
            lambda: build_weights("uniform", "cross", "2", 64, 4),
            "num_layers: wants int, found '2'. Fix: give one int",
        ),
        (
            lambda: build_weights("uniform", "cross", 2, None, 4),
            "embed_dim: wants int, found None. Fix: give one int",
        ),
        (
            lambda: build_weights("uniform", "cross", 2, 64, 4.0),
            "num_heads: wants int, found 4.0. Fix: give one int",
        ),
        (
            lambda: build_weights("uniform", "cross", 2, 64, 4, "0.1"),
            "dropout: wants float, found '0.1'. Fix: give one float",
        ),
        (
            lambda: build_weights("uniform", "cross", 2, 64, 4, 0, "1"),
            "length_ratio: wants float or null, found '1'. Fix: give one float or null",
        ),
        (
            lambda: describe_heads("base"),
            "run: wants Run, found 'base'. Fix: find it by its name, as in repro.Run.find('base')",
        ),
        (
            lambda: ablate("base", EN, DE, "de", []),
            (
                "translator: wants Translator, found 'base'. Fix: load one, as in "
                "repro.load_translator("
            ),
        ),
        (
            lambda: ablate(translator(), EN, DE, "de", ("cross", 0, 1)),
            (
                "heads: found 'cross' for a head. Fix: give a list of (site, layer, head), as in "
                "[('cross', 0, 1)]"
            ),
        ),
        (
            lambda: ablate(translator(), EN, DE, "de", [("cross", 0)]),
            (
                "heads: found ('cross', 0) for a head. Fix: give a list of (site, layer, head), "
                "as in [('cross', 0"
            ),
        ),
        (
            lambda: ablate(translator(), EN, DE, "de", 5),
            "heads: wants Iterable, found 5. Fix: give a list of (site, layer, head), as in",
        ),
        (
            lambda: score_suite("base", None),
            (
                "translator: wants Translator, found 'base'. Fix: load one, as in "
                "repro.load_translator(run)"
            ),
        ),
        (
            lambda: score_suite(translator(), "a"),
            (
                "suite: wants ContrastiveSuite, found 'a'. Fix: read one, as in "
                "read_suite('my/suite.json'"
            ),
        ),
    ],
)
def test_an_argument_of_another_kind_is_one_line_with_the_fix(call, line):
    with pytest.raises(InputError, match=re.escape(line)):
        call()


def test_a_run_is_found_by_a_path_as_by_its_text(tmp_path, monkeypatch):
    monkeypatch.setenv("REPRO_RUNS", str(tmp_path))
    run = Run.create(tiny(), tmp_path)
    assert Run.find(run.path).path == Run.find(Path(run.path.name)).path == run.path


@pytest.mark.parametrize(
    "arguments, line",
    [
        (
            (["a"], {"beam": 1}),
            (
                "search: wants SearchConfig, found {'beam': 1}. Fix: write it as in "
                "repro.SearchConfig(beam=1)"
            ),
        ),
        ((None,), "sentences: wants Iterable, found None. Fix: give a list of str"),
        ((5,), "sentences: wants Iterable, found 5. Fix: give a list of str"),
    ],
)
def test_what_cannot_be_translated_is_one_line_with_the_fix(translator, arguments, line):
    with pytest.raises(InputError, match=re.escape(line)):
        translator.translate(*arguments)
