"""Six images and four classes: seen and unseen accuracy, H, the curve, and means over splits.

Scores and classes are those of `classes/`. Exits with 1 where something stated below does not hold.

Run: python examples/score_classes.py
"""

import json
import math
import sys
from pathlib import Path

import numpy as np

import semmetrics
from semmetrics.studies import summarize

FOLDER = Path(__file__).with_name("classes")
SCORES, TRUTH = FOLDER / "scores.json", FOLDER / "truth.txt"
LISTS = {name: FOLDER / f"{name}.txt" for name in ("classes", "seen", "unseen")}


def protocol():
    """Print what Xian et al. 2018 print, and the confused classes."""
    table = semmetrics.score(SCORES, TRUTH, protocol="xian2018", **LISTS)
    print(table)
    for note in table.notes:
        print(note)
    for row in table.confusion():
        print(f"{row['true']:<6} predicted as {row['predicted']:<6} {row['count']}")
    print()
    return {
        "half of the horses and all sheep are found": table["tr"].value == 0.75,
        "half of the zebras and no llama": table["ts"].value == 0.25,
        "H is their harmonic mean": table["H"].value == 0.375,
        "among the unseen classes all are found": table["ZSL"].value == 1.0,
    }


def calibrated():
    """Take a constant from the scores of the seen classes: the whole curve, and its best point."""
    table = semmetrics.score(
        SCORES, TRUTH, measures="AUSUC BestH", task="classes", **LISTS
    )
    print(table)
    for row in table.curve():
        low = "-inf" if row["low"] is None else f"{row['low']:.1f}"
        print(f"from {low:>5}  unseen {row['unseen']:.2f}  seen {row['seen']:.2f}")
    print()
    return {
        "the area is three quarters": math.isclose(table["AUSUC"].value, 0.75),
        "with a constant from 0.1 to 0.2 all unseen ones are found": math.isclose(
            table["BestH"].value, 6 / 7
        ),
    }


def labels():
    """Predicted labels alone have the same accuracy; what needs scores says so."""
    names = LISTS["classes"].read_text(encoding="utf-8").split()
    rows = np.array(json.loads(SCORES.read_text(encoding="utf-8")))
    predicted = [names[code] for code in rows.argmax(axis=1)]
    table = semmetrics.score(predicted, TRUTH, protocol="xian2018", **LISTS)
    for one in table.not_computed:
        print(f"{one.heading} {one.reason}", end="\n\n")
    return {"labels have the same H": table["H"].value == 0.375}


def splits():
    """Score three splits of ten classes, each its own, and sum them up."""
    rng = np.random.default_rng(0)
    scores = []
    for place in range(3):
        truth = rng.integers(0, 10, 200)
        table = rng.random((200, 10))
        table[np.arange(200), truth] += 0.5
        scores += semmetrics.score(
            table,
            truth,
            task="classes",
            unseen=rng.permutation(10)[:4].tolist(),
            measures="UnseenAccuracy SeenAccuracy H",
            system=f"split {place}",
        )
    found = summarize(scores)
    for one in found:
        print(f"{one.heading:<32} {one.text(digits=2, scale=100)}")
    return {"each is a mean of three": all(one.n == 3 for one in found)}


def main() -> int:
    """Print everything and give the exit code."""
    held = {**protocol(), **calibrated(), **labels(), **splits()}
    wrong = [statement for statement, holds in held.items() if not holds]
    for statement in wrong:
        print(f"does not hold: {statement}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
