"""How long the fuzzers run, and from which seed on."""

import os

import pytest


@pytest.fixture(scope="session")
def fuzz_seconds():
    usual = "30" if os.environ.get("SEMMETRICS_SLOW") else "0.5"
    return float(os.environ.get("SEMMETRICS_FUZZ_SECONDS", usual))


@pytest.fixture(scope="session")
def fuzz_seed():
    return int(os.environ.get("SEMMETRICS_FUZZ_SEED", "0"))
