"""The files that cases read: small, our own, and written anew for each run of the tests.

Vectors of words are of one or of four equal numbers, so that their cosines are exact on every
machine and thresholds part them alike.
"""

from __future__ import annotations

import csv
import io
import json
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

_GZIP_HEADER = 31  # "wbits" of zlib

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
_FALLING = (0.875, 0.75, 0.75, 0.5, 0.125)
RANKED = {
    id_: list(zip(labels, _FALLING[:: 1 if len(labels) > 2 else 2], strict=False))
    for id_, labels in {**PREDS, "2": ["puppy", "dog", "cat"]}.items()
}
RANKED["6"] = [("cat", 0.25), ("dog", 0.625)]  # not in order
SYNONYMS = {
    "1": [["cat", "pussy cat"], ["sofa", "couch"]],
    "2": [["dog", "hound"]],
    "4": [["car", "automobile"], "street light", ["tree", "plant"]],
    "6": [["kitten", "cat"], ["puppy", "dog"]],
    "007": ["café", ["bus", "coach"]],
}
SYNONYMS = {id_: SYNONYMS.get(id_, labels) for id_, labels in GT.items()}
CLASSES = ["bus", "car", "cat", "dog", "sofa", "tree"]
SCORES = np.array(
    [[(7 * i + 5 * j + i * j) % 16 / 16 for j in range(6)] for i in range(10)]
)
TRUTH = np.array(
    [[int((3 * i + 5 * j + i * j) % 4 == 0) for j in range(6)] for i in range(10)]
)
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

_PLACES = {
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
VECTORS = {
    word: [1.0 / len(places) ** 0.5 if at in places else 0.0 for at in range(16)]
    for word, places in _PLACES.items()
}

CALIBRATION = {
    "schema": "semmetrics.calibration/1",
    "threshold": 0.25,
    "method": "pairs",
    "criterion": "f1",
    "value": 0.875,
    "embedding": "words-16@f201b402d444",
    "lookup": "words",
    "oov": "zero",
    "n": 6,
    "unit": "pair",
    "data": "e9959928e70223ea",
    "auc": 0.75,
    "holdout": None,
    "seed": None,
    "settings": {"norm": "none"},
    "items": "",
    "version": "0.0.1",
    "curve": {
        "threshold": [-0.5, 0.25],
        "precision": [0.5, None],
        "recall": [1.0, 0.0],
        "f1": [0.625, 0.875],
        "accuracy": [0.5, 0.75],
        "youden": [0.0, 0.625],
    },
}

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

# ---- files --------------------------------------------------------------------------------------


def gzipped(data: bytes) -> bytes:
    """Compress bytes. The header is zlib's: Python's own differs between its versions."""
    packer = zlib.compressobj(9, zlib.DEFLATED, _GZIP_HEADER)
    return packer.compress(data) + packer.flush()


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def as_lines(records: Iterable[Any]) -> str:
    return "".join(as_json(record) + "\n" for record in records)


def table(head: list[str], rows: Iterable[Iterable[Any]], delimiter: str = ",") -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerows([head, *rows])
    return out.getvalue()


def long(lists: dict[str, Any]) -> list[list[Any]]:
    """A row a label; one of an empty label stands for an item without labels."""
    rows = []
    for id_, labels in lists.items():
        every = labels or [""]
        rows += [
            [id_, *label] if isinstance(label, tuple) else [id_, label]
            for label in every
        ]
    return [row if len(row) == len(rows[0]) else [*row, ""] for row in rows]


def records(
    lists: dict[str, Any], id_: str = "id", name: str = "labels"
) -> list[dict[str, Any]]:
    return [{id_: one, name: labels} for one, labels in lists.items()]


def named(lists: dict[str, Any]) -> dict[str, Any]:
    return {
        id_: [{"label": label, "score": score} for label, score in labels]
        for id_, labels in lists.items()
    }


def coco(lists: dict[str, Any]) -> dict[str, Any]:
    """COCO instances: the categories of an image in the order of its annotations."""
    names = list(dict.fromkeys(label for labels in lists.values() for label in labels))
    annotations = [
        {"image_id": place, "category_id": 1 + names.index(label)}
        for place, labels in enumerate(lists.values())
        for label in labels
    ]
    return {
        "images": [{"id": place, "file_name": id_} for place, id_ in enumerate(lists)],
        "annotations": [{"id": n, **one} for n, one in enumerate(annotations)],
        "categories": [
            {"id": 1 + place, "name": name} for place, name in enumerate(names)
        ],
    }


def coco_captions(lists: dict[str, Any]) -> dict[str, Any]:
    pairs = [(id_, caption) for id_, captions in lists.items() for caption in captions]
    return {
        "images": [{"id": id_} for id_ in [*lists, "bare"]],
        "annotations": [
            {"image_id": id_, "id": number, "caption": caption}
            for number, (id_, caption) in enumerate(pairs)
        ],
    }


def word2vec(vectors: dict[str, list[float]]) -> str:
    lines = [" ".join([word, *map(str, numbers)]) for word, numbers in vectors.items()]
    return (
        "\n".join([f"{len(vectors)} {len(next(iter(vectors.values())))}", *lines])
        + "\n"
    )


# ---- retrieval ----------------------------------------------------------------------------------

SIMILARITIES = [
    [0.9, 0.8, 0.3, 0.2, 0.4, 0.1],
    [0.5, 0.1, 0.6, 0.3, 0.7, 0.2],
    [0.2, 0.3, 0.8, 0.6, 0.6, 0.1],
]
POSITIVES = {"im0": ["c0", "c1"], "im1": ["c2", "c3"], "im2": ["c4", "c5"]}


def _write_retrieval() -> None:
    """Similarities, positives and names; and the same as TREC has them."""
    names = [name for some in POSITIVES.values() for name in some]
    rows = zip(POSITIVES, SIMILARITIES, strict=True)
    run = [(q, n, s) for q, row in rows for n, s in zip(names, row, strict=True)]
    files = {
        "similarities.json": json.dumps(SIMILARITIES),
        "positives.json": json.dumps(POSITIVES),
        "images.txt": "\n".join(POSITIVES) + "\n",
        "texts.txt": "\n".join(names) + "\n",
        "run.trec": "".join(f"{q} Q0 {n} 1 {s} own\n" for q, n, s in run),
        "truth.qrels": "".join(
            f"{q} 0 {n} {int(n in POSITIVES[q])}\n" for q, n, _ in run
        ),
    }
    for name, content in files.items():
        Path(name).write_text(content, encoding="utf-8")


# ---- classes ------------------------------------------------------------------------------------

ANIMALS = ["horse", "sheep", "zebra", "llama"]
CLASS_SCORES = [
    [0.9, 0.2, 0.5, 0.1],
    [0.3, 0.8, 0.2, 0.6],
    [0.4, 0.5, 0.1, 0.3],
    [0.7, 0.1, 0.6, 0.2],
    [0.2, 0.3, 0.9, 0.4],
    [0.1, 0.6, 0.2, 0.5],
]
SHOWN = ["horse", "sheep", "horse", "zebra", "zebra", "llama"]


def _write_classes() -> None:
    """Scores, what images show, and the lists of classes."""
    np.save("class_scores.npy", np.array(CLASS_SCORES))
    lists = {
        "animals": ANIMALS,
        "seen": ANIMALS[:2],
        "unseen": ANIMALS[2:],
        "shown": SHOWN,
    }
    for name, names in lists.items():
        Path(f"{name}.txt").write_text("\n".join(names) + "\n", encoding="utf-8")


def write_inputs() -> None:
    """Write every file into the working folder."""
    for name, content in _files().items():
        data = content if isinstance(content, bytes) else content.encode()
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    _write_retrieval()
    _write_classes()
    np.save("scores.npy", SCORES)
    np.save("truth.npy", TRUTH)
    np.save("truth_bool.npy", TRUTH.astype(bool))
    np.save("scores32.npy", SCORES.astype(np.float32))
    np.savez("scores.npz", SCORES)
    np.savez("truth.npz", truth=TRUTH)
    ids = np.array([f"i{number}" for number in range(10)])
    np.savez("named.npz", scores=SCORES, classes=np.array(CLASSES), ids=ids)
    np.savez(
        "named_truth.npz", values=TRUTH[::-1], classes=np.array(CLASSES), ids=ids[::-1]
    )
    np.savez("more.npz", y=TRUTH, ids=np.arange(10), extra=SIZES)
    np.savez("two.npz", values=TRUTH, scores=SCORES)
    np.savez("few_classes.npz", values=TRUTH, classes=np.array(CLASSES[:2]))
    np.savez("twice.npz", values=TRUTH, ids=np.array(["a"] * 10))
    np.savez("few_ids.npz", values=TRUTH, ids=ids[:2])
    np.savez("float_ids.npz", values=TRUTH, ids=np.arange(10.0))
    for form in ("csr_matrix", "csc_matrix", "coo_matrix"):
        scipy.sparse.save_npz(f"{form}.npz", getattr(scipy.sparse, form)(TRUTH))
    scipy.sparse.save_npz("sparse_scores.npz", scipy.sparse.csr_matrix(SCORES))
    scipy.sparse.save_npz("sparse_twos.npz", scipy.sparse.csr_matrix(TRUTH * 2))
    np.save("sizes.npy", SIZES)
    np.save("weights.npy", np.array(list(WEIGHTS.values())))
    np.save("words.npy", np.array(list(VECTORS.values()), np.float32))
    _write_parquet()


def _files() -> dict[str, str | bytes]:
    plain = as_json(PREDS)
    ranked = [[*row] for row in long(RANKED)]
    return {
        # labels
        "gt.json": as_json(GT),
        "a.json": plain,
        "b.json": as_json(OTHER),
        "synonyms.json": as_json(SYNONYMS),
        "records.json": as_json(records(PREDS)),
        "image_ids.json": as_json(records(PREDS, "image_id")),
        "own_keys.json": as_json(records(PREDS, "photo", "seen")),
        "positions.json": as_json(list(PREDS.values())),
        "gt_positions.json": as_json(list(GT.values())),
        "lines.jsonl": as_lines(records(PREDS)),
        "lines.ndjson": as_lines(records(PREDS, "img_id")),
        "blank_lines.jsonl": "\n" + as_lines(records(PREDS)).replace("\n", "\r\n\n"),
        "long.csv": table(["id", "label"], long(PREDS)),
        "bom.csv": "\ufeff" + table(["id", "label"], long(PREDS)).replace("\n", "\r\n"),
        "more.csv": table(["api", "ID", "Label"], [["x", *row] for row in long(PREDS)]),
        "own_names.csv": table(["photo", "seen"], long(PREDS)),
        "bars.csv": table(["id", "label"], long(PREDS), "|"),
        "long.tsv": table(["id", "label"], long(PREDS), "\t"),
        "long.tab": table(["image_id", "names"], long(PREDS), "\t"),
        "wide.csv": table(
            ["img_id", "names"], [(i, ";".join(x)) for i, x in PREDS.items()]
        ),
        "wide.tsv": table(
            ["img_id", "names"], [(i, ";".join(x)) for i, x in PREDS.items()], "\t"
        ),
        "a.json.gz": gzipped(plain.encode()),
        "lines.jsonl.gz": gzipped(as_lines(records(PREDS)).encode()),
        "long.csv.gz": gzipped(table(["id", "label"], long(PREDS)).encode()),
        "a.dat": plain,
        "bom.json": "\ufeff" + plain,
        "coco_a.json": as_json(coco(PREDS)),
        "coco_gt.json": as_json(coco(GT)),
        "numbered.json": as_json(
            dict(zip(map(str, range(10)), PREDS.values(), strict=True))
        ),
        "gt_numbered.json": as_json(
            dict(zip(map(str, range(10)), GT.values(), strict=True))
        ),
        "gt.csv": table(["id", "label"], long(GT)),
        "lower.json": as_json(
            {i: [label.upper() for label in x] for i, x in PREDS.items()}
        ),
        "odd.json": as_json(
            {
                " 1": ["cat", "Cat", "cat"],
                "2 ": ["dog ", "dog"],
                "3": [],
                "A": ["cat"],
                "a": ["cat", "street  light"],
                "x": [["cat", "kitten"], "dog"],
            }
        ),
        "odd_captions.json": as_json(
            {
                " 1": ["a cat", "a cat"],
                "2": ["", "a cat"],
                "3": ["a\tcat\u0007", " "],
                "4": ["A cat"],
            }
        ),
        "numbers_gt.json": as_json({"a": ["1"], "b": ["2"]}),
        "few.json": as_json({id_: PREDS[id_] for id_ in ("1", "2", "4")}),
        "more.json": as_json({**PREDS, "99": ["cat"], "98": []}),
        # labels with scores
        "ranked.json": as_json(named(RANKED)),
        "ranked_pairs.json": as_json(RANKED),
        "ranked_map.json": as_json({id_: dict(pairs) for id_, pairs in RANKED.items()}),
        "ranked_records.json": as_json(records(named(RANKED))),
        "ranked_apart.json": as_json(
            [
                {
                    "id": id_,
                    "labels": [label for label, _ in pairs],
                    "scores": [s for _, s in pairs],
                }
                for id_, pairs in RANKED.items()
            ]
        ),
        "ranked.jsonl": as_lines(records(named(RANKED))),
        "ranked.csv": table(["id", "label", "score"], ranked),
        "ranked.tsv": table(["img_id", "name", "confidence"], ranked, "\t"),
        "ranked_wide.csv": table(
            ["id", "labels", "scores"],
            [
                (id_, ";".join(label for label, _ in x), ";".join(str(s) for _, s in x))
                for id_, x in RANKED.items()
            ],
        ),
        "ranked_own.csv": table(["photo", "seen", "sure"], ranked),
        # beside the labels
        "classes.txt": "".join(f"{name}\n" for name in CLASSES),
        "classes.json": as_json(CLASSES),
        "dictionary.txt": "cat\ndog\ncar\nbus\ntree\nsofa\ncouch\nzebra\nlion\npuppy\n",
        "ignored.txt": "cat\nlion\n",
        "weights.json": as_json(WEIGHTS),
        "weights.csv": table(["id", "weight"], WEIGHTS.items()),
        "taxonomy.json": as_json(TAXONOMY),
        "taxonomy.csv": table(
            ["child", "parent"],
            [
                (child, parent)
                for child, parents in TAXONOMY.items()
                for parent in ([parents] if isinstance(parents, str) else parents)
            ],
        ),
        "pairs.csv": "a,b,same\ncat,kitten,1\ndog,puppy,1\ncar,bus,0\ncat,dog,0\nsofa,couch,1\n"
        "tree,car,0\n",
        "pairs.json": as_json(
            [
                {"a": "cat", "b": "kitten", "same": 1},
                {"a": "car", "b": "bus", "same": 0},
                {"a": "sofa", "b": "couch", "same": True},
                {"a": "zebra", "b": "cat", "same": False},
            ]
        ),
        "pairs.jsonl": as_lines(
            [
                {"a": "cat", "b": "kitten", "same": 1},
                {"a": "car", "b": "bus", "same": 0},
            ]
        ),
        "pairs.tsv": "a\tb\tsame\ncat\tkitten\t1\ncar\tbus\t0\n",
        "calibration.json": as_json(CALIBRATION),
        "one_kind.csv": "a,b,same\ncat,kitten,1\n",
        # words
        "words.vec": word2vec(VECTORS),
        "words.glove.txt": word2vec(VECTORS).partition("\n")[2],
        "words.txt": "".join(f"{word}\n" for word in VECTORS),
        # captions
        "captions.json": as_json(CANDIDATES),
        "captions_b.json": as_json(OTHERS),
        "references.json": as_json(REFERENCES),
        "results.json": as_json(
            [{"image_id": id_, "caption": text} for id_, text in CANDIDATES.items()]
        ),
        "coco_references.json": as_json(coco_captions(REFERENCES)),
        "captions.jsonl": as_lines(
            {"id": id_, "caption": text} for id_, text in CANDIDATES.items()
        ),
        "references.jsonl": as_lines(
            {"id": id_, "captions": texts} for id_, texts in REFERENCES.items()
        ),
        "captions.csv": table(["image_id", "caption"], CANDIDATES.items()),
        "captions.tsv": table(["image_id", "text"], CANDIDATES.items(), "\t"),
        "captions_own.csv": table(["photo", "said"], CANDIDATES.items()),
        "references.csv": table(
            ["image_id", "caption"],
            [(id_, text) for id_, texts in REFERENCES.items() for text in texts],
        ),
        "references.jsonl.gz": gzipped(
            as_lines(
                {"id": id_, "refs": texts} for id_, texts in REFERENCES.items()
            ).encode()
        ),
        "captions.txt": "".join(f"{text}\n" for text in CANDIDATES.values()),
        "references.txt": "".join(
            "\t".join(texts) + "\n" for texts in REFERENCES.values()
        ),
        "caption_positions.json": as_json(list(CANDIDATES.values())),
        "reference_positions.json": as_json(list(REFERENCES.values())),
        "several.json": as_json(
            {**{i: [x] for i, x in CANDIDATES.items()}, "7": ["a", "cat"]}
        ),
        "fewer.json": as_json({id_: CANDIDATES[id_] for id_ in ("7", "20")}),
        "sentences.json": as_json({"7": ["a cat sleeps on a red sofa"]}),
        "sentence_references.json": as_json({"7": ["a cat is sleeping on a red sofa"]}),
        "single.json": as_json({"7": "cat"}),
        "frequencies_b.json": as_json(
            {"documents": 50, "frequencies": {"a": 20, "cat": 9}}
        ),
        "frequencies.json": as_json(
            {
                "documents": 40,
                "frequencies": {"a": 30, "a cat": 8, "cat": 9, "bus": 4, "the": 30},
            }
        ),
    }


def _write_parquet() -> None:
    """The same in Parquet, where pyarrow is there."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        return
    ids = list(PREDS)
    rows = {
        "long": {
            "id": [r[0] for r in long(PREDS)],
            "label": [r[1] or None for r in long(PREDS)],
        },
        "lists": {"id": ids, "labels": list(PREDS.values())},
        "ranked": {
            "id": [row[0] for row in long(RANKED)],
            "label": [row[1] or None for row in long(RANKED)],
            "score": [None if row[2] == "" else row[2] for row in long(RANKED)],
        },
        "ranked_lists": {
            "id": list(RANKED),
            "labels": [[label for label, _ in pairs] for pairs in RANKED.values()],
            "scores": [[score for _, score in pairs] for pairs in RANKED.values()],
        },
        "captions": {
            "image_id": list(CANDIDATES),
            "caption": list(CANDIDATES.values()),
        },
        "references": {
            "image_id": list(REFERENCES),
            "captions": list(REFERENCES.values()),
        },
        "whole_ids": {"id": [1, 2], "label": ["cat", "dog"]},
        "float_ids": {"id": [1.5, 2.0], "label": ["cat", "dog"]},
        "null_ids": {"id": ["1", None], "label": ["cat", "dog"]},
        "number_labels": {"id": ["1", "2"], "label": [3, 4]},
        "nan_scores": {
            "id": ["1", "2"],
            "label": ["a", "b"],
            "score": [0.5, float("nan")],
        },
        "no_labels": {"id": ["1", "2"], "colour": ["a", "b"]},
        "twice": {"id": ["1", "1"], "labels": [["cat"], ["dog"]]},
        "null_parts": {"id": ["1", "2"], "labels": [["cat", None], ["dog"]]},
        "null_captions": {"id": ["7", "8"], "caption": ["a cat", None]},
    }
    for name, columns in rows.items():
        parquet.write_table(pa.table(columns), f"{name}.parquet")
