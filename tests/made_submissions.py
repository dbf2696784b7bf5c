"""Twelve submissions to tutorial 01: what a class hands in, and what nobody should."""

import json
from pathlib import Path

RIGHT = """
import math
import torch

def scaled_scores(query, key):
    return query @ key.T / math.sqrt(query.shape[1])

def masked_softmax(scores, blocked):
    lowest = torch.finfo(scores.dtype).min
    weights = scores.masked_fill(blocked, lowest).softmax(dim=-1)
    return weights.masked_fill(blocked, 0)

def split_heads(x, num_heads):
    return x.reshape(len(x), num_heads, -1).transpose(0, 1)

def multi_head(query, key, value, num_heads, blocked):
    q, k, v = (split_heads(x, num_heads) for x in (query, key, value))
    return torch.cat(
        [masked_softmax(scaled_scores(a, b), blocked) @ c for a, b, c in zip(q, k, v)], dim=-1
    )
"""
LOOP = """
def scaled_scores(query, key):
    while True:
        pass
"""
BOMB = """
def scaled_scores(query, key):
    kept = []
    while True:
        kept.append(torch.ones(10_000_000))
"""
READS = """
from pathlib import Path
import check

def scaled_scores(query, key):
    return check.scaled_scores.definition(query, key)

text = Path(SOLUTION).read_text()
"""
RAISES = """
def scaled_scores(query, key):
    return query @ key

raise RuntimeError("no")
"""
PRINTS = """
for _ in range(100):
    print("x" * 1_000_000)
"""
DELETES = """
import os, shutil
for path in (TARGET, "/"):
    try:
        shutil.rmtree(path)
    except PermissionError:
        pass
try:
    torch.save(torch.ones(3), TARGET + "/native.pt")
except Exception:
    pass
os.remove(TARGET + "/kept.txt")
"""
SOCKET = """
import socket
socket.create_connection(("127.0.0.1", PORT), timeout=1)
"""
WRONG = """
def split_heads(x, num_heads):
    return x.reshape(num_heads, len(x), -1)
"""


def write_submissions(folder: Path, solution: Path, target: Path, port: int) -> None:
    """Write them as notebooks.

    Args:
        folder: where to.
        solution: the file that one of them reads.
        target: the folder that one of them wants to delete; it holds `kept.txt`.
        port: that one of them connects to.
    """
    names = f"SOLUTION, TARGET, PORT = {str(solution)!r}, {str(target)!r}, {port}\n"
    made = {
        "right": [RIGHT],
        "wrong": [RIGHT, WRONG],
        "endless": [RIGHT, LOOP],
        "bomb": [RIGHT, BOMB],
        "reads": [RIGHT, names + READS],
        "empty": [],
        "renamed": [RIGHT.replace("scaled_scores", "my_scores")],
        "raises": [RIGHT, RAISES],
        "prints": [RIGHT, PRINTS],
        "deletes": [RIGHT, names + DELETES],
        "socket": [RIGHT, names + SOCKET],
    }
    for name, cells in made.items():
        write_notebook(folder / f"{name}.ipynb", cells)
    write_notebook(folder / "other_kernel.ipynb", [RIGHT], language="R")


def write_notebook(path: Path, cells: list[str], language: str = "python") -> None:
    """Write code cells as a notebook, with no tags and no names that were handed out."""
    made = [
        {
            "cell_type": "code",
            "metadata": {},
            "source": cell,
            "outputs": [],
            "execution_count": None,
        }
        for cell in cells
    ]
    metadata = {"kernelspec": {"name": "x", "display_name": "x", "language": language}}
    path.write_text(
        json.dumps({"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})
    )
