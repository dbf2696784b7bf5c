"""Import the public names of a package when they are first used.

So `import repro` is quick, and the command line answers before torch is loaded.
"""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def attach(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package.

    Its `__init__.py` imports the public names below `if TYPE_CHECKING:`, where type checkers and
    editors look. The same lines are read here, so that no name is listed twice.

    Args:
        package: its `__name__`.
        file: its `__file__`.
    """
    homes = {
        alias.asname or alias.name: (str(line.module), alias.name)
        for node in ast.parse(Path(file).read_bytes()).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for line in node.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    }

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        module, original = homes[name]
        if module == package:
            return import_module(f"{module}.{original}")
        return getattr(__import__(module, fromlist=[original]), original)  # as `from` does it

    names = sorted(homes)
    return find, lambda: names, names
