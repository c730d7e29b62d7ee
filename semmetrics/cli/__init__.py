"""The command line: a thin layer over the Python API, which gives the same results.

Importing this package is cheap, and each command is loaded when it is run.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the program ``semmetrics`` and leave with its exit code.

    Parameters
    ----------
    args : sequence of str, optional
        The arguments; those of the process when left out.

    Raises
    ------
    SystemExit
        Always: 0 done, 2 bad input or usage, 1 a fault of the program.
    """
    # Little of what is loaded or read is garbage: it is searched less often, and not at the end,
    # which takes a third off a short command.
    gc.set_threshold(100_000, 20, 20)
    from semmetrics.cli.app import program

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # what the terminal cannot show must not be a fault
            stream.reconfigure(errors="backslashreplace")
    try:
        sys.exit(program.main(args, standalone_mode=False))
    finally:
        gc.freeze()
