"""Optimal transport by linear programming and assignment by exhaustive search."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import linprog

NAN = float("nan")


def transport_cost(costs, rows, columns):
    """The minimum cost of one problem, by linprog on the normalised weights."""
    costs = np.asarray(costs, float)
    rows = np.asarray(rows, float)
    columns = np.asarray(columns, float)
    if rows.sum() == 0 or columns.sum() == 0:
        return NAN
    rows = rows / rows.sum()
    columns = columns / columns.sum()
    m, n = costs.shape
    equations = np.zeros((m + n, m * n))
    for i in range(m):
        for j in range(n):
            cell = i * n + j
            equations[i, cell] = 1
            equations[m + j, cell] = 1
    is_used = (rows > 0)[:, None] & (columns > 0)
    used_costs = np.where(is_used, costs, 0.0)
    totals = np.concatenate([rows, columns])
    solution = linprog(
        used_costs.ravel(), A_eq=equations[:-1], b_eq=totals[:-1], method="highs"
    )
    return float(solution.fun)


def one_sided_cost(costs, rows, columns):
    """The cost if each row goes to its cheapest column with a weight."""
    used = [j for j, weight in enumerate(columns) if weight > 0]
    total = 0
    for weight, row in zip(rows, costs, strict=True):
        if weight > 0:
            total += weight * min(row[j] for j in used)
    return total / sum(weight for weight in rows if weight > 0)


def relaxed_cost(costs, rows, columns):
    """The larger of the two one-sided relaxations."""
    if not any(rows) or not any(columns):
        return NAN
    transposed = list(zip(*costs, strict=True))
    forward = one_sided_cost(costs, rows, columns)
    backward = one_sided_cost(transposed, columns, rows)
    return max(forward, backward)


def greedy(similarity, threshold):
    """For each prediction, the first unused reference above the threshold, or -1."""
    if not len(similarity):
        return []
    unused = list(range(len(similarity[0])))
    references = []
    for row in similarity:
        reference = -1
        for j in unused:
            if row[j] > threshold:
                reference = j
                unused.remove(j)
                break
        references.append(reference)
    return references


def assignments(n_pred, n_ref):
    """Every one-to-one assignment: the reference of each prediction, or -1."""
    references = [*range(n_ref), *[-1] * n_pred]
    return itertools.permutations(references, n_pred)


def best_matching(similarity, threshold):
    """The most pairs, and the largest total of positive similarities."""
    m = len(similarity)
    n = len(similarity[0]) if m else 0
    most = 0
    largest_total = 0.0
    for references in assignments(m, n):
        values = [similarity[i][j] for i, j in enumerate(references) if j >= 0]
        if all(value > threshold for value in values):
            total = sum(max(value, 0.0) for value in values)
            most = max(most, len(values))
            largest_total = max(largest_total, total)
    return most, largest_total
