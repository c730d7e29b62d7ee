"""The example files, which `semmetrics demo` copies into a folder of the user."""

from __future__ import annotations

import shutil
from pathlib import Path

from semmetrics.errors import InputError
from semmetrics.store.files import replacing

_PACKAGED = Path(__file__).resolve().parents[1] / "example_files"
"""Where a wheel has them."""
_IN_REPOSITORY = Path(__file__).resolve().parents[2] / "examples"
"""Where they are if the package is imported from a clone of the repository."""

EXAMPLES = (
    "photos/ground_truth.json",
    "photos/predictions/baseline.json",
    "photos/predictions/finetuned.json",
    "photos/predictions/open-words.json",
    "captions/model_a.json",
    "captions/model_b.json",
    "captions/references.json",
)
"""The files, relative to the folder of examples."""


def copy_examples(folder: Path) -> None:
    """Copy the example files into a new folder.

    Parameters
    ----------
    folder : Path
        It must not exist.

    Raises
    ------
    InputError
        If the folder exists or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp(), "demo")
    >>> copy_examples(folder)
    >>> sorted(path.name for path in folder.iterdir())
    ['captions', 'photos']
    """
    source = _PACKAGED if _PACKAGED.is_dir() else _IN_REPOSITORY
    if folder.exists():
        raise InputError("exists", folder)
    with replacing(folder, folder=True) as place:
        for name in EXAMPLES:
            target = place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, target)
