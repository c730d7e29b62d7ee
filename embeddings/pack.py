"""Fewer dimensions and fewer bits: what the distilled vectors lose so that they fit a wheel."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.embed.model_files import LEVELS
from semmetrics.embed.static import FILES
from semmetrics.store.files import file_digest

__all__ = ["axes", "describe", "four_bits", "write"]

_SEED = 20200713

Matrix = NDArray[np.float32]


def axes(vectors: Matrix, dimension: int) -> Matrix:
    """The principal axes of vectors, not centred, so that products are kept; then turned at random.

    Turned, all coordinates vary alike, and four bits serve each as well.
    """
    moments = np.asarray(vectors.T @ vectors, np.float64)
    principal = np.linalg.eigh(moments)[1][:, ::-1][:, :dimension]
    normal = np.random.default_rng(_SEED).normal(size=(dimension, dimension))
    return np.asarray(principal @ np.linalg.qr(normal)[0], np.float32)


def four_bits(rows: Matrix) -> NDArray[Any]:
    """Rows as the nearest of 16 levels times a scale of their own, chosen for the least error."""
    edges = (LEVELS[1:] + LEVELS[:-1]) / 2
    scale = np.maximum(np.sqrt(np.square(rows).mean(axis=1)), 1e-4)
    for _ in range(4):
        codes = np.searchsorted(edges, rows / scale[:, None]).astype(np.uint8)
        levels = LEVELS[codes]
        scale = np.maximum(
            (rows * levels).sum(axis=1) / np.square(levels).sum(axis=1), 1e-4
        )
    table = np.zeros(
        len(rows),
        dtype=[("scale", np.float16), ("codes", np.uint8, rows.shape[1] // 2)],
    )
    table["scale"] = scale
    table["codes"] = codes[:, ::2] << 4 | codes[:, 1::2]
    return table


def write(folder: Path, entries: Sequence[str], rows: Matrix, mean: Matrix) -> None:
    """Write the files that decide the vectors."""
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / FILES[0], four_bits(rows), allow_pickle=False)
    np.save(folder / FILES[1], mean, allow_pickle=False)
    (folder / FILES[2]).write_text(
        "\n".join(entries) + "\n", encoding="utf-8", newline="\n"
    )


def describe(folder: Path, facts: dict[str, Any]) -> None:
    """Write what is to be known of the model, with the checksums of its files."""
    sums = {name: file_digest(folder / name) for name in FILES}
    whole = file_digest(*(folder / name for name in FILES))
    text = json.dumps({**facts, "sha256": whole, "files": sums}, indent=2)
    (folder / "static.json").write_text(text + "\n", encoding="utf-8", newline="\n")
