"""
Zero-shot classification
========================

Twelve classes, of which eight were seen in training; classifiers prefer those.
"""

import numpy as np

import semmetrics
from semmetrics.plots import ConfusionDisplay, SeenUnseenDisplay

rng = np.random.default_rng(0)
seen = ["horse", "sheep", "cow", "cat", "dog", "bear", "fox", "deer"]
unseen = ["zebra", "llama", "otter", "lynx"]
classes = seen + unseen
truth = rng.integers(12, size=600)
systems = {}
for name, signal in {"small": 1.8, "large": 2.6}.items():
    scores = rng.normal(size=(600, 12))
    scores[np.arange(600), truth] += signal
    scores[:, :8] += 0.9  # of classes seen in training
    systems[name] = scores
table = semmetrics.score_systems(
    systems,
    [classes[code] for code in truth],
    task="classes",
    classes=classes,
    seen=seen,
    unseen=unseen,
    measures="SeenAccuracy UnseenAccuracy H AUSUC",
)
table

# %%
# Subtracting a constant from the scores of the seen classes trades one accuracy for the other;
# the star is the highest H:
curve = SeenUnseenDisplay.from_scores(table).plot()

# %%
# The classes that are confused with each other most often:
confusion = ConfusionDisplay.from_scores(table).plot()
