"""The garbage collector is on again, however a reader ends."""

import gc

import pytest

from semmetrics.data.source import no_collection


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
