"""What tests of several folders share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# a machine that is busy with other things makes no test fail
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def reference_dir() -> Path:
    """Third-party data that the figures of papers are checked on; skips where it is not there.

    The directory is that of SEMMETRICS_REFERENCE, or shared/reference beside the repository.
    """
    named = os.environ.get("SEMMETRICS_REFERENCE")
    folder = Path(named) if named else ROOT.parent / "shared" / "reference"
    if not folder.is_dir():
        pytest.skip(
            f"there is no reference data in {folder}; set SEMMETRICS_REFERENCE to its folder"
        )
    return folder
