"""The example files that `semmetrics demo` copies into a folder of the user."""

from __future__ import annotations

import shutil
from pathlib import Path

from semmetrics.errors import InputError
from semmetrics.store.files import replacing

_PACKAGED = Path(__file__).resolve().parents[1] / "example_files"
"""The folder of the files in an installed wheel."""

_IN_REPOSITORY = Path(__file__).resolve().parents[2] / "examples"
"""Their folder if the package is imported from a clone of the repository."""

EXAMPLES = (
    "photos/ground_truth.json",
    "photos/predictions/baseline.json",
    "photos/predictions/finetuned.json",
    "photos/predictions/open-words.json",
    "captions/model_a.json",
    "captions/model_b.json",
    "captions/references.json",
)
"""The files, relative to their folder."""


def copy_examples(folder: Path) -> None:
    """Copy the example files into a new folder.

    Parameters
    ----------
    folder : Path
        Must not exist.

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
    source = _IN_REPOSITORY
    if _PACKAGED.is_dir():
        source = _PACKAGED
    if folder.exists():
        raise InputError("exists", folder)
    with replacing(folder, folder=True) as temporary:
        for name in EXAMPLES:
            target = temporary / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, target)
