"""Interrupt a command again and again at random moments, and compare where it ends with an
undisturbed one. Takes minutes.

    python tests/interrupted.py --times 40 --told run base hc-sa --jobs 2
    python tests/interrupted.py --times 15 --signal KILL train

A line each: the second of the interruption, how long the command and its workers then took to end,
    and the exit code. The command goes on
in the same folder until it ends; then its runs are compared bit by bit, and a fresh folder is
taken. A stop counts as heeded if all ends within 5 seconds with the code of the signal, a kill if
all ends within 10.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tiny_runs import assert_same

from repro.runs.run import Run

LIMITS = {signal.SIGTERM: 5, signal.SIGINT: 5, signal.SIGKILL: 10}  # seconds


def start(arguments: list[str], folder: Path) -> subprocess.Popen:
    """Start a command whose runs and results are in a folder."""
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "repro", *arguments]
    environment = os.environ | {"REPRO_RUNS": str(folder / "runs"), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def compare(folder: Path, whole: Path) -> int:
    """Compare all runs of two folders, and return how many there are."""
    names = sorted(path.name for path in (whole / "runs").iterdir())
    assert names == sorted(path.name for path in (folder / "runs").iterdir())
    for name in names:
        assert_same(Run(folder / "runs" / name), Run(whole / "runs" / name))
    return len(names)


def interrupt(
    arguments: list[str], folder: Path, number: int, within: float, told: bool
) -> tuple[float, float, int]:
    """Start a command and send it a signal; return when that was, how long all of its processes
    took to end, and the exit code."""
    process, moment = start(arguments, folder), random.uniform(0, within)
    if told:
        process.stderr.readline()
    try:
        # which waits for the workers, too: they have the same standard error
        process.communicate(timeout=moment)
        return moment, 0.0, process.returncode
    except subprocess.TimeoutExpired:
        process.send_signal(number)
        sent = time.monotonic()
        process.communicate(timeout=600)
        return moment, time.monotonic() - sent, process.returncode


def main() -> None:
    """Interrupt as often as asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--signal", choices=("TERM", "INT", "KILL"), default="TERM")
    parser.add_argument("--within", type=float, default=8.0, help="seconds after the start")
    parser.add_argument(
        "--told",
        action="store_true",
        help="count from the command's first line, as where a start takes long",
    )
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    number = signal.Signals[f"SIG{options.signal}"]
    # the first, which a shell calls the second, before there is anything to save
    codes = (-number, 128 + number)
    heeded = compared = 0
    with TemporaryDirectory() as folder:
        whole, folder, chain = Path(folder, "whole"), Path(folder), 0
        assert start(options.command, whole).wait() == 0
        for trial in range(options.times):
            moment, seconds, code = interrupt(
                options.command, folder / str(chain), number, options.within, options.told
            )
            if code == 0:
                compared += compare(folder / str(chain), whole)
                chain += 1
                print(f"{trial:3}  ended before {moment:.1f} s, with the same bits", flush=True)
                continue
            is_heeded = code in codes and seconds <= LIMITS[number]
            heeded += is_heeded
            print(
                (
                    f"{trial:3}  {moment:4.1f} s  ended after {seconds:4.1f} s  code "
                    f"{code}{'' if is_heeded else '  NOT HEEDED'}"
                ),
                flush=True,
            )
        assert start(options.command, folder / str(chain)).wait() == 0
        compared += compare(folder / str(chain), whole)
    print(
        f"heeded: {heeded} of {options.times - chain}; runs compared, all with the same bits: "
        f"{compared}"
    )


if __name__ == "__main__":
    main()
