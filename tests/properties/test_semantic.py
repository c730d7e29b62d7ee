"""Properties of all measures that compare labels by meaning."""

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
WITHOUT_CUTOFF = [measure for measure in MEASURES if measure.k is None]
WITHOUT_BAGS = [m for m in WITHOUT_CUTOFF if m.definition.name != "BagSim"]
THRESHOLDS = st.sampled_from([0.3, 0.7, 1.0, 0.0, -0.5])
DUPLICATES = st.sampled_from(["once", "each"])
SINGLE_LABELS = st.sampled_from("abcdez")
SYNONYMS = st.sampled_from([["a", "b"], ["c", "zz"], ["d", "a"]])


class LetterCounts(Tiny):
    """Vectors of texts from the counts of their letters. Only "z" is unknown."""

    def __init__(self, shift):
        super().__init__({"": [0.0] * 5}, name=f"letters{shift}")
        self.shift = shift

    def embed(self, texts):
        self.vectors = {text: self.embed_text(text) for text in texts if text != "z"}
        return super().embed(texts)

    def embed_text(self, text):
        shift = self.shift
        if len(text) > 1:
            shift -= 0.3
        return [text.count(letter) + shift for letter in "abcde"]


MODELS = {"default": LetterCounts(0.1), "other": LetterCounts(-0.4)}


def items(label=SINGLE_LABELS | SYNONYMS):
    """Draw predictions and references of one to six items."""
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
    preds = as_labels({item: sides[0] for item, sides in data.items()})
    refs = as_labels({item: sides[1] for item, sides in data.items()})
    options = {"classes": classes}
    if weights:
        options["weights"] = Weights(weights)
    task = label_task(preds, refs, resolve_options(options, "labels"))
    task = with_vectors(task, measures, models, oov=oov)
    return evaluate(change(task), measures)


def values(data, measures, **options):
    return laws.values(statistics(named(data), measures, **options), measures)


def scores(data, measures, **options):
    return laws.scores(statistics(named(data), measures, **options), measures)


# ---- properties of all measures -----------------------------------------------------------------


def test_every_semantic_definition_is_covered():
    families = (SemanticFamily, SoftFamily, TransportFamily, BagSimilarityFamily)
    definitions = set()
    for definition in all_definitions("labels"):
        if isinstance(definition.family, families):
            definitions.add(definition.name)

    assert {measure.definition.name for measure in MEASURES} == definitions


@given(items(), st.sampled_from(["skip", "zero"]))
def test_values_are_within_the_bounds(data, oov):
    evaluated = statistics(named(data), MEASURES, oov=oov)

    for score in laws.check_bounds(evaluated, MEASURES):
        if score.measure["average"] in ("example", None):
            assert sum(score.undefined.values()) == np.isnan(score.items).sum()


@given(items(SINGLE_LABELS))
def test_symmetric_measures_are_symmetric(data):
    measures = [m for m in WITHOUT_CUTOFF if m.definition.symmetric]
    swapped = [(refs, preds) for preds, refs in data]

    expected = pytest.approx(values(data, measures), abs=1e-9, nan_ok=True)
    assert values(swapped, measures) == expected


@given(items(SINGLE_LABELS), st.randoms(use_true_random=False))
def test_order_invariant_measures_ignore_the_order_of_labels(data, random):
    measures = [m for m in WITHOUT_CUTOFF if m.order_invariant]
    shuffled = []
    for preds, refs in data:
        shuffled.append(
            (random.sample(preds, len(preds)), random.sample(refs, len(refs)))
        )

    expected = values(data, measures)
    shuffled_values = values(shuffled, measures)

    assert shuffled_values == pytest.approx(expected, abs=1e-9, nan_ok=True)
    for measure in measures:
        if isinstance(measure.definition.family, SemanticFamily):  # exact counts
            name = str(measure)
            np.testing.assert_equal(shuffled_values[name], expected[name])


def test_rankings_depend_on_the_order_of_labels():
    measures = parse_all(["SemAP(threshold=0.5)", "SemF1(threshold=0.5)@1"])
    options = {
        "models": {"default": Tiny({"a": [-1, 0], "A": [1, 0]})},
        "classes": None,
    }

    wrong_first = values([(["a", "A"], ["A"])], measures, **options)
    right_first = values([(["A", "a"], ["A"])], measures, **options)

    for measure in measures:
        assert not measure.order_invariant
        assert wrong_first[str(measure)] < right_first[str(measure)]


def test_greedy_matching_and_bags_of_words_depend_on_the_order_of_labels():
    names = ["SemPrecision", "SemRecall", "SemF1", "SemJaccard", "SemAP"]
    greedy = [f"{name}(threshold=0.5,match=greedy)" for name in names]
    measures = parse_all([*greedy, "BagSim"])
    vectors = {"p": [1, 1], "q": [1, 0], "A": [1, 0], "B": [0, 1]}
    texts = {"p q": [1, 0], "q p": [0, 1], "A B": [1, 0]}
    options = {"models": {"default": Tiny({**vectors, **texts})}, "classes": None}

    p_first = values([(["p", "q"], ["A", "B"])], measures, **options)
    q_first = values([(["q", "p"], ["A", "B"])], measures, **options)

    for measure in measures:
        assert not measure.order_invariant
        assert p_first[str(measure)] != q_first[str(measure)]


@given(items(st.sampled_from("abcde")))
def test_the_reference_is_the_best_prediction(data):
    measures = []
    for measure in WITHOUT_CUTOFF:
        if measure["empty"] != "nan" and measure["no_reference"] in ("0", "skip"):
            measures.append(measure)
    refs = [list(dict.fromkeys(labels)) for _, labels in [*data, ([], ["a"])]]

    best = values([(labels, labels) for labels in refs], measures)

    for measure in measures:
        low, high = measure.definition.bounds
        expected = high if measure.definition.higher_is_better else low
        assert best[str(measure)] == pytest.approx(expected, abs=1e-12), measure


@given(data=items(), weighted=st.booleans(), seed=st.integers(0, 1000))
def test_any_split_in_any_order_gives_the_same_bits(data, weighted, seed):
    laws.check_order(statistics, named(data), MEASURES, weighted, seed)


@pytest.mark.parametrize("cut", [1, 63])
def test_a_split_of_large_data_gives_the_same_bits(cut):
    """Matrix products of different shapes are computed in different ways."""
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(300)])
    vectors = rng.normal(size=(300, 50)).astype(np.float32)
    model = Tiny(dict(zip(words.tolist(), vectors.tolist(), strict=True)))
    data = []
    for _ in range(200):
        data.append((rng.choice(words, 5).tolist(), rng.choice(words, 9).tolist()))
    measures = []
    for measure in MEASURES:
        if measure["embedding"] == "default" and measure.definition.name != "BagSim":
            measures.append(measure)

    def statistics_of_model(*args, **options):
        return statistics(*args, models=model, classes=None, **options)

    laws.check_order(statistics_of_model, named(data), measures, False, 0, [cut])


@given(items(), st.booleans())
def test_blocks_of_one_item_give_the_bits_of_one_block(data, weighted):
    laws.check_blocks(statistics, named(data), MEASURES, weighted)


@given(items(), st.sets(st.integers(0, 5)))
def test_an_item_of_weight_two_is_the_item_twice(data, places):
    laws.check_double(statistics, named(data), MEASURES, places)


@pytest.mark.parametrize(
    "options", [{"models": {**MODELS, "other": LetterCounts(-0.3)}}, {"oov": "zero"}]
)
def test_statistics_of_different_vectors_cannot_be_added(options):
    statistics_of_part = statistics({"1": (["a"], ["b"])}, MEASURES)
    other = statistics({"2": (["a"], ["b"])}, MEASURES, **options)

    with refused("different-statistics"):
        statistics_of_part + other


# ---- properties of matching by meaning ----------------------------------------------------------


@pytest.mark.parametrize("name", ["Precision", "Recall", "F1", "Jaccard"])
@given(items(), THRESHOLDS, DUPLICATES, st.sampled_from(["", "@1", "@2", "@3"]))
def test_matching_by_meaning_is_at_least_as_high_as_by_identity(
    name, data, threshold, duplicates, cutoff
):
    measures = parse_all(
        [
            f"{name}(duplicates={duplicates}){cutoff}",
            f"Sem{name}(duplicates={duplicates},threshold={threshold}){cutoff}",
        ]
    )

    by_identity, by_meaning = scores(data, measures, oov="zero")

    low = by_identity.items
    high = by_meaning.items
    assert ((high >= low) | (np.isnan(low) & np.isnan(high))).all()


@given(items(), st.randoms(use_true_random=False), THRESHOLDS, DUPLICATES)
def test_the_references_in_any_order_have_the_value_1(
    data, random, threshold, duplicates
):
    names = ["SemPrecision", "SemRecall", "SemF1", "SemJaccard", "SemAP"]
    options = f"threshold={threshold},duplicates={duplicates}"
    measures = parse_all([f"{name}({options})" for name in names])
    refs = [["a"], *(refs for _, refs in data if refs)]
    shuffled = [(random.sample(labels, len(labels)), labels) for labels in refs]

    for score in scores(shuffled, measures, oov="zero"):
        assert (score.items == 1).all()


@given(items(), st.integers(0, 5), st.sampled_from(WITHOUT_BAGS))
def test_a_predicted_label_without_a_vector_never_improves_an_item(
    data, place, measure
):
    without = []
    with_unknown = []
    for preds, refs in data:
        refs = [label for label in refs if label != "z"]
        without.append((preds, refs))
        with_unknown.append(([*preds[:place], "z", *preds[place:]], refs))

    (before,) = scores(without, [measure], oov=None)
    (after,) = scores(with_unknown, [measure], oov=None)

    if before.items is None:
        return
    gain = after.items - before.items
    if not measure.higher_is_better:
        gain = -gain
    assert not (gain > 1e-12).any()
    is_defined = ~np.isnan(before.items)
    assert not np.isnan(after.items[is_defined]).any()
