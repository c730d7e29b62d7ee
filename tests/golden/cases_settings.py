"""Options of ``score`` that change values, ids or notes, and the protocols."""

from __future__ import annotations

from typing import Any

from golden.harness import EXACT, FLOAT32, STUDENT_T, Case, scored
from golden.inputs import (
    CANDIDATES,
    CLASSES,
    GT,
    PREDS,
    RANKED,
    REFERENCES,
    SCORES,
    SYNONYMS,
    TAXONOMY,
    TRUTH,
    WEIGHTS,
)


def labels(name: str, tolerance: float = EXACT, **options: Any) -> Case:
    """Return a case of the same predicted labels."""
    return setting(name, PREDS, GT, tolerance, **options)


def ranked(name: str, tolerance: float = EXACT, **options: Any) -> Case:
    """Return a case of the same labels with scores."""
    return setting(name, RANKED, GT, tolerance, **options)


def matrix(name: str, tolerance: float = EXACT, **options: Any) -> Case:
    """Return a case of a matrix of scores."""
    return setting(name, SCORES, TRUTH, tolerance, **options)


def captions(name: str, tolerance: float = EXACT, **options: Any) -> Case:
    """Return a case of the same captions."""
    return setting(name, CANDIDATES, REFERENCES, tolerance, **options)


def setting(
    name: str, preds: Any, gts: Any, tolerance: float = EXACT, **options: Any
) -> Case:
    """Return the case of a call of ``score``."""
    return Case(name, lambda: scored(preds, gts, **options), tolerance)


WORDS = "words.vec"
SEVERAL = "F1 MacroF1 AP SemF1 SoftF1"
UPPER_CASE = {}
for id_, pred in PREDS.items():
    UPPER_CASE[id_] = [label.upper() for label in pred]
ODD_TERMS = PREDS | {"10": ["street light", "big dog", "gnu", "Cat"]}
WITHOUT_LABELS = {"1": [], "2": []}
CATS_AND_DOGS = {"1": ["cat"], "2": ["dog"]}
SEVERAL_CANDIDATES = {id_: [caption] for id_, caption in CANDIDATES.items()}
SEVERAL_CANDIDATES["7"].append("the cat sleeps")
WEIGHTS_OF_CAPTIONS = {id_: place for place, id_ in enumerate(CANDIDATES, 1)}
EVERY_LABEL = """
cat
sofa
dog
car
street light
tree
kitten
puppy
café
bus
automobile
Tree
""".strip().split("\n")
SEMANTIC = "F1 MacroF1 AP SemF1 SemAP SoftF1 WMD RWMD MeanSim"
TAXONOMIC = "hF hP hR LCADistance hF(average=example)"


def unmatched_ids(missing: str) -> Case:
    """Return a case in which each side has an id that the other has not."""
    preds = PREDS | {"99": ["cat"]}
    gts = GT | {"98": ["dog"]}
    name = f"missing={missing}"
    return setting(name, preds, gts, measures="F1 MacroF1 AP", missing=missing)


def unmatched_images(missing: str) -> Case:
    """Return a case of captions in which each side has an id that the other has not."""
    candidates = CANDIDATES | {"x": "a cat"}
    references = REFERENCES | {"y": ["a dog"]}
    measures = "BLEU-1 CIDEr-D ROUGE-L CaptionLength LengthRatio NGSM"
    name = f"captions, missing={missing}"
    return setting(name, candidates, references, measures=measures, missing=missing)


def looked_up(lookup: str, oov: str) -> Case:
    """Return a case of terms that are found by one lookup and not by another."""
    return setting(
        f"lookup={lookup}, oov={oov}",
        ODD_TERMS,
        GT,
        FLOAT32,
        lookup=lookup,
        oov=oov,
        measures="SemF1(threshold=0.4) SoftF1 WMD",
        embedding=WORDS,
    )


def tokenized(tokenizer: str) -> Case:
    """Return a case of a tokenizer."""
    return captions(
        f"tokenizer={tokenizer}",
        tokenizer=tokenizer,
        measures="BLEU-1 CaptionLength Vocabulary CIDEr-D",
    )


JOINING = [
    unmatched_ids("skip"),
    unmatched_ids("empty"),
    labels(
        "empty predictions left out",
        measures=SEVERAL,
        empty_predictions="skip",
        embedding=WORDS,
    ),
    labels("weights in a file", measures="F1", weights="weights.csv"),
    labels(
        "weights",
        FLOAT32,
        weights=WEIGHTS,
        embedding=WORDS,
        measures="F1 MacroF1 MicroF1 SubsetAccuracy AP SemF1 SoftF1 WMD F1(average=weighted)",
    ),
    labels("without the values of items", measures="F1 MacroF1", keep_rows=False),
    labels("the name of the system", measures="F1", system="mine"),
]
LABELS = [
    setting(
        "normalize=lower",
        UPPER_CASE,
        GT,
        measures=SEVERAL,
        normalize="lower",
        embedding=WORDS,
    ),
    setting(
        "normalize=kubany2020 with synonyms",
        {"1": ["A Cat, Pussy", "dogs"]},
        {"1": ["cat", "pussy"]},
        measures="F1",
        normalize="kubany2020",
    ),
    labels(
        "classes",
        classes=[*EVERY_LABEL, "lion"],
        measures="F1(average=macro,labels=given) C-F1 MicroF1(labels=given) F1 "
        "Precision(average=macro,labels=given,absent=1)",
    ),
    labels(
        "classes with synonyms",
        classes=[["cat", "kitten"], *EVERY_LABEL[1:]],
        measures="F1(average=macro,labels=given) F1",
    ),
    labels("ignored labels", measures="F1 MacroF1", ignore=["cat", "tree", "lion"]),
    setting(
        "synonyms", PREDS, SYNONYMS, measures=f"{SEVERAL} MicroF1", embedding=WORDS
    ),
    setting(
        "synonyms of several classes",
        {"1": ["pet"], "2": ["pet"]},
        {"1": [["cat", "pet"]], "2": [["dog", "pet"]]},
        measures="F1 MacroF1",
    ),
    setting(
        "no predictions",
        WITHOUT_LABELS,
        CATS_AND_DOGS,
        FLOAT32,
        embedding=WORDS,
        measures=SEMANTIC,
    ),
    setting(
        "no references",
        CATS_AND_DOGS,
        WITHOUT_LABELS,
        FLOAT32,
        embedding=WORDS,
        measures=SEMANTIC,
    ),
    setting(
        "a taxonomy and no references",
        CATS_AND_DOGS,
        WITHOUT_LABELS,
        taxonomy=TAXONOMY,
        measures=TAXONOMIC,
    ),
    setting(
        "a taxonomy in a file",
        {"1": ["cat"]},
        {"1": ["dog"]},
        measures="hF",
        taxonomy="taxonomy.csv",
    ),
]
INTERVALS = [
    labels(
        "intervals",
        STUDENT_T,
        ci=True,
        embedding=WORDS,
        resamples=200,
        measures="F1 MacroF1 MicroF1 SemF1 F1(average=weighted) Recall(no_reference=skip)",
    ),
    labels(
        "intervals with another seed and level",
        ci=True,
        seed=7,
        level=0.5,
        resamples=100,
        measures="F1 MacroF1",
    ),
    labels(
        "intervals with weights",
        STUDENT_T,
        ci=True,
        weights=WEIGHTS,
        resamples=50,
        measures="F1 MacroF1",
    ),
    matrix(
        "intervals of rankings",
        STUDENT_T,
        ci=True,
        resamples=50,
        measures="mAP LRAP F1(decode=threshold:best)",
    ),
    captions(
        "intervals of captions",
        ci=True,
        resamples=50,
        measures="BLEU-4 CIDEr-D Vocabulary UniqueCaptions",
        tokenizer="whitespace",
    ),
]
DEFAULTS = [
    labels("default measures of labels", FLOAT32),
    ranked("default measures of ranked labels", FLOAT32),
    matrix("default measures of a matrix", FLOAT32, classes=CLASSES),
    setting("default measures of 0 and 1", TRUTH, TRUTH[::-1]),
    captions("default measures of captions"),
]
CUTOFFS_AND_RULES = [
    labels("top-k", measures="F1 AP", top_k=[1, 2, 3]),
    ranked("decode", measures="F1", decode=["threshold:0.5", "cumulative:0.5"]),
    ranked("keep_at_least", measures="F1", decode="threshold:0.8", keep_at_least=1),
    ranked("decode and top-k", measures="F1", decode="threshold:0.5", top_k=[1, 2]),
]
EMBEDDINGS = [
    looked_up("auto", "zero"),
    looked_up("exact", "zero"),
    looked_up("text", "zero"),
    looked_up("kubany2020", "unknown"),
    looked_up("auto", "unknown"),
    looked_up("auto", "skip"),
    labels(
        "two embeddings",
        FLOAT32,
        measures="SemF1 SemF1(embedding=words,threshold=0.4) SoftF1(embedding=words)",
        embedding={"words": WORDS, "default": "static"},
    ),
    labels("max_words", measures="SemF1(threshold=0.4)", max_words=5, embedding=WORDS),
    labels(
        "vectors of GloVe",
        measures="SemF1(threshold=0.4)",
        embedding="glove:words.glove.txt",
    ),
    labels(
        "similarities near the threshold",
        measures="SemF1(threshold=0.5)",
        embedding=WORDS,
    ),
    labels(
        "similarities near four thresholds",
        embedding=WORDS,
        measures="SemF1(threshold=0.5) SemF1(threshold=0.5000001) "
        "SemF1(threshold=0.5000002) SemF1(threshold=0.5000003)",
    ),
]
PROTOCOLS = [
    labels("protocol kubany2020", FLOAT32, protocol="kubany2020"),
    labels(
        "protocol pineda2019", FLOAT32, protocol="pineda2019", classes="dictionary.txt"
    ),
    ranked(
        "protocol pineda2019 of ranked labels",
        FLOAT32,
        protocol="pineda2019",
        top_k=[2],
    ),
    matrix(
        "protocol pineda2019 of a matrix",
        protocol="pineda2019",
        classes=CLASSES,
        decode=["threshold:0.5", "threshold:best"],
    ),
    captions("protocol coco-caption", protocol="coco-caption"),
]
CAPTIONS = [
    tokenized("ptb"),
    tokenized("13a"),
    tokenized("whitespace"),
    captions("a tokenizer function", tokenizer=list, measures="BLEU-1 CaptionLength"),
    captions(
        "references as a system",
        score_references=True,
        measures="BLEU-4 CIDEr-D ROUGE-L NGSM",
    ),
    captions(
        "document frequencies",
        doc_freq="frequencies.json",
        measures="CIDEr-D CIDEr BLEU-1",
    ),
    unmatched_images("skip"),
    unmatched_images("empty"),
    captions(
        "captions with weights",
        measures="BLEU-2 CIDEr-D Vocabulary",
        weights=WEIGHTS_OF_CAPTIONS,
    ),
    setting(
        "several candidates",
        SEVERAL_CANDIDATES,
        REFERENCES,
        measures="BLEU-1 CIDEr-D CIDEr-D(df=rows)",
    ),
    setting(
        "a single image",
        {"7": "a cat"},
        {"7": ["a cat sleeps"]},
        measures="CIDEr-D BLEU-1",
    ),
]

GROUPS = {
    "settings": [
        *JOINING,
        *LABELS,
        *INTERVALS,
        *DEFAULTS,
        *CUTOFFS_AND_RULES,
        *EMBEDDINGS,
        *PROTOCOLS,
        *CAPTIONS,
    ]
}
