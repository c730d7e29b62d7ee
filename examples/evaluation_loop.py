"""Scores of an evaluation loop: batch by batch, and in several processes, as of one call.

Exits with 1 if a digit differs.

Run: python examples/evaluation_loop.py
"""

import pickle
import sys

import numpy as np

import semmetrics

CLASSES = ["person", "dog", "cat", "bus", "tree"]
MEASURES = ["mAP", "F1(decode=threshold:0.5)", "MacroF1(decode=threshold:0.5)"]
BATCH = 32


def make_batches() -> list[tuple[np.ndarray, np.ndarray]]:
    """Return batches of class scores and of 0/1, as a model and a data loader give them."""
    rng = np.random.default_rng(0)
    truth = rng.random((200, len(CLASSES))) < 0.3
    scores = np.clip(0.5 * truth + 0.6 * rng.random(truth.shape), 0, 1).astype(
        np.float32
    )
    return [
        (scores[i : i + BATCH], truth[i : i + BATCH])
        for i in range(0, len(truth), BATCH)
    ]


def main() -> int:
    """Print the scores of the loop and give the exit code."""
    batches = make_batches()
    whole = semmetrics.score(
        *(np.concatenate(side) for side in zip(*batches, strict=True)),
        measures=MEASURES,
        classes=CLASSES,
    )

    scorer = semmetrics.Scorer(measures=MEASURES, classes=CLASSES)
    for epoch in range(2):
        scorer.reset()
        for scores, truth in batches:  # tensors may be given as they are
            scorer.update(scores, truth)
        print(f"epoch {epoch}, {len(scorer)} images")
        print(scorer.compute())
    same = [scorer.compute().to_json() == whole.to_json()]

    # Each process has a scorer of its own and sends it pickled; one of them merges.
    sent = []
    for rank in range(2):
        mine = semmetrics.Scorer(measures=MEASURES, classes=CLASSES)
        half = slice(0, 3) if rank == 0 else slice(3, None)
        for scores, truth in batches[half]:
            mine.update(scores, truth)
        sent.append(pickle.dumps(mine))
    total = pickle.loads(sent[0]) + pickle.loads(sent[1])
    same.append(total.compute().to_json() == whole.to_json())
    print(f"as one call: {same}")
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
