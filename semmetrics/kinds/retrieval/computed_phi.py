"""phi computed in the same call: a caption measure of all captions of the gallery for all images.

Conventions
-----------
Rows are images, columns captions; the references of an image are the captions of its positives, in
their order. So phi is what `semmetrics.caption_matrix` computes of these, in the same blocks and
with the same digits. Document frequencies are counted over the images that are ranked, each once.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from semmetrics.core.ragged import lengths
from semmetrics.data.form import ReadOptions
from semmetrics.data.lists import Lists
from semmetrics.data.phi import fingerprint
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.kinds import Options
from semmetrics.kinds.captions.matrix import PAIR_MEASURES, PairJob, options_taken
from semmetrics.kinds.captions.reading import as_texts
from semmetrics.kinds.retrieval.relation import Sides
from semmetrics.messages import agreeing, listing, pluralize
from semmetrics.options import OPTIONS

__all__ = ["CAPTIONS", "MATRIX_OPTIONS", "ODD", "CaptionedTruth", "compute_phi", "is_computed",
           "read_caption_texts", "refuse_without_captions"]  # fmt: skip

CAPTIONS = "captions"
"""The option that gives the captions, and where a task has its `CaptionedTruth`."""
ODD = "what is odd about computed phi"
"""Under this name stand notes among what was opened."""
MATRIX_OPTIONS = ("tokenizer", "doc_freq", "tuples", "embedding", "lookup", "oov", "max_words",
                  "cache")  # fmt: skip
"""The options that only a phi computed here takes."""

_HELD = 1 << 30  # bytes of a matrix that is kept in memory; a larger one is a temporary file


@dataclass(frozen=True, eq=False)
class CaptionedTruth:
    """Which captions are the positives of each image, by name.

    Attributes
    ----------
    positives : Lists
        By image.
    sides : Sides
        The images are the rows, the captions the columns.
    captions : Lists
        A text for each caption.
    """

    positives: Lists
    sides: Sides
    captions: Lists

    @property
    def images(self) -> list[str]:
        """The images that have positives, in the order of the rows."""
        number = dict(zip(map(str, self.positives.ids), self._sizes, strict=True))
        return [name for name in map(str, self.sides.rows) if number.get(name)]

    @property
    def names(self) -> list[str]:
        """The captions of the gallery, in the order of the columns."""
        return list(map(str, self.sides.columns))

    @property
    def _sizes(self) -> list[int]:
        sizes: list[int] = lengths(self.positives.side.indptr).tolist()
        return sizes

    def texts(self) -> tuple[list[list[str]], list[str]]:
        """Return the references of each image, and the captions.

        Raises
        ------
        InputError
            If captions or positives have no text, or the gallery no names that the texts have.
        """
        text_of = self._texts_by_name()
        known = {str(name): row for row, name in enumerate(self.positives.ids)}
        vocabulary = list(map(str, self.positives.vocabulary))
        indptr, codes = self.positives.side.indptr, self.positives.side.codes
        of_image = {
            name: [vocabulary[code] for code in codes[indptr[row] : indptr[row + 1]].tolist()]
            for name in self.images
            for row in [known[name]]
        }
        needed = dict.fromkeys(name for some in (self.names, *of_image.values()) for name in some)
        lost = [name for name in needed if name not in text_of]
        if lost:
            remedy = "give the text of each caption of the gallery; images are the rows"
            if isinstance(self.sides.columns, range):
                remedy = "name the gallery, whose captions have ids: gallery= (--gallery)"
            raise InputError(
                f"{pluralize(len(lost), 'caption')} of the gallery or the positives "
                f"{agreeing(len(lost), 'have')} no text: {listing(lost)}",
                where=self.captions.source,
                remedy=remedy,
            )
        references = [[text_of[name] for name in names] for names in of_image.values()]
        return references, [text_of[name] for name in self.names]

    def _texts_by_name(self) -> dict[str, str]:
        """Return the text of each caption; of captions without ids, in the order of the columns."""
        names: Any = self.captions.ids
        if isinstance(names, range):
            names = self.names
            if self.sides.listed or len(names) != len(self.captions):
                raise InputError(
                    f"{pluralize(len(self.captions), 'caption')} without ids, and "
                    + ("ranked lists" if self.sides.listed else f"a gallery of {len(names):,}"),
                    where=self.captions.source,
                    remedy='give {"id": "caption"} with the ids of the gallery',
                )
        return dict(zip(map(str, names), self.captions.values(), strict=True))


def is_computed(spec: Any) -> bool:
    """Tell whether a phi is a measure, and no matrix or file.

    Examples
    --------
    >>> is_computed("CIDEr(stem=porter)"), is_computed("phi.npy")
    (True, False)
    """
    named = isinstance(spec, str) and spec.partition("(")[0] in PAIR_MEASURES
    return named and not Path(spec).exists()


def refuse_without_captions(options: Options) -> None:
    """Refuse options that say how a phi is computed where none can be.

    Raises
    ------
    InputError
        Names them.
    """
    idle = [OPTIONS[name] for name in MATRIX_OPTIONS if name in options.given]
    if options[CAPTIONS] is None and idle:
        raise InputError(
            f"{', '.join(one.name for one in idle)} ({', '.join(one.flag for one in idle)}) "
            f"mean{'s' if len(idle) == 1 else ''} nothing for retrieval, but where phi is computed",
            remedy=f"leave that out, or give {OPTIONS[CAPTIONS].both}",
        )


def read_caption_texts(given: Any, options: Options) -> Lists | None:
    """Read the captions, one text each.

    Raises
    ------
    InputError
        If an id has several texts, which are the captions of an image.
    """
    if given is None:
        return None
    found = as_texts(given, source=CAPTIONS, options=options["read"] or ReadOptions())
    several = np.flatnonzero(lengths(found.side.indptr) != 1)
    if len(several):
        raise InputError(
            f"{pluralize(len(several), 'id', 'have')} not one text, as a caption has",
            where=found.where(int(several[0])),
            remedy='give {"id of a caption": "its text"}; which captions an image has, the '
            "positives say",
        )
    return found


def compute_phi(spec: str, truth: CaptionedTruth, options: Options) -> tuple[Any, str]:
    """Compute a measure of all captions for all images that have positives.

    Parameters
    ----------
    spec : str
        The measure, with its options.
    truth : CaptionedTruth
    options : Options

    Returns
    -------
    matrix : float64 array, shape (images, captions)
        A memory map where it would be large.
    identity : str
        Its shape, a hash of its values, and how it was computed.

    Raises
    ------
    InputError
        If a caption has no text, or the measure cannot be computed.
    """
    references, texts = truth.texts()
    given = {name: options[name] for name in options_taken(spec) if name in options.given}
    if not references:
        raise InputError(
            "no image has a positive",
            where=truth.positives.source,
            remedy="give those of images (rows); their captions are the references of phi",
        )
    notes = options.opened.setdefault(ODD, [])
    job = PairJob.of(references, texts, spec, given, notes=notes)
    matrix = _hold(job, options["progress"])
    return matrix, f"{fingerprint(matrix)};{job.identity}"


def _hold(job: PairJob, progress: Any) -> Any:
    """Compute a matrix in memory; a large one in a file that is gone with it."""
    rows, columns = job.shape
    if 8 * rows * columns <= _HELD:
        return job.matrix(progress=progress)
    try:
        folder = tempfile.mkdtemp(prefix="semmetrics-phi-")
    except OSError as error:
        raise InputError(
            f"phi of {rows:,} x {columns:,} needs a temporary file: {error}",
            remedy="name a folder that can be written in the variable TMPDIR",
        ) from None
    try:
        matrix = job.matrix(Path(folder) / "phi.npy", progress=progress)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)  # the map keeps the numbers, where a system allows it
    if Path(folder).exists():
        weakref.finalize(matrix, shutil.rmtree, folder, ignore_errors=True)
    return matrix
