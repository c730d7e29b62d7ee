"""``semmetrics.validate``: what data hold, from Python."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

import semmetrics


def test_lists_that_could_be_either():
    lists = {"1": ["a man rides a brown horse"], "2": ["a dog sleeps on the mat"]}
    found = semmetrics.validate(lists)
    assert found["task"] == "captions"
    (note,) = found["notes"]
    assert note.startswith("lists of strings of 6.0 words on average, taken for captions; if not")
    assert semmetrics.validate(lists, task="labels")["vocabulary"] == 2
    unused = semmetrics.validate(lists, task="captions", classes=["a"])
    assert unused["notes"] == ["classes= (--classes) has no effect on captions"]


@pytest.mark.parametrize("nothing", [[], {}, np.zeros((0, 3))])
def test_nothing(nothing):
    with refused("nothing-given"):
        semmetrics.validate(nothing)
