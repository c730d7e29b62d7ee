"""Optimal transport by linear programming and assignment by trying everything: slow and plain."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import linprog


def transport_cost(costs, rows, columns):
    """The least cost of one problem, by linprog on the shares."""
    costs = np.asarray(costs, float)
    rows, columns = np.asarray(rows, float), np.asarray(columns, float)
    if rows.sum() == 0 or columns.sum() == 0:
        return float("nan")
    rows, columns = rows / rows.sum(), columns / columns.sum()
    m, n = costs.shape
    equations = np.zeros((m + n, m * n))
    for i, j in itertools.product(range(m), range(n)):
        equations[i, i * n + j] = equations[m + j, i * n + j] = 1
    cells = np.where((rows > 0)[:, None] & (columns > 0), costs, 0.0).ravel()
    found = linprog(
        cells, A_eq=equations[:-1], b_eq=np.r_[rows, columns][:-1], method="highs"
    )
    return float(found.fun)


def relaxed_cost(costs, rows, columns):
    """The larger of the two one-sided relaxations."""
    left = [(r, i) for i, r in enumerate(rows) if r > 0]
    right = [(c, j) for j, c in enumerate(columns) if c > 0]
    if not left or not right:
        return float("nan")
    there = sum(r * min(costs[i][j] for _, j in right) for r, i in left) / sum(
        r for r, _ in left
    )
    back = sum(c * min(costs[i][j] for _, i in left) for c, j in right) / sum(
        c for c, _ in right
    )
    return max(there, back)


def greedy(similarity, threshold):
    """Predictions in order, each taking the first unused reference above the threshold."""
    unused, found = list(range(len(similarity[0]))) if len(similarity) else [], []
    for row in similarity:
        place = next((j for j in unused if row[j] > threshold), -1)
        if place >= 0:
            unused.remove(place)
        found.append(place)
    return found


def best_matching(similarity, threshold):
    """The most pairs, and the largest total of positive similarities, over all assignments."""
    m = len(similarity)
    n = len(similarity[0]) if m else 0
    most, total = 0, 0.0
    for places in itertools.permutations([*range(n), *[-1] * m], m):
        chosen = [similarity[i][j] for i, j in enumerate(places) if j >= 0]
        if all(value > threshold for value in chosen):
            most = max(most, len(chosen))
            total = max(total, sum(max(value, 0.0) for value in chosen))
    return most, total
