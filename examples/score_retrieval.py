"""Three images and six captions: both directions, ranked lists, embeddings, an interval.

Similarities and positives are those of `retrieval/`. Exits with 1 where something stated below does
not hold.

Run: python examples/score_retrieval.py
"""

import json
import math
import sys
from pathlib import Path

import numpy as np

import semmetrics

FOLDER = Path(__file__).with_name("retrieval")
SIMILARITIES = FOLDER / "similarities.json"
POSITIVES = FOLDER / "positives.json"
NAMES = {"queries": FOLDER / "images.txt", "gallery": FOLDER / "captions.txt"}
MEASURES = "HitRate@1,2 Recall@2 R-Precision mAP@R MRR MedR MeanR"


def score(preds, **options):
    """Score by the positives of the example."""
    options = {"task": "retrieval", "measures": MEASURES, **options}
    return semmetrics.score(preds, POSITIVES, **options)


def directions():
    """Print both directions, and the query that is ranked worst."""
    table = score(SIMILARITIES, direction="both", **NAMES)
    print(table)
    for note in table.notes:
        print(note)
    worst = score(SIMILARITIES, **{**NAMES, "measures": "MRR"}).worst(1)[0]
    print(
        f"worst: {worst['id']}, whose captions have the ranks {worst['ranks']}",
        end="\n\n",
    )
    return {
        "an image is found at the first place once in three": math.isclose(
            table["i2t HitRate@1"].value, 1 / 3
        ),
        "half of the captions are among the first two": table["i2t Recall@2"].value
        == 0.5,
        "a caption of two thirds of the images is": math.isclose(
            table["i2t HitRate@2"].value, 2 / 3
        ),
        "the bridge is the worst": worst["id"] == "bridge" and worst["ranks"] == [3, 6],
        "with one image a caption, Recall is HitRate": table["t2i Recall@2"].value
        == table["t2i HitRate@2"].value,
    }


def lists():
    """Rank the captions ourselves: lists of names have the values of the similarities."""
    rows = np.array(json.loads(SIMILARITIES.read_text(encoding="utf-8")))
    images, captions = (
        path.read_text(encoding="utf-8").split() for path in NAMES.values()
    )
    ranked = {
        image: [captions[j] for j in np.argsort(-row, kind="stable")]
        for image, row in zip(images, rows, strict=True)
    }
    print(f"bridge: {', '.join(ranked['bridge'])}", end="\n\n")
    lists, matrix = score(ranked), score(rows, **NAMES)
    return {"ranked lists have the same values": lists.to_dict() == matrix.to_dict()}


def ties():
    """Show what the two captions with similarity 0.6 do to the bridge under each rule."""
    found = {}
    for rule in ("optimistic", "position", "pessimistic"):
        table = score(SIMILARITIES, ties=rule, **NAMES)
        found[rule] = table["MeanR"].value
        print(f"{rule:<12} MeanR {found[rule]:.4f}")
    print(table["MeanR"].signature, end="\n\n")
    return {
        "the rule of ties moves the mean rank": found["optimistic"] < found["position"]
    }


def embeddings():
    """Rank by vectors in place of a matrix; images are resampled together in both directions."""
    rng = np.random.default_rng(0)
    images = rng.normal(size=(40, 16))
    captions = np.repeat(images, 5, axis=0) + rng.normal(size=(200, 16))
    table = semmetrics.score(
        None,
        [list(range(5 * i, 5 * i + 5)) for i in range(40)],
        queries_embeddings=images,
        gallery_embeddings=captions,
        direction="both",
        measures="HitRate@1,5,10 Rsum",
        task="retrieval",
        ci=True,
    )
    print(table)
    unit = [
        some / np.linalg.norm(some, axis=1, keepdims=True)
        for some in (images, captions)
    ]
    matrix = unit[0] @ unit[1].T
    again = semmetrics.score(
        matrix,
        [list(range(5 * i, 5 * i + 5)) for i in range(40)],
        direction="both",
        measures="Rsum",
        task="retrieval",
    )
    return {
        "cosines rank as the matrix does": math.isclose(
            again[0].value, table["Rsum"].value
        )
    }


def main() -> int:
    """Print everything and give the exit code."""
    held = {**directions(), **lists(), **ties(), **embeddings()}
    wrong = [statement for statement, holds in held.items() if not holds]
    for statement in wrong:
        print(f"does not hold: {statement}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
