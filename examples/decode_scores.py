"""From scores to label sets by each decoding rule, over five runs: O-F1, C-F1 and I-F1, mean (std).

The data are synthetic: images with a few of twenty labels, and five runs of a model that scores
each label and, in a second output, each number of labels.

Run: python examples/decode_scores.py
"""

import numpy as np

import semmetrics
from semmetrics.metrics import decode

IMAGES, LABELS, MOST, RUNS = 400, 20, 6, 5
CLASSES = [f"label {j:02}" for j in range(LABELS)]
HEADINGS = ["O-F1", "C-F1", "I-F1"]


def make_truth(rng):
    """Label sets of up to MOST labels, some of them empty, as a 0/1 matrix."""
    sizes = np.minimum(rng.poisson(2.5, IMAGES), MOST)
    frequency = 1 / np.arange(1, LABELS + 1)
    order = np.argsort(rng.exponential(size=(IMAGES, LABELS)) / frequency, axis=1)
    truth = np.zeros((IMAGES, LABELS), bool)
    np.put_along_axis(truth, order, np.arange(LABELS) < sizes[:, None], axis=1)
    return truth


def make_run(rng, truth):
    """Probabilities of labels, and of numbers of labels from 0 to MOST, of one model."""
    labels = 1 / (1 + np.exp(-(4 * truth - 2.5 + rng.normal(0, 1.2, truth.shape))))
    numbers = -np.abs(np.arange(MOST + 1) - truth.sum(1)[:, None]) + rng.gumbel(
        0, 0.4, (IMAGES, MOST + 1)
    )
    numbers = np.exp(numbers)
    return labels, numbers / numbers.sum(1, keepdims=True)


def decode_all(labels, numbers):
    """Predict label sets by each rule; the cumulative one is meant for a distribution."""
    distribution = labels / labels.sum(1, keepdims=True)
    return {
        "threshold": decode(labels, "threshold", threshold=0.5),
        "cumulative": decode(distribution, "cumulative", threshold=0.5),
        "cardinality": decode(labels, "cardinality", head=numbers),
        "cardinality+scores": decode(labels, "cardinality+scores", head=numbers),
        "top 3": decode(labels, "top", k=3),
    }


def main() -> None:
    """Print one line for each rule, in percent."""
    rng = np.random.default_rng(2019)
    truth = make_truth(rng)
    values: dict[str, list[list[float]]] = {}
    for _ in range(RUNS):
        for rule, sets in decode_all(*make_run(rng, truth)).items():
            table = semmetrics.score(
                sets, truth, protocol="pineda2019", classes=CLASSES
            )
            found = {score.heading: 100 * score.value for score in table}
            values.setdefault(rule, []).append([found[heading] for heading in HEADINGS])
    print(f"{'rule':20}" + "".join(f"{heading:>15}" for heading in HEADINGS))
    for rule, runs in values.items():
        mean, std = np.mean(runs, axis=0), np.std(runs, axis=0, ddof=1)
        cells = (f"{m:.2f} ({s:.2f})" for m, s in zip(mean, std, strict=True))
        print(f"{rule:20}" + "".join(f"{cell:>15}" for cell in cells))


if __name__ == "__main__":
    main()
