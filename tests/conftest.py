"""What tests of several folders share."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

from semmetrics.store.files import cache_folder

# a machine that is busy with other things makes no test fail
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

ROOT = Path(__file__).resolve().parents[1]
WITH_SYNONYMS = ("semmetrics.metrics.spice.spice_scores", "semmetrics.text.graphs.Graphs")


def pytest_collection_modifyitems(items):
    """Examples with SPICE's synonyms need the package that brings them."""
    for item in items:
        if item.name in WITH_SYNONYMS and not find_spec("pycocoevalcap"):
            item.add_marker(pytest.mark.skip(reason="pycocoevalcap is not installed"))


@pytest.fixture(autouse=True, scope="session")
def own_home(tmp_path_factory):
    """Tests keep nothing in the user's cache folder; returns that folder."""
    users = cache_folder()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEMMETRICS_HOME", str(tmp_path_factory.mktemp("home")))
        yield users


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


@pytest.fixture(scope="session", params=["cpu", "cuda"])
def tensor(request):
    """From an array to a torch tensor, on the processor and on a GPU where there is one."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    return lambda values: torch.from_numpy(values).to(request.param)
