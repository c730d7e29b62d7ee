"""
Retrieval, exact and by meaning
===============================

Images rank captions. *HitRate* asks whether one of an image's own captions is found; *NCS* also
credits captions of other images by a similarity of meaning φ.
"""

import numpy as np

import semmetrics
from semmetrics.plots import NCSDisplay, TopKDisplay

rng = np.random.default_rng(0)
images = rng.normal(size=(100, 16))
captions = np.repeat(images, 5, axis=0) + 1.8 * rng.normal(size=(500, 16))
similarities = images @ captions.T
phi = np.maximum(images @ np.repeat(images, 5, axis=0).T, 0)
positives = [list(range(5 * image, 5 * image + 5)) for image in range(100)]
table = semmetrics.score(
    similarities,
    positives,
    task="retrieval",
    phi=phi,
    ci=True,
    measures="HitRate@1,3,5,10,20 Recall@1,3,5,10,20 NCS@1,3,5,10,20",
)
table

# %%
# The two over the cutoff K, with their intervals:
ncs = NCSDisplay.from_scores(table).plot()

# %%
# With five captions an image, the share of them that is found (Recall) is another thing than
# whether any is (HitRate, the R@K of papers):
cutoffs = TopKDisplay.from_scores(table).plot()
