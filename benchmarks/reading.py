"""Files to lists, beside what pyarrow or json take to read the same files and nothing more.

And files to scores, beside what one writes today: polars, and scikit-learn on sparse matrices.
The files are synthetic and seeded, and written to a temporary folder. Both sides are read: of
label sets as many items as the scale says, about three labels each, of captions a fifth as many
images with one candidate and five references.
"""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import semmetrics
from benchmarks.labels import Scale, agree
from benchmarks.timing import Row, fresh, ratio, seconds, take_turns
from semmetrics import as_captions, as_labels

__all__ = ["WORKLOADS"]

SIDES = ("preds", "gt")
_PEAK = """
import sys
from benchmarks.timing import megabytes
from semmetrics.cli import main
try:
    main(["score", *sys.argv[1:], "-m", "F1", "-o", "/dev/null", "--quiet"])
except SystemExit as end:
    if end.code:
        raise
print(megabytes()[0])
"""


def label_lists(number: int, seed: int) -> Iterator[tuple[str, list[str]]]:
    """Ids and their labels."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, number)
    shares = 1 / np.arange(1, 1001)
    names = [f"label {code:04d}" for code in range(1000)]
    flat = rng.choice(1000, sizes.sum(), p=shares / shares.sum()).tolist()
    end = 0
    for item, size in enumerate(sizes.tolist()):
        yield f"image_{item:07d}.jpg", [names[code] for code in flat[end : end + size]]
        end += size


def caption_lists(number: int, size: int, seed: int) -> Iterator[tuple[str, list[str]]]:
    """Ids and their captions, of ten words each."""
    rng = np.random.default_rng(seed)
    words = np.array([f"word{code}" for code in range(5000)])
    for item in range(number):
        texts = words[rng.integers(0, 5000, (size, 10))]
        yield f"image_{item:07d}.jpg", [" ".join(text) for text in texts]


def write(items: Iterator[tuple[str, list[str]]], path: Path, key: str) -> None:
    """Write items in the format of the extension."""
    if path.suffix == ".parquet":
        import pyarrow as pa
        from pyarrow import parquet

        ids, lists = zip(*items, strict=True)
        parquet.write_table(pa.table({"id": ids, key: lists}), path)
        return
    with path.open("w", encoding="utf-8", newline="") as out:
        if path.suffix == ".json":
            json.dump(dict(items), out)
        elif path.suffix == ".jsonl":
            out.writelines(
                json.dumps({"id": id_, key: values}) + "\n" for id_, values in items
            )
        else:
            rows = csv.writer(out, lineterminator="\n")
            rows.writerow(["id", "label"])
            rows.writerows((id_, value) for id_, values in items for value in values)


@contextmanager
def label_files(scale: Scale, suffix: str) -> Iterator[list[Path]]:
    """The files of both sides."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{side}{suffix}") for side in SIDES]
        for seed, path in enumerate(paths):
            write(label_lists(scale.examples, seed), path, "labels")
        yield paths


def peer_of(suffix: str) -> tuple[str, Callable[[Path], object]]:
    """What reads such a file and makes nothing of it."""
    if suffix == ".json":
        return "json.load", lambda path: json.loads(path.read_text(encoding="utf-8"))
    from pyarrow import csv as pa_csv
    from pyarrow import json as pa_json
    from pyarrow import parquet

    readers: dict[str, tuple[str, Callable[[Path], object]]] = {
        ".jsonl": ("pyarrow.json.read_json", pa_json.read_json),
        ".csv": ("pyarrow.csv.read_csv", pa_csv.read_csv),
        ".parquet": ("pyarrow.parquet.read_table", parquet.read_table),
    }
    return readers[suffix]


def compare(
    what: str, paths: Sequence[Path], ours: Callable[[Any], Any], repeats: int
) -> Row:
    """Read both sides in turns with the peer."""
    name, peer = peer_of(paths[0].suffix)

    def read(reader: Callable[[Path], object]) -> None:
        for path in paths:
            reader(path)

    times = take_turns(
        {"ours": partial(read, ours), name: partial(read, peer)}, repeats
    )
    return Row(
        what,
        seconds(times["ours"]),
        f"{name}: {seconds(times[name])}",
        ratio(times[name], times["ours"]),
    )


def labels_of(suffix: str, scale: Scale) -> list[Row]:
    """Label sets from files of one format."""
    with label_files(scale, suffix) as paths:
        return [compare(f"label sets, {suffix}", paths, as_labels, scale.repeats)]


def polars_and_sklearn(paths: Sequence[Path]) -> list[float]:
    """Read and join with polars, and give scikit-learn sparse 0/1 matrices."""
    import polars as pl
    from scipy.sparse import csr_matrix
    from sklearn.metrics import f1_score

    if paths[0].suffix == ".csv":
        sides = [pl.read_csv(path) for path in paths]
    else:
        sides = [
            pl.read_ndjson(path).explode("labels").rename({"labels": "label"})
            for path in paths
        ]
    ids = sides[1].select("id").unique(maintain_order=True).with_row_index("row")
    names = (
        pl.concat([side.select("label") for side in sides])
        .unique()
        .with_row_index("column")
    )
    matrices = []
    for side in sides:
        cells = side.unique().join(ids, on="id").join(names, on="label")
        places = (cells["row"].to_numpy(), cells["column"].to_numpy())
        matrices.append(
            csr_matrix((np.ones(len(cells), np.int8), places), (len(ids), len(names)))
        )
    predicted, reference = matrices
    return [
        f1_score(reference, predicted, average=average, zero_division=0)
        for average in ("macro", "micro", "samples")
    ]


def scores_of(suffix: str, scale: Scale) -> list[Row]:
    """Macro, micro and example F1 from the files of both sides."""

    def ours() -> list[float]:
        measures = ["F1(average=macro)", "F1(average=micro)", "F1"]
        return [score.value for score in semmetrics.score(*paths, measures=measures)]

    with label_files(scale, suffix) as paths:
        peer = partial(polars_and_sklearn, paths)
        agree("polars and scikit-learn", ours(), peer(), 1e-12)
        times = take_turns({"ours": ours, "peer": peer}, scale.repeats)
    return [
        Row(
            f"macro, micro and example F1 from {suffix} files",
            seconds(times["ours"]),
            f"polars and scikit-learn sparse: {seconds(times['peer'])}",
            ratio(times["peer"], times["ours"]),
        )
    ]


def captions_of(scale: Scale) -> list[Row]:
    """Captions from JSON lines."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{side}.jsonl") for side in SIDES]
        number = max(1, scale.examples // 5)
        for path, size in zip(paths, (1, 5), strict=True):
            write(caption_lists(number, size, size), path, "captions")
        return [compare("captions, .jsonl", paths, as_captions, scale.repeats)]


def peak(scale: Scale) -> list[Row]:
    """The memory of a whole process that scores JSON lines."""
    with label_files(scale, ".jsonl") as paths:
        used = float(fresh(_PEAK, *map(str, paths)).splitlines()[-1])
    return [Row("semmetrics score -m F1, .jsonl: peak memory", f"{used:.0f} MB")]


WORKLOADS = {
    **{
        name: partial(labels_of, f".{name}")
        for name in ("jsonl", "csv", "parquet", "json")
    },
    **{f"{name}_scores": partial(scores_of, f".{name}") for name in ("jsonl", "csv")},
    "captions": captions_of,
    "memory": peak,
}
