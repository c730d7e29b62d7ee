"""What holds for every measure of captions, each held to its traits.

METEOR and nltk's METEOR have stand-ins for the programs behind them, and SPICE has one for its
synonyms; what those give is compared with the programs themselves elsewhere.
"""

from __future__ import annotations

from unittest import mock

import laws
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import by_id, named
from oracles.captions_ngram import Blanks
from stand_ins import meteor_programs

from semmetrics.data.tasks import caption_task
from semmetrics.embed.embedder import CallableEmbedder
from semmetrics.embed.label_vectors import TextModel
from semmetrics.metrics.cider import fit_document_frequencies
from semmetrics.metrics.parsing import parse_all
from semmetrics.metrics.registry import all_definitions, find
from semmetrics.scoring.evaluate import evaluate
from semmetrics.text.graphs import Graphs
from semmetrics.text.offline_parser import OfflineParser
from semmetrics.text.parses import FunctionParser, KeptParser
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
# Document frequencies of the run itself: the values of an item depend on the others.
OF_THE_RUN = parse_all(
    [
        "CIDEr-D",
        "CIDEr-D(df=rows)",
        "CIDEr",
        "CIDEr(df=rows,stem=porter)",
        "SPIDEr(parser=given)",
    ]
)
EVERY = [*MEASURES, *OF_THE_RUN]
DISTINCT = ("Vocabulary", "UniqueCaptions")  # of what is said twice they count one
EMPTY = "LengthRatio"  # has no value for empty references either, which is no cause
CORPUS = [["a b c", "a c"], ["running dog", "a dog"], ["c c", "b"], ["dogs run"]]
# blank captions have no value, which is a cause
WITHOUT_TEXT = (
    "Soft-SPICE",
    "BagSim",
)
BLANKS = open_tokenizer(Blanks())


def letters(texts):
    return [[text.count(letter) + 0.25 for letter in "abcdogs "] for text in texts]


SYNONYMS = SynonymTable(
    {"b": "1", "c": "1 2", "dog": "2 3", "runs": "4"}, {"dogs": ["dog"]}
)
COLOURS = {
    "Color": frozenset("ab"),
    "Cardinality": frozenset("c"),
    "Size": frozenset(["dog"]),
}


def graph(words):
    """Tuples of a caption: an object, then each next word another, of it, or in relation to it."""
    return [
        tuple(words[max(0, place - place % 3) : place + 1])
        for place in range(len(words))
    ]


def parse_graphs(captions):
    return [graph(caption.split()) for caption in captions]


parse_graphs.version = "1"
with mock.patch("semmetrics.text.graphs.open_synonyms", return_value=SYNONYMS):
    GIVEN, OFFLINE = (
        Graphs(KeptParser(parser))
        for parser in (FunctionParser(parse_graphs), OfflineParser())
    )
    # made at the first use, which must be in here
    assert GIVEN.concepts is OFFLINE.concepts
FITS = {
    "parser/given": GIVEN,
    "parser/offline": OFFLINE,
    "df": fit_document_frequencies(CORPUS, BLANKS),
    "df/porter": fit_document_frequencies(CORPUS, BLANKS, "porter"),
}
MODELS = {"default": TextModel(CallableEmbedder(letters), "text", "zero")}
TEXT = st.lists(
    st.sampled_from(["a", "b", "c", "dog", "dogs", "runs"]), max_size=7
).map(" ".join)
ONE = st.lists(TEXT, min_size=1, max_size=1)


@pytest.fixture(scope="module", autouse=True)
def stand_ins():
    words = mock.patch(
        "semmetrics.metrics.tuple_matching.category_words", return_value=COLOURS
    )
    with meteor_programs(), words:
        yield


def items(candidates=None, least=0, most=3):
    """Candidates and references of one to six images."""
    candidates = (
        st.lists(TEXT, min_size=1, max_size=2) if candidates is None else candidates
    )
    references = st.lists(TEXT, min_size=least, max_size=most)
    return st.lists(st.tuples(candidates, references), min_size=1, max_size=6)


def statistics(data, measures, weights=None, change=lambda task: task):
    candidates, references = ([item[side] for item in data.values()] for side in (0, 1))
    given = None
    if weights is not None:
        given = np.array(
            [weights[name] for name, item in data.items() for _ in item[0]]
        )
    task = caption_task(
        candidates,
        references,
        list(data),
        BLANKS,
        weights=given,
        fits=FITS,
        models=MODELS,
    )
    return evaluate(change(task), measures)


def values(data, measures, **options):
    return laws.values(statistics(data, measures, **options), measures)


def test_every_definition_of_captions_is_covered():
    known = {d.name for d in all_definitions("captions")}
    assert {m.definition.name for m in MEASURES} == known
    fitted = {name for name in known if find(name, "captions")[0]()["df"] is not None}
    assert {m.definition.name for m in OF_THE_RUN} == fitted


@given(items())
def test_values_and_intervals_lie_within_the_bounds(data):
    laws.check_bounds(statistics(named(data), EVERY), EVERY)


@given(items())
def test_items_without_a_value_are_those_without_references(data):
    lacking = {
        f"id{place}" for place, (_, references) in enumerate(data) if not references
    }
    number = sum(len(data[int(name[2:])][0]) for name in lacking)
    for score in laws.scores(statistics(named(data), MEASURES), MEASURES):
        policy = score.measure["no_reference"]
        if policy is None:
            assert score.undefined == {}
            assert not np.isnan([score.value, *by_id(score).values()]).any()
            continue
        if score.measure.definition.name in WITHOUT_TEXT:
            assert score.undefined.get("no_reference", 0) == number
            continue
        # no tuple of a category is a cause of its own
        others = score.measure["category"] not in (None, "all")
        causes = {
            cause: n for cause, n in score.undefined.items() if cause != "undefined"
        }
        assert causes == ({"no_reference": number} if number else {})
        assert others or causes == score.undefined
        absent = {
            name.partition("#")[0] for name, v in by_id(score).items() if np.isnan(v)
        }
        others |= score.measure.definition.name == EMPTY
        assert lacking == absent or (others and lacking < absent)
        if policy == "nan" and lacking:
            assert np.isnan(score.value)
        elif len(lacking) < len(data) and not others:
            assert not np.isnan(score.value)


@given(items(), st.randoms(use_true_random=False))
def test_the_order_of_references_matters_to_measures_that_say_so(data, shuffled):
    chosen = [m for m in EVERY if m.definition.order_invariant]
    mixed = [(mine, shuffled.sample(theirs, len(theirs))) for mine, theirs in data]
    first, second = values(named(data), chosen), values(named(mixed), chosen)
    assert first == pytest.approx(second, abs=1e-9, nan_ok=True)


@given(items(ONE, least=1, most=1))
def test_symmetric_measures_may_exchange_the_sides(data):
    chosen = [m for m in MEASURES if m.definition.symmetric]
    assert chosen
    back = [(theirs, mine) for mine, theirs in data]
    assert values(named(data), chosen) == pytest.approx(
        values(named(back), chosen), abs=1e-12
    )


@given(st.lists(st.lists(TEXT, min_size=1, max_size=3), min_size=1, max_size=6))
def test_a_reference_itself_is_worth_most(references):
    """For those whose value of a caption and itself is the largest, however short it is."""
    chosen = parse_all(
        ["ROUGE-L", "ROUGE-L(beta=1)", "NGSM(refs=max)", "NGSM(refs=max,order=2)"]
    )
    found = values(named([(several[:1], several) for several in references]), chosen)
    assert list(found.values()) == pytest.approx([1.0] * len(chosen), abs=1e-12)


@given(items())
def test_an_item_alone_has_the_value_that_it_has_among_others(data):
    data = named([([mine[0]], theirs) for mine, theirs in data])
    for score in laws.scores(statistics(data, MEASURES), MEASURES):
        for name, value in by_id(score).items():
            (alone,) = laws.scores(
                statistics({name: data[name]}, [score.measure]), [score.measure]
            )
            assert repr(by_id(alone)[name]) == repr(value), score.measure
            if not np.isnan(value):
                assert alone.value == pytest.approx(value, abs=1e-15)


@given(data=items(), weighted=st.booleans(), seed=st.integers(0, 1000))
def test_any_split_in_any_order_gives_the_same_bits(data, weighted, seed):
    laws.check_order(statistics, named(data), MEASURES, weighted, seed)
    laws.check_order(statistics, named(data), OF_THE_RUN, weighted, seed, [])


@given(items(), st.booleans())
def test_blocks_of_one_item_give_the_bits_of_one_block(data, weighted):
    laws.check_blocks(statistics, named(data), EVERY, weighted)


@given(items(ONE), st.sets(st.integers(0, 5)))
def test_an_item_of_weight_two_is_the_item_twice(data, chosen):
    measures = [m for m in MEASURES if m.definition.name not in DISTINCT]
    laws.check_double(statistics, named(data), measures, chosen)
