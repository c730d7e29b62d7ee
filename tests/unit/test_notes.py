"""What a user is told beside the scores: facts by code, and how they are written."""

from __future__ import annotations

from semmetrics.errors import Fact, add_up, first_of_each, render_facts

# ---- facts of many systems ----------------------------------------------------------------------


def test_facts_add_up_by_code_place_and_values():
    several = [Fact("unused-columns", 1, (name,), "gt.csv") for name in "aab"]
    other = Fact("unused-columns", 1, ("a",), "preds.csv")
    total = Fact("unused-columns", 3, ("a", "b"), "gt.csv")
    assert add_up([*several, other]) == [total, other]
    assert first_of_each([*several, other]) == [several[0], other]


def test_some_of_many_systems_are_named():
    same = [Fact("weight-0", 2, (), name) for name in "abcdx"]
    assert render_facts(same, "abcdxyz") == ["a, b, c and 2 more: 2 items of weight 0 left out"]
    values = [{"total": 3 + n, "model": "m"} for n in range(4)]
    spans = [Fact("rare-labels", 1, (), name, v) for name, v in zip("abcd", values, strict=True)]
    assert render_facts(spans, "abcd") == ["all 4 systems: 1 of 3 to 6 labels in one item alone"]
    other = [Fact("no-effect-on", 0, (), n, {"option": "oov", "on": n}) for n in "abcd"]
    assert len(render_facts(other, "abcd")) == 4  # they say different things


# ---- what measures of meaning note ---------------------------------------------------------------
