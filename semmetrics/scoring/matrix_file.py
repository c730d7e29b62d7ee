"""A matrix written block by block into a .npy file, by a job that can be killed and run again.

Conventions
-----------
Beside ``phi.npy`` stands ``phi.npy.blocks``: what the matrix is of, as one line of JSON, then the
first row of each block that is finished, a line each. A block is noted only after its numbers are
written. The boundaries of blocks are noted too, so that a run that was interrupted gives the digits
of one that was not. The file stays there when the matrix is complete.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.errors import InputError

__all__ = ["write_matrix"]

_FORMAT = "semmetrics.matrix/1"
_OTHER = "choose another path, remove the file, or say resume=False"


def write_matrix(
    path: str | os.PathLike[str],
    shape: tuple[int, int],
    dtype: str,
    step: int,
    of: Mapping[str, str],
    block: Callable[[int, int], NDArray[Any]],
    *,
    resume: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> NDArray[Any]:
    """Write the blocks that are not there yet.

    Parameters
    ----------
    path : path
        Of the .npy file.
    shape : pair of int
    dtype : str
    step : int
        Rows of a block.
    of : mapping from str to str
        What the matrix is of: a file of anything else is not continued.
    block : callable
        Gives rows start to stop.
    resume : bool
        Continue a file that is there; otherwise it is written anew.
    progress : callable, optional
        Called with rows done and rows in all.

    Returns
    -------
    array
        A read-only memory map.

    Raises
    ------
    InputError
        If there is a file of other inputs, or one that no run has noted.
    """
    file = Path(path)
    notes = file.with_name(f"{file.name}.blocks")
    said = {"format": _FORMAT, **of, "shape": list(shape), "dtype": dtype, "block_rows": step}
    if not resume:
        notes.unlink(missing_ok=True)
        file.unlink(missing_ok=True)
    done = _finished(file, notes, said, range(0, shape[0], step))
    with notes.open("a", encoding="utf-8") as log:
        matrix = _opened(file, shape, dtype, fresh=not done)
        for start in range(0, shape[0], step):
            stop = min(start + step, shape[0])
            if start not in done:
                matrix[start:stop] = block(start, stop)
                matrix.flush()
                _note(log, f"{start}\n")
            if progress is not None:
                progress(stop, shape[0])
    del matrix
    found: NDArray[Any] = np.load(file, mmap_mode="r")
    return found


def _note(log: Any, line: str) -> None:
    log.write(line)
    log.flush()
    os.fsync(log.fileno())


def _finished(file: Path, notes: Path, said: dict[str, Any], starts: range) -> set[int]:
    """The blocks that are there; a first run notes what the matrix is of."""
    lines = notes.read_text(encoding="utf-8").splitlines(keepends=True) if notes.exists() else []
    if not lines or not lines[0].endswith("\n"):  # no run came so far as to write anything
        if file.exists():
            raise InputError("the file is there already", where=str(file), remedy=_OTHER)
        with notes.open("w", encoding="utf-8") as log:
            _note(log, json.dumps(said) + "\n")
        return set()
    _check_same(lines[0], said, notes)
    whole = [line for line in lines[1:] if line.endswith("\n")]
    if len(whole) < len(lines) - 1:  # cut off while it was written
        notes.write_text("".join(lines[:1] + whole), encoding="utf-8")
    done = {int(line) for line in whole if line.strip().isdecimal()} & set(starts)
    return done if file.exists() else set()


def _check_same(line: str, said: dict[str, Any], notes: Path) -> None:
    try:
        noted = dict(json.loads(line))
    except (ValueError, TypeError):
        raise InputError("it is damaged", where=str(notes), remedy=_OTHER) from None
    different = [key for key in {**said, **noted} if noted.get(key) != said.get(key)]
    if different:
        values = "; ".join(f"{key} is {noted.get(key)}, not {said.get(key)}" for key in different)
        problem = f"the file is of something else: {values}"
        raise InputError(problem, where=str(notes), remedy=_OTHER)


def _opened(file: Path, shape: tuple[int, int], dtype: str, *, fresh: bool) -> Any:
    from numpy.lib.format import open_memmap

    if fresh:
        return open_memmap(file, mode="w+", dtype=np.dtype(dtype), shape=shape)
    try:
        matrix = open_memmap(file, mode="r+")
    except (OSError, ValueError) as error:
        raise InputError(f"it is damaged ({error})", where=str(file), remedy=_OTHER) from None
    if matrix.shape != shape or matrix.dtype != np.dtype(dtype):
        raise InputError(
            f"it has shape {matrix.shape} and type {matrix.dtype}", where=str(file), remedy=_OTHER
        )
    return matrix
