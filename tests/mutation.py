"""Measure the power of the tests: ``python -m tests.mutation --seed 1 --mutants 300``.

A mutant is the package with one small error in it. The tests that run its line should fail. If they
pass, the mutant survives: no test checks what the line does, or the error changes nothing.
All tests are run once to record which lines each of them runs. The record is kept in
``build/mutation`` until the package or its tests change. This needs pytest-cov and pytest-xdist.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from itertools import pairwise, repeat
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

from mutation_places import ROOT, Place, find_places

PACKAGE = "semmetrics"
PYTEST = [sys.executable, "-m", "pytest", "-q", "--hypothesis-seed=0"]
COVERAGE = [f"--cov={PACKAGE}", "--cov-context=test", "--cov-report="]
MAX_TESTS_PER_MUTANT = 60
"""The tests that run the fewest lines."""
MAX_SECONDS_PER_MUTANT = 300
"""A mutant that needs more time counts as detected."""
MAX_BYTES = 16 << 30
"""Address space of a process, in case that a mutant fills the memory."""
Result = dict[str, Any]


# ---- the lines that each test runs ---------------------------------------------------------------


class Coverage(NamedTuple):
    """The lines that each test runs, as bits of an integer, and the number of its lines."""

    lines_by_file: Mapping[str, Mapping[str, int]]
    n_lines: Mapping[str, int]


def load_coverage(jobs: int) -> Coverage:
    """Return the lines that each test runs. They are computed if the tests changed."""
    path = ROOT / "build" / "mutation" / f"{digest_of_sources()}.sqlite"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(record_coverage(copy_tree(folder), jobs), path)
    return read_coverage(path)


def digest_of_sources() -> str:
    """Return a digest of the package, its tests and the folder of reference data."""
    digest = hashlib.sha256(os.environ["SEMMETRICS_REFERENCE"].encode())
    paths = [*(ROOT / PACKAGE).rglob("*.*"), *(ROOT / "tests").rglob("*.*")]
    for path in sorted(paths):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(f"{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def copy_tree(folder: str | Path) -> Path:
    """Copy the repository without its build files."""
    ignored = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "site")
    return shutil.copytree(ROOT, Path(folder, "tree"), ignore=ignored)


def environment_of(copy: Path) -> dict[str, str]:
    """Return an environment that imports the package of a copy."""
    return {**os.environ, "PYTHONPATH": str(copy)}


def record_coverage(copy: Path, jobs: int) -> Path:
    """Run all tests in a copy of the repository, and return the file of coverage."""
    command = [*PYTEST, *COVERAGE, f"-n{jobs}"]
    process = subprocess.run(
        command, stdout=sys.stderr, check=False, cwd=copy, env=environment_of(copy)
    )
    if process.returncode > 1:
        sys.exit("pytest could not run the tests")
    path = copy / ".coverage"
    failures = copy / ".pytest_cache" / "v" / "cache" / "lastfailed"
    if failures.exists():
        remove_tests(path, json.loads(failures.read_text()))
    return path


def remove_tests(path: Path, tests: Iterable[str]) -> None:
    """Remove tests that fail without a mutant from a file of coverage."""
    query = "DELETE FROM context WHERE substr(context, 1, ?) = ?"
    with closing(sqlite3.connect(path)) as database, database:
        for test in tests:
            print("left out, since it fails without a mutant:", test, file=sys.stderr)
            prefix = f"{test}|"
            database.execute(query, (len(prefix), prefix))


def read_coverage(path: Path) -> Coverage:
    """Read a file of coverage."""
    query = """SELECT path, context, numbits FROM line_bits
        JOIN file ON file.id = file_id JOIN context ON context.id = context_id"""
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute(query).fetchall()
    lines_by_file: dict[str, Counter[str]] = defaultdict(Counter)
    n_lines: Counter[str] = Counter()
    for file, context, bits in rows:
        test = context.rpartition("|")[
            0
        ]  # the context ends with |setup, |run or |teardown
        lines = int.from_bytes(bits, "little")
        lines_by_file[PACKAGE + file.rpartition(f"/{PACKAGE}")[2]][test] |= lines
        n_lines[test] += lines.bit_count()
    return Coverage(lines_by_file, n_lines)


def choose_tests(place: Place, coverage: Coverage) -> list[str]:
    """Return the tests that run a line.

    If the line is run by an import, return the tests that run a function of its file.
    """
    lines_by_test = coverage.lines_by_file[place.path]
    tests = tests_of_lines(lines_by_test, place.line)
    is_run_by_import = bool(lines_by_test[""] & place.line)
    if not place.in_function or (not tests and is_run_by_import):
        tests = tests_of_lines(lines_by_test, place.function_lines or -1)
    tests.sort(key=lambda test: (coverage.n_lines[test], test))
    return tests[:MAX_TESTS_PER_MUTANT]


def tests_of_lines(lines_by_test: Mapping[str, int], lines: int) -> list[str]:
    """Return the tests that run one of the lines."""
    return [test for test, run in lines_by_test.items() if test and run & lines]


# ---- mutants -------------------------------------------------------------------------------------


def try_mutants(places: Sequence[Place], coverage: Coverage, jobs: int) -> list[Result]:
    """Run the tests of each mutant, in as many copies of the repository as jobs."""
    copies: SimpleQueue[Path] = SimpleQueue()
    tests = [choose_tests(place, coverage) for place in places]
    results = []
    with (
        tempfile.TemporaryDirectory() as folder,
        ThreadPoolExecutor(jobs) as pool,
    ):
        for job in range(jobs):
            copies.put(copy_tree(f"{folder}/{job}"))
        for result in pool.map(try_mutant, places, tests, repeat(copies)):
            results.append(result)
            print(len(results), result["outcome"], result["place"], file=sys.stderr)
    return results


def try_mutant(place: Place, tests: Sequence[str], copies: SimpleQueue[Path]) -> Result:
    """Run the tests of a mutant in a copy of the repository, and describe the result."""
    source = (ROOT / place.path).read_bytes()
    change = place.change
    mutant = source[: change.start] + change.text.encode() + source[change.stop :]
    outcome = "survived"
    output = ""
    if tests:
        copy = copies.get()
        (copy / place.path).write_bytes(mutant)
        outcome, output = run_tests(tests, copy)
        (copy / place.path).write_bytes(source)
        shutil.rmtree(copy / ".hypothesis", ignore_errors=True)
        copies.put(copy)
    line = source.count(b"\n", 0, change.start)
    line_before = source.decode().split("\n")[line]
    line_after = mutant.decode().split("\n")[line]
    failures = re.findall("^(?:FAILED|ERROR).*", output, re.M)
    return {
        "place": f"{place.path}:{line + 1}",
        "operator": change.operator,
        "before": line_before.strip(),
        "after": line_after.strip(),
        "outcome": outcome,
        "tests": len(tests),
        "failures": failures,
    }


def run_tests(tests: Sequence[str], copy: Path) -> tuple[str, str]:
    """Return the outcome of a mutant under tests, and what the tests print."""
    output = copy.parent / "output"
    with output.open("wb") as file:
        process = subprocess.Popen(
            [*PYTEST, "-x", *tests],
            start_new_session=True,
            cwd=copy,
            env=environment_of(copy),
            stdout=file,
        )
    try:
        outcome = "killed" if process.wait(MAX_SECONDS_PER_MUTANT) else "survived"
    except subprocess.TimeoutExpired:
        outcome = "timeout"
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return outcome, output.read_text(errors="replace")


# ---- the program ---------------------------------------------------------------------------------


def main() -> None:
    """Try mutants, and print how many of them the tests detect."""
    options = parse_options()
    limit_resources()
    coverage = load_coverage(options.jobs)
    places = places_of_folders(options.folders)
    drawn = draw_places(places, options.mutants, options.seed)
    results = try_mutants(drawn, coverage, options.jobs)
    if options.output:
        text = json.dumps(results, indent=1) + "\n"
        options.output.write_text(text, encoding="utf-8")
    print_shares(options.folders, places, results)
    print_survivors(results)


def parse_options() -> argparse.Namespace:
    """Parse the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutants", type=int, default=300)
    parser.add_argument("--folders", nargs="+", default=["core", "metrics", "scoring"])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", type=Path, help="a JSON file for all results")
    return parser.parse_args()


def limit_resources() -> None:
    """Limit the memory and the threads of all processes."""
    import resource  # not on Windows, where pytest collects this file for doctests

    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["OMP_NUM_THREADS"] = "1"
    reference = ROOT.parent / "shared" / "reference"
    os.environ.setdefault("SEMMETRICS_REFERENCE", str(reference))


def places_of_folders(folders: Iterable[str]) -> list[Place]:
    """Return the places in all files of folders of the package."""
    places = []
    for folder in folders:
        for file in sorted((ROOT / PACKAGE / folder).rglob("*.py")):
            places += find_places(file.relative_to(ROOT).as_posix())
    return places


def draw_places(places: Sequence[Place], number: int, seed: int) -> list[Place]:
    """Draw places: one of each of equal parts."""
    random_source = random.Random(seed)
    number = min(number, len(places))
    bounds = [part * len(places) // number for part in range(number + 1)]
    return [places[random_source.randrange(*part)] for part in pairwise(bounds)]


def print_shares(
    folders: Sequence[str], places: Sequence[Place], results: Sequence[Result]
) -> None:
    """Print the share of detected mutants of each folder."""
    print(f"{'folder':<10}{'places':>8}{'mutants':>9}{'killed':>8}{'share':>8}")
    for folder in [*folders, "all"]:
        prefix = f"{PACKAGE}/" if folder == "all" else f"{PACKAGE}/{folder}/"
        n_places = sum(place.path.startswith(prefix) for place in places)
        outcomes = []
        for result in results:
            if result["place"].startswith(prefix):
                outcomes.append(result["outcome"])
        killed = len(outcomes) - outcomes.count("survived")
        share = killed / max(1, len(outcomes))
        print(f"{folder:<10}{n_places:>8}{len(outcomes):>9}{killed:>8}{share:>8.1%}")


def print_survivors(results: Sequence[Result]) -> None:
    """Print the mutants that no test detects."""
    for result in results:
        if result["outcome"] == "survived":
            print(
                f"\n{result['place']}: {result['operator']}, {result['tests']} tests\n"
                f"- {result['before']}\n+ {result['after']}"
            )


if __name__ == "__main__":
    main()
