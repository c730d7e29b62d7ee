"""
Is the difference chance?
=========================

Three systems on the same 300 images, compared item by item with the first.
"""

import numpy as np

import semmetrics
from semmetrics.plots import DifferencesDisplay, RankMatrixDisplay, SystemPairDisplay

rng = np.random.default_rng(0)
names = ["person", "car", "dog", "chair", "bottle", "bicycle", "bird", "train"]
truth = [rng.choice(names, 3, replace=False).tolist() for _ in range(300)]
skills = {"baseline": 0.70, "larger": 0.69, "retrained": 0.80}
systems = {
    name: [
        [one if rng.random() < skill else str(rng.choice(names)) for one in labels]
        for labels in truth
    ]
    for name, skill in skills.items()
}
found = semmetrics.compare(
    systems, truth, baseline="baseline", measures="F1 MicroF1 MacroF1"
)
found

# %%
# The differences with their intervals; hollow marks are differences that chance may have made:
differences = DifferencesDisplay.from_comparison(found).plot()

# %%
# Item by item: above the line the second system is better.
pair = SystemPairDisplay.from_scores(
    found, systems=["baseline", "retrained"], measure="F1"
).plot()

# %%
# How often is each system first when the items are drawn again?
ranks = RankMatrixDisplay.from_comparison(found).plot()
