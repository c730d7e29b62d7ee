"""The garbage collector is enabled again, however a reader ends."""

import gc

import pytest

from semmetrics.data.source import no_collection


def test_an_immediate_interruption_leaves_the_collector_enabled(monkeypatch):
    disable = gc.disable

    def disable_and_interrupt():
        disable()
        raise KeyboardInterrupt

    monkeypatch.setattr(gc, "disable", disable_and_interrupt)
    try:
        with pytest.raises(KeyboardInterrupt), no_collection():
            pass
        assert gc.isenabled()
    finally:
        gc.enable()
