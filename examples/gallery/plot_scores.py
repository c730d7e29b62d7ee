"""
Scores of labels: curves and thresholds
=======================================

A system gives every label a score. Where to cut?
"""

import numpy as np

import semmetrics
from semmetrics.plots import PrecisionRecallDisplay, ThresholdDisplay

rng = np.random.default_rng(0)
names = ["person", "car", "dog", "chair", "bottle"]
truth = rng.random((400, 5)) < np.array([0.5, 0.4, 0.3, 0.2, 0.1])
scores = 1 / (1 + np.exp(-rng.normal(2 * truth - 1, [0.6, 0.8, 1.0, 1.2, 1.4])))
given = {"classes": names, "system": "model"}
ranked = semmetrics.score(scores, truth, measures="mAP", **given)
ranked

# %%
# Precision over recall, of each class and their mean:
curves = PrecisionRecallDisplay.from_scores(ranked).plot()

# %%
# F1 over the threshold of the scores:
cuts = [f"F1(decode=threshold:{cut:.2f})" for cut in np.arange(0.1, 0.95, 0.05)]
table = semmetrics.score(scores, truth, measures=cuts, ci=True, **given)
thresholds = ThresholdDisplay.from_scores(table).plot()
