"""How long the fuzzers run, and from which seed on."""

import os

import pytest


@pytest.fixture(scope="session")
def fuzz_seconds():
    return float(os.environ.get("SEMMETRICS_FUZZ_SECONDS", "5"))


@pytest.fixture(scope="session")
def fuzz_seed():
    return int(os.environ.get("SEMMETRICS_FUZZ_SEED", "0"))
