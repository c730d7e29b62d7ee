"""Compare thresholds of edges on captions that were not learned from.

    python -m embeddings.parsing.calibrate PARSED --images dev-images.json [--data FILE]

Where the network is not sure it gives the more usual edges, to all captions of an image alike, and
so finds more of a candidate's tuples in the references than the official parser does. With a lower
threshold there are more edges, and relatively fewer tuples that match. Printed are thresholds with
the difference of the mean of SPICE, each caption against the others of its image, Pearson's r and
F1 of tuples. The one of the highest r is given to `parsing.pack`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from embeddings.parsing.evaluate import agreement, images_as_items
from embeddings.parsing.sentences import read_parsed
from semmetrics.text.offline_parser import DATA, OfflineParser

__all__ = ["main"]

_THRESHOLDS = np.arange(-10, 3, 2) / 10


def _with_threshold(data: Path, threshold: float) -> OfflineParser:
    """Return a parser with the weights of a file and another threshold."""
    with np.load(data) as file:
        arrays = dict(file)
    settings = json.loads(bytes(arrays["settings"]))
    settings["threshold"] = threshold
    arrays["settings"] = np.frombuffer(json.dumps(settings).encode(), np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        changed = Path(folder, "weights.npz")
        np.savez(changed, **arrays)
        return OfflineParser(changed)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    command = argparse.ArgumentParser(prog="parsing.calibrate", description=__doc__)
    command.add_argument("parsed", type=Path)
    command.add_argument("--images", type=Path, required=True)
    command.add_argument("--data", type=Path, default=DATA)
    given = command.parse_args(arguments)
    items = images_as_items(
        "dev",
        list(read_parsed([given.parsed])),
        json.loads(given.images.read_text("utf-8")),
    )
    texts = list(items.official)
    for threshold in _THRESHOLDS:
        parser = _with_threshold(given.data, float(threshold))
        found = agreement(items, dict(zip(texts, parser.parse(texts), strict=True)))
        print(
            f"{threshold:+.1f}  {found.ours / found.official - 1:+.2%}  r {found.pearson:.4f}  "
            f"F1 {found.f1:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
