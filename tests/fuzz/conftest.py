"""How long the fuzzers run, from which seed on, and on how many of the cases."""

import os
import random

import pytest


@pytest.fixture(scope="session")
def fuzz_seconds():
    usual = "30" if os.environ.get("SEMMETRICS_SLOW") else "0.5"
    return float(os.environ.get("SEMMETRICS_FUZZ_SECONDS", usual))


@pytest.fixture(scope="session")
def fuzz_seed():
    return int(os.environ.get("SEMMETRICS_FUZZ_SEED", "0"))


@pytest.fixture
def some_of(fuzz_seed, request):
    """A fifth of given cases, drawn from the seed; all of them with SEMMETRICS_SLOW=1."""
    share = 1 if os.environ.get("SEMMETRICS_SLOW") else 0.2
    rng = random.Random(f"{fuzz_seed} {request.node.name}")
    return lambda cases: (case for case in cases if rng.random() < share)
