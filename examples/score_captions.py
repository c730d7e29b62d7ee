"""Two captioners on eight images: measures, items, the protocol, a human score, saved frequencies.

Captions and references are those of `captions/`. Exits with 1 where something stated below does not
hold.

Run: python examples/score_captions.py
"""

import math
import sys
import tempfile
from pathlib import Path

import semmetrics

FOLDER = Path(__file__).with_name("captions")
REFERENCES = FOLDER / "references.json"
SYSTEMS = {name: FOLDER / f"{name}.json" for name in ("model_a", "model_b")}

# What the protocol calls the default measures.
HEADINGS = {
    "BLEU-1": "Bleu_1",
    "BLEU-2": "Bleu_2",
    "BLEU-3": "Bleu_3",
    "BLEU-4": "Bleu_4",
    "ROUGE-L": "ROUGE_L",
    "CIDEr-D": "CIDEr",
}


def cider(captions, references, **options):
    """CIDEr-D of one system."""
    return semmetrics.score(captions, references, measures="CIDEr-D", **options)[
        "CIDEr-D"
    ]


def systems():
    """Print the default measures, with the references as a system, and one score in detail."""
    table = semmetrics.score_systems(SYSTEMS, REFERENCES, score_references=True)
    print(table, end="\n\n")
    score = cider(SYSTEMS["model_a"], REFERENCES)
    print("CIDEr-D of model_a by image")
    for name, value in zip(score.ids, score.items, strict=True):
        print(f"  {name}  {value:.4f}")
    print(score.signature, end="\n\n")
    human = {score.n for score in table if score.system == "human"}
    return {
        "each of the 32 references is an item of the human score": human == {32},
        "CIDEr-D is the mean of its items": math.isclose(
            score.items.mean(), score.value
        ),
    }


def protocol():
    """Print the protocol, whose values are those of the measures under other headings."""
    table = semmetrics.score_systems(SYSTEMS, REFERENCES, protocol="coco-caption")
    print(table, end="\n\n")
    found = {(score.system, score.heading): score.value for score in table}
    plain = semmetrics.score_systems(SYSTEMS, REFERENCES)
    equal = [found[s.system, HEADINGS[s.heading]] == s.value for s in plain]
    return {
        "the protocol has the values of the default measures": len(equal) == 12
        and all(equal)
    }


def frequencies():
    """Count document frequencies once, save them, and score an image alone."""
    captions = semmetrics.as_captions(REFERENCES)
    documents = captions.to_list()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "frequencies.npz")
        semmetrics.fit_document_frequencies(documents).save(path)
        df = semmetrics.DocumentFrequencies.load(path)
    every = cider(SYSTEMS["model_a"], REFERENCES)
    given = cider(SYSTEMS["model_a"], REFERENCES, doc_freq=df)
    first = (
        {"101": semmetrics.as_captions(SYSTEMS["model_a"]).values()[0]},
        {"101": documents[0]},
    )
    alone, helped = cider(*first).value, cider(*first, doc_freq=df).value
    print(f"{len(df)} n-grams of {df.documents} documents: df@{df.hash}")
    print(
        f"CIDEr-D of image 101 alone: {alone:.4f}, and with these frequencies {helped:.4f}"
    )
    return {
        "saved frequencies give the values of those counted": given.value
        == every.value,
        "the signature names them": f"fit:df@{df.hash}" in given.signature,
        "CIDEr-D of a single image is 0": alone == 0,
        "with the frequencies of all it has its value among all": helped
        == every.items[0],
    }


def main() -> int:
    """Print everything and give the exit code."""
    held = {**systems(), **protocol(), **frequencies()}
    wrong = [statement for statement, holds in held.items() if not holds]
    for statement in wrong:
        print(f"does not hold: {statement}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
