"""The garbage collector is on again, however a reader ends."""

import gc

import pytest

from semmetrics.data.source import no_collection


def test_an_error_leaves_the_collector_on():
    with pytest.raises(ZeroDivisionError), no_collection():
        _ = 1 / gc.isenabled()
    assert gc.isenabled()


def test_an_interruption_that_comes_at_once_leaves_the_collector_on(monkeypatch):
    real = gc.disable

    def disable():
        real()
        raise KeyboardInterrupt

    monkeypatch.setattr(gc, "disable", disable)
    try:
        with pytest.raises(KeyboardInterrupt), no_collection():
            pass
        assert gc.isenabled()
    finally:
        gc.enable()


def test_a_collector_that_was_off_stays_off():
    gc.disable()
    try:
        with no_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
