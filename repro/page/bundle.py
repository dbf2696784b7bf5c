"""Put modules of JavaScript together to one script, which needs no server and no library.

Our modules keep to a small part of the language of modules: `import { a, b as c } from
"./x.js";`, and `export` before a function, a class or a constant. Each becomes a function that runs
once.
"""

import re
from pathlib import Path

FOLDER = Path(__file__).parent

_IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.M)
_COMMENT = re.compile(r"^ *(?://.*|/\*\*(?:.|\n)*?\*/)\n|^ +|^\n", re.M)
_OTHER = re.compile(r"[^\x00-\x7f]")
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.M)


def bundle(entry: str) -> str:
    """Return a module with all that it imports as one script; its exports are in `modules[entry]`.

    The script has letters of ASCII alone. A browser keeps a page without others in half the memory,
    and reads it in half the time.

    Args:
        entry: path below this folder, such as `engine/worker.js`.
    """
    scripts: dict[str, str] = {}
    _collect(entry, scripts)
    return _OTHER.sub(_escaped, "const modules = {};\n" + "".join(scripts.values()))


def _collect(name: str, scripts: dict[str, str]) -> None:
    """Add a module behind those that it imports."""
    if name in scripts:
        return
    path = FOLDER / name
    text = path.read_text(encoding="utf-8")

    def imported(match: re.Match[str]) -> str:
        target = (path.parent / match[2]).resolve().relative_to(FOLDER.resolve()).as_posix()
        _collect(target, scripts)
        names = match[1].replace(" as ", ": ")
        return f"const {{{names}}} = modules[{target!r}];\n"

    names = _EXPORT.findall(text)
    body = _COMMENT.sub("", _EXPORT.sub("", _IMPORT.sub(imported, text)))
    scripts[name] = (
        f"modules[{name!r}] = (() => {{\n{body}\nreturn {{ {', '.join(names)} }};\n}})();\n"
    )


def _escaped(match: re.Match[str]) -> str:
    """Return a letter as strings and patterns of JavaScript may write it."""
    units = match[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
