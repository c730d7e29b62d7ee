"""Drop-in replacements for the classes of pycocoevalcap, computed by semmetrics.

Conventions
-----------
Names, arguments and results are the same as in pycocoevalcap 1.2, so that a program
only needs other imports. As in pycocoevalcap, captions are already tokenised, with
spaces between the tokens, and there is one candidate per image. Invalid input raises an
InputError that names the image, not an AssertionError. Nothing is printed.

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
from semmetrics.data.tasks.captions import CaptionTask, caption_task
from semmetrics.errors import InputError, message_of_error
from semmetrics.messages import counted
from semmetrics.metrics.bleu import BLEU
from semmetrics.metrics.caption_overlap import ROUGE_L
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


def _split_at_spaces(caption: str) -> list[str]:
    """Split as ROUGE and METEOR of pycocoevalcap do.

    Some tokens contain a no-break space.
    """
    return caption.split(" ")


def _make_task(gts: Captions, res: Captions, tokenizer: Any) -> CaptionTask:
    """Return the task of tokenised captions, in the order of ``gts``."""
    _check_captions("res", res, gts, "one candidate", max_captions=1)
    _check_captions("gts", gts, res, "at least one reference")
    if not gts:
        raise InputError("empty", role="gts", remedy="give gts and res by image")
    candidates = [list(res[image]) for image in gts]
    references = [list(captions) for captions in gts.values()]
    ids = range(len(gts))
    return caption_task(candidates, references, ids, open_tokenizer(tokenizer))


def _check_captions(
    name: str,
    captions_of: Captions,
    other: Captions,
    wanted: str,
    max_captions: int | None = None,
) -> None:
    """Check the images of one side, and the number and types of their captions.

    Parameters
    ----------
    name : str
        What messages call the side.
    captions_of : mapping from image to captions
    other : mapping from image to captions
        The other side, whose images must be the same.
    wanted : str
        The number of captions per image, for messages.
    max_captions : int, optional
        Per image.
    """
    missing = [image for image in other if image not in captions_of]
    if missing:
        raise InputError("missing-images", name, n=len(missing), examples=missing)
    for image, captions in captions_of.items():
        where = f"{name}[{image!r}]"
        check_captions(captions, where)
        n_captions = len(captions)
        has_too_many = max_captions is not None and n_captions > max_captions
        if not n_captions or has_too_many:
            found = counted(captions, "caption")
            raise InputError("wrong-captions", where, wanted=wanted, found=found)


class PTBTokenizer:
    """Penn Treebank tokens in lower case, without punctuation. Java is not needed.

    As in pycocoevalcap, the treatment of a full stop at the end of a caption may depend
    on the beginning of the next caption (see ``semmetrics.text.ptb``).
    """

    def tokenize(
        self, captions_for_image: Mapping[Any, Sequence[Mapping[str, str]]]
    ) -> dict[Any, list[str]]:
        """Return the tokens of each caption, separated by spaces.

        Parameters
        ----------
        captions_for_image : mapping from image to sequence of mappings
            Each has the caption under "caption". Images without captions are left out.

        Returns
        -------
        dict from image to list of str

        Examples
        --------
        >>> PTBTokenizer().tokenize({7: [{"caption": "A man's horse, resting."}]})
        {7: ["a man 's horse resting"]}
        """
        texts = []
        for captions in captions_for_image.values():
            texts += [caption["caption"] for caption in captions]
        # Captions are tokenised together, because neighbours may affect each other.
        tokenized = [
            " ".join(tokens) for tokens in PtbTokenizer(run_on=True).tokens(texts)
        ]
        tokenized_for_image = {}
        start = 0
        for image, captions in captions_for_image.items():
            stop = start + len(captions)
            if captions:
                tokenized_for_image[image] = tokenized[start:stop]
            start = stop
        return tokenized_for_image


class _Scorer:
    """Measures of captions, with the interface of a scorer of pycocoevalcap.

    Attributes
    ----------
    _names : tuple of str
        What pycocoevalcap calls the measures.
    _method : str
        What pycocoevalcap calls the scorer, if not after its measure.
    _tokenizer : str or callable
    _measures : sequence of Measure
    """

    _names: ClassVar[tuple[str, ...]]
    _method: ClassVar[str] = ""
    _tokenizer: ClassVar[Any] = "whitespace"
    _measures: Sequence[Measure]

    def method(self) -> str:
        """Return the name of the scorer."""
        return self._method or self._names[0]

    def _scores(self, gts: Captions, res: Captions) -> list[tuple[float, Any]]:
        """Return the value and the values of items of each measure."""
        task = _make_task(gts, res, type(self)._tokenizer)
        statistics = evaluate(task, self._measures)
        measures_with_notes = [(measure, "") for measure in self._measures]
        scores = score_statistics(
            {"res": statistics},
            {"res": measures_with_notes},
            headings=list(map(str, self._measures)),
        )
        return [(score.value, score.items) for score in scores]

    def compute_score(self, gts: Captions, res: Captions) -> tuple[Any, Any]:
        """Return the mean over images and the values of images, as for ``Bleu``."""
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
        """Return the values of the corpus and of its items.

        Parameters
        ----------
        gts, res : mappings from image to list of str
            References, and one candidate each.
        verbose : int
            Ignored. Nothing is printed.

        Returns
        -------
        tuple of a list of n floats, and a list of n lists of floats

        Raises
        ------
        InputError
            If the images differ, or an image does not have one candidate and at least
            one reference.
        """
        scores = self._scores(gts, res)
        values = [value for value, _ in scores]
        values_of_items = [items.tolist() for _, items in scores]
        return values, values_of_items


class Rouge(_Scorer):
    """ROUGE-L."""

    _names = ("ROUGE_L",)
    _method = "Rouge"
    _measures = (ROUGE_L(),)
    _tokenizer = _split_at_spaces


class Cider(_Scorer):
    """CIDEr-D, with document frequencies of the references.

    Parameters
    ----------
    test, refs
        Ignored, as in pycocoevalcap.
    n : int
        The highest order of n-grams. Must be 4.
    sigma : float
        The width of the Gaussian length penalty.
    """

    _names = ("CIDEr",)

    def __init__(
        self, test: Any = None, refs: Any = None, n: int = 4, sigma: float = 6.0
    ) -> None:
        check_choice("n", n, [4])
        self._measures = (CIDErD(sigma=sigma),)


class Meteor(_Scorer):
    """METEOR 1.5. Java is not needed.

    Raises
    ------
    MissingDependencyError
        If the package pycocoevalcap is not installed, because its word lists are used.
    InputError
        If the word lists are damaged.
    """

    _names = ("METEOR",)
    _measures = (METEOR(),)
    _tokenizer = _split_at_spaces

    def __init__(self) -> None:
        open_data(METEOR())

    def compute_score(self, gts: Captions, res: Captions) -> tuple[float, list[float]]:
        """Return the value of the corpus and the values of images, as for ``Bleu``."""
        value, items = super().compute_score(gts, res)
        return value, items.tolist()


_SPICE_KEYS = {
    "pr": "precision",
    "re": "recall",
    "f": "f",
    "fn": "fn",
    "tp": "tp",
    "fp": "fp",
}
"""The keys of pycocoevalcap, and the columns of `spice_scores`."""


def _sort_images(gts: Captions) -> list[Any]:
    """Sort images. Numbers come before strings."""
    return sorted(gts, key=lambda image: (isinstance(image, str), image))


class Spice(_Scorer):
    """SPICE. Its original program parses captions that were not parsed before.

    Raises
    ------
    MissingDependencyError
        If the package pycocoevalcap is not installed, because its synonyms are used.
    """

    _names = ("SPICE",)

    def __init__(self) -> None:
        open_synonyms()
        self._parser = open_parser("official")

    def compute_score(
        self, gts: Captions, res: Captions
    ) -> tuple[float, list[dict[str, dict[str, float]]]]:
        """Return the mean F over images and the scores of images, as for ``Bleu``.

        The list of images is sorted, as in pycocoevalcap. Each image has "All",
        "Object" and the other categories. Each category has "pr", "re", "f", "tp", "fp"
        and "fn", nan if undefined.

        Raises
        ------
        InputError
            If the images differ, the program is missing, or it fails on a caption.
        """
        images = _sort_images(gts)
        _make_task(gts, res, "whitespace")  # Checks the captions.
        candidates = [res[image][0].strip() for image in images]
        references = []
        for image in images:
            references.append([caption.strip() for caption in gts[image]])
        tuples_of = self._parse(candidates, references)
        candidate_tuples = [tuples_of[caption] for caption in candidates]
        reference_tuples = []
        for captions in references:
            reference_tuples.append([tuples_of[caption] for caption in captions])
        scores = spice_scores(candidate_tuples, reference_tuples)
        items = [_spice_item(scores, row) for row in range(len(images))]
        return float(np.mean(scores["All"]["f"])), items

    def _parse(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]]
    ) -> dict[str, Any]:
        """Return the raw tuples of all captions, by caption."""
        captions = []
        for candidate, references_of_image in zip(candidates, references, strict=True):
            captions += [candidate, *references_of_image]
        return dict(zip(captions, self._parser.tuples(captions), strict=True))


def _spice_item(
    scores: Mapping[str, Mapping[str, Any]], row: int
) -> dict[str, dict[str, float]]:
    """Return the scores of an image by category, with the keys of pycocoevalcap."""
    item = {}
    for category, columns in scores.items():
        values = {key: float(columns[name][row]) for key, name in _SPICE_KEYS.items()}
        item[category] = {**values, "numImages": 1.0}
    return item


class COCOEvalCap:
    """All measures of results on a COCO file.

    Parameters
    ----------
    coco, cocoRes
        Objects of pycocotools, with ``getImgIds()`` and ``imgToAnns``.

    Attributes
    ----------
    params : dict
        "image_id": the images to score. Default: all images of ``coco``.
    eval : dict
        Values by name: Bleu_1 to Bleu_4, METEOR, ROUGE_L, CIDEr (which is CIDEr-D) and
        SPICE.
    imgToEval, evalImgs : dict and list
        The values of each image, with its "image_id".
    missing : dict
        Why METEOR or SPICE could not be computed.
    """

    def __init__(self, coco: Any, cocoRes: Any) -> None:
        self.coco = coco
        self.cocoRes = cocoRes
        self.params: dict[str, Any] = {"image_id": coco.getImgIds()}
        self.eval: dict[str, float] = {}
        self.imgToEval: dict[Any, dict[str, Any]] = {}
        self.evalImgs: list[dict[str, Any]] = []
        self.missing: dict[str, str] = {}

    def evaluate(self) -> None:
        """Compute ``eval``, ``imgToEval`` and ``evalImgs``.

        Images with neither references nor a result are left out, as in pycocoevalcap.

        Raises
        ------
        InputError
            If an image has references and no result, a result and no reference, or
            several results.
        """
        images = list(dict.fromkeys(self.params["image_id"]))
        gts = _tokenize_annotations(self.coco, images)
        res = _tokenize_annotations(self.cocoRes, images)
        self.missing = {}
        scorers: list[_Scorer] = [Bleu(), Rouge(), Cider()]
        meteor_problem = message_of_error(Meteor)
        if meteor_problem:
            self.missing["METEOR"] = meteor_problem
        else:
            scorers.insert(1, Meteor())

        self.eval = {}
        columns = {"image_id": list(gts)}
        for scorer in scorers:
            scores = scorer._scores(gts, res)
            for name, (value, items) in zip(scorer._names, scores, strict=True):
                self.eval[name] = value
                columns[name] = items.tolist()
        try:
            self.eval["SPICE"], items = Spice().compute_score(gts, res)
        except InputError as error:
            self.missing["SPICE"] = str(error)
        else:
            item_of_image = dict(zip(_sort_images(gts), items, strict=True))
            columns["SPICE"] = [item_of_image[image] for image in gts]

        self.evalImgs = []
        self.imgToEval = {}
        for row in zip(*columns.values(), strict=True):
            values = dict(zip(columns, row, strict=True))
            self.evalImgs.append(values)
            self.imgToEval[values["image_id"]] = values


def _tokenize_annotations(coco: Any, images: Sequence[Any]) -> dict[Any, list[str]]:
    """Return the tokenised captions of images in an object of pycocotools."""
    captions_of = {image: coco.imgToAnns.get(image, []) for image in images}
    return PTBTokenizer().tokenize(captions_of)
