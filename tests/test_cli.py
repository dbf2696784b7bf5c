"""The command line: the whole path, and what it says to mistakes."""

import io
import itertools
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from command_line import refused, run

from repro.__main__ import cli, main
from repro.core.attention.variants import VARIANTS
from repro.errors import GET_PROJECT, Stopped
from repro.presets import resolve
from repro.runs.run import Run

pytestmark = pytest.mark.usefixtures("runs")

MISTAKES = [
    (
        ["train", "--system", "hcsa"],
        "error: --system: unknown system 'hcsa'. Fix: did you mean 'hc-sa'? Known: base, hc-sa",
    ),
    (
        ["train", "--scale", "smok"],
        "error: --scale: unknown scale 'smok'. Fix: did you mean 'smoke'? Known: ",
    ),
    (
        ["train", "model.n_heads=4"],
        (
            "error: model.n_heads=4: unknown option 'model.n_heads'. Fix: did you mean "
            "'model.num_heads'? Known: "
        ),
    ),
    (["train", "dropout"], "error: dropout: is not key=value. Fix: "),
    (
        ["train", "decoder_layers=3"],
        (
            "error: decoder_layers=3: unknown option 'decoder_layers'. Fix: did you mean "
            "'model.decoder_layers'?"
        ),
    ),
    (
        ["train", "train.dropout=0.2"],
        (
            "error: train.dropout=0.2: unknown option 'train.dropout'. Fix: did you mean "
            "'model.dropout'?"
        ),
    ),
    (
        ["train", "model.embed_dim=100000001"],
        (
            "error: model.embed_dim: must be at least 2 and at most 1,000,000 and a multiple of "
            "2, found 100,000,001. Fix: "
        ),
    ),
    (
        ["train", "model.encoder_layers=1000000000"],
        (
            "error: model.encoder_layers: must be at least 1 and at most 1,000, found "
            "1,000,000,000. Fix: "
        ),
    ),
    (
        ["train", f"train.warmup=1{'0' * 400}"],
        "error: train.warmup: is a number of 401 digits. Fix: use a smaller number",
    ),
    (
        ["report", "--scale", "multi30", "--results", "."],
        "error: --scale: unknown scale 'multi30'. Fix: did you mean 'multi30k'?",
    ),
    (
        ["train", "--variant", "HC-SA"],
        "error: --system: unknown system 'HC-SA'. Fix: did you mean 'hc-sa'?",
    ),
    (
        ["train", "--system", "uniform"],
        (
            "error: --system: 'uniform' is an attention variant, not a system of the papers. Fix: "
            "say at which"
        ),
    ),
    (
        ["train", "model.num_heads"],
        "error: model.num_heads: has no value. Fix: write model.num_heads=VALUE",
    ),
    (
        ["train", "train.clip_norm=1e99"],
        (
            "error: train.clip_norm: must be above 0 and below 1,000,000, found 1e+99. Fix: use a "
            "positive number"
        ),
    ),
    (
        ["train", "model.num_heads=7"],
        "error: model.num_heads: 7 heads do not divide embed_dim 64. Fix: use 4 or 8",
    ),
    (
        ["train", "model.num_heads=4.5"],
        "error: model.num_heads: wants int, found 4.5. Fix: give one int",
    ),
    (
        ["train", 'model.num_heads="4"'],
        "error: model.num_heads: wants int, found '4'. Fix: give one int",
    ),
    (
        ["train", "model.num_heads=true"],
        "error: model.num_heads: wants int, found True. Fix: give one int",
    ),
    (
        ["train", "model.num_heads=null"],
        "error: model.num_heads: wants int, found None. Fix: give one int",
    ),
    (
        ["train", "train.learning_rate=NaN"],
        "error: train.learning_rate: wants float, found nan. Fix: give one float that is finite",
    ),
    (
        ["train", 'model.gated_sites=["cross", "cross"]'],
        "error: model.gated_sites: names a site twice: cross, cross. Fix: name each once",
    ),
    (
        ["train", "data.corpus=b\udcfcro"],
        (
            r"error: data.corpus: holds what is no letter in 'b\udcfcro'. Fix: use text in UTF-8: "
            r"set P"
        ),
    ),
    (
        ["train", "model.gated_sites=cross"],
        "error: model.gated_sites: wants list of str, found 'cross'. Fix: write a list, as in [",
    ),
    (
        ["train", "train.learning_rate=-1"],
        (
            "error: train.learning_rate: must be above 0 and below 1,000,000, found -1. Fix: use "
            "a positive number"
        ),
    ),
    (
        ["train", "train.gate_penalty=0.1"],
        (
            "error: train.gate_penalty: does nothing without gates. Fix: set model.gated_sites, "
            "or leave it"
        ),
    ),
    (
        ["train", "model.decoder_self=none", 'model.gated_sites=["decoder_self"]'],
        (
            "error: model.gated_sites: there is no attention at decoder_self to gate. Fix: name "
            "sites that have some"
        ),
    ),
    (["train", "train.gate_rate=3"], "error: train.gate_rate: does nothing without gates. Fix: "),
    (
        ["train", "model.gate_rule=soft"],
        "error: model.gate_rule: does nothing without gates. Fix: ",
    ),
    (["train", "model.gate_init=1"], "error: model.gate_init: does nothing without gates. Fix: "),
    (
        ["train", "train.freeze_decoder=true"],
        "error: train.freeze_decoder: would leave the decoder at random. Fix: set train.start_from",
    ),
    (
        ["claims", "--scale", "minisummary"],
        (
            "error: --scale minisummary: is for summarisation, and the papers' experiments and "
            "claims are"
        ),
    ),
    (["report", "--scale", "minisummary"], "error: --scale minisummary: is for summarisation, "),
    (
        ["run", "you2020", "--scale", "minisummary"],
        "error: --scale minisummary: is for summarisation, ",
    ),
    (
        ["report", "--split", "dev"],
        (
            "error: --split: is for a report on RUNS: the papers' test set is that of the scale. "
            "Fix: leave it out"
        ),
    ),
    (
        ["report", "base", "--scale", "smoke"],
        "error: --scale: is for the report on the papers: RUNS have their own. Fix: leave it out",
    ),
    (
        ["report", "base", "--results", "results"],
        "error: --results: is for the report on the papers: RUNS have their own. Fix: ",
    ),
    (
        ["train", "train.max_updates=0"],
        "error: train.max_updates: must be at least 1, found 0. Fix: use 1 or more",
    ),
    (
        ["train", "model.dropout=1"],
        "error: model.dropout: must be at least 0 and below 1, found 1. Fix: use a value in [0, 1)",
    ),
    (
        ["train", "model.norm=middle"],
        "error: model.norm: unknown value 'middle'. Fix: use one of post, pre",
    ),
    (
        ["train", "model.encoder_self=gausian"],
        (
            "error: model.encoder_self: unknown attention 'gausian'. Fix: did you mean "
            "'gaussian'? Known: "
        ),
    ),
    (
        ["train", "--direction", "ende"],
        (
            "error: --direction: 'ende' is not a direction. Fix: write source-target, for example "
            "de-en"
        ),
    ),
    (["train", "--direction", "-en"], "error: --direction: '-en' is not a direction. Fix: "),
    (["train", "--direction", "a-b-c"], "error: --direction: 'a-b-c' is not a direction. Fix: "),
    (
        ["train", "--direction", "pt-br-en"],
        "error: --direction: 'pt-br-en' may be pt to br-en or pt-br to en. Fix: write regions",
    ),
    (["train", "--direction", "en-pt-BR"], "error: minigerman: has no language 'pt-BR'. Fix: "),
    (["train", "--direction", "zh_Hans-en"], "error: minigerman: has no language 'zh_Hans'. Fix: "),
    (
        ["train", "--direction", "en-en"],
        "error: --direction: source and target are both 'en'. Fix: choose two languages",
    ),
    (
        ["train", "data.target=en"],
        "error: data: source and target are both 'en'. Fix: choose two languages",
    ),
    (["train", "--direction", "en-fi"], "error: minigerman: has no language 'fi'. Fix: "),
    (
        ["train", "data.corpus=multi3k"],
        "error: data.corpus: unknown corpus 'multi3k'. Fix: did you mean 'multi30k'? Known: ",
    ),
    (
        ["data", "minigerman", "--direction", "en-en"],
        "error: --direction: source and target are both 'en'. Fix: choose two languages",
    ),
    (
        ["data", "minigermann"],
        "error: data.corpus: unknown corpus 'minigermann'. Fix: did you mean 'minigerman'? Known: ",
    ),
    (["translate", "nothing"], "error: nothing: no such run in "),
    (["evaluate", "nothing"], "error: nothing: no such run in "),
    (["compare", "nothing", "else"], "error: nothing: no such run in "),
    (
        ["train", "train.seed=1", "train.seed=2"],
        "error: train.seed=2: 'train.seed' is given more than once. Fix: give it once",
    ),
    (
        ["train", "--seed", "1", "--seed=2"],
        "error: --seed: is given more than once. Fix: give it once",
    ),
    (
        ["train", "--seed", "-1"],
        "error: train.seed: must be at least 0, found -1. Fix: ",
    ),
    (["train", "train.seed=" + "[" * 20_000], "error: train.seed: wants int, found '[[["),
    (
        ["train", "model.embed_dim=0"],
        (
            "error: model.embed_dim: must be at least 2 and at most 1,000,000 and a multiple of "
            "2, found 0. Fix: use an even width"
        ),
    ),
    (
        ["train", "model.gate_init=1e300"],
        "error: model.gate_init: must be at least -100 and at most 100, found 1e+300. Fix: ",
    ),
    (
        ["train", "model.cross=gaussian(std=1, std=2)"],
        "error: model.cross: cannot read the options of 'gaussian(std=1, std=2)'. Fix: ",
    ),
    (
        ["train", "model.cross=gaussian(std=1)(std=2)"],
        "error: model.cross: cannot read the options of 'gaussian(std=1)(std=2)'. Fix: ",
    ),
    (
        ["train", "model.cross=gaussian(std={[]: 1})"],
        "error: model.cross: cannot read the options of 'gaussian(std={[]: 1})'. Fix: ",
    ),
    (
        ["data", "local:~nobody-of-that-name/x"],
        "error: ~nobody-of-that-name/x: is not a folder. Fix: ",
    ),
    (["report", "--out", "page.html"], "error: --out: page.html is no name for Markdown. Fix: "),
    (["report", "--out", "/"], "error: --out: / is no name for Markdown. Fix: "),
    (
        ["run", "bsae"],
        "error: bsae: is not a paper, experiment or system. Fix: did you mean 'base'? Known: ",
    ),
    (
        ["run", "base", "--out", "page.html"],
        "error: --out: page.html is no name for Markdown. Fix: ",
    ),
    (
        ["run", "base", "--jobs", "0"],
        "error: --jobs: must be from 1 to 1000, found 0. Fix: use 1 or more",
    ),
    (
        ["run", "base", "--jobs", "99999999999999999999"],
        "error: --jobs: must be from 1 to 1000, found 99999999999999999999. Fix: ",
    ),
    (
        ["train", "--seed", "5", "train.seed=2"],
        (
            "error: --seed: is given beside train.seed=2, and one of the two is surely a mistake. "
            "Fix: "
        ),
    ),
    (
        ["train", "--direction", "de-en", "data.source=en"],
        "error: --direction: is given beside data.source=en, and one of the two is",
    ),
    (
        ["train", "model.ffn_dim=10000000000000000000"],
        "error: model.ffn_dim: is a number of 20 digits. Fix: use a smaller number",
    ),
    (["run", "base", "--seeds", "0"], "error: --seeds: must be from 1 to 1000, found 0. Fix: "),
    (
        ["run", "base", "--seeds", "1001"],
        "error: --seeds: must be from 1 to 1000, found 1001. Fix: ",
    ),
    *(
        (
            [command],
            (
                "error: results: is no folder of results. Fix: name the folder that `repro run` "
                f"made, or {GET_PROJECT}"
            ),
        )
        for command in ("report", "claims", "verify", "results")
    ),
    (
        ["verify", "--results", "mine"],
        "error: mine: is no folder of results. Fix: name the folder that `repro run` made",
    ),
    (
        ["results", "."],
        "error: .: holds no result record. Fix: name the folder that `repro run` made",
    ),
    (
        ["results", ".", "--update"],
        "error: .: holds no result record. Fix: name the folder that `repro run` made",
    ),
    (["evaluate", "a\nb\x1b[2J"], "error: a\\u000ab\\u001b[2J: "),
]


@pytest.mark.parametrize(
    "arguments, line", MISTAKES, ids=[" ".join(arguments)[:60] for arguments, _ in MISTAKES]
)
def test_a_mistake_is_one_line_with_place_cause_and_fix(capsys, arguments, line):
    code, found = refused(capsys, *arguments)
    assert code == 2
    assert found.startswith(line)


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate"],
        ["run"],
        ["papers"],
        ["data"],
        ["train", "--system"],
        ["train"],
        ["translate"],
        ["report", "--out"],
        ["claims"],
    ],
)
def test_a_name_without_end_is_cut_so_that_the_fix_is_seen(capsys, arguments):
    code, found = refused(capsys, *arguments, f"{'x' * 250}/{'y' * 5000}")
    assert code in (2, 3)
    assert "xxx...yyy" in found and ". Fix: " in found


def test_options_that_need_each_other_may_come_in_any_order():
    for overrides in itertools.permutations(("model.embed_dim=90", "model.num_heads=6")):
        assert resolve("smoke", overrides=overrides).model.embed_dim == 90
    assert resolve("smoke", overrides=("data.source=de", "data.target=en")).data.target == "en"


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyboardInterrupt(), 130, "stopped"),
        (
            PermissionError(13, "Permission denied", "x/y"),
            3,
            "error: x/y: cannot be read or written (Permission denied). Fix: ",
        ),
        (Stopped(143, 0), 143, "stopped after update 0; the same command resumes there"),
        (MemoryError(), 3, "error: memory: there is not enough of it"),
        (
            RuntimeError("CUDA out of memory. Tried to allocate"),
            3,
            "error: memory: there is not enough of it",
        ),
        (
            RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"),
            3,
            "error: memory: there is not enough of it",
        ),
        (
            RuntimeError("Storage size calculation overflowed with sizes=[4, 9999999999999]"),
            3,
            "error: memory: there is not enough of it",
        ),
        (
            RuntimeError("something else"),
            70,
            "error: a bug in repro: RuntimeError: something else. The traceback is in ",
        ),
    ],
)
def test_what_the_machine_refuses_is_a_line_and_no_bug(
    monkeypatch, capsys, tmp_path, error, code, line
):
    def fail(*_):
        raise error

    monkeypatch.setattr("repro.cli.train.survey_corpus", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = refused(capsys, "data", "minigerman")
    assert found[0] == code and found[1].startswith(line)
    kept = [path.read_text() for path in tmp_path.iterdir()]
    assert [text.startswith("Traceback") and str(error) in text for text in kept] == (
        [True] if code == 70 else []
    )


def test_mistakes_are_answered_before_torch_is_imported(tmp_path):
    """What half a second forbids; the time itself is measured in benchmarks."""
    for arguments in (
        ["train", "--system", "x"],
        ["train", "model.encoder_self=x"],
        ["translate", "x"],
        ["data", "x"],
        ["--help"],
    ):
        code = (
            f"import sys, repro.__main__ as m\ntry: m.main({arguments!r})\nexcept SystemExit: "
            "print('torch' in sys.modules)"
        )
        answer = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
        )
        assert answer.stdout.strip().endswith("False"), arguments


@pytest.mark.parametrize(
    "arguments, line",
    [
        (
            ["evaluate", "base", "--split", "../x"],
            "error: minigerman: has no split '../x'. Fix: use one of train, dev, test",
        ),
        (
            ["heads", "base", "--split", "../x"],
            "error: minigerman: has no split '../x'. Fix: use one of train, dev, test",
        ),
        (
            ["heads", "base", "--limit", "0"],
            "error: --limit: must be at least 1, found 0. Fix: leave it out for all sentences",
        ),
    ],
)
def test_sentences_that_there_are_none_of_are_refused_before_torch_is_imported(
    tmp_path, arguments, line
):
    (Run.create(resolve("smoke"), tmp_path).path / "final").mkdir()
    code = (
        f"import sys, repro.__main__ as m\ntry: m.main({arguments!r})\nexcept SystemExit: "
        "print('torch' in sys.modules)"
    )
    environment = os.environ | {"REPRO_RUNS": str(tmp_path)}
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert (answer.stderr.strip(), answer.stdout.strip()) == (line, "False")


def test_whole_numbers_are_written_in_options_as_in_settings():
    """`train.seed=1_000` is refused, and `--seed 1_000` was 1000."""
    options = [
        option
        for command in cli.commands.values()
        for option in command.params
        if isinstance(option.type, click.types.IntParamType)
    ]
    assert {option.name for option in options} == {
        "seed",
        "seeds",
        "jobs",
        "beam",
        "limit",
        "wanted",
    }
    for option in options:
        assert (
            option.type.convert("12", option, None) == 12
            and option.type.convert("-1", option, None) == -1
        )
        for text in ("1_000", "007", "\u0663", "+1", "1.0", "true", "", "9" * 5000):
            with pytest.raises(click.BadParameter, match="is not a valid integer"):
                option.type.convert(text, option, None)


def test_help_teaches(capsys):
    for command in ([], ["train"], ["translate"], ["data"], ["compare"]):
        with pytest.raises(SystemExit):
            main([*command, "--help"])
    text = capsys.readouterr().out
    assert re.search(r"^  claims +Judge .*\.$", text, re.M) and not re.search(
        r"^  [a-z]+ .*\.\.\.$", text, re.M
    ), "summaries are whole"
    assert (
        "repro train --scale smoke --system hc-sa" in text
        and "model.encoder_self=gaussian(std=0.5)" in text
    )


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_option_says_what_it_is_for(name):
    assert [
        option.name
        for option in cli.commands[name].params
        if option.param_type_name == "option" and not option.help
    ] == []


def test_layers_are_said_to_be_counted_from_1(capsys):
    text = " ".join(" ".join(run(capsys, "heads", "--help")).split())
    assert "Layers and heads are counted from 1, as in settings" in text


def test_variants_lists_systems_and_attention(capsys):
    with pytest.raises(SystemExit):
        main(["variants"])
    text = " ".join(capsys.readouterr().out.split())  # lines are broken to fit the terminal
    assert "hc-sa" in text and "encoder_self=gaussian" in text
    assert (
        " multi30k multi30k, en to de; 4+4 layers, 128 wide, 4 heads; 5,500 updates of up to "
        "2,048 tokens " in text
    )
    assert "You, Sun, Iyyer: Hard-Coded Gaussian Attention" in text
    assert re.search(
        r"sites: encoder_self, decoder_self, cross; learned parameters [^:]*: 0 ", text
    )
    assert re.search(
        r"sites: encoder_self, decoder_self; learned parameters in [^:]*: 590,592 ", text
    ), "RAN: 8 x 256^2 + 256^2 + 3 x 256"
    assert re.search(
        r"sites: encoder_self, decoder_self, cross; learned parameters [^:]*: 3,145,728 ", text
    ), "dot product: 6 x 2 x 512^2"


def test_variants_lists_what_needs_options_and_what_its_file_does_not_describe(
    tmp_path, monkeypatch, capsys
):
    (tmp_path / "undescribed.py").write_text("def build(stack, slope: float):\n    return []\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(VARIANTS, "undescribed", "undescribed")
    with pytest.raises(SystemExit, match="0"):
        main(["variants"])
    listed = " ".join(capsys.readouterr().out.split())
    assert (
        "undescribed no description: its file does not begin with one cannot be built: " in listed
    )
    assert "undescribed needs the option 'slope'. Fix: write undescribed(slope=...)" in listed


def test_variants_lists_what_cannot_be_built_with_the_reason_and_counts_only_what_is_learned(
    tmp_path, monkeypatch, capsys
):
    frozen = """from torch import nn, zeros
from repro.core.attention.base import AttentionWeights


class Frozen(AttentionWeights):
    def __init__(self, stack):
        super().__init__(stack.num_heads, stack.head_dim)
        self.scores = nn.Parameter(zeros(5), requires_grad=False)
        self.scale = nn.Parameter(zeros(3))


def build(stack):
    return [Frozen(stack) for _ in range(stack.num_layers)]
"""
    (tmp_path / "frozen.py").write_text(frozen)
    (tmp_path / "unclosed.py").write_text("def build(stack:\n")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "halved.py").write_text("def build(stack):\n    return stack.num_layers / 0\n")
    (tmp_path / "unnamed.py").write_text("def build(stack):\n    return []\n\nbuilt = biuld\n")
    names = {
        "frozen-like-stone": "frozen",
        "unclosed": "unclosed",
        "gone": "nowhere.gone",
        "halved": "halved",
        "unnamed": "unnamed",
    }
    for name, module in names.items():
        monkeypatch.setitem(VARIANTS, name, module)
    with pytest.raises(SystemExit, match="0"):
        main(["variants"])
    listed = " ".join(capsys.readouterr().out.split())
    assert (
        "frozen-like-stone no description" in listed
        and "6 layers, 512 wide, 8 heads: 18 unclosed" in listed
    )
    assert re.search(
        r"unclosed no description: .{0,40} cannot be built: \S*unclosed.py:1: is no Python", listed
    )
    assert re.search(
        (
            r"gone no description: .{0,40} cannot be built: VARIANTS: 'gone' stands for "
            r"nowhere.gone, which is not there"
        ),
        listed,
    )
    assert "cannot be built: halved: ZeroDivisionError: division by zero" in listed
    assert "cannot be built: unnamed: NameError: name 'biuld' is not defined" in listed


def test_data_prints_the_columns_of_the_papers_table(capsys):
    text = "\n".join(run(capsys, "data", "minigerman"))
    assert re.search(r"train +20,000 pairs", text) and re.search(
        r"mean length +\d+\.\d en words, \d+\.\d de words", text
    )
    assert re.search(r"fingerprint +[0-9a-f]{64}", text)


def test_what_the_encoding_of_the_output_lacks_is_named(capsys, monkeypatch):
    monkeypatch.setattr("repro.cli.own_variants.list_systems", lambda: "größer als Ω")
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), "latin-1"))
    assert refused(capsys, "variants") == (
        3,
        "error: output: 'Ω' cannot be written in latin-1. Fix: set PYTHONIOENCODING=utf-8",
    )


def test_an_interrupt_that_a_library_turns_into_another_error_is_no_bug(capsys, monkeypatch):
    def importing(*_, **__):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            raise ImportError("cannot load module more than once per process") from error

    monkeypatch.setattr("repro.cli.own_variants.list_systems", importing)
    # what a shell starts in the background ignores Ctrl-C
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert refused(capsys, "variants") == (130, "stopped")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_pairs_left_out_and_leaks_are_shown_with_their_places(capsys, tmp_path):
    for split, lines in {
        "train": ["eins", "", "zwei"],
        "dev": ["drei"],
        "test": ["vier", "zwei"],
    }.items():
        for language in ("de", "en"):
            (tmp_path / f"{split}.{language}").write_text("".join(f"{line}\n" for line in lines))
    with pytest.raises(SystemExit):
        main(["data", f"local-allow-leaks:{tmp_path}", "--skipped", "skipped.tsv"])
    page = capsys.readouterr().out
    assert (
        "test in train: 1 exact, 0 normalised, one side 0; first test.de:2 = train.de:3 (exact)"
        in page
    )
    assert (
        Path("skipped.tsv").read_text() == "split\tfile\tline\treason\ntrain\ttrain.de\t2\tblank\n"
    )


@pytest.mark.parametrize(
    ("command", "taken"),
    [
        (["report", "--out", "/dev/null"], "/dev/null"),
        (["report", "--out", "page.md"], "page.html"),
        (["run", "base", "--out", "pipe"], "pipe"),
        (["data", "minigerman", "--skipped", "/dev/null"], "/dev/null"),
        (["data", "minigerman", "--skipped", "page.html"], "page.html"),
    ],
)
def test_what_is_no_plain_file_is_refused_before_the_work(capsys, monkeypatch, command, taken):
    os.mkfifo("pipe")
    Path("page.html").mkdir()
    Path("results").mkdir()
    monkeypatch.setattr("repro.records.stored.load_records", lambda *_: 1 / 0)
    monkeypatch.setattr("repro.cli.train.survey_corpus", lambda *_: 1 / 0)
    assert refused(capsys, *command) == (
        3,
        f"error: '{taken}': is not a regular file. Fix: name another place",
    )


def test_our_own_bug_is_one_line_and_its_traceback_is_kept(capsys, monkeypatch):
    monkeypatch.setattr("repro.cli.train.resolve", lambda *arguments: 1 / 0)
    code, line = refused(capsys, "train")
    assert code == 70 and line.startswith(
        "error: a bug in repro: ZeroDivisionError: division by zero. The traceback is in "
    )
    kept = Path(re.search(r"is in (\S+);", line)[1])
    assert "Traceback" in kept.read_text()
    kept.unlink()
    with pytest.raises(ZeroDivisionError):
        main(["--debug", "train"])


@pytest.mark.parametrize(("columns", "widest"), [("80", 80), ("200", 100), (None, 100)])
def test_variants_fits_the_terminal(capsys, monkeypatch, columns, widest):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    lines = run(capsys, "variants")
    assert widest - 5 <= max(map(len, lines)) <= widest
    assert "  base                    dot-product attention at every site" in lines


def test_a_model_that_is_bundled_is_named_where_no_run_is(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("REPRO_RUNS", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for command in (
        ["heads", "base"],
        ["compare", "base", "hc-sa", "--results", str(tmp_path / "none")],
    ):
        assert refused(capsys, *command)[1].endswith(
            " Fix: train one with `repro train`, or use a bundled one: gallery/base"
        )
    assert refused(capsys, "heads", "hc-")[1].endswith("a bundled one: gallery/hc-sa")
    assert refused(capsys, "heads", "M")[1].endswith("Fix: train one with `repro train`")
