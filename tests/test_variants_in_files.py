"""A variant of one's own, in a file or an installed package: built, described, checked."""

import pytest
from command_line import ended, refused, run
from tiny_runs import tiny

from repro.core.attention.spec import build_weights, parse_layers
from repro.core.contract_cases import specs_of
from repro.errors import InputError
from repro.runs import own_code
from repro.runs.naming import run_name
from repro.setting_list import list_settings

ALIBI = '''"""Attention of two kinds."""

import torch

from repro.core.attention.base import AttentionWeights, SiteError
from repro.core.attention.masks import masked_softmax


class Alibi(AttentionWeights):
    def __init__(self, stack, window, slope):
        super().__init__(stack.num_heads, stack.head_dim)
        self.window, self.slope = window, slope

    def scores(self, query, blocked, positions):
        keys = torch.arange(blocked.shape[-1], device=query.device)
        apart = (keys - positions.query[:, None]).abs()
        scores = -self.slope * apart.to(query.dtype)
        return scores.expand(1, self.num_heads, -1, -1), apart

    def forward(self, query, key, blocked, positions):
        scores, apart = self.scores(query, blocked, positions)
        return masked_softmax(scores, blocked | (apart > self.window))


class Leaky(Alibi):
    rows_sum_to_one = False

    def forward(self, query, key, blocked, positions):
        key = key.mean(-1)[:, :, None]
        scores, _ = self.scores(query, blocked, positions)
        return torch.where(blocked, 0, torch.softmax(scores + key, -1))

    def project_key(self, key, positions):
        return key.view(*key.shape[:2], self.num_heads, self.head_dim).transpose(1, 2)


def alibi(stack, window: int = 3, slope: float | None = 1.0):
    """Fade with distance, up to a window."""
    if stack.site == "cross":
        raise SiteError("model.cross", "distances across texts mean nothing", "use it elsewhere")
    return [Alibi(stack, window, slope or 1.0) for _ in range(stack.num_layers)]


def leaky(stack):
    return [Leaky(stack, 3, 1.0) for _ in range(stack.num_layers)]


build = alibi
'''


@pytest.fixture(autouse=True)
def file(tmp_path, monkeypatch):
    """Write the file, and start where it is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.py").write_text(ALIBI)
    return tmp_path / "my.py"


def windows(spec: str) -> list[int]:
    return [layer.window for layer in build_weights(spec, "encoder_self", 2, 64, 4)]


def test_a_function_of_a_file_is_a_variant_everywhere(file, tmp_path, monkeypatch):
    assert windows("my.py:alibi(window=5)") == [5, 5] and windows("my.py") == [3, 3]
    layers = parse_layers("my.py:alibi; last: my.py:alibi(window=2)", 2)
    assert layers == ["my.py:alibi", "my.py:alibi(window=2)"]
    config = tiny("model.encoder_self=my.py:alibi(window=2)")
    assert run_name(config).startswith("encoder_self=my.py_alibi_window=2_-seed1-")
    file.write_text(ALIBI.replace("window: int = 3", "window: int = 7"))
    assert windows("my.py:alibi") == [7, 7], "edited, it is read again"
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"my\.py: is not in .*elsewhere\. Fix: .*REPRO_VARIANTS"):
        windows("my.py:alibi")
    monkeypatch.setenv("REPRO_VARIANTS", str(tmp_path))
    assert windows("my.py:alibi") == [7, 7]


def test_a_mistake_in_the_name_has_a_line(file):
    with pytest.raises(
        InputError, match=r"my\.py: has no function 'alibo'\. .*: alibi, leaky, build$"
    ):
        windows("my.py:alibo")
    with pytest.raises(InputError, match="my.py:alibi has no option 'windw'.* mean 'window'"):
        windows("my.py:alibi(windw=3)")
    with pytest.raises(InputError, match=r"my\.py:alibi\(window\): wants int, found 'a'"):
        windows("my.py:alibi(window='a')")
    file.write_text(ALIBI.replace("build = alibi", ""))
    with pytest.raises(InputError, match=r"has no function build\. .*as in my\.py:alibi$"):
        windows("my.py")


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (
            ("import torch\n", "import torchh\n"),
            ":3: ModuleNotFoundError: No module named 'torchh'.",
        ),
        # what fails is of ours, and called with nonsense here
        (("blocked | (apart > self.window)", "None"), ":22: TypeError: masked_fill() received "),
        (
            ("return masked_softmax(scores, ", "return (scores[0, 0], "),
            ": forward of Alibi returned ",
        ),
        (
            ("softmax(scores, blocked |", "softmax(scores[0, 0], blocked[0, 0] |"),
            "my.py: forward of ",
        ),
        (
            ("    def forward(self, query, key", "    def forwrd(self, query, key"),
            ": Alibi has no forward",
        ),
        (
            ("super().__init__(stack.num_heads, stack.head_dim)", "pass"),
            ":alibi: __init__ of Alibi ",
        ),
    ],
)
@pytest.mark.parametrize("command", [["check"], ["train", "--scale", "smoke"]])
def test_a_mistake_in_the_file_names_file_and_line(
    file, capsys, monkeypatch, command, edit, expected
):
    monkeypatch.setenv("REPRO_RUNS", "runs")
    assert edit[0] in ALIBI
    file.write_text(ALIBI.replace(*edit, 1))
    spec = "my.py:alibi" if command == ["check"] else "model.encoder_self=my.py:alibi"
    code, line = refused(capsys, *command, spec)
    assert code == 2 and line.startswith("error: my.py") and expected in line


def test_an_installed_package_adds_a_variant_by_an_entry_point(tmp_path, monkeypatch, capsys):
    info = tmp_path / "site/mine-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: mine\nVersion: 1.0\n")
    entries = "[repro.variants]\nnear = mine_of_site:alibi\nuniform = mine_of_site:alibi\n"
    (info / "entry_points.txt").write_text(entries)
    (tmp_path / "site/mine_of_site.py").write_text(ALIBI)
    monkeypatch.syspath_prepend(tmp_path / "site")
    own_code.installed.cache_clear()
    try:
        assert windows("near(window=4)") == [4, 4]
        assert type(build_weights("uniform", "cross", 1, 64, 4)[0]).__name__ == "Uniform"
        assert "\n  near " in "\n".join(run(capsys, "variants"))
    finally:
        own_code.installed.cache_clear()


def test_variants_describes_one_with_its_options(capsys):
    page = run(capsys, "variants", "my.py:alibi")
    assert page[0] == "  my.py:alibi   Fade with distance, up to a window."
    assert page[-2:] == [
        "    window           int; default 3",
        "    slope            float or null; default 1.0",
    ]
    assert "Literal" not in "\n".join(run(capsys, "variants", "gaussian"))
    plain, with_option = (run(capsys, "variants", f"gaussian{end}") for end in ("", "(std=2.0)"))
    assert with_option == plain


@pytest.mark.parametrize("command", ["variants", "check"])
def test_a_misspelt_variant_is_named_and_none_has_nothing_to_look_at(capsys, command):
    assert refused(capsys, command, "gausian")[1].startswith(
        "error: variant: unknown attention 'gausian'. Fix: did you mean 'gaussian'?"
    )
    assert refused(capsys, command, "none")[1].startswith(
        "error: none: has no attention to check or describe. Fix: use one of dot-product, "
    )


def test_check_says_in_words_what_is_wrong(capsys):
    assert specs_of("my.py:alibi")[:2] == ["my.py:alibi", "my.py:alibi(window=4)"]
    page = run(capsys, "check", "my.py:alibi(window=2)")
    tried = "keeps every promise, tried as my.py:alibi(window=2)"
    refusal = "cross: not defined: distances across texts mean nothing. Fix: use it elsewhere"
    assert page == [f"encoder_self: {tried}", f"decoder_self: {tried}", refusal]
    code, page, error = ended(capsys, "check", "my.py:leaky")
    assert code == 2 and error.startswith("error: my.py:leaky: breaks its promises in ")
    assert (
        "position 0 changed when token 1 changed, which is not there yet: all weights of the row "
        "shrink or grow alike: blocked keys are in the normaliser"
    ) in page
    assert "not padded beside a longer one, gives something else" in page


def test_check_takes_one_variant(capsys):
    spec = "none; last: dot-product(heads=1)"
    assert (
        "is of several layers. Fix: check the variant of each" in refused(capsys, "check", spec)[1]
    )


def test_settings_are_listed_with_what_they_do_and_their_defaults(capsys):
    page = "\n".join(run(capsys, "settings"))
    named = [name for name in page.split() if name.startswith(("data.", "model.", "train."))]
    listed = list_settings()
    assert named == [setting.name for setting in listed] and len(listed) > 40
    assert all(0 < len(setting.what) <= 80 for setting in listed)
    optimizer = run(capsys, "settings", "train.optimizer")
    assert optimizer[0].startswith("  train.optimizer         Adam for all; or Muon for the")
    said = " ".join(" ".join(optimizer).split())
    assert "'adam' or 'muon'; default adam; muon at smoke, multi30k-long, general" in said
    (dropout,) = list_settings("model.dropout")
    assert dropout.kind == "float, at least 0 and below 1" and dropout.usual == "0.1"
    assert dropout.elsewhere["0.0"][0] == "smoke"
    assert refused(capsys, "settings", "lr")[0] == 2
    assert refused(capsys, "train", "train.lr=0.1")[1].startswith(
        "error: train.lr=0.1: unknown option 'train.lr'. Fix: "
    )
