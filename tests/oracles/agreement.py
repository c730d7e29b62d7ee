"""Agreement with human ratings, in loops over pairs and items."""

from __future__ import annotations

import math
from itertools import combinations


def sign(value):
    if value > 0:
        return 1
    if value < 0:
        return -1
    return 0


def sign_pairs(scores, ratings):
    """For each pair of items, the signs of the differences of scores and ratings."""
    signs = []
    for i, j in combinations(range(len(scores)), 2):
        score_sign = sign(scores[i] - scores[j])
        rating_sign = sign(ratings[i] - ratings[j])
        signs.append((score_sign, rating_sign))
    return signs


def concordant_minus_discordant(signs):
    return sum(score_sign * rating_sign for score_sign, rating_sign in signs)


def tau_b(scores, ratings):
    signs = sign_pairs(scores, ratings)
    surplus = concordant_minus_discordant(signs)
    untied_scores = sum(score_sign != 0 for score_sign, _ in signs)
    untied_ratings = sum(rating_sign != 0 for _, rating_sign in signs)
    if not untied_scores or not untied_ratings:
        return math.nan
    return surplus / math.sqrt(untied_scores * untied_ratings)


def tau_c(scores, ratings):
    surplus = concordant_minus_discordant(sign_pairs(scores, ratings))
    n = len(scores)
    m = min(len(set(scores)), len(set(ratings)))
    if m <= 1:
        return math.nan
    return 2 * surplus * m / (n**2 * (m - 1))


def accuracy(scores, ratings):
    """Share of the pairs with unequal ratings in the same order. Tied scores count half."""
    credits = []
    for score_sign, rating_sign in sign_pairs(scores, ratings):
        if rating_sign != 0:
            credits.append(0.5 + score_sign * rating_sign / 2)
    if not credits:
        return math.nan
    return math.fsum(credits) / len(credits)


def deviations(values):
    mean = sum(values) / len(values)
    return [value - mean for value in values]


def pearson(scores, ratings):
    if len(set(scores)) < 2 or len(set(ratings)) < 2:
        return math.nan
    x = deviations(scores)
    y = deviations(ratings)
    covariance = math.fsum(a * b for a, b in zip(x, y, strict=True))
    x_square = math.fsum(a**2 for a in x)
    y_square = math.fsum(b**2 for b in y)
    return covariance / math.sqrt(x_square * y_square)


def ranks(values):
    """Ranks from 1. Equal values share the mean of their ranks."""
    average_ranks = []
    for value in values:
        smaller = sum(other < value for other in values)
        equal = values.count(value)
        average_ranks.append(smaller + (equal + 1) / 2)
    return average_ranks


def spearman(scores, ratings):
    return pearson(ranks(list(scores)), ranks(list(ratings)))


STATISTICS = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall-b": tau_b,
    "kendall-c": tau_c,
    "accuracy": accuracy,
}


def williams_t(first, second, between, n):
    """Steiger 1980, equation 7, term by term."""
    squares = first**2 + second**2 + between**2
    determinant = 1 - squares + 2 * first * second * between
    mean = (first + second) / 2
    determinant_term = 2 * ((n - 1) / (n - 3)) * determinant
    mean_term = mean**2 * (1 - between) ** 3
    variance = determinant_term + mean_term
    return (first - second) * math.sqrt((n - 1) * (1 + between) / variance)
