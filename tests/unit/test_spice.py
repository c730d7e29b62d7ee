"""SPICE and SPIDEr as measures, and the matrix of all pairs; the synonyms are pycocoevalcap's."""

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics.errors import InputError
from semmetrics.kinds.captions.matrix import caption_matrix, caption_top_k
from semmetrics.metrics.spice import spice_scores
from semmetrics.scoring.runs import draw_runs
from semmetrics.scoring.table_text import draw_worst
from semmetrics.studies.comparison_table import draw_differing

pytest.importorskip("pycocoevalcap")

COLOURS, NUMBERS = ("red", "blue"), ("two", "three")


def parse(captions):
    """A parser for tests: words are objects, but "adjective noun" and "noun on noun"."""
    found = []
    for caption in captions:
        words, tuples = caption.split(), []
        for place, word in enumerate(words):
            if word in (*COLOURS, *NUMBERS, "small") and place + 1 < len(words):
                tuples.append((words[place + 1], word))
            elif word == "on" and 0 < place < len(words) - 1:
                tuples.append((words[place - 1], words[place + 1], "on"))
            else:
                tuples.append((word,))
        found.append(tuples)
    return found


parse.version = "1"
CANDIDATES = {
    "a": ["red dog on sofa"],
    "b": ["three cat"],
    "c": [""],
    "d": ["man", "red car"],
}
REFERENCES = {
    "a": ["dog on couch", "small red puppy"],
    "b": ["two cat", "cat on mat"],
    "c": ["dog"],
    "d": ["person on horse", "red auto"],
}
FLAT = [(c, REFERENCES[name]) for name, several in CANDIDATES.items() for c in several]


def expected():
    return spice_scores(parse([c for c, _ in FLAT]), [parse(refs) for _, refs in FLAT])


def score(measures="SPICE(parser=given)", preds=CANDIDATES, gts=REFERENCES, **options):
    options = {"tokenizer": "whitespace", "tuples": parse, **options}
    return semmetrics.score(preds, gts, measures=measures, **options)


def parse_otherwise(captions):
    return parse(captions)


parse_otherwise.version = "2|a%"


def test_captions_are_parsed_as_tokens_or_as_written():
    seen = []

    def spy(captions):
        seen.extend(captions)
        return parse(captions)

    spy.version = "spy"
    preds, gts = {"a": ["A  Dog."]}, {"a": ["The dog!"]}
    score("SPICE(parser=given)", preds, gts, tokenizer="ptb", tuples=spy)
    assert {"a dog", "the dog"} <= set(seen)
    seen.clear()
    score(
        "SPICE(parser=given,captions=written)", preds, gts, tokenizer="ptb", tuples=spy
    )
    assert {"A  Dog.", "The dog!"} <= set(seen)


@pytest.mark.parametrize(
    ("measures", "options", "problem"),
    [
        ("SPICE(parser=given)", {"tuples": None}, "parser=given needs tuples"),
        ("SPICE(parser=given)", {"tuples": 3}, "own-code-failed"),
        (
            "SPICE(parser=given)",
            {"tuples": {"dog": [["dog"]]}},
            "no-tuples",
        ),
        ("SPICE(parser=given)", {"tuples": {"dog": 3}}, "3 is not a tuple"),
        ("SPICE(category=colour)", {}, "bad-choice"),
    ],
)
def test_what_is_wrong(measures, options, problem):
    with refused(problem):
        score(measures, **options)


def test_scores_of_what_is_no_list():
    with refused("wrong-content", "candidate of item 0 (from 0)"):
        spice_scores({"a": []}, {"a": []})
    with pytest.raises(ValueError, match="shorter"):
        spice_scores([[]], [])


# ---- all pairs ----------------------------------------------------------------------------------

GROUPS, CAPTIONS = list(REFERENCES.values()), [c for c, _ in FLAT]
OPTIONS = {"measure": "SPICE(parser=given)", "tuples": parse, "tokenizer": "whitespace"}


def slow_matrix(groups):
    rows = [
        spice_scores(parse(CAPTIONS), [parse(refs)] * len(CAPTIONS))["All"]["f"]
        for refs in groups
    ]
    return np.array(rows)


def test_rows_of_single_references():
    matrix = caption_matrix(GROUPS, CAPTIONS, rows="references", **OPTIONS)
    np.testing.assert_array_equal(
        matrix, slow_matrix([[r] for refs in GROUPS for r in refs])
    )
    values, places = caption_top_k(
        GROUPS, CAPTIONS, 7, axis="images", rows="references", **OPTIONS
    )
    assert values.shape == places.shape == (len(CAPTIONS), 7)
    np.testing.assert_array_equal(values, -np.sort(-np.round(matrix, 12), axis=0).T)


def test_papers_print_it_in_percent():
    names = "SPICE(parser=given) CIDEr-D SPIDEr(parser=given) CaptionLength"
    table = semmetrics.score_systems(
        {"a": CANDIDATES, "b": CANDIDATES},
        REFERENCES,
        measures=names,
        tuples=parse,
        tokenizer="whitespace",
    )
    shares, length = [table["a", name].value * 100 for name in names.split()[:3]], 1.8
    expected = [f"{value:.2f}" for value in (*shares, length)]
    printed = table.to_text(digits=2, scale=100).splitlines()[1:5]
    assert [line.split()[1:] for line in printed] == [[value] * 2 for value in expected]
    runs = draw_runs(table, "table", digits=2, scale=100).splitlines()[1:]
    assert [line.split()[1:] for line in runs] == [
        [value, "(0.00)"] for value in expected
    ]
    assert f"\n  {100 * table[0].items.min():.2f}  " in draw_worst(
        table, 1, digits=2, scale=100
    )


def test_items_that_differ_show_tuples_as_the_worst_items_do():
    found = semmetrics.compare(
        {"a": CANDIDATES, "b": {**CANDIDATES, "a": ["blue cat on sofa"]}},
        REFERENCES,
        measures="SPICE(parser=given)",
        tuples=parse,
        tokenizer="whitespace",
        resamples=20,
    )
    (record,) = found.differing(1)
    assert draw_differing(found, 1, digits=2, scale=100).splitlines() == [
        "SPICE(parser=given): b less a",
        f"  {record['difference'] * 100:+.2f}  a",
        "    caption    blue cat on sofa",
        "    reference  dog on couch",
        "    reference  small red puppy",
        "    matched    sofa",
        "    unmatched  cat, cat-blue, cat-on-sofa",
        "    missing    dog, red, puppy, red-small, puppy-red, dog-on-couch",
        "    baseline caption    red dog on sofa",
        "    baseline matched    dog, sofa, dog-on-sofa",
        "    baseline unmatched  dog-red",
        "    baseline missing    red, puppy, red-small, puppy-red",
    ]


@pytest.mark.parametrize("measure", ["SPICE", "SPIDEr", "Soft-SPICE"])
def test_matches_are_those_of_labels_and_the_worst_items_show_tuples(measure):
    table = score(f"CIDEr-D {measure}(parser=given)")
    with refused("lacks-measure"):
        table.matches()
    shown = table.worst(1, measure + "(parser=given)")[0]
    assert shown.keys() >= (
        {"nearest"} if measure == "Soft-SPICE" else {"matched", "missing"}
    )


@pytest.mark.parametrize(
    "made_with",
    [
        {
            "tuples": lambda captions: [*parse(captions)],
            "measure": "SPICE(parser=given)",
        },
        {"tokenizer": lambda caption: caption.split(), "measure": "CIDEr-D"},
        {"embedding": lambda texts: np.ones((len(texts), 2)), "measure": "BagSim"},
    ],
    ids=lambda made_with: made_with["measure"],
)
def test_a_matrix_made_with_a_function_without_a_version_is_not_continued(
    tmp_path, made_with
):
    """Another function may give the same for the fixed texts that it is known by."""

    def stop(done, total):
        raise KeyboardInterrupt

    given = {"out": tmp_path / "phi.npy", "memory": 1, **made_with}
    for _ in range(2):
        with pytest.raises((KeyboardInterrupt, InputError)) as caught:
            caption_matrix(GROUPS, CAPTIONS, progress=stop, **given)
    assert "a function without a version" in str(caught.value)
    whole = caption_matrix(GROUPS, CAPTIONS, resume=False, **given)
    np.testing.assert_array_equal(whole, caption_matrix(GROUPS, CAPTIONS, **made_with))


def test_a_function_that_knows_its_captions_alone():
    known = dict(zip(CAPTIONS, parse(CAPTIONS), strict=True))
    known |= {text: parse([text])[0] for several in GROUPS for text in several}
    found = caption_matrix(
        GROUPS,
        CAPTIONS,
        **{**OPTIONS, "tuples": lambda captions: [known[c] for c in captions]},
    )
    np.testing.assert_array_equal(found, slow_matrix(GROUPS))
