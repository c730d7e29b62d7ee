"""What holds for every measure that compares labels by meaning, each held to its traits."""

from __future__ import annotations

from functools import partial

import laws
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import named
from refusals import refused
from tiny import Tiny, with_vectors

from semmetrics.data.join import Weights
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.task import label_task
from semmetrics.kinds.options import resolve_options
from semmetrics.metrics.bags import BagSimilarityFamily, TransportFamily
from semmetrics.metrics.parsing import parse_all
from semmetrics.metrics.registry import all_definitions
from semmetrics.metrics.semantic import SemanticFamily
from semmetrics.metrics.soft_matching import SoftFamily
from semmetrics.scoring.evaluate import evaluate

MEASURES = parse_all(
    [
        "SemPrecision(threshold=0.5)",
        "SemPrecision(threshold=0.3,match=any,average=micro)@2",
        "SemPrecision(threshold=0.5,match=greedy)",
        "SemJaccard(threshold=-0.2,duplicates=each)",
        "SemRecall(threshold=0.3,match=optimal)",
        "SemRecall(threshold=0.7,duplicates=each)@1",
        "SemF1(threshold=0.5)",
        "SemF1(average=micro,threshold=0.5)",
        "SemF1(average=micro,threshold=0.3,empty=nan)",
        "SemF1(threshold=0.5,match=any,empty=skip)@2",
        "SemJaccard(threshold=0.5)",
        "SemF1(threshold=0.2,match=total)@2",
        "SemAP(threshold=0.5)",
        "SemAP(threshold=0.3,normalize=hits,match=optimal)",
        "SoftPrecision",
        "SoftRecall(match=total)",
        "SoftF1",
        "SoftF1(match=total,duplicates=each)@3",
        "WMD",
        "WMD(build=text)@2",
        "RWMD",
        "BagSim",
        "MeanSim",
        "MeanSim(embedding=other)",
    ]
)
PLAIN = [m for m in MEASURES if m.k is None]
PARTS = ("Precision", "Recall", "F1", "Jaccard")
LABEL = st.one_of(
    st.sampled_from("abcdez"), st.sampled_from([["a", "b"], ["c", "zz"], ["d", "a"]])
)


class Letters(Tiny):
    """Vectors of any text, from how often it has each letter; "z" alone is not known."""

    def __init__(self, shift):
        super().__init__({"": [0.0] * 5}, name=f"letters{shift}")
        self.shift = shift

    def embed(self, texts):
        self.vectors = {
            text: [
                text.count(letter) + self.shift - (len(text) > 1) * 0.3
                for letter in "abcde"
            ]
            for text in texts
            if text != "z"
        }
        return super().embed(texts)


MODELS = {"default": Letters(0.1), "other": Letters(-0.4)}


def items(label=LABEL):
    sides = st.tuples(st.lists(label, max_size=5), st.lists(label, max_size=4))
    return st.lists(sides, min_size=1, max_size=6)


def statistics(
    data,
    measures,
    *,
    weights=None,
    oov="skip",
    models=MODELS,
    classes=tuple("abcdez"),
    change=lambda task: task,
):
    sides = (
        as_labels({name: item[side] for name, item in data.items()}) for side in (0, 1)
    )
    task = label_task(
        *sides,
        resolve_options(
            {"weights": weights and Weights(weights), "classes": classes}, "labels"
        ),
    )
    task = with_vectors(task, measures, models, oov=oov)
    return evaluate(change(task), measures)


def values(data, measures, **options):
    return laws.values(statistics(data, measures, **options), measures)


def test_every_semantic_definition_is_covered():
    families = (SemanticFamily, SoftFamily, TransportFamily, BagSimilarityFamily)
    known = {
        d.name for d in all_definitions("labels") if isinstance(d.family, families)
    }
    assert {m.definition.name for m in MEASURES} == known


@given(items(), st.sampled_from(["skip", "zero"]))
def test_values_lie_within_the_bounds(data, oov):
    found = statistics(named(data), MEASURES, oov=oov)
    for score in laws.check_bounds(found, MEASURES):
        if score.measure["average"] in ("example", None):
            assert sum(score.undefined.values()) == np.isnan(score.items).sum()


@given(items(st.sampled_from("abcdez")))
def test_symmetric_measures_may_exchange_the_sides(data):
    chosen = [m for m in PLAIN if m.definition.symmetric]
    there = named(data)
    back = {name: (r, p) for name, (p, r) in there.items()}
    assert values(there, chosen) == pytest.approx(
        values(back, chosen), abs=1e-9, nan_ok=True
    )


@given(items(st.sampled_from("abcdez")), st.randoms(use_true_random=False))
def test_order_invariant_measures_ignore_the_order_of_labels(data, shuffled):
    chosen = [m for m in PLAIN if m.order_invariant]
    mixed = [(shuffled.sample(p, len(p)), shuffled.sample(r, len(r))) for p, r in data]
    first, second = values(named(data), chosen), values(named(mixed), chosen)
    for m in chosen:
        if isinstance(m.definition.family, SemanticFamily):  # counts are the same
            np.testing.assert_equal(first[str(m)], second[str(m)])
    assert first == pytest.approx(second, abs=1e-9, nan_ok=True)


THRESHOLDS = st.sampled_from([0.3, 0.7, 1.0, 0.0, -0.5])


@given(items(), THRESHOLDS, st.sampled_from(["once", "each"]), st.integers(1, 3))
def test_matching_by_meaning_is_at_least_as_high_as_exact_matching(
    data, threshold, duplicates, k
):
    texts = []
    for at in ("", f"@{k}"):
        for name in PARTS:
            texts.append(f"{name}(duplicates={duplicates}){at}")
            texts.append(
                f"Sem{name}(duplicates={duplicates},threshold={threshold}){at}"
            )
    chosen = parse_all(texts)
    found = laws.scores(statistics(named(data), chosen, oov="zero"), chosen)
    for exact, by_meaning in zip(found[::2], found[1::2], strict=True):
        low, high = exact.items, by_meaning.items
        assert ((high >= low) | (np.isnan(low) & np.isnan(high))).all(), (
            by_meaning.measure
        )


@given(
    items(),
    st.randoms(use_true_random=False),
    THRESHOLDS,
    st.sampled_from(["once", "each"]),
)
def test_a_perfect_answer_in_any_order_is_1(data, shuffled, threshold, duplicates):
    there = named([(shuffled.sample(ref, len(ref)), ref) for _, ref in data if ref])
    names = [
        f"Sem{n}(threshold={threshold},duplicates={duplicates})" for n in [*PARTS, "AP"]
    ]
    chosen = parse_all(names)
    for score in (
        laws.scores(statistics(there, chosen, oov="zero"), chosen) if there else ()
    ):
        assert (score.items == 1).all()


WORDS = [m for m in PLAIN if m.definition.name != "BagSim"]


@given(items(), st.integers(0, 5), st.sampled_from(WORDS))
def test_a_label_without_a_vector_never_improves_an_item(data, place, measure):
    """Unless it is in the reference: by default, wherever in the list it is added."""
    less, more = {}, {}
    for name, (pred, ref) in named(data).items():
        ref = [label for label in ref if label != "z"]
        less[name] = (pred, ref)
        more[name] = ([*pred[:place], "z", *pred[place:]], ref)
    before, after = (
        laws.scores(statistics(side, [measure], oov=None), [measure])[0]
        for side in (less, more)
    )
    if before.items is None:
        return
    gain = after.items - before.items
    if not measure.higher_is_better:
        gain = -gain
    assert not (gain > 1e-12).any()
    # an item has not lost its value, nor found one other than by the policy
    known = ~np.isnan(before.items)
    assert not np.isnan(after.items[known]).any()


def test_measures_that_declare_an_order_depend_on_it():
    texts = ["SemPrecision", "SemRecall", "SemF1", "SemJaccard"]
    greedy = [f"{text}(threshold=0.5,match=greedy)" for text in texts]
    chosen = parse_all([*greedy, "SemAP(threshold=0.5,match=greedy)", "BagSim"])
    ranking = parse_all(["SemAP(threshold=0.5)", "SemF1(threshold=0.5)@1"])
    assert not any(m.order_invariant for m in ranking)
    there, back = ({"1": (pred, ["A"])} for pred in (["a", "A"], ["A", "a"]))
    model = {"default": Tiny({"a": [-1, 0], "A": [1, 0]})}
    first, second = (
        values(data, ranking, models=model, classes=None) for data in (there, back)
    )
    assert all(first[name] < second[name] for name in first)
    assert not any(m.order_invariant for m in chosen)
    vectors = {"p": [1, 1], "q": [1, 0], "A": [1, 0], "B": [0, 1]}
    model = Tiny({**vectors, "p q": [1, 0], "q p": [0, 1], "A B": [1, 0]})
    first, second = (
        values({"1": (pred, ["A", "B"])}, chosen, models=model, classes=None)
        for pred in (["p", "q"], ["q", "p"])
    )
    assert all(first[name] != second[name] for name in first)


@given(items(st.sampled_from("abcde")))
def test_the_reference_itself_is_the_best_prediction(data):
    chosen = [
        m for m in PLAIN if m["empty"] != "nan" and m["no_reference"] in ("0", "skip")
    ]
    refs = [list(dict.fromkeys(r)) for _, r in [*data, ([], ["a"])]]
    found = values(named([(r, r) for r in refs]), chosen)
    for m in chosen:
        best = m.definition.bounds[m.definition.higher_is_better]
        assert found[str(m)] == pytest.approx(best, abs=1e-12), m


@given(data=items(), weighted=st.booleans(), seed=st.integers(0, 1000))
def test_any_split_in_any_order_gives_the_same_bits(data, weighted, seed):
    laws.check_order(statistics, named(data), MEASURES, weighted, seed)


def test_a_split_of_larger_data_gives_the_same_bits():
    """Where tables are large enough for products of several shapes."""
    rng = np.random.default_rng(0)
    names = [f"word{i}" for i in range(300)]
    table = rng.normal(size=(300, 50)).astype(np.float32)
    model = Tiny(dict(zip(names, table.tolist(), strict=True)))
    data = named(
        [
            (
                [names[i] for i in rng.integers(0, 300, 5)],
                [names[i] for i in rng.integers(0, 300, 9)],
            )
            for _ in range(200)
        ]
    )
    chosen = [
        m
        for m in MEASURES
        if m["embedding"] == "default" and m.definition.name != "BagSim"
    ]
    of_model = partial(statistics, models=model, classes=None)
    for cut in (1, 63):
        laws.check_order(of_model, data, chosen, False, 0, [cut])


@given(items(), st.booleans())
def test_blocks_of_one_item_give_the_bits_of_one_block(data, weighted):
    laws.check_blocks(statistics, named(data), MEASURES, weighted)


@given(items(), st.sets(st.integers(0, 5)))
def test_an_item_of_weight_two_is_the_item_twice(data, chosen):
    laws.check_double(statistics, named(data), MEASURES, chosen)


def test_statistics_on_different_vectors_do_not_add():
    left = statistics({"1": (["a"], ["b"])}, MEASURES)
    for options in ({"models": {**MODELS, "other": Letters(-0.3)}}, {"oov": "zero"}):
        with refused("different-statistics"):
            left + statistics({"2": (["a"], ["b"])}, MEASURES, **options)
