"""The time, the first seed and the share of cases of the fuzzers."""

import os
import random

import pytest
from fuzz.commands import write_files

IS_SLOW_RUN = bool(os.environ.get("SEMMETRICS_SLOW"))


@pytest.fixture(scope="session")
def fuzz_seconds():
    default = "30" if IS_SLOW_RUN else "0.5"
    return float(os.environ.get("SEMMETRICS_FUZZ_SECONDS", default))


@pytest.fixture(scope="session")
def fuzz_seed():
    return int(os.environ.get("SEMMETRICS_FUZZ_SEED", "0"))


@pytest.fixture
def sample(fuzz_seed, request):
    """A function that yields a random fifth of cases, or all of them with SEMMETRICS_SLOW=1."""
    share = 1 if IS_SLOW_RUN else 0.2
    rng = random.Random(f"{fuzz_seed} {request.node.name}")

    def draw(cases):
        return (case for case in cases if rng.random() < share)

    return draw


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with the files that commands name."""
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    return tmp_path
