"""Turn refusals of the machine, such as a full disk, and mistakes in a file of your own into errors
with a fix."""

from repro.errors import MachineError, ReproError
from repro.files import NO_ROOM
from repro.reading import CHECK
from repro.runs.own_code import own_mistake

# of torch, on a processor, on a GPU, and anywhere
NO_MEMORY = ("can't allocate memory", "out of memory", "size calculation overflowed")
SMALLER_MODEL = "lower train.batch_tokens or the model's width"
MEMORY_FIXES = {
    "train": SMALLER_MODEL,
    "run": f"use fewer --jobs, or {SMALLER_MODEL}",
    "prune": f"use fewer --jobs, or {SMALLER_MODEL}",
    "translate": "split long sentences, or use a smaller --beam",
    "evaluate": "use a smaller --beam",
    "compare": "use a smaller --beam",
    "data": "split the corpus into smaller files, or use a machine with more",
}
"""Command -> what makes it need less memory."""


def known(error: Exception, command: str = "") -> Exception:
    """Return a refusal of the machine, or a mistake in your own file, as an error with a fix.

    Others are returned unchanged.

    Args:
        error: any.
        command: of `repro`, which has its own fix for memory.
    """
    if isinstance(error, ReproError):
        return error
    if isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(sign in str(error) for sign in NO_MEMORY)
    ):
        what = "there is not enough of it" + f" for `repro {command}`" * bool(command)
        return MachineError(
            "memory",
            what,
            MEMORY_FIXES.get(command, "close other programs, or use a machine with more"),
        )
    if isinstance(error, UnicodeEncodeError):
        letter = error.object[error.start]
        return MachineError(
            "output",
            f"'{letter}' cannot be written in {error.encoding}",
            "set PYTHONIOENCODING=utf-8",
        )
    if isinstance(error, OSError):
        what = f"cannot be read or written ({error.strerror or error})"
        fix = "name another place, or make room there" if error.errno in NO_ROOM else CHECK
        return MachineError(str(error.filename or "output"), what, fix)
    return own_mistake(error) or error
