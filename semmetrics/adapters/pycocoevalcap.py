"""The classes of pycocoevalcap, with this library's measures behind them.

Conventions
-----------
Names, arguments and results are those of pycocoevalcap 1.2, so that a program changes only where
it imports from. Captions are tokenised beforehand, as there: tokens with blanks between them, one
candidate an image. What pycocoevalcap asserts is an InputError that names the image. Nothing is
printed.

Examples
--------
>>> gts = {7: ["a man rides a horse", "a person on a horse"], 8: ["two dogs in the snow"]}
>>> res = {7: ["a man on a horse"], 8: ["two dogs play"]}
>>> score, scores = Bleu(2).compute_score(gts, res)
>>> [round(value, 4) for value in score]
[0.6815, 0.5948]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.data.tasks import CaptionTask, caption_task
from semmetrics.errors import InputError, why_not
from semmetrics.messages import counted
from semmetrics.metrics.caption_overlap import BLEU, ROUGE_L
from semmetrics.metrics.caption_steps import check_captions
from semmetrics.metrics.cider import CIDErD
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.meteor import METEOR, open_data
from semmetrics.metrics.spice import spice_scores
from semmetrics.scoring.evaluate import evaluate
from semmetrics.scoring.result import score_statistics
from semmetrics.text.parses import open_parser
from semmetrics.text.ptb import PtbTokenizer
from semmetrics.text.synonyms import open_synonyms
from semmetrics.text.tokenizers import open_tokenizer

Captions: TypeAlias = Mapping[Any, Sequence[str]]


def _split_at_blanks(caption: str) -> list[str]:
    """Split as ROUGE and METEOR of pycocoevalcap do: some tokens hold a no-break space."""
    return caption.split(" ")


def _task(gts: Captions, res: Captions, tokenizer: Any) -> CaptionTask:
    """Return the task of tokenized captions, in the order of ``gts``."""
    sides = (
        ("res", res, gts, "one candidate"),
        ("gts", gts, res, "at least one reference"),
    )
    for where, side, other, wanted in sides:
        if lacking := [image for image in other if image not in side]:
            raise InputError("missing-images", where, n=len(lacking), examples=lacking)
        for image, captions in side.items():
            place = f"{where}[{image!r}]"
            check_captions(captions, place)
            if not len(captions) or (where == "res" and len(captions) > 1):
                found = counted(captions, "caption")
                raise InputError("wrong-captions", place, wanted=wanted, found=found)
    if not gts:
        raise InputError("empty", role="gts", remedy="give gts and res by image")
    candidates, references = (
        [list(side[image]) for image in gts] for side in (res, gts)
    )
    return caption_task(
        candidates, references, range(len(gts)), open_tokenizer(tokenizer)
    )


class PTBTokenizer:
    """Penn Treebank tokens in lower case, without punctuation; no Java is needed.

    As in pycocoevalcap, a full stop at the end of a caption may depend on how the next one begins
    (module ``semmetrics.text.ptb``).
    """

    def tokenize(
        self, captions_for_image: Mapping[Any, Sequence[Mapping[str, str]]]
    ) -> dict[Any, list[str]]:
        """Return the tokens of each caption, with blanks between them.

        Parameters
        ----------
        captions_for_image : mapping from image to sequence of mappings
            Each with a text under "caption". An image without captions is left out.

        Returns
        -------
        dict from image to list of str

        Examples
        --------
        >>> PTBTokenizer().tokenize({7: [{"caption": "A man's horse, resting."}]})
        {7: ["a man 's horse resting"]}
        """
        texts = [
            one["caption"] for several in captions_for_image.values() for one in several
        ]
        found = iter(PtbTokenizer(run_on=True).tokens(texts))
        return {
            image: [" ".join(next(found)) for _ in several]
            for image, several in captions_for_image.items()
            if several
        }


class _Scorer:
    """Some measures of captions, under the names that pycocoevalcap gives them."""

    _names: ClassVar[tuple[str, ...]]
    _method: ClassVar[str] = ""  # where it is not that of the value
    _tokenizer: ClassVar[Any] = "whitespace"
    _measures: Sequence[Measure]

    def method(self) -> str:
        """Return its name."""
        return self._method or self._names[0]

    def _scores(self, gts: Captions, res: Captions) -> list[tuple[float, Any]]:
        """Return the value of each measure, and those of items."""
        found = {
            "res": evaluate(_task(gts, res, type(self)._tokenizer), self._measures)
        }
        pairs = {"res": [(measure, "") for measure in self._measures]}
        scores = score_statistics(found, pairs, headings=list(map(str, self._measures)))
        return [(score.value, score.items) for score in scores]

    def compute_score(self, gts: Captions, res: Captions) -> tuple[Any, Any]:
        """Return the mean over images, and the value of each; arguments as for ``Bleu``."""
        (score,) = self._scores(gts, res)
        return score


class Bleu(_Scorer):
    """BLEU-1 to BLEU-n.

    Parameters
    ----------
    n : int
        1 to 4.
    """

    _names = ("Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4")
    _method = "Bleu"

    def __init__(self, n: int = 4) -> None:
        check_choice("n", n, range(1, len(BLEU) + 1))
        self._measures = [definition() for definition in BLEU[:n]]

    def compute_score(
        self, gts: Captions, res: Captions, verbose: int = 1
    ) -> tuple[list[float], list[list[float]]]:
        """Return the values of the corpus, and of its items.

        Parameters
        ----------
        gts, res : mappings from image to list of str
            References, and one candidate each.
        verbose : int
            For the sake of callers: nothing is printed whatever it is.

        Returns
        -------
        tuple of a list of n floats, and a list of n lists of floats

        Raises
        ------
        InputError
            If images differ, or have no reference or not one candidate.
        """
        scores = self._scores(gts, res)
        return [value for value, _ in scores], [items.tolist() for _, items in scores]


class Rouge(_Scorer):
    """ROUGE-L."""

    _names = ("ROUGE_L",)
    _method = "Rouge"
    _measures = (ROUGE_L(),)
    _tokenizer = _split_at_blanks


class Cider(_Scorer):
    """CIDEr-D, with document frequencies of the references that are given.

    Parameters
    ----------
    test, refs
        For the sake of callers: not used, as in pycocoevalcap.
    n : int
        Orders of n-grams; 4.
    sigma : float
        Of the penalty on length.
    """

    _names = ("CIDEr",)

    def __init__(
        self, test: Any = None, refs: Any = None, n: int = 4, sigma: float = 6.0
    ) -> None:
        check_choice("n", n, [4])
        self._measures = (CIDErD(sigma=sigma),)


class Meteor(_Scorer):
    """METEOR 1.5; no Java is needed.

    Raises
    ------
    MissingDependencyError
        If the package pycocoevalcap, whose word lists are used, is not installed.
    InputError
        If they are damaged.
    """

    _names = ("METEOR",)
    _measures = (METEOR(),)
    _tokenizer = _split_at_blanks

    def __init__(self) -> None:
        open_data(METEOR())

    def compute_score(self, gts: Captions, res: Captions) -> tuple[float, list[float]]:
        """Return the value of the corpus, and of each image; arguments as for ``Bleu``."""
        value, items = super().compute_score(gts, res)
        return value, items.tolist()


_KEYS = {
    "pr": "precision",
    "re": "recall",
    "f": "f",
    "fn": "fn",
    "tp": "tp",
    "fp": "fp",
}


def _sort_images(gts: Captions) -> list[Any]:
    return sorted(gts, key=lambda image: (isinstance(image, str), image))


class Spice(_Scorer):
    """SPICE; its own program parses captions that were not parsed before.

    Raises
    ------
    MissingDependencyError
        If the package pycocoevalcap, whose synonyms are used, is not installed.
    """

    _names = ("SPICE",)

    def __init__(self) -> None:
        open_synonyms()
        self._parser = open_parser("official")

    def compute_score(
        self, gts: Captions, res: Captions
    ) -> tuple[float, list[dict[str, dict[str, float]]]]:
        """Return the mean F over images, and the scores of each; arguments as for ``Bleu``.

        The images of the list are sorted, as in pycocoevalcap. Each has "All", "Object" and the
        other categories, and these "pr", "re", "f", "tp", "fp" and "fn"; nan where undefined.

        Raises
        ------
        InputError
            If images differ, the program is missing, or it fails on a caption.
        """
        images = _sort_images(gts)
        _task(gts, res, "whitespace")
        texts = {image: [res[image][0], *gts[image]] for image in images}
        flat = [caption.strip() for image in images for caption in texts[image]]
        tuples = dict(zip(flat, self._parser.tuples(flat), strict=True))
        parsed = [
            [tuples[caption.strip()] for caption in texts[image]] for image in images
        ]
        scores = spice_scores(
            [one for one, *_ in parsed], [several for _, *several in parsed]
        )
        items = [
            {
                category: {key: float(values[name][row]) for key, name in _KEYS.items()}
                | {"numImages": 1.0}
                for category, values in scores.items()
            }
            for row in range(len(images))
        ]
        return float(np.mean(scores["All"]["f"])), items


class COCOEvalCap:
    """All measures of results on a COCO file.

    Parameters
    ----------
    coco, cocoRes
        As of pycocotools: with ``getImgIds()`` and ``imgToAnns``.

    Attributes
    ----------
    params : dict
        "image_id": the images to score, by default all of ``coco``.
    eval : dict
        Values by name: Bleu_1 to Bleu_4, METEOR, ROUGE_L, CIDEr (which is CIDEr-D) and SPICE.
    imgToEval, evalImgs : dict and list
        The values of each image, with its "image_id".
    missing : dict
        What was not computed, METEOR or SPICE, with the reason.
    """

    def __init__(self, coco: Any, cocoRes: Any) -> None:
        self.coco, self.cocoRes = coco, cocoRes
        self.params: dict[str, Any] = {"image_id": coco.getImgIds()}
        self.eval: dict[str, float] = {}
        self.imgToEval: dict[Any, dict[str, Any]] = {}
        self.evalImgs: list[dict[str, Any]] = []
        self.missing: dict[str, str] = {}

    def evaluate(self) -> None:
        """Compute ``eval``, ``imgToEval`` and ``evalImgs``.

        Images that have neither references nor a result are left out, as in pycocoevalcap.

        Raises
        ------
        InputError
            If an image has references and no result, a result and no reference, or several.
        """
        images = list(dict.fromkeys(self.params["image_id"]))
        gts, res = (
            PTBTokenizer().tokenize(
                {one: side.imgToAnns.get(one, []) for one in images}
            )
            for side in (self.coco, self.cocoRes)
        )
        reason = why_not(Meteor)
        self.missing = {"METEOR": reason} if reason else {}
        scorers: list[_Scorer] = [
            Bleu(),
            *([] if reason else [Meteor()]),
            Rouge(),
            Cider(),
        ]
        self.eval, columns = {}, {"image_id": list(gts)}
        for scorer in scorers:
            scores = scorer._scores(gts, res)
            for name, (value, items) in zip(scorer._names, scores, strict=True):
                self.eval[name], columns[name] = value, items.tolist()
        try:  # each image has its own scores
            self.eval["SPICE"], items = Spice().compute_score(gts, res)
            by_image = dict(zip(_sort_images(gts), items, strict=True))
            columns["SPICE"] = [by_image[image] for image in columns["image_id"]]
        except InputError as error:
            self.missing["SPICE"] = str(error)
        rows = zip(*columns.values(), strict=True)
        self.evalImgs = [dict(zip(columns, row, strict=True)) for row in rows]
        self.imgToEval = {row["image_id"]: row for row in self.evalImgs}
