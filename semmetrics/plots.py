"""Figures of results, in scikit-learn's convention; the extra ``plots`` brings matplotlib.

>>> import semmetrics
>>> from semmetrics.plots import ValuesDisplay
>>> table = semmetrics.score([["cat"], ["cow"]], [["cat"], ["dog"]], measures="F1 Recall")
>>> display = ValuesDisplay.from_scores(table)
>>> display.rows, display.value.tolist()
(['F1', 'Recall'], [[0.5], [0.5]])

``display.plot()`` draws it, and `save` writes it.
"""

from semmetrics.reports.figures import *  # noqa: F403
from semmetrics.reports.figures import __all__ as __all__  # noqa: PLC0414
