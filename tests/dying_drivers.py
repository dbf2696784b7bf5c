"""Drivers of a cluster that break down: in a file of their own, since each begins a process, which
imports all that the file does."""

import os
import signal
import time
from pathlib import Path


def dies(outbox, address, tasks, work, jobs):
    """A driver whose cluster breaks down, like Ray's: its process ends without a word, here after a
    third of three tasks."""
    told = Path(address)
    told.write_text(f"{told.read_text()}{len(tasks)} ")
    if len(tasks) == 3:
        outbox.send((1, {"task": tasks[1]}))
    os._exit(1)


def dies_once(outbox, address, tasks, work, jobs):
    if len(tasks) == 3:
        dies(outbox, address, tasks, work, jobs)
    for place, task in enumerate(tasks):
        outbox.send((place, {"task": task}))


def dies_when_stopped(outbox, address, tasks, work, jobs):
    """Ask the caller to stop, as Ctrl-C would, and die of the request that it passes on."""
    told = Path(address)
    told.write_text(f"{told.read_text()}{len(tasks)} ")
    os.kill(os.getppid(), signal.SIGTERM)
    signal.sigwait({signal.SIGTERM})
    os._exit(1)


def hears_nothing(outbox, address, tasks, work, jobs):
    """Ask the caller to stop, again after half a second, and go on; signals are blocked here."""
    for request in "xx":
        with open(address, "a") as told:
            told.write(request)
        os.kill(os.getppid(), signal.SIGTERM)
        time.sleep(0.5)
    time.sleep(600)
