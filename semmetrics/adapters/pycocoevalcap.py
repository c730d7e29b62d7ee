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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.data.caption_task import CaptionTask, caption_task
from semmetrics.errors import InputError, brief, listing
from semmetrics.metrics.captions.bleu import BLEU
from semmetrics.metrics.captions.cider import CIDErD
from semmetrics.metrics.captions.meteor import METEOR
from semmetrics.metrics.captions.meteor_jar import meteor_missing
from semmetrics.metrics.captions.rouge import ROUGE_L
from semmetrics.metrics.definition import Measure
from semmetrics.scoring.score import Score, score_statistics
from semmetrics.scoring.statistics import evaluate
from semmetrics.text.ptb import PtbTokenizer
from semmetrics.text.tokenizers import open_tokenizer

__all__ = ["Bleu", "COCOEvalCap", "Cider", "Meteor", "PTBTokenizer", "Rouge"]


def _at_blanks(caption: str) -> list[str]:
    """Tokens as ROUGE and METEOR of pycocoevalcap take them: some hold a no-break space."""
    return caption.split(" ")


def _task(
    gts: Mapping[Any, Sequence[str]], res: Mapping[Any, Sequence[str]], tokenizer: Any
) -> CaptionTask:
    """The task of tokenised captions, in the order of ``gts``."""
    for name, lacking in (
        ("candidate in res", [one for one in gts if one not in res]),
        ("references in gts", [one for one in res if one not in gts]),
    ):
        if lacking:
            raise InputError(
                f"images without {name}: {listing(lacking)}", remedy="give both the same images"
            )
    if not gts:
        raise InputError("there is no image", remedy="give gts and res by image")
    candidates = [_checked(res[one], f"res, image {one!r}") for one in gts]
    for one, captions in zip(gts, candidates, strict=True):
        if len(captions) != 1:
            raise InputError(
                f"there are {len(captions)} candidates, and one is scored",
                where=f"res, image {one!r}",
                remedy="give a list of one caption",
            )
    references = [_checked(captions, f"gts, image {one!r}") for one, captions in gts.items()]
    for one, captions in zip(gts, references, strict=True):
        if not captions:
            raise InputError("there is no reference", where=f"gts, image {one!r}")
    return caption_task(candidates, references, range(len(gts)), open_tokenizer(tokenizer))


def _checked(captions: Any, where: str) -> list[str]:
    """The captions of an image, if they are texts."""
    listed = isinstance(captions, (list, tuple))
    if not listed or not all(isinstance(text, str) for text in captions):
        raise InputError(
            f"{brief(captions)} is no list of tokenised captions",
            where=where,
            remedy="use what PTBTokenizer().tokenize gives",
        )
    return list(captions)


def _scores(
    gts: Mapping[Any, Sequence[str]],
    res: Mapping[Any, Sequence[str]],
    measures: Sequence[Measure],
    tokenizer: Any = "whitespace",
) -> list[Score]:
    found = {"res": evaluate(_task(gts, res, tokenizer), measures)}
    pairs = {"res": [(measure, "") for measure in measures]}
    return score_statistics(found, pairs, headings=[str(measure) for measure in measures])


def _items(score: Score) -> NDArray[np.float64]:
    return np.zeros(0) if score.items is None else score.items


class PTBTokenizer:
    """Penn Treebank tokens in lower case, without punctuation; no Java is needed.

    As in pycocoevalcap, a full stop at the end of a caption may depend on how the next one begins
    (module ``semmetrics.text.ptb``).
    """

    def tokenize(
        self, captions_for_image: Mapping[Any, Sequence[Mapping[str, str]]]
    ) -> dict[Any, list[str]]:
        """The tokens of each caption, with blanks between them.

        Parameters
        ----------
        captions_for_image : mapping from image to sequence of mappings
            Each with a text under "caption". An image without captions is left out.

        Returns
        -------
        dict from image to list of str

        Raises
        ------
        InputError
            If a caption is no text.

        Examples
        --------
        >>> PTBTokenizer().tokenize({7: [{"caption": "A man's horse, resting."}]})
        {7: ["a man 's horse resting"]}
        """
        texts = [
            _caption(one, f"image {image!r}")
            for image, several in captions_for_image.items()
            for one in several
        ]
        joined = iter([" ".join(tokens) for tokens in PtbTokenizer(run_on=True).tokens(texts)])
        return {
            image: [next(joined) for _ in several]
            for image, several in captions_for_image.items()
            if several
        }


def _caption(annotation: Any, where: str) -> str:
    text = annotation.get("caption") if isinstance(annotation, Mapping) else None
    if not isinstance(text, str):
        raise InputError(
            f"{brief(annotation)} has no text under 'caption'",
            where=where,
            remedy="give annotations as a COCO file has them",
        )
    return text


class Bleu:
    """BLEU-1 to BLEU-n.

    Parameters
    ----------
    n : int
        1 to 4.
    """

    def __init__(self, n: int = 4) -> None:
        if n not in range(1, len(BLEU) + 1):
            raise InputError(f"n={n!r} is not 1, 2, 3 or 4")
        self._measures = [definition() for definition in BLEU[:n]]

    def compute_score(
        self,
        gts: Mapping[Any, Sequence[str]],
        res: Mapping[Any, Sequence[str]],
        verbose: int = 1,
    ) -> tuple[list[float], list[list[float]]]:
        """Values of the corpus, and of its items.

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
        scores = _scores(gts, res, self._measures)
        return [score.value for score in scores], [_items(score).tolist() for score in scores]

    def method(self) -> str:
        """Its name."""
        return "Bleu"


class Rouge:
    """ROUGE-L."""

    def compute_score(
        self, gts: Mapping[Any, Sequence[str]], res: Mapping[Any, Sequence[str]]
    ) -> tuple[float, NDArray[np.float64]]:
        """Mean over images, and the value of each; arguments as for ``Bleu``."""
        (score,) = _scores(gts, res, [ROUGE_L()], _at_blanks)
        return score.value, _items(score)

    def method(self) -> str:
        """Its name."""
        return "Rouge"


class Cider:
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

    def __init__(self, test: Any = None, refs: Any = None, n: int = 4, sigma: float = 6.0) -> None:
        if n != 4:
            raise InputError(f"n={n!r}", remedy="CIDEr-D is computed with n=4")
        self._measure = CIDErD(sigma=sigma)

    def compute_score(
        self, gts: Mapping[Any, Sequence[str]], res: Mapping[Any, Sequence[str]]
    ) -> tuple[float, NDArray[np.float64]]:
        """Mean over images, and the value of each; arguments as for ``Bleu``."""
        (score,) = _scores(gts, res, [self._measure])
        return score.value, _items(score)

    def method(self) -> str:
        """Its name."""
        return "CIDEr"


class Meteor:
    """METEOR 1.5; a Java program is started at each call.

    Raises
    ------
    InputError
        If Java or the program is missing.
    """

    def __init__(self) -> None:
        reason = meteor_missing()
        if reason:
            raise InputError(reason)

    def compute_score(
        self, gts: Mapping[Any, Sequence[str]], res: Mapping[Any, Sequence[str]]
    ) -> tuple[float, list[float]]:
        """The value of the corpus, and of each image; arguments as for ``Bleu``."""
        (score,) = _scores(gts, res, [METEOR()], _at_blanks)
        return score.value, _items(score).tolist()

    def method(self) -> str:
        """Its name."""
        return "METEOR"


_SPICE = "take pycocoevalcap's Spice, with the same captions"


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
        Values by name: Bleu_1 to Bleu_4, METEOR, ROUGE_L and CIDEr (which is CIDEr-D).
    imgToEval, evalImgs : dict and list
        The values of each image, with its "image_id".
    missing : dict
        What was not computed, with the reason: METEOR without Java, and SPICE.
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
            PTBTokenizer().tokenize({one: side.imgToAnns.get(one, []) for one in images})
            for side in (self.coco, self.cocoRes)
        )
        reason = meteor_missing()
        self.missing = {"SPICE": _SPICE, **({"METEOR": reason} if reason else {})}
        scorers: list[Any] = [Bleu(), *([] if reason else [Meteor()]), Rouge(), Cider()]
        self.eval, columns = {}, {"image_id": list(gts)}
        for scorer in scorers:
            value, items = scorer.compute_score(gts, res)
            values = value if isinstance(value, list) else [value]
            several = items if isinstance(value, list) else [items]
            for name, one, column in zip(_names(scorer), values, several, strict=True):
                self.eval[name], columns[name] = one, np.asarray(column).tolist()
        rows = zip(*columns.values(), strict=True)
        self.evalImgs = [dict(zip(columns, row, strict=True)) for row in rows]
        self.imgToEval = {row["image_id"]: row for row in self.evalImgs}


def _names(scorer: Any) -> list[str]:
    if isinstance(scorer, Bleu):
        return [f"Bleu_{order}" for order in range(1, len(BLEU) + 1)]
    return ["ROUGE_L" if isinstance(scorer, Rouge) else str(scorer.method())]
