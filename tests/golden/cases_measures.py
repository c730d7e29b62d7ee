"""Every measure with its options: value, items, labels, what is undefined, signature, notes."""

from __future__ import annotations

from typing import Any

from golden.harness import EXACT, LOOSE, QUANTILE, Case, scored
from golden.inputs import (
    CANDIDATES,
    CLASSES,
    GT,
    OTHERS,
    PREDS,
    RANKED,
    REFERENCES,
    SCORES,
    SIZES,
    SYNONYMS,
    TAXONOMY,
    TRUTH,
    WEIGHTS,
)
from golden.names import spelled

_SETS = """
Precision Recall F1 Jaccard SubsetAccuracy HammingLoss AP BalancedAccuracy(q=20) CardinalityError
O-F1 C-F1(labels=reference) C-F1(labels=union) I-F1 MacroPrecision MicroPrecision MacroRecall
MicroRecall MacroF1 MicroF1 MacroJaccard MicroJaccard
F1@1 F1@3 Precision@2 Recall@1 AP@2 Jaccard@2 SubsetAccuracy@1 HammingLoss@2 CardinalityError@2
O-F1@2 C-F1(labels=reference)@2 I-F1@2 BalancedAccuracy(q=20)@2
F1(average=weighted) Precision(average=weighted) Recall(average=weighted) Jaccard(average=weighted)
F1(average=macro,labels=union) F1(average=macro,labels=reference) F1(average=micro,labels=reference)
F1(average=weighted,labels=union) Precision(average=macro,labels=union) F1(average=macro)@2
Recall(average=micro,labels=reference) Jaccard(average=macro,labels=union)
F1({repeats}={each}) Precision({repeats}={each}) Recall({repeats}={each}) Jaccard({repeats}={each})
AP({repeats}={each}) AP({repeats}={each})@2 CardinalityError({repeats}={each})
BalancedAccuracy(q=20,{repeats}={each}) F1({repeats}={once})
AP(normalize=hits) AP(normalize=hits)@2 AP(empty=0) AP(no_prediction=skip) AP(no_reference=nan)
F1(empty=0) F1(empty=skip) F1(empty=nan) F1(no_prediction=1) F1(no_prediction=skip)
F1(no_reference=skip) F1(no_reference=1) F1(undefined=0) Precision(no_prediction=skip)
Precision(no_prediction=1) Recall(no_reference=skip) Recall(no_reference=nan) Jaccard(empty=0)
Precision(empty=skip) Recall(empty=0) SubsetAccuracy(empty=0)
F1(average=macro,absent=0,labels=union) F1(average=macro,absent=1,labels=union)
F1(average=macro,no_prediction=skip) Precision(average=macro,no_prediction=skip)
Precision(average=macro,no_prediction=nan) Precision(average=macro,no_prediction=1)
Recall(average=macro,labels=union,no_reference=skip) F1(average=micro,empty=0)
I-F1(empty=0) C-F1(labels=union,absent=0) O-F1(labels=reference) BalancedAccuracy(q=20,empty=skip)
CardinalityError(empty=skip)
"""

_SEMANTIC = """
SemPrecision SemRecall SemF1 SemJaccard SemAP SoftPrecision SoftRecall SoftF1
SemPrecision@2 SemRecall@2 SemF1@1 SemF1@2 SemJaccard@2 SemAP@2 SoftPrecision@2 SoftRecall@2
SoftF1@2 SemF1(threshold=0.25) SemF1(threshold=0.4) SemF1(threshold=0.75) SemF1(threshold=0.5)
SemPrecision(threshold=0.25) SemRecall(threshold=0.25) SemJaccard(threshold=0.25)
SemAP(threshold=0.25) SemF1(match=optimal) SemF1(match=total) SemF1(match=any)
SemF1(match=optimal,threshold=0.25) SemF1(match=total,threshold=0.25)
SemF1(match=any,threshold=0.25) SemPrecision(match=any,threshold=0.25)
SemRecall(match=any,threshold=0.25)
SemRecall(match=optimal,threshold=0.4) SemJaccard(match=total,threshold=0.4)
SemAP(match=optimal,threshold=0.4) SemAP(match=total,threshold=0.4) SemAP(normalize=hits)
SemF1(average=micro) SemPrecision(average=micro) SemRecall(average=micro) SemJaccard(average=micro)
SemF1(average=micro,threshold=0.25)@2 SemF1({repeats}={each}) SemPrecision({repeats}={each})
SemAP({repeats}={each}) SemF1(empty=0) SemF1(empty=skip) SemF1(no_prediction=skip)
SemRecall(no_reference=skip) SemPrecision(no_prediction=1) SemF1(average=micro,empty=0)
SoftF1(match=total) SoftPrecision(match=total) SoftRecall(match=total) SoftF1(match=total)@2
SoftF1({repeats}={each}) SoftF1(empty=skip) SoftRecall(no_reference=nan)
"""
_BAGS = """
WMD RWMD BagSim MeanSim WMD@2 RWMD@2 MeanSim@2 WMD(build=text) RWMD(build=text)
WMD(build=text)@2 WMD(empty=0) WMD(no_prediction=0) RWMD(no_reference=nan)
MeanSim(empty=skip) MeanSim(no_reference=nan) MeanSim(undefined=skip)
"""

_RANKED = """
F1 F1@1 F1@2 AP AP@2 LRAP RankingLoss CoverageError mAP mAP(average=weighted) mAP(ties=ordered)
mAP(interpolation=voc2007) mAP(interpolation=voc2010) mAP(interpolation=coco101)
mAP(interpolation=coco101,ties=ordered) mAP(labels=union) mAP(labels=union,no_reference=0)
F1(decode=threshold:0.5) F1(decode=threshold:0.25) F1(decode=threshold:best)
F1(decode=cumulative:0.5) F1(decode=cumulative:0.5,{kept}=1) F1(decode=threshold:0.9,{kept}=1)
F1(decode=threshold:0.5)@1 MacroF1(decode=threshold:best)
Precision(decode=threshold:0.5,average=micro)
SemF1(decode=threshold:0.5) SemF1(decode=threshold:best) LRAP(no_reference=0)
RankingLoss(no_reference=skip) CoverageError(undefined=skip) LRAP(empty=0)
"""
_MATRIX = """
F1@2 AP@3 LRAP RankingLoss CoverageError mAP mAP(labels=given) mAP(interpolation=voc2010)
mAP(average=weighted) F1(decode=threshold:0.5) F1(decode=threshold:best)
MacroF1(decode=threshold:0.5)
F1(average=macro,labels=given,decode=threshold:0.5) F1(decode=cumulative:0.5) F1(decode={by_size})
F1(decode={by_size_scores}) F1(decode={by_size},{kept}=1) O-F1(decode=threshold:0.5)
C-F1(decode=threshold:0.5) I-F1(decode=threshold:0.9,{kept}=2) HammingLoss(decode=threshold:0.5)
BalancedAccuracy(q=6,decode=threshold:0.5) CardinalityError(decode=cumulative:0.25) Recall@1
"""

_HIERARCHY = """
hP hR hF hP(average=example) hR(average=example) hF(average=example) hF@1 hF(average=example)@2
hF(root=include) hP(root=include,average=example) hF(average=example,empty=0)
hF(average=example,no_prediction=skip) hR(average=example,no_reference=skip)
LCADistance LCADistance@1 LCADistance(measure=height) LCADistance(normalize=depth)
LCADistance(measure=height,normalize=depth) LCADistance(unconnected=skip)
LCADistance({repeats}={each}) LCADistance(empty=skip) LCADistance(no_prediction=nan)
"""

_CAPTIONS = """
BLEU-1 BLEU-2 BLEU-3 BLEU-4 CIDEr-D CIDEr DuplicatedCaption CaptionLength LengthRatio ReferenceCount
Vocabulary UniqueCaptions NGSM ROUGE-L BLEU-4(reflen=shortest) BLEU-4(reflen=average)
BLEU-2(reflen=shortest) LengthRatio(reflen=shortest) LengthRatio(reflen=average) CIDEr-D(sigma=2.5)
CIDEr-D({counted_on}=rows) CIDEr({counted_on}=rows) CIDEr-D(stem=porter) CIDEr(stem=porter)
NGSM(order=1) NGSM(order=2) NGSM(refs=max) ROUGE-L(beta=1) BLEU-1(no_reference=nan)
"""


def _parse_pairs(captions: list[str]) -> list[list[tuple[str, ...]]]:
    """Parse without keeping anything: two words are an attribute and its object, one an object."""
    split = [caption.split() for caption in captions]
    return [
        [tuple(words[i : i + 2][::-1]) for i in range(0, len(words), 2)]
        for words in split
    ]


def _cases(
    names: str, preds: Any, gts: Any, tolerance: float = EXACT, **options: Any
) -> list[Case]:
    """A case a measure."""

    def case(name: str) -> Case:
        return Case(
            name,
            lambda: scored(preds, gts, measures=spelled(name), **options),
            tolerance,
        )

    return [case(name) for name in names.split()]


def _named(
    name: str, preds: Any, gts: Any, tolerance: float = EXACT, **options: Any
) -> Case:
    """A case of settings, under a name."""
    if isinstance(options.get("measures"), str):
        options["measures"] = [spelled(one) for one in options["measures"].split()]
    return Case(name, lambda: scored(preds, gts, **options), tolerance)


_WORDS = {"embedding": "words.vec"}
_EVERY = list(dict.fromkeys(label for labels in GT.values() for label in labels))
_SOME = "F1 MacroF1 AP SemF1 SoftF1"
_SEVERAL = {id_: [text] for id_, text in CANDIDATES.items()}
_SEVERAL["7"] += ["the cat sleeps"]

_SETTINGS = [
    *(
        _named(
            f"missing={missing}",
            {**PREDS, "99": ["cat"]},
            {**GT, "98": ["dog"]},
            measures="F1 MacroF1 AP mAP(labels=union)"
            if missing == "?"
            else "F1 MacroF1 AP",
            missing=missing,
        )
        for missing in ("error", "skip", "empty", "perhaps")
    ),
    _named(
        "empty predictions left out",
        PREDS,
        GT,
        measures=_SOME,
        empty_predictions="skip",
        **_WORDS,
    ),
    _named(
        "empty predictions kept", PREDS, GT, measures="F1", empty_predictions="keep"
    ),
    *(
        _named(
            f"normalize={rule}",
            {i: [x.upper() for x in labels] for i, labels in PREDS.items()},
            GT,
            measures=_SOME,
            normalize=rule,
            **_WORDS,
        )
        for rule in ("none", "lower", "kubany2020", "upper")
    ),
    _named(
        "normalize with synonyms",
        {"1": ["A Cat, Pussy", "dogs"]},
        {"1": ["cat", "pussy"]},
        measures="F1",
        normalize="kubany2020",
    ),
    _named(
        "classes",
        PREDS,
        GT,
        classes=[*_EVERY, "lion"],
        measures="F1(average=macro,labels=given) C-F1 MicroF1(labels=given) F1 "
        "Precision(average=macro,labels=given,absent=1)",
    ),
    _named(
        "classes in a file",
        PREDS,
        GT,
        classes="dictionary.txt",
        measures="F1(average=macro,labels=given) C-F1",
    ),
    _named(
        "classes with synonyms",
        PREDS,
        GT,
        classes=[["cat", "kitten"], *_EVERY[1:]],
        measures="F1(average=macro,labels=given) F1",
    ),
    _named("classes that lack a label", PREDS, GT, classes=CLASSES, measures="C-F1"),
    _named("classes twice", PREDS, GT, classes=[*_EVERY, "cat"], measures="C-F1"),
    _named("no classes", PREDS, GT, measures="C-F1"),
    _named(
        "ignored labels",
        PREDS,
        GT,
        measures="F1 MacroF1",
        ignore=["cat", "tree", "lion"],
    ),
    _named("ignored labels in a file", PREDS, GT, measures="F1", ignore="ignored.txt"),
    _named(
        "weights",
        PREDS,
        GT,
        weights=WEIGHTS,
        **_WORDS,
        measures="F1 MacroF1 MicroF1 SubsetAccuracy AP SemF1 SoftF1 WMD F1(average=weighted)",
        tolerance=LOOSE,
    ),
    _named("weights in a file", PREDS, GT, measures="F1", weights="weights.csv"),
    _named(
        "weights as an array", PREDS, GT, measures="F1", weights=list(WEIGHTS.values())
    ),
    _named(
        "weights that are negative",
        PREDS,
        GT,
        measures="F1",
        weights={**WEIGHTS, "1": -1},
    ),
    _named("weights that lack an id", PREDS, GT, measures="F1", weights={"1": 1}),
    _named(
        "weights of nothing", PREDS, GT, measures="F1", weights=dict.fromkeys(GT, 0)
    ),
    _named("synonyms", PREDS, SYNONYMS, measures=_SOME + " MicroF1", **_WORDS),
    _named("synonyms on both sides", SYNONYMS, SYNONYMS, measures=_SOME, **_WORDS),
    _named(
        "synonyms of several classes",
        {"1": ["pet"], "2": ["pet"]},
        {"1": [["cat", "pet"]], "2": [["dog", "pet"]]},
        measures="F1 MacroF1",
    ),
    _named(
        "intervals",
        PREDS,
        GT,
        QUANTILE,
        ci=True,
        **_WORDS,
        resamples=200,
        measures="F1 MacroF1 MicroF1 SemF1 F1(average=weighted) Recall(no_reference=skip)",
    ),
    _named(
        "intervals of another seed",
        PREDS,
        GT,
        ci=True,
        seed=7,
        level=0.5,
        resamples=100,
        measures="F1 MacroF1",
    ),
    _named("intervals by default", PREDS, GT, QUANTILE, ci=True, measures="F1"),
    _named(
        "intervals with weights",
        PREDS,
        GT,
        QUANTILE,
        ci=True,
        weights=WEIGHTS,
        resamples=50,
        measures="F1 MacroF1",
    ),
    _named(
        "intervals of ranked scores",
        SCORES,
        TRUTH,
        QUANTILE,
        ci=True,
        resamples=50,
        measures="mAP LRAP F1(decode=threshold:best)",
    ),
    _named(
        "intervals of captions",
        CANDIDATES,
        REFERENCES,
        ci=True,
        resamples=50,
        measures="BLEU-4 CIDEr-D Vocabulary UniqueCaptions",
        tokenizer="whitespace",
    ),
    _named("level of 2", PREDS, GT, ci=True, level=2, measures="F1"),
    _named("by default", PREDS, GT, tolerance=LOOSE),
    _named("by default, ranked", RANKED, GT, tolerance=LOOSE),
    _named("by default, a matrix", SCORES, TRUTH),
    _named(
        "by default, a matrix with classes",
        SCORES,
        TRUTH,
        classes=CLASSES,
        tolerance=LOOSE,
    ),
    _named("by default, 0/1", TRUTH, TRUTH[::-1]),
    _named("by default, captions", CANDIDATES, REFERENCES),
    _named("top-k", PREDS, GT, measures="F1 AP", top_k=[1, 2, 3]),
    _named("top-k of one", PREDS, GT, measures="F1", top_k=2),
    _named("top-k beside a cutoff", PREDS, GT, measures="F1@1", top_k=2),
    _named(
        "rules", RANKED, GT, measures="F1", decode=["threshold:0.5", "cumulative:0.5"]
    ),
    _named(
        "rules with labels kept",
        RANKED,
        GT,
        measures="F1",
        decode="threshold:0.8",
        keep_at_least=1,
    ),
    _named(
        "rules with top-k",
        RANKED,
        GT,
        measures="F1",
        decode="threshold:0.5",
        top_k=[1, 2],
    ),
    _named("rules without scores", PREDS, GT, measures="F1", decode="threshold:0.5"),
    _named(
        "set sizes without probabilities",
        SCORES,
        TRUTH,
        measures="F1(decode={by_size})",
    ),
    _named(
        "set sizes of other items",
        SCORES,
        TRUTH,
        measures="F1(decode={by_size})",
        set_size_probs=SIZES[:3],
    ),
    _named(
        "set sizes for no rule", SCORES, TRUTH, measures="F1@1", set_size_probs=SIZES
    ),
    _named("rows not kept", PREDS, GT, measures="F1 MacroF1", keep_rows=False),
    *(
        _named(
            f"lookup={lookup}, oov={oov}",
            {**PREDS, "10": ["street light", "big dog", "gnu", "Cat"]},
            GT,
            lookup=lookup,
            oov=oov,
            measures="SemF1(threshold=0.4) SoftF1 WMD",
            tolerance=LOOSE,
            **_WORDS,
        )
        for lookup, oov in [
            ("auto", "zero"),
            ("words", "zero"),
            ("exact", "zero"),
            ("kubany2020", "zero"),
            ("text", "zero"),
            ("auto", "unknown"),
            ("auto", "skip"),
            ("auto", "error"),
            ("kubany2020", "unknown"),
            ("exact", "skip"),
            ("nearest", "zero"),
            ("auto", "drop"),
        ]
    ),
    _named(
        "two embeddings",
        PREDS,
        GT,
        tolerance=LOOSE,
        measures="SemF1 SemF1(embedding=words,threshold=0.4) SoftF1(embedding=words)",
        embedding={"words": "words.vec", "default": "static"},
    ),
    _named(
        "an embedding that is not given", PREDS, GT, measures="SemF1(embedding=words)"
    ),
    _named("an embedding of no use", PREDS, GT, measures="F1", **_WORDS),
    _named(
        "another embedding of no use",
        PREDS,
        GT,
        measures="SemF1(threshold=0.4)",
        embedding={"default": "words.vec", "more": "static"},
    ),
    _named(
        "the first words",
        PREDS,
        GT,
        measures="SemF1(threshold=0.4)",
        max_words=5,
        **_WORDS,
    ),
    _named("the first words of the default", PREDS, GT, measures="SemF1", max_words=5),
    _named(
        "GloVe",
        PREDS,
        GT,
        measures="SemF1(threshold=0.4)",
        embedding="glove:words.glove.txt",
    ),
    _named("the threshold of word vectors", PREDS, GT, measures="SemF1", **_WORDS),
    _named("a device for words", PREDS, GT, measures="SemF1", device="cpu", **_WORDS),
    _named("a cache for words", PREDS, GT, measures="SemF1", cache=True, **_WORDS),
    _named(
        "an embedding that is not there",
        PREDS,
        GT,
        measures="SemF1",
        embedding="nothing.vec",
    ),
    _named(
        "an embedding of no kind",
        PREDS,
        GT,
        measures="SemF1",
        embedding="none:words.vec",
    ),
    _named("near the threshold", PREDS, GT, measures="SemF1(threshold=0.5)", **_WORDS),
    _named(
        "near many thresholds",
        PREDS,
        GT,
        **_WORDS,
        measures="SemF1(threshold=0.5) SemF1(threshold=0.25) SemF1(threshold=1.0) "
        "SemF1(threshold=0.5000001)",
    ),
    *(
        _named(
            f"near {number} thresholds",
            PREDS,
            GT,
            **_WORDS,
            measures=" ".join(
                f"SemF1(threshold={one})"
                for one in (0.5, 0.5000001, 0.5000002, 0.5000003)[:number]
            ),
        )
        for number in (1, 3, 4)
    ),
    _named(
        "a taxonomy and no predictions",
        {"1": [], "2": []},
        {"1": ["cat"], "2": ["dog"]},
        taxonomy=TAXONOMY,
        measures="hF hP hR LCADistance hF(average=example)",
    ),
    _named(
        "a taxonomy and no references",
        {"1": ["cat"], "2": ["dog"]},
        {"1": [], "2": []},
        taxonomy=TAXONOMY,
        measures="hF hP hR LCADistance hF(average=example)",
    ),
    _named(
        "a taxonomy and nothing",
        {"1": []},
        {"1": []},
        taxonomy=TAXONOMY,
        measures="hF hP hR LCADistance hF(average=example)",
    ),
    _named(
        "no predictions",
        {"1": [], "2": []},
        {"1": ["cat"], "2": ["dog"]},
        **_WORDS,
        measures="F1 MacroF1 AP SemF1 SemAP SoftF1 WMD RWMD MeanSim",
        tolerance=LOOSE,
    ),
    _named(
        "no references",
        {"1": ["cat"], "2": ["dog"]},
        {"1": [], "2": []},
        **_WORDS,
        measures="F1 MacroF1 AP SemF1 SemAP SoftF1 WMD RWMD MeanSim",
        tolerance=LOOSE,
    ),
    _named("no taxonomy", PREDS, GT, measures="hF"),
    _named("labels outside the taxonomy", PREDS, GT, measures="hF", taxonomy=TAXONOMY),
    _named(
        "a taxonomy in a file",
        {"1": ["cat"]},
        {"1": ["dog"]},
        measures="hF",
        taxonomy="taxonomy.csv",
    ),
    _named(
        "a taxonomy with a circle",
        PREDS,
        GT,
        measures="hF",
        taxonomy={"a": "b", "b": "a"},
    ),
    _named(
        "a taxonomy and normalised labels",
        {"1": ["CAT"]},
        {"1": ["Dog"]},
        measures="hF",
        taxonomy=TAXONOMY,
        normalize="lower",
    ),
    *(
        _named(
            f"protocol {protocol}{', top-k' if top_k else ''}{', scores' if scores else ''}",
            RANKED if scores else PREDS,
            GT,
            protocol=protocol,
            top_k=top_k,
            tolerance=LOOSE,
            **(
                {"classes": "dictionary.txt"}
                if protocol == "pineda2019" and not scores
                else {}
            ),
        )
        for protocol, top_k, scores in [
            ("kubany2020", None, False),
            ("kubany2020", [1], True),
            ("pineda2019", None, False),
            ("pineda2019", None, True),
            ("pineda2019", [1, 3], False),
            ("pineda2019", [2], True),
        ]
    ),
    _named(
        "protocol kubany2020 with words",
        PREDS,
        GT,
        protocol="kubany2020",
        tolerance=LOOSE,
        **_WORDS,
    ),
    _named(
        "protocol pineda2019 on scores",
        SCORES,
        TRUTH,
        protocol="pineda2019",
        classes=CLASSES,
        decode=["threshold:0.5", "threshold:best"],
    ),
    _named("protocol coco-caption", CANDIDATES, REFERENCES, protocol="coco-caption"),
    _named("METEOR", CANDIDATES, REFERENCES, measures="METEOR"),
    _named("METEOR of nltk", CANDIDATES, REFERENCES, measures="METEOR-nltk"),
    _named(
        "the tokenizer in Java",
        CANDIDATES,
        REFERENCES,
        measures="BLEU-1",
        tokenizer="ptb-java",
    ),
    _named(
        "protocol of another task", PREDS, GT, protocol="coco-caption", task="labels"
    ),
    _named("protocol that fixes", PREDS, GT, protocol="kubany2020", normalize="lower"),
    _named(
        "protocol with frequencies",
        CANDIDATES,
        REFERENCES,
        protocol="coco-caption",
        doc_freq="frequencies.json",
    ),
    *(
        _named(
            f"tokenizer={name}",
            CANDIDATES,
            REFERENCES,
            tokenizer=name,
            measures="BLEU-1 CaptionLength Vocabulary CIDEr-D",
        )
        for name in ("ptb", "13a", "whitespace", "none")
    ),
    _named(
        "a tokenizer of one's own",
        CANDIDATES,
        REFERENCES,
        tokenizer=list,
        measures="BLEU-1 CaptionLength",
    ),
    _named(
        "references as a system",
        CANDIDATES,
        REFERENCES,
        score_references=True,
        measures="BLEU-4 CIDEr-D ROUGE-L NGSM",
    ),
    _named(
        "frequencies in a file",
        CANDIDATES,
        REFERENCES,
        doc_freq="frequencies.json",
        measures="CIDEr-D CIDEr BLEU-1",
    ),
    _named(
        "frequencies in a file for rows",
        CANDIDATES,
        REFERENCES,
        doc_freq="frequencies.json",
        measures="CIDEr-D({counted_on}=rows)",
    ),
    _named(
        "frequencies for no measure",
        CANDIDATES,
        REFERENCES,
        doc_freq="frequencies.json",
        measures="BLEU-1",
    ),
    _named(
        "frequencies that are not given",
        CANDIDATES,
        REFERENCES,
        measures="CIDEr-D({counted_on}=given)",
    ),
    *(
        _named(
            f"captions, missing={missing}",
            {**CANDIDATES, "x": "a cat"},
            {**REFERENCES, "y": ["a dog"]},
            missing=missing,
            measures="BLEU-1 CIDEr-D ROUGE-L CaptionLength LengthRatio NGSM",
        )
        for missing in ("error", "skip", "empty")
    ),
    _named(
        "captions with weights",
        CANDIDATES,
        REFERENCES,
        measures="BLEU-2 CIDEr-D Vocabulary",
        weights={id_: 1 + place for place, id_ in enumerate(CANDIDATES)},
    ),
    _named(
        "several candidates",
        _SEVERAL,
        REFERENCES,
        measures="BLEU-1 CIDEr-D CIDEr-D({counted_on}=rows)",
    ),
    _named(
        "a single image",
        {"7": "a cat"},
        {"7": ["a cat sleeps"]},
        measures="CIDEr-D BLEU-1",
    ),
    _named("labels as captions", PREDS, GT, task="captions"),
    _named("captions as labels", CANDIDATES, REFERENCES, task="labels"),
    _named("no such task", PREDS, GT, task="sounds"),
    _named(
        "options of captions for labels",
        PREDS,
        GT,
        measures="F1",
        tokenizer="ptb",
        score_references=True,
        doc_freq="x.npz",
    ),
    _named(
        "options of labels for captions",
        CANDIDATES,
        REFERENCES,
        measures="BLEU-1",
        top_k=1,
        normalize="lower",
        decode="threshold:0.5",
        classes=["a"],
        empty_predictions="skip",
        keep_at_least=1,
        set_size_probs=SIZES,
        ignore=["a"],
        embedding="static",
        oov="zero",
        lookup="exact",
        device="cpu",
        max_words=3,
        cache=True,
        calibration="c.json",
        taxonomy={"a": "b"},
    ),
    _named("measures of both kinds", PREDS, GT, measures="F1 BLEU-1"),
    _named("measures and a protocol", PREDS, GT, measures="F1", protocol="kubany2020"),
    _named("no measures", PREDS, GT, measures=""),
    _named("a name for the system", PREDS, GT, measures="F1", system="mine"),
]


_WRONG = """
F2 R@5 F1@0 F1@x F1@ F1@1,1 F1(average=median) F1(averag=macro) F1(average F1(labels=reference)
F1(average=macro,average=micro) F1(average=macro,{repeats}={each}) BalancedAccuracy
C-F1(labels=none) SemF1(threshold=high) SemF1(threshold=2) SemF1(match=best)
AP(normalize=all) LRAP@5 mAP@R mAP@5 F1(decode=magic) F1(decode=threshold:x) F1(empty=2)
F1({kept}=-1) HammingLoss({repeats}={each})
SemF1(embedding=) hF(average=macro) BalancedAccuracy(q=0) BalancedAccuracy(q=2)
MacroF1(average=micro) WMD(build=words) CIDEr-D(sigma=0) NGSM(order=5) ROUGE-L(beta=-1) F1@1,3,5
MacroF1@2 SemF2 BLEU BLEU-5 F1,Precision
"""
_WRONG_MEASURES = [
    _named(f"measure {name}", PREDS, GT, measures=name) for name in _WRONG.split()
]

_IN_TAXONOMY = {
    i: [x for x in labels if x != "unheard of"] for i, labels in PREDS.items()
}

GROUPS = {
    "measures_sets": _cases(_SETS, PREDS, GT),
    "measures_semantic": _cases(_SEMANTIC, PREDS, GT, **_WORDS),
    "measures_bags": _cases(_BAGS, PREDS, GT, LOOSE, **_WORDS),
    "measures_static": _cases(
        "SemPrecision SemRecall SemF1 SemJaccard SemAP SoftPrecision SoftRecall SoftF1 WMD RWMD "
        "BagSim MeanSim BagSim@2 BagSim(empty=0) BagSim(no_prediction=skip)",
        PREDS,
        GT,
        LOOSE,
    ),
    "measures_ranked": _cases(_RANKED, RANKED, GT, **_WORDS),
    "measures_matrix": _cases(
        _MATRIX, SCORES, TRUTH, classes=CLASSES, set_size_probs=SIZES
    ),
    "measures_hierarchy": [
        *_cases(_HIERARCHY, _IN_TAXONOMY, GT, taxonomy=TAXONOMY),
        *_cases(
            "hF(unknown=own) LCADistance(unknown=own)", PREDS, GT, taxonomy=TAXONOMY
        ),
    ],
    "measures_captions": _cases(_CAPTIONS, CANDIDATES, REFERENCES),
    "measures_other_captions": _cases(
        "BLEU-4 CIDEr-D CIDEr ROUGE-L NGSM Vocabulary",
        OTHERS,
        REFERENCES,
        tokenizer="13a",
    ),
    "measures_caption_meanings": [
        *_cases("BagSim BagSim(references=mean)", CANDIDATES, REFERENCES, LOOSE),
        *_cases(
            "Soft-SPICE(parser=given) Soft-SPICE(parser=given,bidirectional=yes)",
            CANDIDATES,
            REFERENCES,
            LOOSE,
            tuples=_parse_pairs,
        ),
    ],
    "measures_wrong": _WRONG_MEASURES,
    "settings": _SETTINGS,
}
