"""Where fetched vectors and caches are kept.

Conventions
-----------
``SEMMETRICS_HOME`` names the folder; without it, it is ``semmetrics`` in the user's cache folder
(``XDG_CACHE_HOME``, ``~/.cache``; ``~/Library/Caches`` on macOS, ``%LOCALAPPDATA%`` on Windows).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["HOME", "cache_folder", "vectors_folder"]

HOME = "SEMMETRICS_HOME"


def cache_folder() -> Path:
    """The folder for what can be computed or fetched again."""
    named = os.environ.get(HOME)
    if named:
        return Path(named)
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"], "semmetrics")
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home()), "semmetrics")
    below = "Library/Caches" if sys.platform == "darwin" else ".cache"
    return Path.home() / below / "semmetrics"


def vectors_folder() -> Path:
    """The folder of fetched vectors."""
    return cache_folder() / "vectors"
