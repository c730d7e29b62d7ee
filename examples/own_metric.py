"""A metric of one's own: the overlap coefficient, from a formula and a decorator.

Run: python examples/own_metric.py
"""

import numpy as np

import semmetrics
from semmetrics import measure
from semmetrics.metrics.formulas import divide


@measure(
    averages=("example", "micro", "macro"), bounds=(0, 1), source="Szymkiewicz 1934"
)
def Overlap(hit, n_pred, n_ref):
    """Shared labels as a fraction of the smaller set."""
    return divide(hit, np.minimum(n_pred, n_ref))


PREDICTED = {
    "a.jpg": ["cat", "sofa", "lamp"],
    "b.jpg": ["bus"],
    "c.jpg": ["tree", "car"],
}
REFERENCE = {
    "a.jpg": ["cat", "sofa"],
    "b.jpg": ["bus", "street"],
    "c.jpg": ["car", "road", "sky"],
}


def main() -> None:
    """Score three items with the new measure, by its object and by its name."""
    measures = [Overlap(), "Overlap(average=macro)", "Overlap@1"]
    for score in semmetrics.score(PREDICTED, REFERENCE, measures=measures, ci=True):
        interval = f"{score.ci.low:.3f} to {score.ci.high:.3f}"
        print(f"{score.heading:24} {score.value:.3f} ({interval})  {score.signature}")


if __name__ == "__main__":
    main()
