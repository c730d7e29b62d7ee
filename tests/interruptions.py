"""KeyboardInterrupt at every step of a module, or at some of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import count
from types import FrameType, ModuleType
from typing import Any


def interruptions(
    module: ModuleType, start: Callable[[], Callable[[], Any]], stride: int = 1
) -> Iterator[Any]:
    """Yield what a call returns after it was interrupted, for each step in turn.

    ``start`` returns the call, on new objects. The call is interrupted at a step of the
    code in ``module`` and repeated. A step is an opcode. Only each ``stride``-th is used.
    """
    for number in count(1, stride):
        call = start()
        if not _interrupt(module.__file__, number, call):
            return
        yield call()


def _interrupt(path: str | None, number: int, call: Callable[[], Any]) -> bool:
    """Interrupt a call at a step in a file. Return whether it has so many steps."""
    steps = count(1)

    def step(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "opcode" and next(steps) == number:
            raise KeyboardInterrupt
        return step

    def enter(frame: FrameType, event: str, argument: Any) -> Any:
        frame.f_trace_opcodes = frame.f_code.co_filename == path
        return step if frame.f_trace_opcodes else None

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
