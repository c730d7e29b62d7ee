"""Matrices in .npy files that are written block by block and can be continued.

Conventions
-----------
While ``phi.npy`` is unfinished, its numbers are in ``phi.npy.part`` and its notes in
``phi.npy.blocks``. The first line of the notes describes the matrix, as JSON. Every further line
contains the first row of a finished block and the checksum of its numbers.

A block is noted only after its numbers are on the disk. A block whose numbers do not agree with
their checksum is computed again. The description includes the number of rows of a block, so that a
continued run computes exactly the numbers of an uninterrupted run.

Both files are removed when the matrix is complete. A run locks its notes. On file systems without
locks, such as some network drives, two runs that write the same matrix do not notice each other.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.errors import InputError
from semmetrics.messages import brief, report_progress
from semmetrics.store.files import check_output, lock, publish, translating_write_errors

_FORMAT = "semmetrics.matrix/3"
_BLOCK_NOTE = re.compile(rb"(\d{1,18}) ([0-9a-f]{8})\n")
_BYTES_PER_READ = 1 << 18
_MAX_SHOWN = 200  # characters of a value in a message

_HASHED_ENTRIES = {"df": "document frequencies", "inputs": "captions or references"}
"""Entries of a description that are hashes. Messages do not show their values."""

_ENTRY_NAMES = {
    "block_rows": "number of rows of a block (memory=)",
    "dtype": "type of numbers",
}
"""What messages call other entries of a description, if not by their keys."""


def write_matrix(
    path: str | os.PathLike[str],
    shape: tuple[int, int],
    dtype: str,
    rows_per_block: int,
    inputs: Mapping[str, str],
    compute_block: Callable[[int, int], NDArray[Any]],
    *,
    resume: bool = True,
    progress: Callable[[int, int], None] | None = None,
    write_companions: Callable[[], None] | None = None,
) -> NDArray[Any]:
    """Write the blocks of a matrix that are not in its file yet.

    Parameters
    ----------
    path : path
        The .npy file.
    shape : pair of int
    dtype : str
    rows_per_block : int
    inputs : mapping from str to str
        Describes what the numbers depend on. An unfinished file of other inputs is not continued.
    compute_block : callable
        Computes the rows from ``start`` to ``stop``.
    resume : bool
        Whether to continue an unfinished matrix, and to raise an error if there is a complete one.
        Otherwise everything is computed, and an existing matrix is replaced.
    progress : callable, optional
        Called with the number of rows done and the number of all rows.
    write_companions : callable, optional
        Writes the files that belong to the matrix. It is called when the matrix is complete, before
        the matrix appears under its name.

    Returns
    -------
    array
        A read-only memory map.

    Raises
    ------
    InputError
        If the matrix exists already, if the unfinished files are damaged, without notes or of other
        inputs, if another run is writing them, or if they cannot be written.
    """
    file = _MatrixFile(Path(path), shape, np.dtype(dtype))
    description = {
        "format": _FORMAT,
        **inputs,
        "shape": list(shape),
        "dtype": dtype,
        "block_rows": rows_per_block,
    }
    starts = range(0, shape[0], rows_per_block)
    check_output(path)
    with translating_write_errors(str(path)), file.locked_notes(resume=resume) as notes:
        checksums = file.start_notes(notes, description, starts, resume=resume)
        if len(checksums) < len(starts) or file.part.exists():
            with file.opened_part(fresh=not checksums) as part:
                for start in starts:
                    stop = min(start + rows_per_block, shape[0])
                    if not file.has_block(part, start, stop, checksums):
                        rows = compute_block(start, stop)
                        file.write_block(part, notes, start, rows)
                    report_progress(progress, stop, shape[0], "scoring pairs", "row")
            publish(file.part, file.target, write_companions)
        file.remove_notes()
    matrix: NDArray[Any] = np.load(path, mmap_mode="r")
    return matrix


def npy_header(shape: tuple[int, int], dtype: np.dtype[Any]) -> bytes:
    """Return the header of a .npy file."""
    header = io.BytesIO()
    description = {
        "descr": np.lib.format.dtype_to_descr(dtype),
        "fortran_order": False,
        "shape": shape,
    }
    np.lib.format.write_array_header_1_0(header, description)
    return header.getvalue()


class _FinishedBlocks(NamedTuple):
    """Blocks that the notes of an unfinished matrix contain.

    Attributes
    ----------
    checksums : dict of int to int
        The checksum of each finished block, by its first row.
    size : int
        Bytes of the complete lines of the notes. A further line was cut off.
    """

    checksums: dict[int, int]
    size: int


class _MatrixFile:
    """The file of a matrix, the file of its unfinished numbers, and its notes.

    Attributes
    ----------
    target : Path
        The complete matrix. If the path is a link, this is the file that it leads to.
    part : Path
        The unfinished numbers.
    """

    def __init__(
        self, path: Path, shape: tuple[int, int], dtype: np.dtype[Any]
    ) -> None:
        self._path = path
        self._dtype = dtype
        target = str(path)
        if path.is_symlink():
            target = os.path.realpath(path)
        self.target = Path(target)
        self.part = Path(f"{target}.part")
        self._notes = Path(f"{target}.blocks")
        self._bytes_per_row = shape[1] * dtype.itemsize
        self._header = npy_header(shape, dtype)
        self._size = len(self._header) + shape[0] * self._bytes_per_row

    # ---- notes --------------------------------------------------------------

    @contextmanager
    def locked_notes(self, *, resume: bool) -> Iterator[BinaryIO]:
        """Open and lock the notes, after a check that all files can be written."""
        if self._path.exists() and not self._path.is_file():
            raise InputError("not-a-file", self._path)
        # Their names are longer than the name of the matrix, perhaps too long.
        check_output(self.part)
        check_output(self._notes)
        is_unfinished = self.part.exists() or self._notes.exists()
        if resume and self.target.exists() and not is_unfinished:
            raise InputError("matrix-exists", self._path)
        with self._notes.open("a+b", buffering=0) as notes:
            if not lock(notes, self._notes):
                raise InputError("matrix-locked", self._path)
            yield notes

    def start_notes(
        self,
        notes: BinaryIO,
        description: Mapping[str, Any],
        starts: Sequence[int],
        *,
        resume: bool,
    ) -> dict[int, int]:
        """Return the checksums of the finished blocks. Start new notes if there are no such blocks.

        Parameters
        ----------
        notes : binary file
        description : mapping
            The description of the matrix that is to be written.
        starts : sequence of int
            The first rows of its blocks.
        resume : bool

        Returns
        -------
        dict of int to int
            The checksum of each finished block, by its first row.
        """
        notes.seek(0)
        lines = []
        if resume:
            lines = notes.read().splitlines(keepends=True)
        # If the first line was cut off, no block was written.
        has_description = bool(lines) and lines[0].endswith(b"\n")
        if has_description:
            finished = self._find_finished(lines, description, starts)
            if finished is not None:
                notes.truncate(finished.size)
                return finished.checksums
        elif resume and self.part.exists():
            raise self._unfinished_error(
                "it has no record of the run that wrote it", self.part
            )
        if resume and self.target.exists():
            raise InputError("matrix-exists", self._path)
        notes.truncate(0)
        self._add_note(notes, json.dumps(description) + "\n")
        return {}

    def _find_finished(
        self,
        lines: Sequence[bytes],
        description: Mapping[str, Any],
        starts: Sequence[int],
    ) -> _FinishedBlocks | None:
        """Return the finished blocks in the notes of an earlier run, or None if it left no numbers."""
        has_part = self.part.exists()
        if not has_part and not self.target.exists():
            return None
        self._check_description(lines[0], description)
        finished = _read_block_notes(lines, starts)
        # Without unfinished numbers, the notes belong to the complete matrix only if they list
        # every block: then the earlier run was killed before it removed them.
        has_all_blocks = len(finished.checksums) == len(starts)
        if has_part or has_all_blocks:
            return finished
        return None

    def remove_notes(self) -> None:
        """Remove the notes of a complete matrix."""
        with suppress(OSError):  # Windows does not remove open files
            self._notes.unlink()

    def _add_note(self, notes: BinaryIO, line: str) -> None:
        """Append a line to the notes, and wait until it is on the disk."""
        n_written = notes.write(line.encode())
        if n_written != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(notes.fileno())

    def _check_description(self, line: bytes, expected: Mapping[str, Any]) -> None:
        """Check that the first line of the notes describes the same matrix."""
        try:
            noted = json.loads(line.decode("utf-8"))
            noted_format = noted.get("format")
        except (ValueError, RecursionError, AttributeError):
            raise self._unfinished_error("its notes are damaged", self._notes) from None
        if noted_format != _FORMAT:
            raise self._unfinished_error(
                "its notes are from another version", self._notes
            )
        differences = []
        for key, value in expected.items():
            noted_value = noted.get(key)
            if noted_value != value:
                differences.append(_describe_difference(key, noted_value, value))
        if differences:
            raise self._unfinished_error(", ".join(differences))

    def _unfinished_error(self, why: str, where: Path | None = None) -> InputError:
        """Return the error for files that cannot be continued."""
        return InputError(
            "matrix-unfinished",
            where or self._path,
            why=why,
            part=self.part,
            notes=self._notes,
        )

    # ---- numbers ------------------------------------------------------------

    @contextmanager
    def opened_part(self, *, fresh: bool) -> Iterator[BinaryIO]:
        """Open the unfinished numbers to read and write blocks.

        A fresh file gets its header and its full length. Another one is checked for them. Blocks
        are written rather than assigned to a memory map: on a full disk, such an assignment ends
        the process.
        """
        mode: Literal["w+b", "r+b"] = "w+b" if fresh else "r+b"
        with self.part.open(mode, buffering=0) as part:
            if fresh:
                part.write(self._header)
                part.truncate(self._size)
            else:
                self._check_part(part)
            yield part

    def _check_part(self, part: BinaryIO) -> None:
        """Check the header and the length of the unfinished numbers."""
        header = part.read(len(self._header))
        size = self.part.stat().st_size
        if header != self._header or size != self._size:
            why = "it is damaged, truncated or of a different shape"
            raise self._unfinished_error(why, self.part)

    def has_block(
        self, part: BinaryIO, start: int, stop: int, checksums: Mapping[int, int]
    ) -> bool:
        """Return whether rows are finished and agree with their checksum."""
        if start not in checksums:
            return False
        part.seek(self._offset(start))
        checksum = 0
        n_left = (stop - start) * self._bytes_per_row
        while n_left:
            data = part.read(min(n_left, _BYTES_PER_READ))
            if not data:
                break
            n_left -= len(data)
            checksum = zlib.crc32(data, checksum)
        return checksum == checksums[start]

    def write_block(
        self, part: BinaryIO, notes: BinaryIO, start: int, rows: NDArray[Any]
    ) -> None:
        """Write rows to the disk, and then note their checksum."""
        data = np.ascontiguousarray(rows, self._dtype).data.cast("B")
        checksum = zlib.crc32(data)
        part.seek(self._offset(start))
        while data:
            n_written = part.write(data)
            data = data[n_written:]
        os.fsync(part.fileno())
        self._add_note(notes, f"{start} {checksum:08x}\n")

    def _offset(self, row: int) -> int:
        """Return the offset of a row in the file, in bytes."""
        return len(self._header) + row * self._bytes_per_row


def _read_block_notes(lines: Sequence[bytes], starts: Sequence[int]) -> _FinishedBlocks:
    """Return the blocks in the notes that begin at one of the first rows.

    Parameters
    ----------
    lines : sequence of bytes
        The lines of the notes. The first one describes the matrix.
    starts : sequence of int
    """
    complete_lines = [line for line in lines if line.endswith(b"\n")]
    noted = {}
    for line in complete_lines[1:]:
        match = _BLOCK_NOTE.fullmatch(line)
        if match:
            noted[int(match[1])] = int(match[2], 16)
    checksums = {start: noted[start] for start in starts if start in noted}
    return _FinishedBlocks(checksums, sum(map(len, complete_lines)))


def _describe_difference(key: str, noted: Any, expected: Any) -> str:
    """Return in words how an entry of a description differs."""
    if key in _HASHED_ENTRIES:
        return f"it has other {_HASHED_ENTRIES[key]}"
    name = _ENTRY_NAMES.get(key, key)
    return f"its {name} is {_shorten(noted)}, not {_shorten(expected)}"


def _shorten(value: Any) -> str:
    """Return a value as a string that is short enough for a message."""
    text = str(value)
    if len(text) <= _MAX_SHOWN:
        return text
    return brief(text)
