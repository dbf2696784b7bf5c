"""Render the memory of an update in training as a table, and compare it for claims."""

from collections.abc import Sequence

from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.markdown import table
from repro.measures.memory import PAIRS, bytes_per_token
from repro.measures.speed import STEPS


def memory_ratio(evidence: Evidence, of: Setting, against: Setting) -> float:
    """Return a ratio that papers print: how many times as many tokens fit in the memory."""
    first, second = (bytes_per_token(one.config(evidence.scale)) for one in (of, against))
    return round(second / first, 3)


def memory_table(scale: str, settings: Sequence[Setting]) -> str:
    """Return a paper's table of the memory of an update per target token.

    The last column says how many times as many tokens as the first setting's fit in the same
    memory.
    """
    found = {setting: bytes_per_token(setting.config(scale)) for setting in settings}
    first = found[settings[0]]
    body = [
        [str(setting), f"{size / 1000:.1f}", f"{first / size:.2f}"]
        for setting, size in found.items()
    ]
    note = (
        "What the forward pass of an update leaves for the backward pass, for each further target "
        "token: counted with "
    )
    note += (
        f"{PAIRS} and with {2 * PAIRS} pairs of {STEPS} tokens a side. Beside it lie the "
        "parameters, their gradients and the two "
    )
    note += "moments of Adam, whatever the batch."
    header = ["system", "kB a target token", f"times as many tokens as {settings[0]}"]
    return f"{table(header, body)}\n\n{note}"
