"""SPICE beside the official program: candidates with their references, parsing, and all pairs.

Captions are those of the test images of COCO with the official parser's tuples. Unless a row says
so, neither parses: ours has them in its store, and from its first run on the merged graphs, the
official program in its own cache. The official program is run as it is, Java's start included, with
a stand-in for the script engine that Java 15 removed (``java/PlainEngineFactory.java``). Processor
time is that of a process and of the programs it starts. All values must be equal before a time is
reported. Without the reference data, pycocoevalcap, CoreNLP (``semmetrics spice setup``) or javac
the rows say so.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import semmetrics
from benchmarks.captions_cider import Images, read_images
from benchmarks.labels import Scale, agree
from benchmarks.timing import ROOT, Row, Times, fresh, ratio, seconds, take_turns
from semmetrics.errors import InputError
from semmetrics.kinds.captions.matrix import caption_blocks
from semmetrics.store.files import cache_folder
from semmetrics.text.java import JARS, SPICE_FILES, jar_folder
from semmetrics.text.official_parser import OfficialParser
from semmetrics.text.offline_parser import OfflineParser
from semmetrics.text.parses import CachingParser
from semmetrics.text.tuple_tables import TupleTable

__all__ = ["WORKLOADS"]

TOKENS = "whitespace"
UNKNOWN = 400  # captions that both parse
# What is raised where data or a program is missing.
LACKING = (ImportError, OSError, InputError, subprocess.CalledProcessError)
OPENED = (
    "java.lang",
    "java.math",
    "java.util",
    "java.util.concurrent",
    "java.net",
    "java.text",
)
Tuples = Mapping[str, list[list[str]]]
Items = list[dict[str, Any]]


def read_tuples(images: Images) -> Tuples:
    """The official parser's tuples of each caption of images."""
    named = os.environ.get("SEMMETRICS_REFERENCE")
    folder = Path(named) if named else ROOT.parent / "shared" / "reference"
    with gzip.open(folder / "spice" / "raw_tuples_coco_test5k.jsonl.gz", "rt") as lines:
        tuples = {one["caption"]: one["tuples"] for one in map(json.loads, lines)}
    return {one: tuples[one] for image in images for one in image}


@contextmanager
def kept(tuples: Tuples) -> Iterator[Path]:
    """A folder of the user whose store holds the parses."""
    jars = jar_folder()
    with (
        tempfile.TemporaryDirectory() as home,
        patch.dict(os.environ, SEMMETRICS_HOME=home),
    ):
        (Path(home) / jars.name).symlink_to(jars)
        given = TupleTable.of(tuples)
        store = CachingParser(Relabelled(given), file=cache_folder() / "parses.sqlite")
        store.parse(list(tuples))
        del tuples, given, store  # what is kept in memory slows the collector down
        yield Path(home)


class Relabelled:
    """Tuples under the official parser's name."""

    identity = OfficialParser.identity

    def __init__(self, given: TupleTable) -> None:
        self.parse = given.parse


def official(folder: Path, items: Items) -> list[float]:
    """The official program's values; its cache is in the folder."""
    java, place = SPICE_FILES.locate()
    jars = [jar_folder() / name for name in JARS]
    classes = folder / "classes"
    if not classes.exists():
        source = Path(__file__).parent / "java" / "PlainEngineFactory.java"
        subprocess.run(["javac", "-d", classes, source], check=True)
        services = classes / "META-INF" / "services"
        services.mkdir(parents=True)
        (services / "javax.script.ScriptEngineFactory").write_text(
            "PlainEngineFactory\n"
        )
    (folder / "in.json").write_text(json.dumps(items))
    (folder / "cache").mkdir(exist_ok=True)
    opens = [
        text
        for name in OPENED
        for text in ("--add-opens", f"java.base/{name}=ALL-UNNAMED")
    ]
    path = os.pathsep.join(map(str, [classes, place / "*", place / "lib" / "*", *jars]))
    command = [
        java,
        "-Xmx8G",
        *opens,
        "-cp",
        path,
        "edu.anu.spice.SpiceScorer",
        "in.json",
        "-cache",
        "cache",
        "-out",
        "out.json",
        "-subset",
        "-silent",
    ]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    found = json.loads((folder / "out.json").read_text())
    return [one["scores"]["All"]["f"] for one in found]


def fill_cache(folder: Path, captions: list[str]) -> None:
    """Let the official program parse captions once; what stands twice in a run it parses twice."""
    official(
        folder, as_items([captions[at : at + 5] for at in range(0, len(captions), 5)])
    )


def as_items(images: Images) -> Items:
    """The first caption of each image with the others as references, or itself if it is alone."""
    return [
        {"image_id": n, "test": one[0], "refs": one[1:] or one}
        for n, one in enumerate(images)
    ]


def skipped(what: str, error: Exception) -> list[Row]:
    """A row that says why there is none."""
    return [Row(what, "", f"skipped: {error}")]


def candidates(scale: Scale) -> list[Row]:
    """One candidate an image, four references, all parsed and merged before."""
    what = "SPICE, 1,000 candidates, 4 references each, scored before; official program, cache warm"
    try:
        images = read_images()[:1000]
        with kept(read_tuples(images)) as home:
            return _candidates(images, home, scale, what)
    except LACKING as error:
        return skipped(what, error)


def _candidates(images: Images, home: Path, scale: Scale, what: str) -> list[Row]:
    names = list(map(str, range(len(images))))
    items = as_items(images)
    preds = dict(zip(names, (one[0] for one in images), strict=True))
    gts = dict(zip(names, (one[1:] for one in images), strict=True))
    (home / "preds.json").write_text(json.dumps(preds))
    (home / "gts.json").write_text(json.dumps(gts))
    program = [
        sys.executable,
        "-m",
        "semmetrics",
        "score",
        "-q",
        "-m",
        "SPICE",
        "--tokenizer",
        TOKENS,
        str(home / "preds.json"),
        str(home / "gts.json"),
    ]

    def score() -> list[float]:
        options: dict[str, Any] = {
            "measures": "SPICE",
            "tokenizer": TOKENS,
            "task": "captions",
        }
        found: list[float] = semmetrics.score(preds, gts, **options)[0].items.tolist()
        return found

    agree("the official program", score(), official(home, items), 0.0)
    contenders: dict[str, Callable[[], object]] = {
        "semmetrics.score": score,
        "the program semmetrics": lambda: subprocess.run(
            program, check=True, capture_output=True
        ),
        "official": lambda: official(home, items),
    }
    first = [
        Times(tuple(float(fresh(FIRST, name)) for _ in range(scale.repeats)))
        for name in ("SPICE", "BLEU-4")
    ]
    return [
        *both_times(what, contenders, scale.repeats),
        Row(
            "first score of SPICE in a process, one image, parsed before",
            seconds(first[0]),
        ),
        Row(
            "the same of BLEU-4, which shares the reading and the tokens",
            seconds(first[1]),
        ),
    ]


def both_times(
    what: str, contenders: Mapping[str, Callable[[], object]], repeats: int
) -> list[Row]:
    """Rows of each contender beside the one called "official", by the clock and the processor."""
    processor: dict[str, list[float]] = {name: [] for name in contenders}

    def measured(name: str) -> Callable[[], None]:
        def run() -> None:
            before = os.times()
            contenders[name]()
            after = os.times()
            # and those of children
            processor[name].append(sum(after[:4]) - sum(before[:4]))

        return run

    times = take_turns({name: measured(name) for name in contenders}, repeats)
    found = {
        "": times,
        ", processor time": {n: Times(tuple(p)) for n, p in processor.items()},
    }
    return [
        Row(
            f"{what}; {name}{kind}",
            seconds(mine),
            seconds(of["official"]),
            ratio(of["official"], mine),
        )
        for name in contenders
        if name != "official"
        for kind, of in found.items()
        for mine in (of[name],)
    ]


def parsing(scale: Scale) -> list[Row]:
    """Captions that nobody has parsed, each once: ours as `spice parse`, beside scoring them."""
    what = f"{UNKNOWN} captions parsed for the first time, Java's start included"
    try:
        texts = list(dict.fromkeys(text for one in read_images() for text in one))
    except LACKING as error:
        return skipped(what, error)
    try:
        rows = _parsing(texts[:UNKNOWN], jar_folder(), what)
    except LACKING as error:
        rows = skipped(what, error)
    return [*rows, _offline(texts)]


def _parsing(texts: list[str], jars: Path, what: str) -> list[Row]:
    groups = [texts[start : start + 5] for start in range(0, len(texts), 5)]
    runs: dict[str, float] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.dict(os.environ, SEMMETRICS_HOME=folder),
    ):
        home = Path(folder)
        (home / jars.name).symlink_to(jars)
        (home / "captions.json").write_text(
            json.dumps({str(n): t for n, t in enumerate(texts)})
        )
        program = [
            sys.executable,
            "-m",
            "semmetrics",
            "spice",
            "parse",
            "-q",
            "-o",
            str(home / "tuples.jsonl"),
            str(home / "captions.json"),
        ]
        start = time.perf_counter()
        subprocess.run(program, check=True, capture_output=True)
        runs["ours"] = time.perf_counter() - start
        found = semmetrics.score(
            [one[0] for one in groups],
            [one[1:] for one in groups],
            task="captions",
            measures="SPICE",
            tokenizer=TOKENS,
            tuples=home / "tuples.jsonl",
        )
        start = time.perf_counter()
        values = official(home, as_items(groups))
        runs["official"] = time.perf_counter() - start
    agree("the official program", found[0].items.tolist(), values, 0.0)
    mine, theirs = (Times((runs[name],)) for name in ("ours", "official"))
    rates = [
        f"{seconds(one)}, {len(texts) / one.median:.0f} a second"
        for one in (mine, theirs)
    ]
    return [Row(what, *rates, ratio(theirs, mine))]


def _offline(texts: list[str]) -> Row:
    """Processor time of the parser that comes with the package, which works on one thread."""
    runs = []
    for _ in range(3):
        parser = OfflineParser()
        start = time.process_time()
        for _ in parser.parse(texts):
            pass
        runs.append(time.process_time() - start)
    times = Times(tuple(runs))
    return Row(
        f"{len(texts):,} captions by parser=offline, processor time on one core",
        f"{seconds(times)}, {len(texts) / times.median:,.0f} a second",
    )


def pairs(scale: Scale) -> list[Row]:
    """Every caption for every image, beside the official program on a sample of pairs."""
    what = (
        "SPICE matrix, {:,} images x {:,} captions; official program, from {:,} pairs"
    )
    try:
        images = read_images()
        with kept(read_tuples(images)) as home:
            return _pairs(images, home, scale, what)
    except LACKING as error:
        return skipped(what.format(5_000, 25_000, 20_000), error)


def _pairs(images: Images, home: Path, scale: Scale, what: str) -> list[Row]:
    captions = [text for one in images for text in one]
    rng = np.random.default_rng(0)
    rows, columns = rng.choice(len(images), 20), rng.choice(len(captions), 1000)
    sample = [
        {"image_id": n, "test": captions[column], "refs": images[row]}
        for n, (row, column) in enumerate((r, c) for r in rows for c in columns)
    ]
    fill_cache(
        home, sorted({text for one in sample for text in (one["test"], *one["refs"])})
    )
    found = np.concatenate(
        [block[:, columns] for _, block in blocks(images, captions)]
    )[rows]
    agree("the official program", found.ravel().tolist(), official(home, sample), 0.0)
    contenders: dict[str, Callable[[], object]] = {
        "ours": lambda: sum(
            float(block[0, 0]) for _, block in blocks(images, captions)
        ),
        "official": lambda: official(home, sample),
    }
    times = take_turns(contenders, scale.repeats)
    each = len(images) * len(captions) / len(sample)
    whole = Times(tuple(run * each for run in times["official"].runs))
    hours = f"{whole.median / 3600:.2g} hours, extrapolated"
    title = what.format(len(images), len(captions), len(sample))
    peak = float(fresh(MEMORY))
    return [
        Row(
            f"{title}; in blocks",
            seconds(times["ours"]),
            hours,
            ratio(whole, times["ours"]),
        ),
        Row(
            "peak memory of the whole process, SPICE matrix in blocks",
            f"{peak:,.0f} MB",
        ),
    ]


def blocks(images: Images, captions: list[str]) -> Iterator[tuple[int, Any]]:
    """The matrix, some rows at a time."""
    return caption_blocks(images, captions, measure="SPICE", tokenizer=TOKENS)


MEMORY = """
from benchmarks.spice import blocks, read_images
from benchmarks.timing import megabytes
images = read_images()
for _ in blocks(images, [text for one in images for text in one]): pass
print(megabytes()[0])
"""

FIRST = """
import sys, time
import semmetrics
from benchmarks.spice import TOKENS, read_images
texts = read_images()[0]
start = time.perf_counter()
options = {"measures": sys.argv[1], "tokenizer": TOKENS, "task": "captions"}
semmetrics.score({"1": texts[0]}, {"1": texts[1:]}, **options)
print(time.perf_counter() - start)
"""

WORKLOADS: dict[str, Callable[[Scale], list[Row]]] = {
    "candidates": candidates,
    "parsing": parsing,
    "pairs": pairs,
}
