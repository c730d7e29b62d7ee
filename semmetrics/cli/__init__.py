"""The command line: a thin layer over the Python API, which gives the same results.

Importing this package is cheap, and each command is loaded when it is run.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

_AGAIN = 2.0  # seconds until a request to end is repeated; leaving in order takes less


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the program ``semmetrics`` and leave with its exit code.

    Parameters
    ----------
    args : sequence of str, optional
        The arguments; those of the process when left out.

    Raises
    ------
    SystemExit
        Always: 0 done, 2 bad input or usage, 1 a fault of the program; see ``cli.app``.
    """
    _fill_streams()
    try:
        with _ending_in_order():
            # Little of what is loaded or read is garbage: search it less often, not at the end.
            gc.set_threshold(100_000, 20, 20)
            from semmetrics.cli.app import program

            for stream in (sys.stdout, sys.stderr):
                # what a terminal cannot show is not a fault
                if hasattr(stream, "reconfigure"):
                    stream.reconfigure(errors="backslashreplace")
            sys.exit(program.main(args, standalone_mode=False))
    except KeyboardInterrupt:  # while modules are loaded, too
        with contextlib.suppress(OSError):
            sys.stderr.write("semmetrics: stopped\n")
        sys.exit(128 + signal.SIGINT)
    finally:
        # triton, which it loads, reports what is not collected
        if "torch" not in sys.modules:
            gc.freeze()


def _fill_streams() -> None:
    """Open the standard streams that the caller has closed, so that no file takes their place.

    Reading and writing there is an error; messages are lost.
    """
    for number, name, mode in (
        (0, "stdin", "r"),
        (1, "stdout", "w"),
        (2, "stderr", "w"),
    ):
        if getattr(sys, name) is not None:
            continue
        with contextlib.suppress(OSError):
            # it is open: the caller has none of Python's streams alone
            os.fstat(number)
            continue
        # The lowest number that is free is this one.
        os.open(os.devnull, os.O_RDONLY if number == 1 else os.O_WRONLY)
        setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


@contextlib.contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let a request to end leave no unfinished files, as Ctrl-C does.

    The request is repeated while the program has not ended: a library may have dropped it, as
    pyarrow does while it loads pandas.
    """
    before: dict[int, Any] = {}
    asked = 0

    def end(number: int, _: object) -> NoReturn:
        nonlocal asked
        if number != alarm or not asked:
            asked = number
        if alarm in before:
            signal.setitimer(signal.ITIMER_REAL, _AGAIN)
        if asked == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + asked)

    hook, sys.unraisablehook = sys.unraisablehook, _ask_again
    alarm = getattr(signal, "SIGALRM", 0)
    for number in (alarm, signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", 0)):
        # Who ignores a signal (nohup) means it; only the main thread may change this.
        with contextlib.suppress(ValueError):
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        if alarm in before:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook = hook
        if asked and _is_kept_by_threads():  # one may wait for a pipe that stays open
            _exit_at_once(128 + asked)


def _exit_at_once(code: int) -> NoReturn:
    """End the program without waiting for threads."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)


def _is_kept_by_threads() -> bool:
    """Whether Python would wait for a thread before it ends: it does not wait for daemons."""
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not thread.daemon:
            return True
    return False


def _ask_again(ignored: sys.UnraisableHookArgs) -> None:
    """Repeat a request to end that came within a callback, where Python drops exceptions."""
    from threading import Timer

    error = ignored.exc_value
    if isinstance(error, KeyboardInterrupt):
        number = int(signal.SIGINT)
    elif (
        isinstance(error, SystemExit)
        and isinstance(error.code, int)
        and error.code > 128
    ):
        number = error.code - 128
    else:
        sys.__unraisablehook__(ignored)
        return
    timer = Timer(0.01, signal.raise_signal, [number])
    timer.daemon = True
    timer.start()
