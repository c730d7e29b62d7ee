"""Measure the power of the tests: ``python -m tests.mutation --seed 1 --mutants 300``.

A mutant is the package with one small error in it. The tests that run its line should fail. If they
pass, the mutant survives: no test checks what the line does, or the error changes nothing.
All tests are run once to record which lines each of them runs. The record is kept in
``build/mutation`` until the package or its tests change. This needs pytest-cov and pytest-xdist.
"""

import argparse
import ast
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
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from itertools import accumulate, pairwise, repeat
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "semmetrics"
PYTEST = [sys.executable, "-m", "pytest", "-q", "--hypothesis-seed=0"]
COVERAGE = [f"--cov={PACKAGE}", "--cov-context=test", "--cov-report="]
MOST_TESTS = 60  # of a mutant: those that run the fewest lines
LIMIT = 300  # seconds for them; a mutant that needs more is killed
MEMORY = 16 << 30  # bytes of address space, lest a mutant takes all there is

PAIRS = ["< <=", "> >=", "== !=", "and or", "+ -", "* /", "+= -=", "*= /="]
PAIRS += ["min max", "minimum maximum", "any all"]
SWAPS = {a: b for pair in map(str.split, PAIRS) for a, b in (pair, pair[::-1])} | {
    "//": "*"
}
SEQUENCES = str | ast.JoinedStr | ast.List | ast.ListComp | ast.Tuple


class Place(NamedTuple):
    """Bytes of a file and what a mutant has instead. Lines are the bits of an integer."""

    path: str
    operator: str
    start: int
    stop: int
    text: str
    line: int
    called: bool  # whether it is inside a function, so that importing the file does not run it
    functions: int  # all lines inside functions of the file


def operands(node):
    """Return the nodes between which signs are swapped."""
    match node:
        case ast.Compare():
            return [node.left, *node.comparators]
        case ast.BoolOp():
            return node.values
        case (
            ast.BinOp(left=left, right=right) | ast.AugAssign(target=left, value=right)
        ):
            values = [getattr(side, "value", side) for side in (left, right)]
            return (
                []
                if any(isinstance(value, SEQUENCES) for value in values)
                else [left, right]
            )
    return []


def walk(node):
    """Yield a node and those below it, but no messages, annotations and decorators."""
    yield node
    parts = ast.iter_child_nodes(node)
    match node:
        case (
            ast.Raise()
            | ast.JoinedStr()
            | ast.arg()
            | ast.keyword(arg="slots" | "strict")
        ):
            parts = []  # the two flags of dataclasses and zip act on wrong code alone
        case ast.Call() if re.search(r"(Error|[Ww]arn\w*)$", ast.unparse(node.func)):
            parts = []
        case ast.FunctionDef():
            parts = [node.args, *node.body]
        case ast.ClassDef():
            parts = node.body
        case ast.AnnAssign():
            parts = [node.value] if node.value else []
    for part in parts:
        yield from walk(part)


class Source:
    """A file and the places where mutants differ from it."""

    def __init__(self, path):
        self.path, self.bytes = path, (ROOT / path).read_bytes()
        lengths = map(len, self.bytes.splitlines(keepends=True))
        self.starts, nodes = (
            list(accumulate(lengths, initial=0)),
            [*walk(ast.parse(self.bytes))],
        )
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
        lines = {
            n for f in functions for n in range(f.body[0].lineno, f.end_lineno + 1)
        }
        self.functions = sum(1 << line for line in lines)
        bodies = [statement for function in functions for statement in function.body]
        bodies += [node.body for node in nodes if isinstance(node, ast.Lambda)]
        self.called = [self.span(node) for node in bodies]
        self.places = [
            self.place(*change) for node in nodes for change in self.changes(node)
        ]
        for function in functions:
            start, stop = self.span(function)
            if not any(start <= place.start < stop for place in self.places):
                self.places += [
                    self.place(*change) for change in self.returns(function)
                ]

    def span(self, node):
        stop = self.starts[node.end_lineno - 1] + node.end_col_offset
        return self.starts[node.lineno - 1] + node.col_offset, stop

    def place(self, operator, start, stop, text):
        line = 2 << self.bytes.count(b"\n", 0, start)
        called = any(first <= start < last for first, last in self.called)
        return Place(
            self.path, operator, start, stop, text, line, called, self.functions
        )

    def returns(self, function):
        """Yield the changes of what a function returns to None."""
        for node in walk(function):
            if (
                isinstance(node, ast.Return)
                and node.value
                and ast.unparse(node.value) != "None"
            ):
                start, stop = self.span(node.value)
                lines = "\n" * self.bytes.count(b"\n", start, stop)
                yield "return None", start, stop, f"(None{lines})"

    def changes(self, node):
        """Yield the operator, the start, the stop and the new text of each change of a node."""
        for left, right in pairwise(operands(node)):
            start = self.span(left)[1]
            sign = re.search(
                rb"[-+*/<>=!]+|and|or|#", self.bytes[start : self.span(right)[0]]
            )
            if sign and (word := sign[0].decode()) in SWAPS:
                first, last = sign.span()
                yield (
                    f"{word} to {SWAPS[word]}",
                    start + first,
                    start + last,
                    SWAPS[word],
                )
        tests = (
            [node.test]
            if isinstance(node, ast.If | ast.IfExp)
            else getattr(node, "ifs", [])
        )
        for test in tests:
            start, stop = self.span(test)
            equality = isinstance(getattr(test, "ops", [None])[0], ast.Eq | ast.NotEq)
            if not equality and not isinstance(test, ast.UnaryOp):  # others do the same
                yield (
                    "if negated",
                    start,
                    stop,
                    f"not ({self.bytes[start:stop].decode()})",
                )
        match node:
            case ast.UnaryOp(op=ast.Not()):
                yield (
                    "not dropped",
                    self.span(node)[0],
                    self.span(node)[0] + len("not"),
                    "",
                )
            case ast.Constant(value=bool(value)):
                yield f"{value} to {not value}", *self.span(node), str(not value)
            case ast.Constant(value=int(value) | float(value)) if value + 1 != value:
                yield "constant + 1", *self.span(node), repr(value + 1)
            case ast.Name(id=word) | ast.Attribute(attr=word) if word in SWAPS:
                stop = self.span(node)[1]
                yield f"{word} to {SWAPS[word]}", stop - len(word), stop, SWAPS[word]


def copy_tree(folder):
    ignored = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "site")
    return shutil.copytree(ROOT, Path(folder, "tree"), ignore=ignored)


def record_lines(jobs):
    """Return the file that holds which test runs which lines."""
    digest = hashlib.sha256(os.environ["SEMMETRICS_REFERENCE"].encode())
    for path in sorted(
        p for top in (PACKAGE, "tests") for p in (ROOT / top).rglob("*.*")
    ):
        if (
            path.is_file()
            and path.suffix != ".pyc"
            and path != Path(__file__).resolve()
        ):
            digest.update(f"{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    record = ROOT / "build" / "mutation" / f"{digest.hexdigest()[:16]}.sqlite"
    if not record.exists():
        record.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            copy = copy_tree(folder)
            settings = {"cwd": copy, "env": os.environ | {"PYTHONPATH": str(copy)}}
            command = [*PYTEST, *COVERAGE, f"-n{jobs}"]
            if (
                subprocess.run(
                    command, stdout=sys.stderr, check=False, **settings
                ).returncode
                > 1
            ):
                sys.exit("pytest could not run the tests")
            failed = copy / ".pytest_cache" / "v" / "cache" / "lastfailed"
            with closing(sqlite3.connect(copy / ".coverage")) as database, database:
                for test in json.loads(failed.read_text()) if failed.exists() else ():
                    print(
                        "left out, as it fails without a mutant:", test, file=sys.stderr
                    )
                    name = f"{test}|"
                    query = "DELETE FROM context WHERE substr(context, 1, ?) = ?"
                    database.execute(query, (len(name), name))
            shutil.copy(copy / ".coverage", record)
    return record


def read_record(record):
    """Return the lines that each test runs of each file, and how many lines it runs of all."""
    runs, sizes = defaultdict(Counter), Counter()
    query = """SELECT path, context, numbits FROM line_bits
        JOIN file ON file.id = file_id JOIN context ON context.id = context_id"""
    with closing(sqlite3.connect(record)) as database:
        rows = database.execute(query).fetchall()
    for path, context, numbits in rows:
        # without setup, run or teardown; "" is no test
        test = context.rpartition("|")[0]
        lines = int.from_bytes(numbits, "little")
        runs[PACKAGE + path.rpartition(f"/{PACKAGE}")[2]][test] |= lines
        sizes[test] += lines.bit_count()
    return runs, sizes


def choose_tests(place, runs, sizes):
    """Return tests of a line; if importing runs it, those of the functions of its file."""
    runs = runs[place.path]
    tests = [test for test in runs if test and runs[test] & place.line]
    if not place.called or (not tests and runs[""] & place.line):
        tests = [test for test in runs if test and runs[test] & (place.functions or -1)]
    return sorted(tests, key=lambda test: (sizes[test], test))[:MOST_TESTS]


def run_tests(tests, copy):
    """Return what becomes of a copy of the tree under these tests, and what they print."""
    with (copy.parent / "output").open("wb") as file:
        settings = {
            "cwd": copy,
            "env": os.environ | {"PYTHONPATH": str(copy)},
            "stdout": file,
        }
        process = subprocess.Popen(
            [*PYTEST, "-x", *tests], start_new_session=True, **settings
        )
    try:
        outcome = "killed" if process.wait(LIMIT) else "survived"
    except subprocess.TimeoutExpired:
        outcome = "timeout"
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return outcome, (copy.parent / "output").read_text(errors="replace")


def try_mutant(place, tests, copies):
    """Run the tests of a mutant in a copy of the tree; return all that is to be known of it."""
    source = (ROOT / place.path).read_bytes()
    mutant = source[: place.start] + place.text.encode() + source[place.stop :]
    line, outcome, printed = source.count(b"\n", 0, place.start), "survived", ""
    if tests:
        copy = copies.get()
        (copy / place.path).write_bytes(mutant)
        outcome, printed = run_tests(tests, copy)
        (copy / place.path).write_bytes(source)
        # examples that failed for it
        shutil.rmtree(copy / ".hypothesis", ignore_errors=True)
        copies.put(copy)
    before, after = (
        text.decode().split("\n")[line].strip() for text in (source, mutant)
    )
    result = {
        "place": f"{place.path}:{line + 1}",
        "operator": place.operator,
        "before": before,
    }
    result |= {"after": after, "outcome": outcome, "tests": len(tests)}
    return result | {"failures": re.findall("^(?:FAILED|ERROR).*", printed, re.M)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutants", type=int, default=300)
    parser.add_argument("--rooms", nargs="+", default=["core", "metrics", "scoring"])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", type=Path, help="a JSON file for all results")
    options = parser.parse_args()

    import resource  # Unix has it: pytest looks for doctests here on other systems, too

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.environ |= {"PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    os.environ.setdefault(
        "SEMMETRICS_REFERENCE", str(ROOT.parent / "shared" / "reference")
    )
    record = read_record(record_lines(options.jobs))

    files = [
        f
        for room in options.rooms
        for f in sorted((ROOT / PACKAGE / room).rglob("*.py"))
    ]
    places = [
        p for file in files for p in Source(file.relative_to(ROOT).as_posix()).places
    ]
    draw, count = random.Random(options.seed), min(options.mutants, len(places))
    ends = [i * len(places) // count for i in range(count + 1)]
    # one of each equal part
    drawn = [places[draw.randrange(*part)] for part in pairwise(ends)]
    results, copies = [], SimpleQueue()
    with (
        tempfile.TemporaryDirectory() as folder,
        ThreadPoolExecutor(options.jobs) as pool,
    ):
        for job in range(options.jobs):
            copies.put(copy_tree(f"{folder}/{job}"))
        tests = [choose_tests(place, *record) for place in drawn]
        for result in pool.map(try_mutant, drawn, tests, repeat(copies)):
            results.append(result)
            print(
                len(results),
                result["outcome"],
                result["place"],
                file=sys.stderr,
                flush=True,
            )
    if options.output:
        options.output.write_text(
            json.dumps(results, indent=1) + "\n", encoding="utf-8"
        )

    print(f"{'room':<10}{'places':>8}{'mutants':>9}{'killed':>8}{'share':>8}")
    for room in [*options.rooms, "all"]:
        folder = f"{PACKAGE}/{room}/".removesuffix("all/")
        size = sum(place.path.startswith(folder) for place in places)
        own = [one["outcome"] for one in results if one["place"].startswith(folder)]
        killed = len(own) - own.count("survived")
        print(
            f"{room:<10}{size:>8}{len(own):>9}{killed:>8}{killed / max(1, len(own)):>8.1%}"
        )
    for result in results:
        if result["outcome"] == "survived":
            print(
                "\n{place}: {operator}, {tests} tests\n- {before}\n+ {after}".format(
                    **result
                )
            )


if __name__ == "__main__":
    main()
