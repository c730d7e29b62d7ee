"""
Many systems on many datasets
=============================

Eight systems, each scored on twelve datasets. Friedman's test asks whether they differ at all,
and bars join those that Nemenyi's test does not tell apart.
"""

import numpy as np

import semmetrics
from semmetrics.plots import CriticalDifferenceDisplay, RankMatrixDisplay

rng = np.random.default_rng(0)
skills = {
    f"system {letter}": 0.5 + 0.04 * place for place, letter in enumerate("ABCDEFGH")
}
values = [
    {
        "dataset": f"set {number}",
        **{name: s + 0.05 * rng.normal() for name, s in skills.items()},
    }
    for number in range(12)
]
ranking = semmetrics.rank_systems(values, "F1", by="rank")
ranking

# %%
# The critical difference diagram of Demšar (2006):
diagram = CriticalDifferenceDisplay.from_ranking(ranking).plot()

# %%
# How often each system has each rank:
matrix = RankMatrixDisplay.from_ranking(ranking).plot()
