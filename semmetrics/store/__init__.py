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

__all__ = ["cache_folder", "file_digest", "lock"]

_CHUNK = 1 << 18


def cache_folder() -> Path:
    """Return the folder for what can be computed or fetched again."""
    named = os.environ.get("SEMMETRICS_HOME")
    if named:
        return Path(named)
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"], "semmetrics")
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home()), "semmetrics")
    below = "Library/Caches" if sys.platform == "darwin" else ".cache"
    return Path.home() / below / "semmetrics"


def file_digest(*paths: Path) -> str:
    """Return the SHA-256 of a file, or of several one after the other, in hex."""
    state, buffer = hashlib.sha256(), memoryview(bytearray(_CHUNK))
    for path in paths:
        with path.open("rb", buffering=0) as file:
            while size := file.readinto(buffer):
                state.update(buffer[:size])
    return state.hexdigest()


def lock(file: IO[bytes]) -> bool:
    """Lock an open file until it is closed; return False where another process has it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except (ImportError, OSError):  # there are no locks here: go on as if alone
        return True
    return True
