"""Ctrl-C at every step of a function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import count
from types import CodeType
from typing import Any


def interruptions(
    code: CodeType, run: Callable[[], Callable[[], Any]]
) -> Iterator[Any]:
    """Yield what a call gives after an interruption at each step of a code in turn.

    ``run`` returns the call, of things that are new; the call is interrupted, and made again.
    """
    for number in count(1):
        call = run()
        if not _interrupt(code, number, call):
            return
        yield call()


def _interrupt(code: CodeType, number: int, call: Callable[[], Any]) -> bool:
    """Interrupt a call at a step of a code; return whether it has so many."""
    steps = count(1)

    def step(frame, event, argument):
        if event == "opcode" and next(steps) == number:
            raise KeyboardInterrupt
        return step

    def enter(frame, event, argument):
        frame.f_trace_opcodes = frame.f_code is code
        return step if frame.f_code is code else None

    before = sys.gettrace()
    # Python 3.12 traces opcodes only if a frame asked for them before the call of settrace.
    sys._getframe().f_trace_opcodes = True
    sys.settrace(enter)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False
