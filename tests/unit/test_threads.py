"""Threads that work ahead: everything is made once, and an error reaches the one who waits."""

from __future__ import annotations

import time

import pytest

from semmetrics.core.backend import ahead


@pytest.mark.parametrize("workers", [0, 1, 2, 5])
@pytest.mark.parametrize("number", [0, 1, 2, 40])
def test_every_part_is_made_once(workers, number):
    def slow(part):
        time.sleep(part % 3 / 1000)
        return part

    found = list(ahead(slow, iter(range(number)), workers))
    assert sorted(found) == list(range(number))
    if workers < 2:
        assert found == sorted(found)


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_errors_of_the_function_and_of_the_parts_are_raised(workers):
    def parts():
        yield from (1, 2, 0)
        raise KeyError("the parts end badly")

    with pytest.raises(ZeroDivisionError):
        list(ahead(lambda part: 1 / part, parts(), workers))
    with pytest.raises(KeyError, match="end badly"):
        list(ahead(str, parts(), workers))


def test_what_is_not_used_is_not_made():
    made = []
    parts = ahead(made.append, iter(range(1000)), 2)
    next(parts)
    parts.close()
    assert len(made) <= 4
