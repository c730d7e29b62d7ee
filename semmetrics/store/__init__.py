"""Files kept between runs: where they are, a cache of what was computed, downloads by checksum.

Conventions
-----------
``SEMMETRICS_HOME`` names the folder; without it, it is ``semmetrics`` in the user's cache folder
(``XDG_CACHE_HOME``, ``~/.cache``; ``~/Library/Caches`` on macOS, ``%LOCALAPPDATA%`` on Windows).
Everything in it can be computed or fetched again.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import IO

from semmetrics.errors import InputError

__all__ = ["cache_folder", "file_digest", "lock"]

_CHUNK = 1 << 18


def cache_folder() -> Path:
    """Return the folder for what can be computed or fetched again.

    Raises
    ------
    InputError
        If no folder is named and the user has no home folder, as in some containers.
    """
    named = os.environ.get("SEMMETRICS_HOME")
    if named:
        return Path(named)
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"], "semmetrics")
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"], "semmetrics")
    try:
        home = Path.home()
    except RuntimeError:
        raise InputError(
            "the user has no home folder to keep files in",
            remedy="name a folder in the environment variable SEMMETRICS_HOME",
        ) from None
    if sys.platform == "win32":
        return home / "semmetrics"
    below = "Library/Caches" if sys.platform == "darwin" else ".cache"
    return home / below / "semmetrics"


def file_digest(*paths: Path) -> str:
    """Return the SHA-256 of a file, or of several one after the other, in hex."""
    state, buffer = hashlib.sha256(), memoryview(bytearray(_CHUNK))
    for path in paths:
        with path.open("rb", buffering=0) as file:
            while size := file.readinto(buffer):
                state.update(buffer[:size])
    return state.hexdigest()


def lock(file: IO[bytes] | int, *, unknown: bool = True) -> bool:
    """Lock an open file until it is closed; return False where another process has it.

    Parameters
    ----------
    file : binary file, or its number
    unknown : bool
        What is returned where there are no locks, as on some network drives.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            number = file if isinstance(file, int) else file.fileno()
            os.lseek(number, 0, os.SEEK_SET)
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except (ImportError, OSError):
        return unknown
    return True
