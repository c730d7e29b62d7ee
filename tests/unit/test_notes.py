"""Facts of notes: united over parts of the data, and written for several systems."""

from tiny import Tiny

import semmetrics
from semmetrics.errors import Fact, first_of_each, render_facts, unite
from semmetrics.scoring.table_text import report_shared


def test_counts_of_parts_are_added():
    first = Fact("weight-0", 1, ("x",), "a")
    second = Fact("weight-0", 2, ("y",), "a")
    other = Fact("weight-0", 1, ("x",), "b")

    assert unite([first, other, second]) == [
        Fact("weight-0", 3, ("x", "y"), "a"),
        other,
    ]


def test_counts_of_distinct_names_are_not_added():
    columns = Fact("unused-columns", 2, ("note", "date"), "gt.csv")
    few_terms = Fact("unknown-texts", 3, values={"noun": "distinct term"})
    many_terms = Fact("unknown-texts", 5, values={"noun": "distinct term"})

    assert unite([columns, columns]) == [columns]
    assert unite([few_terms, many_terms]) == [many_terms]


def test_the_first_fact_of_each_kind_and_place_is_kept():
    first = Fact("weight-0", 1, ("x",), "a")
    other = Fact("weight-0", 1, ("x",), "b")

    assert first_of_each([first, first, other]) == [first, other]


def test_the_same_fact_of_many_systems_is_one_line():
    facts = [Fact("weight-0", 2, (), name) for name in "abcdx"]

    (line,) = render_facts(facts, "abcdxyz")

    assert line == "a, b, c and 2 more: 2 items of weight 0 left out"


def test_a_fact_with_other_numbers_of_systems_has_their_range():
    facts = []
    for total, name in enumerate("abcd", 3):
        facts.append(Fact("rare-labels", 1, (), name, {"total": total}))

    (line,) = render_facts(facts, "abcd")

    assert line == "all 4 systems: 1 of 3 to 6 labels in only one item"


def test_facts_with_other_values_are_separate_lines():
    facts = []
    for name in "abcd":
        facts.append(Fact("no-effect-on", 0, (), name, {"option": "oov", "on": name}))

    assert len(render_facts(facts, "abcd")) == 4


def test_the_parts_of_signatures_that_measures_do_not_share_are_separate_lines():
    own = Tiny({"cat": [1.0, 0.0], "dog": [0.6, 0.8]})
    measures = ["F1", "SemF1", "SemF1(embedding=own)"]
    options = {"measures": measures, "embedding": {"own": own}}

    table = semmetrics.score([["cat"]], [["dog"]], **options)

    first, same, both, other = report_shared(table).split("\n")
    assert "emb:" not in first
    assert same.startswith("signatures of SemF1: thr:")
    assert both == "signatures of SemF1, SemF1(embedding=own): lookup:text|oov:zero"
    assert f"|emb:{own.identity}" in other


def test_the_parts_of_signatures_that_systems_do_not_share_are_separate_lines():
    systems = {"a": {"1": ["cat"], "2": ["cat"]}, "b": {"1": ["cat"]}}
    gts = {"1": ["cat"], "2": ["dog"]}

    table = semmetrics.score_systems(systems, gts, measures="F1", missing="skip")

    _, of_a, of_b = report_shared(table).split("\n")
    assert of_a.startswith("signatures of a: n:2|data:")
    assert of_b.startswith("signatures of b: n:1|data:")
