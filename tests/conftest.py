"""What several test files need: every test seeds itself, and real corpora are used where they are."""

import os
from pathlib import Path

import pytest
import torch

# The tensors of the tests are small, and threads that wait for each other make a busy machine many times slower.
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def seeded():
    """Give every test the same random numbers, whatever ran before it."""
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Return the folder of the real corpora, or skip: they are not part of the repository."""
    folder = os.environ.get("REPRO_DATA")
    if not folder:
        pytest.skip("REPRO_DATA does not name the folder of the real corpora")
    return Path(folder)
