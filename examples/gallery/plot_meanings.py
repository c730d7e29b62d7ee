"""
Labels that mean the same
=========================

A system that says *bike* for *bicycle* is not wrong. The embedding that comes with the package
finds such pairs.
"""

import numpy as np

import semmetrics
from semmetrics.plots import ConfusionDisplay, ThresholdDisplay

rng = np.random.default_rng(0)
other = {
    "bicycle": "bike",
    "car": "automobile",
    "sea": "ocean",
    "sofa": "couch",
    "road": "street",
}
names = [*other, "dog", "cat", "tree"]
truth = [rng.choice(names, 3, replace=False).tolist() for _ in range(200)]


def say(label):
    luck = rng.random()
    return (
        other.get(label, label)
        if luck < 0.4
        else label
        if luck < 0.85
        else str(rng.choice(names))
    )


predicted = [[say(label) for label in labels] for labels in truth]
table = semmetrics.score(predicted, truth, measures="F1 SemF1 SoftF1", system="model")
table

# %%
# Which label stands for which, by exact names and by meaning:
confusion = ConfusionDisplay.from_scores(table).plot()

# %%
# How much depends on the threshold of similarity? A curve falls from left to right: its top is
# not the best threshold, it is where anything matches.
sweep = semmetrics.sweep(
    predicted, truth, measures="SemF1 SemPrecision", thresholds="0.2:0.9:0.1"
)
thresholds = ThresholdDisplay.from_sweep(sweep).plot()
