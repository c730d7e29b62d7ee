"""Label lists compared by meaning, in loops: matching, soft sums, transport and bags.

A label is a tuple of terms. Vectors are a dict from term to a list of numbers. Terms
that are not in it are ignored.
"""

from __future__ import annotations

import itertools
import math
import re

from oracles.sets import class_of, decode
from oracles.transport import assignments, relaxed_cost, transport_cost

NAN = float("nan")


def dot(left, right):
    return sum(x * y for x, y in zip(left, right, strict=True))


def cosine(left, right):
    """Rounded to nine decimals. 0 with a zero vector."""
    lengths = math.sqrt(dot(left, left)) * math.sqrt(dot(right, right))
    if lengths == 0:
        return 0.0
    return round(dot(left, right) / lengths, 9)


def terms_similarity(left, right, vectors):
    """1 for equal terms; None if a term has no vector."""
    if left not in vectors or right not in vectors:
        return None
    return 1.0 if left == right else cosine(vectors[left], vectors[right])


def similarity(left, right, vectors):
    """Of the most similar terms of two labels."""
    values = []
    for term, other in itertools.product(left, right):
        value = terms_similarity(term, other, vectors)
        if value is not None:
            values.append(value)
    return max(values)


def similarities(pred, ref, vectors):
    """A row of similarities to all references for each prediction."""
    table = []
    for label in pred:
        table.append([similarity(label, other, vectors) for other in ref])
    return table


def terms_match(left, right, vectors, threshold):
    """Whether two terms have vectors and a similarity above the threshold.

    Different terms do not match if one has a vector of zeros.
    """
    value = terms_similarity(left, right, vectors)
    if value is None:
        return False
    if left != right and not (any(vectors[left]) and any(vectors[right])):
        return False
    return value > threshold


def labels_match(left, right, vectors, threshold):
    for term, other in itertools.product(left, right):
        if terms_match(term, other, vectors, threshold):
            return True
    return False


def are_equal(left, right, vectors):
    """Whether two labels share a term with a vector."""
    return any(term in vectors and term in right for term in left)


def has_vector(label, vectors):
    return any(term in vectors for term in label)


def counted(labels, classes, vectors, *, duplicates):
    """Labels with a vector. Under "once", only the first of each class among them."""
    labels = [label for label in labels if has_vector(label, vectors)]
    if duplicates == "each":
        return labels
    first = {}
    for label in labels:
        first.setdefault(class_of(label, classes), label)
    return list(first.values())


def sides(pred, ref, classes, vectors, *, duplicates="once", k=None, above=None):
    """Predictions (after the cut) and references that count."""
    labels = decode(pred, k, above)
    ref = [class_of(label, classes) for label in ref]
    counted_pred = counted(labels, classes, vectors, duplicates=duplicates)
    counted_ref = counted(ref, classes, vectors, duplicates=duplicates)
    return counted_pred, counted_ref


def first_match(label, ref, unused, vectors, threshold):
    """The first unused reference of the first term that matches one, or -1."""
    for term in label:
        for j in unused:
            if labels_match((term,), ref[j], vectors, threshold):
                return j
    return -1


def greedy(pred, ref, vectors, threshold):
    """For each prediction, in order, the reference that it uses up, or -1."""
    unused = list(range(len(ref)))
    places = []
    for label in pred:
        place = first_match(label, ref, unused, vectors, threshold)
        if place >= 0:
            unused.remove(place)
        places.append(place)
    return places


def most(pred, ref, vectors, threshold):
    """How many pairs the largest one-to-one matching has."""
    if not pred:
        return 0
    first, *others = pred
    sizes = [most(others, ref, vectors, threshold)]
    for j, label in enumerate(ref):
        if labels_match(first, label, vectors, threshold):
            unused = ref[:j] + ref[j + 1 :]
            sizes.append(1 + most(others, unused, vectors, threshold))
    return max(sizes)


def paired_similarities(table, n_ref):
    """The similarities of the pairs of every one-to-one assignment."""
    for references in assignments(len(table), n_ref):
        yield [row[j] for row, j in zip(table, references, strict=True) if j >= 0]


def largest(pred, ref, vectors, threshold):
    """How many pairs the matching with the largest sum of positive similarities has."""
    table = similarities(pred, ref, vectors)
    matchings = []
    for values in paired_similarities(table, len(ref)):
        if all(value > max(threshold, 0.0) for value in values):
            matchings.append((round(sum(values), 8), len(values)))
    return max(matchings)[1]


def exact_first(pred, ref, vectors, threshold):
    """How many pairs the best one-to-one matching has, by exhaustive search.

    It has the most pairs of equal labels, of those the largest sum of similarities of
    the other pairs, and of those the most pairs.
    """
    gains = []
    for label in pred:
        gains.append([pair_gain(label, other, vectors, threshold) for other in ref])
    _, _, n_pairs = max(matching_gains(gains, frozenset(range(len(ref)))))
    return n_pairs


def matching_gains(gains, unused):
    """The sum of the gains of the pairs of every one-to-one matching."""
    if not gains:
        return {(0, 0, 0)}
    first, *others = gains
    sums = set(matching_gains(others, unused))
    for j in unused:
        if first[j] is None:
            continue
        equal, units, pairs = first[j]
        for other in matching_gains(others, unused - {j}):
            sums.add((equal + other[0], units + other[1], pairs + other[2]))
    return sums


def pair_gain(left, right, vectors, threshold):
    """The equal pairs, the similarity of unequal pairs and the pairs that a pair adds.

    The similarity is in units of 1e-9. None if the labels do not match.
    """
    if are_equal(left, right, vectors):
        return 1, 0, 1
    values = []
    for term, other in itertools.product(left, right):
        if terms_match(term, other, vectors, threshold):
            values.append(terms_similarity(term, other, vectors))
    if not values:
        return None
    return 0, round(max(values) * 1e9), 1


def exact_first_in_steps(pred, ref, vectors, threshold):
    """The same for labels of one term: remove equal labels first, then match the rest."""
    left = []
    right = [*ref]
    n_equal = 0
    for label in pred:
        if label in right:
            right.remove(label)
            n_equal += 1
        else:
            left.append(label)
    return n_equal + exact_first(left, right, vectors, threshold)


def any_hits(pred, ref, vectors, threshold):
    """Predictions that match any reference, and the number of references matched."""
    is_hit = [False] * len(pred)
    is_served = [False] * len(ref)
    for i, label in enumerate(pred):
        for j, other in enumerate(ref):
            if labels_match(label, other, vectors, threshold):
                is_hit[i] = True
                is_served[j] = True
    return is_hit, sum(is_served)


def hits(pred, ref, vectors, threshold, match):
    """Whether each prediction is a hit, and the number of references matched."""
    if match == "greedy":
        is_hit = [place >= 0 for place in greedy(pred, ref, vectors, threshold)]
        return is_hit, sum(is_hit)
    if match == "any":
        return any_hits(pred, ref, vectors, threshold)
    matchings = {"optimal": most, "total": largest, "exact-first": exact_first}
    size = matchings[match]
    sizes = [size(pred[:k], ref, vectors, threshold) for k in range(len(pred) + 1)]
    is_hit = [after > before for before, after in itertools.pairwise(sizes)]
    return is_hit, sizes[-1]


def f1_value(precision, recall):
    """The harmonic mean. nan if both are undefined, and 0 if one is 0 or undefined."""
    if math.isnan(precision) and math.isnan(recall):
        return NAN
    if not precision > 0 or not recall > 0:
        return 0.0
    return 2 * precision * recall / (precision + recall)


def set_values(pred, ref, vectors, threshold, match):
    """Semantic set measures and average precisions of an item, or nan at 0/0."""
    is_hit, served = hits(pred, ref, vectors, threshold, match)
    tp = sum(is_hit)
    p = len(pred)
    g = len(ref)
    precisions = [sum(is_hit[:n]) / n for n in range(1, p + 1) if is_hit[n - 1]]
    precision = tp / p if p else NAN
    recall = served / g if g else NAN
    has_both = p and g
    return {
        "SemPrecision": precision,
        "SemRecall": recall,
        "SemF1": f1_value(precision, recall),
        "SemJaccard": tp / (p + g - tp) if p or g else NAN,
        "SemAP": sum(precisions) / g if has_both else NAN,
        "SemAP(normalize=hits)": sum(precisions) / max(tp, 1) if has_both else NAN,
    }


def soft_sums(table, n_ref, match):
    """The similarities of the matches of all predictions and of all references."""
    if match == "any":
        columns = zip(*table, strict=True)
        return sum(map(max, table)), sum(map(max, columns))
    largest_sum = max(map(sum, paired_similarities(table, n_ref)))
    return largest_sum, largest_sum


def soft_values(pred, ref, vectors, match):
    """Soft precision, recall and F1 of an item, or nan at 0/0."""
    table = []
    for row in similarities(pred, ref, vectors):
        table.append([max(0.0, value) for value in row])
    pred_sum = 0.0
    ref_sum = 0.0
    if pred and ref:
        pred_sum, ref_sum = soft_sums(table, len(ref), match)
    precision = pred_sum / len(pred) if pred else NAN
    recall = ref_sum / len(ref) if ref else NAN
    return {
        "SoftPrecision": precision,
        "SoftRecall": recall,
        "SoftF1": f1_value(precision, recall),
    }


def transport_value(mine, theirs, vectors, *, text, relaxed=False):
    """The distance of two lists of words, or nan if one is empty.

    With ``text``, all costs are 1 if all words have the same vector, as in the paper.
    """
    if not mine or not theirs:
        return NAN
    words = sorted({*mine, *theirs})
    rows = [mine.count(word) for word in words]
    columns = [theirs.count(word) for word in words]
    costs = []
    for word in words:
        costs.append([math.dist(vectors[word], vectors[other]) for other in words])
    if text and len(words) > 1 and not any(map(any, costs)):
        costs = [[1.0] * len(words)] * len(words)
    cost = relaxed_cost if relaxed else transport_cost
    return cost(costs, rows, columns)


def text_words(labels):
    """The words of all terms of all labels, joined to one string."""
    text = " ".join(itertools.chain.from_iterable(labels))
    return re.findall(r"\b\w\w+\b", text.lower())


def label_points(labels, vectors):
    """For each label its first term with a vector."""
    points = []
    for label in labels:
        terms = [term for term in label if term in vectors]
        points += terms[:1]
    return points


def unit_sum(terms, vectors):
    """The sum of the normalised vectors of terms."""
    units = []
    for term in terms:
        length = math.hypot(*vectors[term]) or 1.0
        units.append([x / length for x in vectors[term]])
    return [sum(column) for column in zip(*units, strict=True)]


def mean_similarity(mine, theirs, vectors):
    """Cosine of the sums of normalised vectors, or nan if a side is empty."""
    if not mine or not theirs:
        return NAN
    return cosine(unit_sum(mine, vectors), unit_sum(theirs, vectors))


def mean(values, causes, policies):
    """Mean over items. The policy of its cause replaces or skips an undefined value."""
    replacements = {"0": 0.0, "1": 1.0, "nan": NAN}
    known = []
    for value, cause in zip(values, causes, strict=True):
        policy = policies[cause]
        if not math.isnan(value):
            known.append(value)
        elif policy != "skip":
            known.append(replacements[policy])
    return sum(known) / len(known) if known else NAN
