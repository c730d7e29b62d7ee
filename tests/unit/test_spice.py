"""SPICE and SPIDEr as measures and as a matrix, with the synonyms of pycocoevalcap."""

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics.errors import InputError
from semmetrics.kinds.captions.matrix import caption_matrix, caption_top_k
from semmetrics.metrics.spice import spice_scores
from semmetrics.studies.comparison_table import draw_differing

pytest.importorskip("pycocoevalcap")

ADJECTIVES = {"red", "blue", "two", "three", "small"}
SPICE = "SPICE(parser=given)"


def parse_caption(caption):
    """Parse words as objects, except "adjective noun" and "noun on noun"."""
    words = caption.split()
    tuples = []
    for place, word in enumerate(words):
        is_last = place + 1 == len(words)
        if word in ADJECTIVES and not is_last:
            tuples.append((words[place + 1], word))
        elif word == "on" and place > 0 and not is_last:
            tuples.append((words[place - 1], words[place + 1], "on"))
        else:
            tuples.append((word,))
    return tuples


def parse(captions):
    return list(map(parse_caption, captions))


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


def score(measures=SPICE, preds=CANDIDATES, gts=REFERENCES, **options):
    options = {"tokenizer": "whitespace", "tuples": parse, **options}
    return semmetrics.score(preds, gts, measures=measures, **options)


@pytest.mark.parametrize(
    ("measure", "parsed"),
    [
        (SPICE, {"a dog", "the dog"}),
        ("SPICE(parser=given,captions=written)", {"A  Dog.", "The dog!"}),
    ],
)
def test_captions_are_parsed_as_tokens_or_as_written(measure, parsed):
    captions = set()

    def watched(texts):
        captions.update(texts)
        return parse(texts)

    watched.version = "watched"
    score(
        measure,
        {"a": ["A  Dog."]},
        {"a": ["The dog!"]},
        tokenizer="ptb",
        tuples=watched,
    )

    assert parsed <= captions


@pytest.mark.parametrize(
    ("measures", "options", "problem"),
    [
        (SPICE, {"tuples": None}, "parser=given needs tuples"),
        (SPICE, {"tuples": 3}, "own-code-failed"),
        (SPICE, {"tuples": {"dog": [["dog"]]}}, "no tuples for this caption"),
        (SPICE, {"tuples": {"dog": 3}}, "expected a tuple of a scene graph, got 3"),
        ("SPICE(category=colour)", {}, "bad-choice"),
    ],
)
def test_wrong_tuples_and_options_are_errors(measures, options, problem):
    with refused(problem):
        score(measures, **options)


def test_scores_of_tuples_need_lists_of_the_same_length():
    with refused("wrong-content", "candidate of item 0 (from 0)"):
        spice_scores({"a": []}, {"a": []})
    with pytest.raises(ValueError, match="shorter"):
        spice_scores([[]], [])


@pytest.mark.parametrize(
    ("measure", "shown"),
    [
        (SPICE, {"matched", "missing"}),
        ("SPIDEr(parser=given)", {"matched", "missing"}),
        ("Soft-SPICE(parser=given)", {"nearest"}),
    ],
)
def test_worst_items_show_tuples_and_there_are_no_matches_of_labels(measure, shown):
    table = score(f"CIDEr-D {measure}")

    assert table.worst(1, measure)[0].keys() >= shown
    with refused("lacks-measure"):
        table.matches()


def test_differing_items_show_the_tuples_of_both_systems():
    other = {**CANDIDATES, "a": ["blue cat on sofa"]}

    comparison = semmetrics.compare(
        {"a": CANDIDATES, "b": other},
        REFERENCES,
        measures=SPICE,
        tuples=parse,
        tokenizer="whitespace",
        resamples=20,
    )

    lines = draw_differing(comparison, 1, digits=2, scale=100).splitlines()
    assert [line.strip() for line in lines[2:]] == [
        "caption    blue cat on sofa",
        "reference  dog on couch",
        "reference  small red puppy",
        "matched    sofa",
        "unmatched  cat, cat-blue, cat-on-sofa",
        "missing    dog, red, puppy, red-small, puppy-red, dog-on-couch",
        "baseline caption    red dog on sofa",
        "baseline matched    dog, sofa, dog-on-sofa",
        "baseline unmatched  dog-red",
        "baseline missing    red, puppy, red-small, puppy-red",
    ]


# ---- all pairs -----------------------------------------------------------------------

IMAGES = list(REFERENCES.values())
CAPTIONS = [*CANDIDATES["a"], *CANDIDATES["b"], *CANDIDATES["c"], *CANDIDATES["d"]]
OPTIONS = {"measure": SPICE, "tuples": parse, "tokenizer": "whitespace"}


def expected_matrix(groups):
    rows = []
    for references in groups:
        tuples = [parse(references)] * len(CAPTIONS)
        rows.append(spice_scores(parse(CAPTIONS), tuples)["All"]["f"])
    return np.array(rows)


def test_the_matrix_has_the_scores_of_single_references():
    references = [[text] for texts in IMAGES for text in texts]

    matrix = caption_matrix(IMAGES, CAPTIONS, rows="references", **OPTIONS)

    np.testing.assert_array_equal(matrix, expected_matrix(references))


def test_the_first_values_are_those_of_the_matrix():
    matrix = caption_matrix(IMAGES, CAPTIONS, rows="references", **OPTIONS)

    values, places = caption_top_k(
        IMAGES, CAPTIONS, 7, axis="images", rows="references", **OPTIONS
    )

    assert values.shape == places.shape == (len(CAPTIONS), 7)
    np.testing.assert_array_equal(values, -np.sort(-np.round(matrix, 12), axis=0).T)


def test_a_function_may_know_the_given_captions_only():
    texts = CAPTIONS + [text for texts in IMAGES for text in texts]
    tuples = dict(zip(texts, parse(texts), strict=True))

    def look_up(captions):
        return [tuples[caption] for caption in captions]

    matrix = caption_matrix(IMAGES, CAPTIONS, **{**OPTIONS, "tuples": look_up})

    np.testing.assert_array_equal(matrix, expected_matrix(IMAGES))


@pytest.mark.parametrize(
    "options",
    [
        {"tuples": lambda captions: [*parse(captions)], "measure": SPICE},
        {"tokenizer": lambda caption: caption.split(), "measure": "CIDEr-D"},
        {"embedding": lambda texts: np.ones((len(texts), 2)), "measure": "BagSim"},
    ],
    ids=lambda options: options["measure"],
)
def test_a_matrix_with_a_function_without_a_version_is_not_continued(tmp_path, options):
    """Another function may have the same name."""

    def stop(done, total):
        raise KeyboardInterrupt

    options = {"out": tmp_path / "phi.npy", "memory": 1, **options}
    with pytest.raises(KeyboardInterrupt):
        caption_matrix(IMAGES, CAPTIONS, progress=stop, **options)

    with pytest.raises(InputError, match="a function without a version"):
        caption_matrix(IMAGES, CAPTIONS, **options)

    assert caption_matrix(IMAGES, CAPTIONS, resume=False, **options).any()
