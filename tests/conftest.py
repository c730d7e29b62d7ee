"""Fixtures and options of tests in several folders."""

import json
import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings
from sampling import deselect_unsampled

from semmetrics.store.files import cache_folder

SLOW = bool(os.environ.get("SEMMETRICS_SLOW"))
"""Whether tests that take minutes run, and properties are tested on many examples."""
# Without a deadline, so that tests do not fail on a busy machine.
settings.register_profile("few", deadline=None, max_examples=20)
settings.register_profile("many", deadline=None, max_examples=200)
settings.load_profile("many" if SLOW else "few")

ROOT = Path(__file__).resolve().parents[1]
WITH_SYNONYMS = (
    "semmetrics.metrics.spice.spice_scores",
    "semmetrics.text.graphs.Graphs",
)


def pytest_addoption(parser):
    parser.addoption(
        "--skipped-to", type=Path, help="write the tests that skip into this file"
    )


class Skipped:
    """Writes the names of skipped tests, one per line. ``pytest @FILE`` runs them again."""

    def __init__(self, path):
        self.path = path
        self.ids = []

    def pytest_runtest_logreport(self, report):
        if report.skipped and not hasattr(report, "wasxfail"):
            self.ids.append(report.nodeid)

    def pytest_collectreport(self, report):
        if report.skipped:
            self.ids.append(report.nodeid)

    def pytest_sessionfinish(self):
        self.path.write_text("".join(f"{name}\n" for name in dict.fromkeys(self.ids)))


def pytest_configure(config):
    path = config.getoption("--skipped-to")
    is_worker = hasattr(config, "workerinput")
    if path and not is_worker:
        config.pluginmanager.register(Skipped(path))


def pytest_collection_modifyitems(config, items):
    if not SLOW:
        deselect_unsampled(config, items)
    for item in items:
        if item.name in WITH_SYNONYMS and not find_spec("pycocoevalcap"):
            item.add_marker(pytest.mark.skip(reason="pycocoevalcap is not installed"))
        if item.get_closest_marker("slow") and not SLOW:
            item.add_marker(
                pytest.mark.skip(reason="takes long: set SEMMETRICS_SLOW=1")
            )


@pytest.fixture(autouse=True, scope="session")
def own_home(tmp_path_factory):
    """Use a temporary cache folder, and return the user's one."""
    users_folder = cache_folder()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEMMETRICS_HOME", str(tmp_path_factory.mktemp("home")))
        yield users_folder


@pytest.fixture(scope="session")
def reference_dir() -> Path:
    """The folder of third-party data for figures of papers. Tests skip if it is missing.

    SEMMETRICS_REFERENCE names it. The default is shared/reference next to the repository.
    """
    named = os.environ.get("SEMMETRICS_REFERENCE")
    folder = Path(named) if named else ROOT.parent / "shared" / "reference"
    if not folder.is_dir():
        pytest.skip(
            f"there is no reference data in {folder}; set SEMMETRICS_REFERENCE to its folder"
        )
    return folder


@pytest.fixture(scope="session")
def fakecap(reference_dir):
    """The references and the candidates of the example of the COCO caption code, by image."""
    sides = []
    for side in ("gts", "res"):
        path = reference_dir / "coco" / f"fakecap_tokenized_{side}.json"
        sides.append(json.loads(path.read_text("utf-8")))
    return sides


@pytest.fixture(scope="session", params=["cpu", "cuda"])
def tensor(request):
    """A function that converts arrays to torch tensors, on the CPU and on a GPU if there is one."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    return lambda values: torch.from_numpy(values).to(request.param)
