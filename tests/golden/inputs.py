"""Small data of every kind, and the files that cases read.

A word vector has one or four equal components, so that cosines are exact and thresholds separate
them in the same way on every machine.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

# ---- labels -------------------------------------------------------------------------------------

GT = {
    "1": ["cat", "sofa"],
    "2": ["dog"],
    "3": [],
    "4": ["car", "street light", "tree"],
    "5": [],
    "6": ["kitten", "puppy"],
    "007": ["café", "bus"],
    "8 b": ["automobile", "Tree"],
    "ä": ["tree", "bus", "dog", "cat"],
    "10": ["sofa"],
}
PREDS = {
    "1": ["cat", "dog", "couch"],
    "2": ["puppy", "dog", "puppy"],
    "3": ["tree"],
    "4": [],
    "5": [],
    "6": ["cat", "dog"],
    "007": ["bus", "car", "café"],
    "8 b": ["car", "tree", "street light"],
    "ä": ["cat", "tree", "zebra", "bus", "dog"],
    "10": ["couch", "unheard of"],
}
OTHER = {
    "10": ["sofa", "cat"],
    "1": ["cat"],
    "2": ["cat"],
    "3": [],
    "4": ["tree", "car"],
    "5": ["bus"],
    "6": ["puppy"],
    "007": ["café"],
    "8 b": ["automobile"],
    "ä": ["dog", "car"],
}
RANKED = {
    "1": [("cat", 0.875), ("dog", 0.75), ("couch", 0.75)],
    "2": [("puppy", 0.875), ("dog", 0.75), ("cat", 0.75)],
    "3": [("tree", 0.875)],
    "4": [],
    "5": [],
    "6": [("cat", 0.25), ("dog", 0.625)],  # not in order
    "007": [("bus", 0.875), ("car", 0.75), ("café", 0.75)],
    "8 b": [("car", 0.875), ("tree", 0.75), ("street light", 0.75)],
    "ä": [
        ("cat", 0.875),
        ("tree", 0.75),
        ("zebra", 0.75),
        ("bus", 0.5),
        ("dog", 0.125),
    ],
    "10": [("couch", 0.875), ("unheard of", 0.75)],
}
SYNONYMS = GT | {
    "1": [["cat", "pussy cat"], ["sofa", "couch"]],
    "2": [["dog", "hound"]],
    "4": [["car", "automobile"], "street light", ["tree", "plant"]],
    "6": [["kitten", "cat"], ["puppy", "dog"]],
    "007": ["café", ["bus", "coach"]],
}
CLASSES = ["bus", "car", "cat", "dog", "sofa", "tree"]
DICTIONARY = [
    "cat",
    "dog",
    "car",
    "bus",
    "tree",
    "sofa",
    "couch",
    "zebra",
    "lion",
    "puppy",
]
_ROW, _COLUMN = np.indices((10, 6))
SCORES = (7 * _ROW + 5 * _COLUMN + _ROW * _COLUMN) % 16 / 16
TRUTH = ((3 * _ROW + 5 * _COLUMN + _ROW * _COLUMN) % 4 == 0).astype(int)
SIZES = (
    np.array([[1, 4, 2, 1], [8, 4, 2, 2], [1, 1, 5, 1], [2, 2, 3, 9], [1, 6, 1, 0]] * 2)
    / 16
)
WEIGHTS = {id_: 1 + place % 3 / 2 for place, id_ in enumerate(GT)}
TAXONOMY = {
    "cat": "pet",
    "dog": "pet",
    "kitten": "cat",
    "puppy": "dog",
    "pet": "animal",
    "zebra": "animal",
    "car": "vehicle",
    "bus": "vehicle",
    "automobile": "car",
    "vehicle": "thing",
    "sofa": ["furniture", "thing"],
    "couch": "sofa",
    "furniture": "thing",
    "animal": "thing",
    "street light": "thing",
    "tree": "plant",
    "Tree": "plant",
    "café": "place",
}

# ---- words --------------------------------------------------------------------------------------

_COMPONENTS = {
    "cat": (0,),
    "kitten": (0, 1, 2, 3),
    "dog": (1,),
    "puppy": (1, 0, 4, 5),
    "pet": (0, 1, 6, 7),
    "car": (8,),
    "automobile": (8,),
    "bus": (8, 9, 10, 11),
    "tree": (12,),
    "sofa": (13, 14, 15, 2),
    "couch": (13, 14, 15, 3),
    "street": (9,),
    "light": (10,),
    "unknown": (4,),
    "cafe": (11,),
}
VECTORS = {}
for _word, _components in _COMPONENTS.items():
    _vector = np.zeros(16)
    _vector[list(_components)] = 1 / len(_components) ** 0.5
    VECTORS[_word] = _vector.tolist()

# ---- captions -----------------------------------------------------------------------------------

CANDIDATES = {
    "7": "a cat sleeps on a red sofa",
    "8": "two dogs run on the beach",
    "9": "",
    "12": "a man a man a man rides the the the bike",
    "é 1": "Un café, s'il vous plaît!",
    "20": "a bus",
}
REFERENCES = {
    "7": ["A cat is sleeping on a red sofa.", "the cat sleeps", "a cat on the sofa"],
    "8": ["Two dogs are running on the beach.", "dogs play in the sand near the sea"],
    "9": ["an empty street at night", "nothing to see here", "a street"],
    "12": ["a man rides a bike", "a man is riding his bike down the street"],
    "é 1": ["un café noir", "un café, s'il vous plaît"],
    "20": [
        "a bus in the rain",
        "a red bus",
        "the bus stops in the rain",
        "a bus",
        "rain",
    ],
}
OTHERS = {
    "20": "a red bus in the rain",
    "7": "a dog sleeps",
    "8": "dogs run",
    "9": "a street at night",
    "12": "a man rides a bike",
    "é 1": "un café noir",
}

# ---- retrieval ----------------------------------------------------------------------------------

SIMILARITIES = np.array(
    [
        [0.9, 0.8, 0.3, 0.2, 0.4, 0.1],
        [0.5, 0.1, 0.6, 0.3, 0.7, 0.2],
        [0.2, 0.3, 0.8, 0.6, 0.6, 0.1],
    ]
)
POSITIVES = {"im0": ["c0", "c1"], "im1": ["c2", "c3"], "im2": ["c4", "c5"]}
IMAGES = ["im0", "im1", "im2"]
GALLERY = ["c0", "c1", "c2", "c3", "c4", "c5"]

# ---- classes ------------------------------------------------------------------------------------

ANIMALS = ["horse", "sheep", "zebra", "llama"]
CLASS_SCORES = np.array(
    [
        [0.9, 0.2, 0.5, 0.1],
        [0.3, 0.8, 0.2, 0.6],
        [0.4, 0.5, 0.1, 0.3],
        [0.7, 0.1, 0.6, 0.2],
        [0.2, 0.3, 0.9, 0.4],
        [0.1, 0.6, 0.2, 0.5],
    ]
)
SHOWN = ["horse", "sheep", "horse", "zebra", "zebra", "llama"]

# ---- files --------------------------------------------------------------------------------------

_JSON = {
    "gt": GT,
    "a": PREDS,
    "b": OTHER,
    "few": {id_: PREDS[id_] for id_ in ("1", "2", "4")},
    "synonyms": SYNONYMS,
    "weights": WEIGHTS,
    "taxonomy": TAXONOMY,
    "captions": CANDIDATES,
    "captions_b": OTHERS,
    "references": REFERENCES,
    "similarities": SIMILARITIES.tolist(),
    "positives": POSITIVES,
    "frequencies": {
        "documents": 40,
        "frequencies": {"a": 30, "a cat": 8, "cat": 9, "bus": 4, "the": 30},
    },
    "pairs": [
        {"a": "cat", "b": "kitten", "same": 1},
        {"a": "car", "b": "bus", "same": 0},
        {"a": "sofa", "b": "couch", "same": True},
        {"a": "zebra", "b": "cat", "same": False},
    ],
}
_LINES = {
    "classes": CLASSES,
    "dictionary": DICTIONARY,
    "ignored": ["cat", "lion"],
    "images": IMAGES,
    "texts": GALLERY,
    "animals": ANIMALS,
    "seen": ANIMALS[:2],
    "unseen": ANIMALS[2:],
    "shown": SHOWN,
}
_ARRAYS = {
    "scores": SCORES,
    "truth": TRUTH,
    "sizes": SIZES,
    "class_scores": CLASS_SCORES,
}
_PAIRS = """a,b,same
cat,kitten,1
dog,puppy,1
car,bus,0
cat,dog,0
sofa,couch,1
tree,car,0
"""


def write_inputs() -> None:
    """Write every file into the working folder."""
    for name, value in _JSON.items():
        text = json.dumps(value, ensure_ascii=False)
        Path(f"{name}.json").write_text(text, encoding="utf-8")
    for name, lines in _LINES.items():
        Path(f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, array in _ARRAYS.items():
        np.save(f"{name}.npy", array)
    _write_ranked()
    _write_tables()
    _write_vectors()


def _write_ranked() -> None:
    items: dict[str, Any] = {}
    for id_, pairs in RANKED.items():
        items[id_] = [{"label": label, "score": score} for label, score in pairs]
    text = json.dumps(items, ensure_ascii=False)
    Path("ranked.json").write_text(text, encoding="utf-8")


def _write_tables() -> None:
    weights = ["id,weight", *(f"{id_},{weight}" for id_, weight in WEIGHTS.items())]
    edges = ["child,parent"]
    for child, parents in TAXONOMY.items():
        for parent in [parents] if isinstance(parents, str) else parents:
            edges.append(f"{child},{parent}")
    Path("weights.csv").write_text("\n".join(weights) + "\n", encoding="utf-8")
    Path("taxonomy.csv").write_text("\n".join(edges) + "\n", encoding="utf-8")
    Path("pairs.csv").write_text(_PAIRS, encoding="utf-8")


def _write_vectors() -> None:
    lines = []
    for word, vector in VECTORS.items():
        lines.append(" ".join([word, *map(str, vector)]))
    text = "\n".join(lines) + "\n"
    Path("words.glove.txt").write_text(text, encoding="utf-8")
    Path("words.vec").write_text(f"{len(VECTORS)} 16\n{text}", encoding="utf-8")
