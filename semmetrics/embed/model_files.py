"""Files of the models that ship with semmetrics: descriptions, arrays and vocabularies.

Conventions
-----------
A model is described by a JSON file. Its vectors are packed into four bits per number and a scale
per row. An error about a damaged model names the file, or the folder if its files do not fit
together.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Ints
from semmetrics.embed.embedder import Vectors
from semmetrics.errors import InputError

DATA = Path(__file__).parent / "data"
"""The folder with the models of the package."""

_READING_ERRORS = (
    AttributeError,
    BadZipFile,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TokenError,
    TypeError,
    ValueError,
)
"""The errors that reading a damaged file may raise."""

_POSITIVE_LEVELS = (0.1284, 0.3881, 0.6568, 0.9424, 1.2562, 1.6181, 2.0691, 2.7326)
_NEGATIVE_LEVELS = tuple(-level for level in reversed(_POSITIVE_LEVELS))

LEVELS = np.array(_NEGATIVE_LEVELS + _POSITIVE_LEVELS, np.float32)
"""The number for each four-bit code, before it is multiplied by the scale of the row.

The 16 numbers approximate a normally distributed number with the least squared error (Max, 1960).
"""

_FIRST_LEVELS, _SECOND_LEVELS = np.meshgrid(LEVELS, LEVELS, indexing="ij")
_LEVELS_OF_BYTE = np.stack([_FIRST_LEVELS, _SECOND_LEVELS], axis=-1).reshape(256, 2)
"""The two numbers of each byte. The high four bits are the first."""


@contextmanager
def reading_model(path: Path) -> Iterator[None]:
    """Turn the errors of reading a damaged model into one error.

    Parameters
    ----------
    path : Path
        Named in the error: the file, or the folder if the files do not fit together.

    Raises
    ------
    InputError
    """
    try:
        yield
    except InputError:
        raise
    except _READING_ERRORS as error:
        raise InputError("damaged-model", path, why=error) from error


def check_digest(path: Path, digest: str, expected: str) -> None:
    """Raise an error if the SHA-256 of a file differs from the recorded one."""
    if digest != expected:
        why = "its SHA-256 differs from the recorded one"
        raise InputError("damaged-model", path, why=why)


class ModelFiles:
    """The files of a model. Every method raises an error that names the file if it is damaged.

    Parameters
    ----------
    folder : Path or None
        Default: the folder with the models of the package.
    description : str
        The name of the JSON file that describes the model.

    Attributes
    ----------
    folder : Path
    description : Path
    metadata : dict
        The content of the description.
    """

    def __init__(self, folder: Path | None, description: str) -> None:
        self.folder = DATA if folder is None else Path(folder)
        self.description = self.folder / description
        with reading_model(self.description):
            text = self.description.read_text(encoding="utf-8")
            self.metadata: dict[str, Any] = json.loads(text)

    def path(self, name: str) -> Path:
        """Return the path of a file."""
        return self.folder / name

    def load_array(self, name: str) -> NDArray[Any]:
        """Read an array into memory."""
        path = self.path(name)
        with reading_model(path):
            array: NDArray[Any] = np.load(path, allow_pickle=False)
        return array

    def map_array(self, name: str) -> NDArray[Any]:
        """Map an array into memory, so that only the rows in use are read."""
        path = self.path(name)
        with reading_model(path):
            array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        return array

    def read_lines(self, name: str, encoding: str) -> list[str]:
        """Read the lines of a text file, without line ends."""
        path = self.path(name)
        with reading_model(path):
            return path.read_text(encoding=encoding).splitlines()


class PackedRows:
    """Vectors with four bits per number and a scale per row.

    Parameters
    ----------
    table : structured array, shape (rows,)
        With the fields ``scale`` (float16) and ``codes`` (uint8, two numbers per byte, the high
        bits first).
    """

    def __init__(self, table: NDArray[Any]) -> None:
        self._table = table

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, rows: Ints) -> Vectors:
        """Return the unpacked vectors of rows."""
        packed = self._table[rows]
        codes = packed["codes"]
        scales = packed["scale"].astype(np.float32)
        n_rows, n_bytes = codes.shape
        vectors: Vectors = _LEVELS_OF_BYTE[codes].reshape(n_rows, 2 * n_bytes)
        vectors *= scales[:, None]
        return vectors
