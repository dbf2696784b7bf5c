"""The scales: corpus, shape and schedule that belong together, of the suite or of your own.

Those of the suite are in `scales.toml`. A file of your own has the content of one of its tables:

    base = "multi30k-long"              # what is not said here is as there
    direction = "fr-en"
    data.corpus = "local:my/folder"     # relative to the file
    model.dropout = 0.2
    train.max_updates = 4000

Its name is that of the file with a digest of its content. So results at a file that was changed
later are those of another scale.
"""

import re
import shlex
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from repro.core.config import RunConfig, from_dict
from repro.core.settings import SITES, SubwordForm
from repro.data.formats import LANGUAGE
from repro.data.own_text import own_folder, with_resolved_folder
from repro.errors import InputError, check_kind, did_you_mean
from repro.reading import read_plain

DEFAULT_RESULTS = Path("results")
"""The folder of results that commands read and write unless told otherwise."""
PARTS = ("data", "model", "train")
STRUCTURE = (*SITES, "encoder_positions", "decoder_positions", "feed_forward", "gated_sites")
"""The settings of the model that a system has, not a scale."""
OF_A_RUN = ("seed", "start_from", "cut_from", "freeze_decoder")  # settings of the training


def load_scale(name: str) -> str:
    """Return the name of a scale, for `SCALES`; a file of your own is read first.

    Raises:
        InputError: an unknown name, or a file that is not a scale.
    """
    if not name.endswith(".toml"):
        if name not in SCALES:
            fix = f"{did_you_mean(name, SCALES)}; a scale of your own is a file, such as my.toml"
            raise InputError("--scale", f"unknown scale '{name}'", fix)
        return name
    path = Path(name)
    try:
        text = read_plain(path).decode()
    except FileNotFoundError:
        fix = 'write it: base = "multi30k-long", then what differs'
        raise InputError(name, "is not there", fix) from None
    except UnicodeDecodeError as error:
        raise InputError(name, f"is not UTF-8 ({error.reason})", "save it as UTF-8") from None
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(name, f"is not valid TOML: {error}", "correct that place") from None
    scale = add_scale(path.stem, _scale(values, name, path.parent, SCALES))
    _FILES[scale] = name
    return scale


def add_scale(stem: str, config: RunConfig) -> str:
    """Add a scale of your own to `SCALES` and return its name; the same one is there once."""
    readable = re.sub(r"[^\w-]+", "-", stem)
    name = f"{readable}-{config.group_key()[:8]}"
    SCALES.setdefault(name, config)
    return name


def command_options(scale: str, results: Path = DEFAULT_RESULTS) -> str:
    """Return the options of a command for a scale and a folder of results.

    A scale of your own is named by its file if that was read.
    """
    folder = ["--results", str(results)] if results != DEFAULT_RESULTS else []
    return shlex.join(["--scale", _FILES.get(scale, scale), *folder])


def is_own(scale: str) -> bool:
    """Whether a scale is from a file of your own."""
    return scale not in _OF_SUITE


@dataclass(frozen=True)
class Scales:
    """The scales where something can be tested, for `in`.

    Args:
        suite: names of scales of the suite.
        own: whether a scale of your own fits.
    """

    suite: tuple[str, ...]
    own: Callable[[RunConfig], bool]

    def __contains__(self, name: object) -> bool:
        scale = str(name)
        return self.own(SCALES[scale]) if is_own(scale) else scale in self.suite


def _scale(
    values: dict[str, Any], where: str, folder: Path, known: Mapping[str, RunConfig]
) -> RunConfig:
    """Return the scale that a table describes.

    Args:
        values: the content of the table.
        where: it is, for errors.
        folder: your own text is below it.
        known: the scales that it may have as its base.

    Raises:
        InputError: an unknown name, or a value that is wrong or belongs elsewhere.
    """
    for key in values:
        if key not in ("base", "direction", *PARTS):
            fix = did_you_mean(key, ["base", "direction", "data.corpus", "model.dropout"])
            raise InputError(f"{where}: {key}", "is not a part of a scale", fix)
    if (base := values.get("base")) is not None and base not in known:
        what = f"is {base!r}, which is not a scale of the suite"
        raise InputError(f"{where}: base", what, did_you_mean(base, known))
    usual = RunConfig() if base is None else known[base]
    parts = {part: values.get(part, {}) for part in PARTS}
    for part, own in parts.items():
        check_kind(f"{where}: {part}", own, f"write {part}.NAME = VALUE", dict)
        for key in own:
            if key in (STRUCTURE if part == "model" else OF_A_RUN):
                of = "a system" if part == "model" else "a run"
                raise InputError(
                    f"{where}: {part}.{key}", f"is of {of}, not of a scale", "leave it out"
                )
    data = parts["data"] = dict(parts["data"])
    if "direction" in values:
        if said := {"source", "target"} & data.keys():
            what = f"is given beside data.{min(said)}"
            raise InputError(f"{where}: direction", what, "keep one of the two")
        data["source"], data["target"] = split_direction(values["direction"])
    if isinstance(corpus := data.get("corpus"), str):
        if (own := own_folder(corpus)) and not corpus.endswith(":"):
            data["corpus"] = with_resolved_folder(f"{corpus.partition(':')[0]}:{folder / own}")
        if corpus != usual.data.corpus:
            data.setdefault("subwords", usual_subwords(corpus, known))
    try:
        return replace(
            usual,
            **{
                part: from_dict(type(of_base), asdict(of_base) | parts[part], part)
                for part in PARTS
                for of_base in [getattr(usual, part)]
            },
        )
    except InputError as error:
        raise InputError(f"{where}: {error.where}", error.what, error.fix) from None


def usual_subwords(corpus: str, known: Mapping[str, RunConfig] | None = None) -> SubwordForm:
    """Return the form of subwords of the first scale of a corpus; exact without one.

    Args:
        corpus: its name.
        known: the scales to look at; by default those of the suite.
    """
    known = {name: SCALES[name] for name in _OF_SUITE} if known is None else known
    forms = (scale.data.subwords for scale in known.values() if scale.data.corpus == corpus)
    return next(forms, "exact")


def split_direction(direction: str) -> tuple[str, str]:
    """Split `"de-en"`, or `"pt-BR-en"`, into source and target language.

    Raises:
        InputError: it is not two different codes with a dash between, or the dash is ambiguous.
    """
    check_kind("--direction", direction, "write source-target, for example de-en", str)
    parts = direction.split("-")
    ways = [("-".join(parts[:cut]), "-".join(parts[cut:])) for cut in range(1, len(parts))]
    if len(ways) > 1:
        ways = [way for way in ways if all(re.fullmatch(LANGUAGE, code) for code in way)]
    if len(ways) > 1:
        what = (
            f"'{direction}' may be "
            f"{' or '.join(f'{source} to {target}' for source, target in ways)}"
        )
        raise InputError(
            "--direction",
            what,
            "write regions in capitals, as in pt-BR-en, and in the names of files",
        )
    if not ways or not all(ways[0]):
        raise InputError(
            "--direction",
            f"'{direction}' is not a direction",
            "write source-target, for example de-en",
        )
    source, target = ways[0]
    if source == target:
        raise InputError(
            "--direction", f"source and target are both '{source}'", "choose two languages"
        )
    return source, target


def _scales_of_suite() -> dict[str, RunConfig]:
    """Read the scales of the suite; the base of each is above it."""
    path = Path(__file__).with_name("scales.toml")
    found: dict[str, RunConfig] = {}
    for name, values in tomllib.loads(path.read_text("utf-8")).items():
        found[name] = _scale(values, f"{path.name}: {name}", path.parent, found)
    return found


SCALES: dict[str, RunConfig] = _scales_of_suite()
"""Corpus, shape and schedule that belong together, by name; those of your own once loaded.

A system and `key=value` overrides change one of these.
"""

_OF_SUITE = tuple(SCALES)
_FILES: dict[str, str] = {}  # of your own scales
