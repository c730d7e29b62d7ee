"""The captions of images as positives of retrieval, from which phi can be computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from semmetrics.data.lists import Lists
from semmetrics.errors import InputError
from semmetrics.kinds.retrieval.named_run import NamedRun
from semmetrics.messages import pluralize

CAPTIONS = "captions"
"""The option that gives the captions, and the name under which a task has its `CaptionedTruth`."""


@dataclass(frozen=True, eq=False, repr=False)
class CaptionedTruth:
    """Which captions are the positives of each image, by name.

    Attributes
    ----------
    positives : Lists
        The names of the captions of each image.
    run : NamedRun
        The rows are images and the columns are captions.
    captions : Lists
        The text of each caption.
    """

    positives: Lists
    run: NamedRun
    captions: Lists

    def images(self) -> list[str]:
        """Return the images that have positives, in the order of the rows."""
        sizes = self.positives.side.sizes.tolist()
        ids = map(str, self.positives.ids)
        n_positives = dict(zip(ids, sizes, strict=True))
        return [name for name in map(str, self.run.rows) if n_positives.get(name)]

    def gallery(self) -> list[str]:
        """Return the names of the captions that are ranked."""
        return [str(name) for name in self.run.columns]

    def texts(self) -> tuple[list[list[str]], list[str]]:
        """Return the references of each image, and the captions of the gallery.

        The references of an image are the texts of its positives.

        Raises
        ------
        InputError
            If a caption or a positive has no text, or only the texts have names.
        """
        gallery = self.gallery()
        text_of = self._texts_by_name(gallery)
        names_of_images = self._positives_of_images()
        needed = dict.fromkeys(gallery)
        for names in names_of_images:
            needed.update(dict.fromkeys(names))
        without_text = [name for name in needed if name not in text_of]
        if without_text:
            code = "without-text"
            if isinstance(self.run.columns, range):
                code = "unnamed-gallery"
            n = len(without_text)
            raise InputError(code, self.captions.source, n=n, names=without_text)
        references = []
        for names in names_of_images:
            references.append([text_of[name] for name in names])
        return references, [text_of[name] for name in gallery]

    def _texts_by_name(self, gallery: Sequence[str]) -> dict[str, str]:
        """Return the text of each caption. Texts without ids are in the order of the columns."""
        captions = self.captions
        names = list(map(str, captions.ids))
        if not captions.has_ids:
            if self.run.is_listed or len(gallery) != len(captions):
                wanted = f"a gallery of {len(gallery):,}"
                if self.run.is_listed:
                    wanted = "a named gallery"
                number = f"{pluralize(len(captions), 'caption')} without ids"
                raise InputError(
                    "wrong-count", captions.source, found=number, wanted=wanted
                )
            names = list(gallery)
        return dict(zip(names, captions.values(), strict=True))

    def _positives_of_images(self) -> list[list[str]]:
        """Return the names of the captions of each image that has positives."""
        positives = self.positives
        row_of_image = {str(name): row for row, name in enumerate(positives.ids)}
        names = [str(name) for name in positives.vocabulary]
        codes = positives.side.codes.tolist()
        indptr = positives.side.indptr.tolist()
        names_of_images = []
        for image in self.images():
            row = row_of_image[image]
            start = indptr[row]
            stop = indptr[row + 1]
            names_of_images.append([names[code] for code in codes[start:stop]])
        return names_of_images
