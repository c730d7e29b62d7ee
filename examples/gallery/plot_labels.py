"""
Label sets with intervals
=========================

Text.
"""

import matplotlib.pyplot as plt

import semmetrics

table = semmetrics.score({"a": ["cat"]}, {"a": ["cat", "dog"]}, measures="F1")
plt.plot([1, 2])
table
