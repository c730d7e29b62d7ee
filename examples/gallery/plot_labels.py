"""
Label sets with intervals
=========================

Two systems name what is in 300 images, one more reliably than the other.
"""

import numpy as np

import semmetrics
from semmetrics.plots import ItemsDisplay, LabelsDisplay, ValuesDisplay

rng = np.random.default_rng(0)
names = ["person", "car", "dog", "chair", "bottle", "bicycle", "bird", "train"]
often = np.array([8, 6, 4, 4, 3, 2, 2, 1]) / 30
truth = [rng.choice(names, 3, replace=False, p=often).tolist() for _ in range(300)]


def guess(labels, skill):
    return [one if rng.random() < skill else str(rng.choice(names)) for one in labels]


systems = {name: [guess(one, skill) for one in truth] for name, skill in [("A", 0.8), ("B", 0.7)]}
table = semmetrics.score_systems(systems, truth, measures="F1 MicroF1 MacroF1 SubsetAccuracy", ci=True)
table

# %%
# The values with their 95% intervals:
values = ValuesDisplay.from_scores(table).plot()

# %%
# Each label by itself, beside how often it occurs:
labels = LabelsDisplay.from_scores(table).plot()

# %%
# How many items have which F1: the further right a curve lies, the better.
items = ItemsDisplay.from_scores(table, measure="F1").plot()
