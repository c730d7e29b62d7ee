"""SPICE and SPIDEr as measures, and the matrix of all pairs; the synonyms are pycocoevalcap's."""

import re
import sqlite3
from contextlib import closing
from time import monotonic

import numpy as np
import pytest
from refusals import facts, refused

import semmetrics
from semmetrics.errors import InputError
from semmetrics.kinds.captions.matrix import caption_matrix, caption_top_k
from semmetrics.metrics.spice import CATEGORIES, spice_range, spice_scores
from semmetrics.scoring.score_text import draw_runs, draw_worst
from semmetrics.studies.comparisons import draw_differing
from semmetrics.text import graphs as scene_graphs
from semmetrics.text.graphs import Concepts, every_merge
from semmetrics.text.synonyms import SynonymTable

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
CANDIDATES = {"a": ["red dog on sofa"], "b": ["three cat"], "c": [""], "d": ["man", "red car"]}
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


@pytest.mark.parametrize("category", CATEGORIES)
def test_measures_are_the_scores_of_the_function(category):
    name = f"SPICE(category={category.lower()},parser=given)"
    score_ = score(name)[name]
    items = expected()[category]["f"]
    np.testing.assert_array_equal(score_.items, items)
    assert score_.value == pytest.approx(np.nanmean(items), abs=1e-15)
    assert score_.undefined.get("undefined", 0) == np.isnan(items).sum()


def test_the_parser_is_in_the_signature():
    (one,) = score().scores
    assert "|parser:given|captions:tokens|" in one.signature
    assert re.search(r"\|fit:parser-parse@1@[0-9a-f]{12}\|", one.signature)


def test_a_parsers_name_cannot_end_its_part_of_the_signature():
    def named(captions):
        return parse(captions)

    named.version = "1|n:7"
    (one,) = score(tuples=named).scores
    assert "named@1%257Cn:7@" in one.signature
    assert "|n:7" not in one.signature


def test_what_differs_from_a_signature_is_the_parser_not_the_document_frequencies():
    def other(captions):
        return [[("dog",)] for _ in captions]

    other.version = "1"
    (one,) = score("SPIDEr(parser=given)").scores
    again = semmetrics.rescore(one.signature, CANDIDATES, REFERENCES, tuples=parse)
    assert (again.differences, again[0].signature) == ([], one.signature)
    (line,) = semmetrics.rescore(one.signature, CANDIDATES, REFERENCES, tuples=other).differences
    assert line.startswith("the parser of scene graphs differs from the signature's: fit:parser-")
    assert "other@1@" in line.partition(" instead of ")[0]


def parse_otherwise(captions):
    return parse(captions)


parse_otherwise.version = "2|a%"


def test_rescoring_names_each_fit_that_differs():
    (one,) = score("SPIDEr(parser=given)").scores
    same = semmetrics.rescore(one.signature, CANDIDATES, REFERENCES, tuples=parse)
    assert not same.differences
    other = semmetrics.rescore(
        one.signature,
        CANDIDATES,
        {**REFERENCES, "d": ["person on train", "red auto"]},
        tuples=parse_otherwise,
    )
    frequencies, parser = (line for line in other.differences if "fit:" in line)
    assert frequencies.startswith("the document frequencies differ from the signature's: fit:df@")
    assert re.fullmatch(
        "the parser of scene graphs differs from the signature's: "
        r"fit:parser-parse_otherwise@2%257Ca%25@\w{12} instead of fit:parser-parse@1@\w{12}",
        parser,
    )


def test_spider_is_the_mean_of_two():
    names = ["SPICE(parser=given)", "CIDEr-D", "SPIDEr(parser=given)"]
    spice, cider, spider = (score(names)[name].items for name in names)
    np.testing.assert_allclose(spider, (spice + cider) / 2, atol=1e-15)


def test_captions_without_references_have_no_value():
    references = {**REFERENCES, "b": []}
    (one,) = score(gts=references, missing="empty").scores
    assert one.undefined == {"no_reference": 1}
    assert np.isnan(one.items[1])


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
    score("SPICE(parser=given,captions=written)", preds, gts, tokenizer="ptb", tuples=spy)
    assert {"A  Dog.", "The dog!"} <= set(seen)


def test_all_systems_are_parsed_together_once():
    calls = []

    def spy(captions):
        calls.append(list(captions))
        return parse(captions)

    spy.version = "2"
    systems = {"one": CANDIDATES, "two": REFERENCES}
    score = semmetrics.score_systems(
        systems, REFERENCES, measures=["SPICE(parser=given)", "SPICE(category=size,parser=given)"],
        tokenizer="whitespace", tuples=spy,
    )  # fmt: skip
    assert len(score) == 4
    flat = [caption for call in calls for caption in call]
    assert len(flat) == len(set(flat))


def test_ties_are_said_with_their_range(monkeypatch):
    # "cat" is as near to "dog" as to "man" here, and the graph has both
    table = SynonymTable({"dog": "1", "cat": "1 2", "man": "2"}, {})
    monkeypatch.setattr("semmetrics.text.graphs.open_synonyms", lambda: table)
    preds, gts = {"x": ["dog man cat"], "y": ["dog"]}, {"x": ["small dog"], "y": ["dog"]}
    (fact,) = facts(score(preds=preds, gts=gts), "tied-graphs-of-mean")
    assert (fact.n, fact.examples, fact.values["untried"]) == (1, ("x",), "")
    assert sorted([fact.values["less"] == 0, fact.values["more"] == 0]) == [False, True]


@pytest.mark.parametrize(
    ("preds", "gts", "expected"),
    [
        (CANDIDATES, REFERENCES, []),
        ({"a": ["x"]}, {"a": ["y"]}, [("no-tuple-matches", 0, ())]),
        ({"a": ["..."], "b": ["dog"], "c": [""]}, {"a": ["dog"], "b": ["dog"], "c": ["dog"]},
         [("without-tuples", 1, ("a",))]),
        ({"a": ["dog"], "b": ["dog"]}, {"a": ["...", ""], "b": ["dog"]},
         [("without-tuples", 1, ("a",))]),
        ({"a": ["dog"]}, {"a": ["..."]},
         [("without-tuples", 1, ("a",))]),
    ],
)  # fmt: skip
def test_captions_without_tuples_and_tuples_without_a_match_are_said(preds, gts, expected):
    table = score(preds=preds, gts=gts, tokenizer="ptb")
    found = [*facts(table, "without-tuples"), *facts(table, "no-tuple-matches")]
    assert [(fact.code, fact.n, fact.examples) for fact in found] == expected


def test_parses_of_ties_that_are_gone_are_made_at_once(monkeypatch, tmp_path):
    """A graph may be kept without the parses of its captions, which its range is of."""
    table = SynonymTable({"dog": "1", "cat": "1 2", "man": "2"}, {}, "ours")
    monkeypatch.setattr("semmetrics.text.graphs.open_synonyms", lambda: table)
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path))
    calls = []

    def counted(captions):
        calls.append(len(captions))
        return parse(captions)

    counted.version = "1"
    preds = {n: [f"red dog x{n}"] for n in range(5)}
    gts = {n: [f"dog man cat y{n}", "red man"] for n in range(5)}
    first = score(preds=preds, gts=gts, tuples=counted)
    assert [fact.n for fact in facts(first, "tied-graphs-of-mean")] == [5]
    with closing(sqlite3.connect(tmp_path / "parses.sqlite")) as file, file:
        file.execute("DELETE FROM parses_checked")
    calls.clear()
    again = score(preds=preds, gts=gts, tuples=counted)
    assert calls[1:] == [11]  # the first is of the parser's identity; candidates and references
    assert again.notes == first.notes
    assert again[0].signature == first[0].signature


def test_many_ties_are_not_tried_in_every_way(monkeypatch):
    table = {f"{side}{n}": numbers for n in range(12) for side, numbers in
             (("a", f"1{n}"), ("b", f"2{n}"), ("c", f"1{n} 2{n}"))}  # fmt: skip
    synonyms = SynonymTable(table, {})
    monkeypatch.setattr("semmetrics.text.graphs.open_synonyms", lambda: synonyms)
    crowd = " ".join(f"a{n} b{n} c{n}" for n in range(12))  # 4,096 graphs on either side
    start = monotonic()
    (fact,) = facts(score(preds={"x": [crowd]}, gts={"x": [crowd]}), "tied-graphs-of-mean")
    assert monotonic() < start + 60
    assert "1 item" in fact.values["untried"]


def test_of_large_graphs_few_ways_are_tried(monkeypatch):
    """The work stays that of an item with 128 tuples and 4,096 ways; so does the memory."""
    table = {f"{side}{n}": numbers for n in range(900) for side, numbers in
             (("a", f"1{n}"), ("b", f"2{n}"), ("c", f"1{n} 2{n}"))}  # fmt: skip
    concepts = Concepts(SynonymTable(table, {}))
    crowd = parse([" ".join(f"a{n} b{n} c{n}" for n in range(900))])
    merged, real = [], scene_graphs._merged
    monkeypatch.setattr(scene_graphs, "_merged", lambda *some: merged.append(1) or real(*some))
    assert spice_range([("a1",)], crowd, concepts)[2] is False
    assert len(merged) <= 16
    low, high, every = spice_range([("a1",)], [crowd[0][:9]], concepts)
    assert (low < high, every) == (False, True)
    assert len(merged) <= 16 + 1 + 8


def test_every_merge_is_in_one_order():
    """A range of which not all ways are tried is of the same ones in every run."""
    table = SynonymTable({"a": "1", "b": "2", "c": "1 2", "x": "3", "y": "4", "z": "3 4"}, {})
    concepts = Concepts(table)
    graphs = list(every_merge(parse(["a b c x y z"]), concepts))
    names = [[concepts.name(one) for one in graph.objects] for graph in graphs]
    assert names == [
        ["a/c", "b", "x/z", "y"],
        ["a/c", "b", "x", "y/z"],
        ["a", "b/c", "x/z", "y"],
        ["a", "b/c", "x", "y/z"],
    ]


def test_worst_items_show_which_tuples_match():
    (found,) = (one for one in score().worst(4) if one["id"] == "a")
    assert found["matched"] == [["dog"], ["sofa"], ["dog", "sofa", "on"]]
    assert found["unmatched"] == [["dog", "red"]]
    assert found["missing"] == [["red"], ["puppy"], ["red", "small"], ["puppy", "red"]]
    (one,) = score("SPICE(category=relation,parser=given)", preds={"a": CANDIDATES["a"]},
                   gts={"a": REFERENCES["a"]}).worst(1)  # fmt: skip
    assert (one["matched"], one["missing"]) == ([["dog", "sofa", "on"]], [])


def test_the_scorer_gives_the_digits_of_one_call():
    scorer = semmetrics.Scorer(
        measures="SPICE(parser=given)", tokenizer="whitespace", tuples=parse, task="captions"
    )
    for name, captions in CANDIDATES.items():
        scorer.update({name: captions}, {name: REFERENCES[name]})
    assert [one.value for one in scorer.compute()] == [one.value for one in score()]


@pytest.mark.parametrize(
    ("measures", "options", "problem"),
    [
        ("SPICE(parser=given)", {"tuples": None}, "parser=given needs tuples"),
        ("SPICE(parser=given)", {"tuples": 3}, "wrong-type"),
        ("SPICE(parser=given)", {"tuples": {"dog": [["dog"]]}}, "there are no tuples of it"),
        ("SPICE(parser=given)", {"tuples": {"dog": 3}}, "3 is not a tuple"),
        ("SPICE(category=colour)", {}, "bad-choice"),
    ],
)
def test_what_is_wrong(measures, options, problem):
    with refused(problem):
        score(measures, **options)


@pytest.mark.parametrize(
    ("candidates", "references", "code", "where"),
    [
        (None, [], "wrong-type", "candidates"),
        ([], 3, "wrong-type", "references"),
        ((one for one in ()), [], "wrong-type", "candidates"),
        ({"a": []}, {"a": []}, "wrong-type", "candidates"),
        ([[]], [], "wrong-count", "references"),
        ([[]], [3], "wrong-type", "references[0]"),
    ],
)
def test_scores_of_what_is_no_list(candidates, references, code, where):
    with refused(code, where):
        spice_scores(candidates, references)


def test_tuples_without_effect_are_said():
    assert [fact.values["option"] for fact in facts(score("CIDEr-D"), "no-effect")] == ["tuples"]


# ---- all pairs ----------------------------------------------------------------------------------

GROUPS, CAPTIONS = list(REFERENCES.values()), [c for c, _ in FLAT]
OPTIONS = {"measure": "SPICE(parser=given)", "tuples": parse, "tokenizer": "whitespace"}


def slow_matrix(groups):
    rows = [
        spice_scores(parse(CAPTIONS), [parse(refs)] * len(CAPTIONS))["All"]["f"] for refs in groups
    ]
    return np.array(rows)


@pytest.mark.parametrize("memory", [1, 1 << 20])
def test_a_matrix_has_the_scores_of_pairs(memory, tmp_path):
    matrix = caption_matrix(GROUPS, CAPTIONS, memory=memory, **OPTIONS)
    np.testing.assert_array_equal(matrix, slow_matrix(GROUPS))
    kept = caption_matrix(GROUPS, CAPTIONS, memory=memory, out=tmp_path / "phi.npy", **OPTIONS)
    np.testing.assert_array_equal(kept, matrix)


def test_captions_of_more_tuples_than_16_bits_count():
    many = [(one, other, "on") for one in map(str, range(200)) for other in map(str, range(200))]
    tuples = {"many": many, "one": [("1",)]}
    matrix = caption_matrix([["many"], ["one"]], ["many", "one"], **{**OPTIONS, "tuples": tuples})
    one_of_many = 2 / (1 + len(many) + 200)  # and its ends are objects
    np.testing.assert_allclose(matrix, [[1, one_of_many], [one_of_many, 1]], rtol=1e-15)


def test_rows_of_single_references():
    matrix = caption_matrix(GROUPS, CAPTIONS, rows="references", **OPTIONS)
    np.testing.assert_array_equal(matrix, slow_matrix([[r] for refs in GROUPS for r in refs]))
    values, places = caption_top_k(GROUPS, CAPTIONS, 7, axis="images", rows="references", **OPTIONS)
    assert values.shape == places.shape == (len(CAPTIONS), 7)
    np.testing.assert_array_equal(values, -np.sort(-np.round(matrix, 12), axis=0).T)


def test_matrices_that_are_not_computed():
    for measure in ("SPICE(category=color,parser=given)", "SPIDEr(parser=given)", "BLEU-1"):
        with refused("no-matrix"):
            caption_matrix(GROUPS, CAPTIONS, **{**OPTIONS, "measure": measure})
    with refused("not-applicable", name="doc_freq"):
        caption_matrix(GROUPS, CAPTIONS, doc_freq="df.npz", **OPTIONS)
    with refused("bad-choice", name="rows"):
        caption_matrix(GROUPS, CAPTIONS, rows="both", **OPTIONS)


def test_a_matrix_of_another_parser_is_not_continued(tmp_path):
    def other(captions):
        return [[("dog",)]] * len(captions)

    out = tmp_path / "phi.npy"
    caption_matrix(GROUPS, CAPTIONS, out=out, **OPTIONS)
    with pytest.raises(InputError):
        caption_matrix(GROUPS, CAPTIONS, out=out, **{**OPTIONS, "tuples": other})
    np.testing.assert_array_equal(np.load(out), slow_matrix(GROUPS))


def test_papers_print_it_in_percent():
    names = "SPICE(parser=given) CIDEr-D SPIDEr(parser=given) CaptionLength"
    table = semmetrics.score_systems(
        {"a": CANDIDATES, "b": CANDIDATES}, REFERENCES,
        measures=names, tuples=parse, tokenizer="whitespace",
    )  # fmt: skip
    shares, length = [table["a", name].value * 100 for name in names.split()[:3]], 1.8
    expected = [f"{value:.2f}" for value in (*shares, length)]
    printed = table.to_text(digits=2, scale=100).splitlines()[1:5]
    assert [line.split()[1:] for line in printed] == [[value] * 2 for value in expected]
    runs = draw_runs(table, "table", digits=2, scale=100).splitlines()[1:]
    assert [line.split()[1:] for line in runs] == [[value, "(0.00)"] for value in expected]
    assert f"\n  {100 * table[0].items.min():.2f}  " in draw_worst(table, 1, digits=2, scale=100)


def test_items_that_differ_show_tuples_as_the_worst_items_do():
    found = semmetrics.compare(
        {"a": CANDIDATES, "b": {**CANDIDATES, "a": ["blue cat on sofa"]}}, REFERENCES,
        measures="SPICE(parser=given)", tuples=parse, tokenizer="whitespace", resamples=20,
    )  # fmt: skip
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


def test_captions_without_tuples_are_found_in_the_data():
    references = {**REFERENCES, "d": ["person on horse", "Red auto"]}
    tuples = dict(
        zip(map(str.lower, [c for c, _ in FLAT]), parse([c for c, _ in FLAT]), strict=True)
    )
    tuples |= {text: [] for several in REFERENCES.values() for text in several}
    given = "SPICE(parser=given)", "SPICE(parser=given,captions=written)"
    with refused("captions-fail"):
        score(given[1], gts=references, tuples=tuples)
    del tuples["red auto"]
    tuples["Red auto "] = [("auto", "red")]
    assert score(given[1], gts=references, tuples=tuples, tokenizer="ptb")[0].n == 5
    with refused("captions-fail"):
        score(given[0], gts=references, tuples=tuples, tokenizer="ptb")


@pytest.mark.parametrize("measure", ["SPICE", "SPIDEr", "Soft-SPICE"])
def test_matches_are_those_of_labels_and_the_worst_items_show_tuples(measure):
    table = score(f"CIDEr-D {measure}(parser=given)")
    with refused("lacks-measure"):
        table.matches()
    shown = table.worst(1, measure + "(parser=given)")[0]
    assert shown.keys() >= ({"nearest"} if measure == "Soft-SPICE" else {"matched", "missing"})


def unversioned(captions):
    return parse(captions)


@pytest.mark.parametrize(
    "made_with",
    [
        {"tuples": unversioned, "measure": "SPICE(parser=given)"},
        {"tokenizer": lambda caption: caption.split(), "measure": "CIDEr-D"},
        {"embedding": lambda texts: np.ones((len(texts), 2)), "measure": "BagSim"},
    ],
    ids=lambda made_with: made_with["measure"],
)
def test_a_matrix_made_with_a_function_without_a_version_is_not_continued(tmp_path, made_with):
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
        GROUPS, CAPTIONS, **{**OPTIONS, "tuples": lambda captions: [known[c] for c in captions]}
    )
    np.testing.assert_array_equal(found, slow_matrix(GROUPS))


def test_what_is_odd_about_a_matrix_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path))
    (tmp_path / "parses.sqlite").write_bytes(b"no database" * 1000)
    notes = []
    caption_matrix(GROUPS, CAPTIONS, notes=notes, **OPTIONS)
    assert [note.code for note in notes] == ["cache-unusable"]
    notes.clear()
    given = {"tuples": {"dog": [["dog"]]}, "measure": "SPICE(parser=offline)"}
    caption_top_k(GROUPS, CAPTIONS, 1, notes=notes, **{**OPTIONS, **given})
    assert notes[-1].code == "idle-tuples"
