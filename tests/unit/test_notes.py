"""What a user is told beside the scores: facts by code, and how they are written."""

from __future__ import annotations

from semmetrics.errors import Fact, first_of_each, render_facts, unite

# ---- facts of many systems ----------------------------------------------------------------------


def test_facts_of_parts_are_facts_of_the_whole():
    several = [Fact("weight-0", 1, (name,), "a") for name in "xxy"]
    other = Fact("weight-0", 1, ("x",), "b")
    assert unite([*several, other]) == [Fact("weight-0", 3, ("x", "y"), "a"), other]
    assert first_of_each([*several, other]) == [several[0], other]
    columns = Fact("unused-columns", 2, ("note", "date"), "gt.csv")
    assert unite([columns, columns]) == [columns]  # all parts have the same
    terms = [Fact("unknown-texts", n, values={"noun": "distinct term"}) for n in (3, 5)]
    assert unite(terms) == [terms[1]]


def test_some_of_many_systems_are_named():
    same = [Fact("weight-0", 2, (), name) for name in "abcdx"]
    assert render_facts(same, "abcdxyz") == [
        "a, b, c and 2 more: 2 items of weight 0 left out"
    ]
    values = [{"total": 3 + n, "model": "m"} for n in range(4)]
    spans = [
        Fact("rare-labels", 1, (), name, v)
        for name, v in zip("abcd", values, strict=True)
    ]
    assert render_facts(spans, "abcd") == [
        "all 4 systems: 1 of 3 to 6 labels in only one item"
    ]
    other = [Fact("no-effect-on", 0, (), n, {"option": "oov", "on": n}) for n in "abcd"]
    assert len(render_facts(other, "abcd")) == 4  # they say different things


# ---- what measures of meaning note ---------------------------------------------------------------
