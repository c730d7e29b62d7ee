"""Properties of all measures of captions, such as bounds, symmetry and order invariance.

METEOR and SPICE run with small word lists and parsers here. Other tests compare them with the
original programs.
"""

from unittest import mock

import laws
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import by_id, named
from oracles.captions_ngram import Blanks
from stand_ins import meteor_programs

from semmetrics.data.tasks.captions import caption_task
from semmetrics.embed.embedder import CallableEmbedder
from semmetrics.embed.label_vectors import TextModel
from semmetrics.metrics.cider import fit_document_frequencies
from semmetrics.metrics.parsing import parse_all
from semmetrics.metrics.registry import all_definitions, find
from semmetrics.scoring.evaluate import evaluate
from semmetrics.text.graphs import Graphs
from semmetrics.text.offline_parser import OfflineParser
from semmetrics.text.parses import CachingParser, FunctionParser
from semmetrics.text.synonyms import SynonymTable
from semmetrics.text.tokenizers import open_tokenizer

MEASURES = parse_all(
    [
        "BLEU-1",
        "BLEU-2(reflen=shortest)",
        "BLEU-3(reflen=average)",
        "BLEU-4",
        "BLEU-4(no_reference=nan)",
        "ROUGE-L",
        "ROUGE-L(beta=1,no_reference=0)",
        "CIDEr-D(df=given)",
        "CIDEr-D(df=given,sigma=2,stem=porter,no_reference=nan)",
        "CIDEr(df=given)",
        "CIDEr(df=given,no_reference=1)",
        "METEOR",
        "METEOR(no_reference=nan)",
        "METEOR-nltk",
        "METEOR-nltk(no_reference=0)",
        "NGSM",
        "NGSM(order=2,refs=max)",
        "NGSM(no_reference=nan)",
        "DuplicatedCaption",
        "CaptionLength",
        "LengthRatio",
        "LengthRatio(reflen=average)",
        "ReferenceCount",
        "Vocabulary",
        "UniqueCaptions",
        "Soft-SPICE(parser=given)",
        "Soft-SPICE(bidirectional=yes,parser=given,undefined=nan)",
        "BagSim",
        "BagSim(references=mean,no_prediction=skip)",
        "SPICE(parser=given)",
        "SPICE(parser=given,no_reference=nan)",
        "SPICE(parser=offline)",
        "SPICE(category=attribute,parser=given,undefined=0)",
        "SPICE(category=color,parser=given,undefined=1)",
        "SPIDEr(parser=given,df=given)",
    ],
    "captions",
)
# Document frequencies of the evaluated references: the value of an item depends on others.
MEASURES_OF_THE_SET = parse_all(
    [
        "CIDEr-D",
        "CIDEr-D(df=rows)",
        "CIDEr",
        "CIDEr(df=rows,stem=porter)",
        "SPIDEr(parser=given)",
    ]
)
ALL_MEASURES = [*MEASURES, *MEASURES_OF_THE_SET]
COUNTS_OF_DISTINCT_TEXTS = ("Vocabulary", "UniqueCaptions")

# ---- data and models ----------------------------------------------------------------------------

TOKENIZER = open_tokenizer(Blanks())
CORPUS = [["a b c", "a c"], ["running dog", "a dog"], ["c c", "b"], ["dogs run"]]
WORDS = st.sampled_from(["a", "b", "c", "dog", "dogs", "runs"])
CAPTIONS = st.lists(WORDS, max_size=7).map(" ".join)
ONE_CAPTION = st.lists(CAPTIONS, min_size=1, max_size=1)
SYNONYMS = SynonymTable(
    {"b": "1", "c": "1 2", "dog": "2 3", "runs": "4"}, {"dogs": ["dog"]}
)
WORDS_OF_CATEGORIES = {
    "Color": frozenset("ab"),
    "Cardinality": frozenset("c"),
    "Size": frozenset(["dog"]),
}


def parse_graphs(captions):
    """Return tuples of words, in turn of an object, an attribute and a relation."""
    graphs = []
    for caption in captions:
        words = caption.split()
        graph = []
        for place in range(len(words)):
            first = max(0, place - place % 3)
            graph.append(tuple(words[first : place + 1]))
        graphs.append(graph)
    return graphs


parse_graphs.version = "1"


def open_graphs(parser):
    with mock.patch("semmetrics.text.graphs.open_synonyms", return_value=SYNONYMS):
        graphs = Graphs(CachingParser(parser))
        assert graphs.concepts is not None  # reads the synonyms, at its first use
    return graphs


def embed_by_letters(texts):
    vectors = []
    for text in texts:
        vectors.append([text.count(letter) + 0.25 for letter in "abcdogs "])
    return vectors


FITS = {
    "parser/given": open_graphs(FunctionParser(parse_graphs)),
    "parser/offline": open_graphs(OfflineParser()),
    "df": fit_document_frequencies(CORPUS, TOKENIZER),
    "df/porter": fit_document_frequencies(CORPUS, TOKENIZER, "porter"),
}
MODELS = {"default": TextModel(CallableEmbedder(embed_by_letters), "text", "zero")}


@pytest.fixture(scope="module", autouse=True)
def small_word_lists():
    categories = mock.patch(
        "semmetrics.metrics.tuple_matching.category_words",
        return_value=WORDS_OF_CATEGORIES,
    )
    with meteor_programs(), categories:
        yield


def items(candidates=None, least=0, most=3):
    """Draw candidates and references of one to six images."""
    if candidates is None:
        candidates = st.lists(CAPTIONS, min_size=1, max_size=2)
    references = st.lists(CAPTIONS, min_size=least, max_size=most)
    return st.lists(st.tuples(candidates, references), min_size=1, max_size=6)


def statistics(data, measures, weights=None, change=lambda task: task):
    """Evaluate measures. Each candidate of an image has the weight of the image."""
    candidates = [item[0] for item in data.values()]
    references = [item[1] for item in data.values()]
    weights_of_candidates = None
    if weights is not None:
        weights_of_images = [weights[image] for image in data]
        weights_of_candidates = np.repeat(weights_of_images, list(map(len, candidates)))
    task = caption_task(
        candidates,
        references,
        list(data),
        TOKENIZER,
        weights=weights_of_candidates,
        fits=FITS,
        models=MODELS,
    )
    return evaluate(change(task), measures)


def values(data, measures):
    return laws.values(statistics(named(data), measures), measures)


# ---- properties ---------------------------------------------------------------------------------


def test_every_definition_of_captions_is_covered():
    definitions = {definition.name for definition in all_definitions("captions")}
    assert {measure.definition.name for measure in MEASURES} == definitions

    fitted = set()
    for name in definitions:
        definition, *_ = find(name, "captions")
        if definition()["df"] is not None:
            fitted.add(name)
    assert {measure.definition.name for measure in MEASURES_OF_THE_SET} == fitted


@given(items())
def test_values_and_intervals_are_within_the_bounds(data):
    laws.check_bounds(statistics(named(data), ALL_MEASURES), ALL_MEASURES)


@given(items())
def test_captions_without_references_are_counted_as_undefined(data):
    n_captions = sum(len(candidates) for candidates, refs in data if not refs)

    for score in laws.scores(statistics(named(data), MEASURES), MEASURES):
        if score.measure["no_reference"] is None:
            assert score.undefined == {}
            assert not np.isnan([score.value, *by_id(score).values()]).any()
        else:
            assert score.undefined.get("no_reference", 0) == n_captions, score.measure


@given(items())
def test_only_items_without_references_are_undefined(data):
    measures = [m for m in MEASURES if m["no_reference"] and not has_other_causes(m)]
    expected = {name for name, (_, references) in named(data).items() if not references}

    for score in laws.scores(statistics(named(data), measures), measures):
        assert undefined_images(score) == expected, score.measure
        assert set(score.undefined) <= {"no_reference"}


@given(items(), st.booleans())
def test_a_score_is_undefined_if_the_policy_is_nan_or_no_item_has_references(
    data, empty
):
    if empty:
        data = [(candidates, []) for candidates, _ in data]
    measures = [m for m in MEASURES if m["no_reference"] and not has_other_causes(m)]
    n_defined = sum(bool(references) for _, references in data)

    for score in laws.scores(statistics(named(data), measures), measures):
        if score.measure["no_reference"] == "nan":
            assert np.isnan(score.value) == (n_defined < len(data))
        elif n_defined:
            assert not np.isnan(score.value)


def has_other_causes(measure):
    """Return whether captions may be undefined although they have references."""
    if measure["category"] not in (None, "all"):  # graphs without such a tuple
        return True
    # Empty captions and references
    return measure.definition.name in ("LengthRatio", "Soft-SPICE", "BagSim")


def undefined_images(score):
    """Return the images with a candidate without a value. Candidates are image#number."""
    images = set()
    for name, value in by_id(score).items():
        if np.isnan(value):
            images.add(name.partition("#")[0])
    return images


@given(items(), st.randoms(use_true_random=False))
def test_the_order_of_references_matters_only_to_measures_that_declare_it(data, random):
    measures = [m for m in ALL_MEASURES if m.definition.order_invariant]
    shuffled = [(mine, random.sample(refs, len(refs))) for mine, refs in data]

    expected = pytest.approx(values(data, measures), abs=1e-9, nan_ok=True)
    assert values(shuffled, measures) == expected


@given(items(ONE_CAPTION, least=1, most=1))
def test_symmetric_measures_are_symmetric(data):
    measures = [m for m in MEASURES if m.definition.symmetric]
    assert measures
    swapped = [(references, candidates) for candidates, references in data]

    expected = pytest.approx(values(data, measures), abs=1e-12)
    assert values(swapped, measures) == expected


@given(st.lists(st.lists(CAPTIONS, min_size=1, max_size=3), min_size=1, max_size=6))
def test_a_reference_as_the_candidate_has_the_highest_value(references):
    """Some measures, such as BLEU-4, do not give it to short captions."""
    measures = parse_all(
        ["ROUGE-L", "ROUGE-L(beta=1)", "NGSM(refs=max)", "NGSM(refs=max,order=2)"]
    )

    best = values([(refs[:1], refs) for refs in references], measures)

    assert list(best.values()) == pytest.approx([1.0] * 4, abs=1e-12)


@given(items(ONE_CAPTION))
def test_an_item_has_the_same_value_alone_and_among_others(data):
    data = named(data)

    for score in laws.scores(statistics(data, MEASURES), MEASURES):
        for name, value in by_id(score).items():
            measures = [score.measure]
            only_item = statistics({name: data[name]}, measures)
            (alone,) = laws.scores(only_item, measures)
            assert repr(by_id(alone)[name]) == repr(value), score.measure
            if not np.isnan(value):
                assert alone.value == pytest.approx(value, abs=1e-15)


@given(data=items(), weighted=st.booleans(), seed=st.integers(0, 1000))
def test_any_split_in_any_order_gives_the_same_bits(data, weighted, seed):
    laws.check_order(statistics, named(data), MEASURES, weighted, seed)
    laws.check_order(statistics, named(data), MEASURES_OF_THE_SET, weighted, seed, [])


@given(items(), st.booleans())
def test_blocks_of_one_item_give_the_bits_of_one_block(data, weighted):
    laws.check_blocks(statistics, named(data), ALL_MEASURES, weighted)


@given(items(ONE_CAPTION), st.sets(st.integers(0, 5)))
def test_an_item_of_weight_two_is_the_item_twice(data, places):
    measures = []
    for measure in MEASURES:
        if measure.definition.name not in COUNTS_OF_DISTINCT_TEXTS:
            measures.append(measure)

    laws.check_double(statistics, named(data), measures, places)
