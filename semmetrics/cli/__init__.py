"""The command line, a thin layer over the Python API with the same results.

Importing this package is cheap. The module of a command is loaded when the command runs.
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

_SECONDS_TO_REPEAT_SIGNAL = 2.0
"""A signal is repeated if the program is still running. An orderly exit takes less time."""


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the program ``semmetrics``, and exit.

    Parameters
    ----------
    args : sequence of str, optional
        By default the arguments of the process.

    Raises
    ------
    SystemExit
        Always, with an exit code of `semmetrics.cli.app`.
    """
    _open_missing_streams()
    try:
        with _cleanup_on_signals():
            # Loaded modules and data contain little garbage, so collect it less often.
            gc.set_threshold(100_000, 20, 20)
            from semmetrics.cli.app import program

            for stream in (sys.stdout, sys.stderr):
                # Characters that the terminal cannot show must not cause an error.
                if hasattr(stream, "reconfigure"):
                    stream.reconfigure(errors="backslashreplace")
            sys.exit(program.main(args, standalone_mode=False))
    except KeyboardInterrupt:  # Raised, for example, while modules are being loaded
        with contextlib.suppress(OSError):
            sys.stderr.write("semmetrics: stopped\n")
        sys.exit(128 + signal.SIGINT)
    finally:
        # Skip the last garbage collection, but not with torch, as triton reports leaked objects.
        if "torch" not in sys.modules:
            gc.freeze()


def _open_missing_streams() -> None:
    """Open the null device for standard streams that the caller has closed.

    Otherwise the next opened file would get the number of the stream. The null device is opened in
    the wrong direction for standard input and output, so that their use is still an error. Messages
    to standard error are lost.
    """
    _open_missing_stream(0, "stdin", "r", os.O_WRONLY)
    _open_missing_stream(1, "stdout", "w", os.O_RDONLY)
    _open_missing_stream(2, "stderr", "w", os.O_WRONLY)


def _open_missing_stream(number: int, name: str, mode: str, access: int) -> None:
    """Open the null device for a standard stream if it is closed."""
    if getattr(sys, name) is not None:
        return
    with contextlib.suppress(OSError):
        os.fstat(number)
        return  # It is open in the system, so only Python's stream is missing
    # The system uses the lowest free number, which is the number of the stream.
    os.open(os.devnull, access)
    setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


class _SignalHandlers:
    """Signal handlers that end the program by an exception.

    The signal is repeated while the program is running, since a library may have suppressed the
    exception. For example, pyarrow does so while it imports pandas.

    Attributes
    ----------
    requested : int
        The signal that ended the program, or 0.
    """

    def __init__(self) -> None:
        self.requested = 0
        self._alarm: int = getattr(signal, "SIGALRM", 0)
        self._previous: dict[int, Any] = {}

    def install(self) -> None:
        """Install the handlers, except for signals that are ignored, as by nohup."""
        hangup = getattr(signal, "SIGHUP", 0)
        for number in (self._alarm, signal.SIGINT, signal.SIGTERM, hangup):
            # Only the main thread can install handlers, and some signals do not exist everywhere.
            with contextlib.suppress(ValueError):
                handler = signal.getsignal(number)
                if handler in (signal.SIG_DFL, signal.default_int_handler):
                    self._previous[number] = signal.signal(number, self._end)

    def restore(self) -> None:
        """Restore the previous handlers."""
        if self._alarm in self._previous:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _end(self, number: int, _: object) -> NoReturn:
        """End the program, and start the timer that repeats the signal."""
        is_repetition = number == self._alarm and self.requested
        if not is_repetition:
            self.requested = number
        if self._alarm in self._previous:
            signal.setitimer(signal.ITIMER_REAL, _SECONDS_TO_REPEAT_SIGNAL)
        if self.requested == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + self.requested)


@contextlib.contextmanager
def _cleanup_on_signals() -> Iterator[None]:
    """Turn signals such as Ctrl-C into exceptions, so that unfinished files are removed."""
    handlers = _SignalHandlers()
    previous_hook = sys.unraisablehook
    sys.unraisablehook = _repeat_signal
    handlers.install()
    try:
        yield
    finally:
        handlers.restore()
        sys.unraisablehook = previous_hook
        # A thread may be waiting for a pipe that stays open.
        if handlers.requested and _threads_prevent_exit():
            _exit_immediately(128 + handlers.requested)


def _exit_immediately(code: int) -> NoReturn:
    """End the program without waiting for threads."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)


def _threads_prevent_exit() -> bool:
    """Return whether Python would wait for a thread before it exits.

    It does not wait for daemon threads.
    """
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not thread.daemon:
            return True
    return False


def _repeat_signal(unraisable: sys.UnraisableHookArgs) -> None:
    """Repeat a signal that arrived during a callback, where Python ignores exceptions."""
    from threading import Timer

    number = _signal_of(unraisable.exc_value)
    if number == 0:
        sys.__unraisablehook__(unraisable)
        return
    timer = Timer(0.01, signal.raise_signal, [number])
    timer.daemon = True
    timer.start()


def _signal_of(error: BaseException | None) -> int:
    """Return the signal whose handler raised an exception, or 0."""
    if isinstance(error, KeyboardInterrupt):
        return int(signal.SIGINT)
    if isinstance(error, SystemExit) and isinstance(error.code, int):
        return max(0, error.code - 128)
    return 0
