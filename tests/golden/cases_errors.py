"""Bad input of every format: one message, which says where and what to do, and exit code 2."""

from __future__ import annotations

import io
import json
import shlex
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from golden.harness import Case, run_program, with_files
from golden.inputs import gzipped
from golden.names import spelled

Content = str | bytes | Callable[[], bytes]


def _npy(values: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, values, allow_pickle=True)
    return out.getvalue()


def _npz(**arrays: Any) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def _zip(**files: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for name, text in files.items():
            packed.writestr(zipfile.ZipInfo(f"{name}.npy"), text)
    return out.getvalue()


def _coco(**changes: Any) -> str:
    whole = {
        "images": [{"id": 1}, {"id": 2}],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
        "annotations": [
            {"image_id": 1, "category_id": 1},
            {"image_id": 2, "category_id": 2},
        ],
    }
    return json.dumps({**whole, **changes})


_PACKED = gzipped(b'{"1": ["cat"], "2": ["dog"]}')
_LINE = '{"id": "1", "labels": ["cat"]}\n'

_LABELS: list[tuple[str, Content]] = [
    # JSON
    ("p.json", ""),
    ("p.json", "  \n"),
    ("p.json", "null"),
    ("p.json", "7"),
    ("p.json", '"cat"'),
    ("p.json", "{}"),
    ("p.json", "[]"),
    ("p.json", '{"1": "cat"'),
    ("p.json", '{"1": ["cat"]} x'),
    ("p.json", '{"1": ["cat" "dog"]}'),
    ("p.json", "{'1': ['cat']}"),
    ("p.json", '{"1": ["cat"], "1": ["dog"]}'),
    ("p.json", '{"1": [{"label": "cat", "label": "dog"}]}'),
    ("p.json", '[{"id": "1", "labels": []}, {"id": "1", "labels": []}]'),
    ("p.json", '[{"id": 1, "labels": []}, {"id": "1", "labels": []}]'),
    ("p.json", '[{"id": null, "labels": []}]'),
    ("p.json", '[{"id": 1.5, "labels": []}]'),
    ("p.json", '[{"id": true, "labels": []}]'),
    ("p.json", '[{"id": "", "labels": []}]'),
    ("p.json", '[{"labels": []}]'),
    ("p.json", '[{"id": "1"}]'),
    ("p.json", '[{"id": "1", "labels": ["cat"], "names": ["dog"]}]'),
    ("p.json", '[{"id": "1", "labels": ["cat"]}, 7]'),
    ("p.json", '[{"id": "1", "labels": ["cat"]}, ["dog"]]'),
    ("p.json", '[{"id": "1", "labels": ["cat", "dog"], "scores": [1]}]'),
    ("p.json", '[{"id": "1", "labels": ["cat"], "scores": ["high"]}]'),
    ("p.json", '[{"id": "1", "labels": ["cat"], "scores": 1}]'),
    ("p.json", '[{"id": "1", "labels": ["cat"], "colour": "red", "size": 3}]'),
    ("p.json", '{"": ["cat"]}'),
    ("p.json", '{"1": null}'),
    ("p.json", '{"1": "cat", "2": ["dog"]}'),
    ("p.json", '{"1": 7}'),
    ("p.json", '{"1": [7]}'),
    ("p.json", '{"1": [null]}'),
    ("p.json", '{"1": [true]}'),
    ("p.json", '{"1": [""]}'),
    ("p.json", '{"1": [" "]}'),
    ("p.json", '{"1": [[]]}'),
    ("p.json", '{"1": [["cat", ""]]}'),
    ("p.json", '{"1": [["cat", "cat"]]}'),
    ("p.json", '{"1": [["cat", 3, 4]]}'),
    ("p.json", '{"1": [{"name": "cat"}]}'),
    ("p.json", '{"1": [{"label": "cat", "score": NaN}]}'),
    ("p.json", '{"1": [{"label": "cat", "score": Infinity}]}'),
    ("p.json", '{"1": [{"label": "cat", "score": 1e999}]}'),
    ("p.json", '{"1": [{"label": "cat", "score": "high"}]}'),
    ("p.json", '{"1": [{"label": "cat", "score": null}]}'),
    ("p.json", '{"1": [{"label": "cat", "score": true}]}'),
    ("p.json", '{"1": [["cat", 0.5], ["dog", "high"]]}'),
    ("p.json", '{"1": [["cat", 0.5], "dog"]}'),
    ("p.json", '{"1": [["cat", 0.5]], "2": ["dog"]}'),
    ("p.json", '{"1": {"cat": "high"}}'),
    ("p.json", '{"1": {"cat": 0.5, "": 0.25}}'),
    ("p.json", '{"1": {"label": "cat"}}'),
    ("p.json", '{"1": ["\\ud800"]}'),
    ("p.json", '{"\\ud800": ["cat"]}'),
    ("p.json", '{"1": ["a\\u0000b"]}'),
    ("p.json", '{"1": ["a\x00b"]}'),
    ("p.json", '{"1": ["a\nb"]}'),
    ("p.json", "[" * 100_000),
    ("p.json", '{"1": [' + "9" * 5000 + "]}"),
    ("p.json", b"\xff\xfe\x00"),
    ("p.json", b'{"1": ["caf\xe9"]}'),
    ("p.json", '{"1": ["cat"]}'.encode("utf-16")),
    ("p.json", b'\xef\xbb\xbf{"1": ["cat"]}'),
    ("p.json", b"\x00\x00"),
    ("p.json", '[["cat"], "dog"]'),
    ("p.json", '[["cat"], null]'),
    ("p.json", '["cat", "dog"]'),
    ("p.json", '[["cat"]]'),
    ("p.json", '{"predictions": [{"id": "1", "labels": ["cat"]}]}'),
    ("p.json", _PACKED),
    ("p.json.gz", _PACKED),
    ("p.json.gz", _PACKED[:-6]),
    ("p.json.gz", _PACKED[:12]),
    ("p.json.gz", _PACKED[:-8] + b"\0\0\0\0" + _PACKED[-4:]),
    ("p.json.gz", b'{"1": ["cat"]}'),
    ("p.json.gz", b""),
    ("p.json.gz", _PACKED + b"more"),
    ("p.json.gz", gzipped(b"{}") + gzipped(b"[]")),
    ("p.xyz", '{"1": ["cat"]}'),
    ("p", '{"1": ["cat"]}'),
    ("p.gz", _PACKED),
    # JSON lines
    ("p.jsonl", ""),
    ("p.jsonl", "\n\n"),
    ("p.jsonl", '{"id": "1"}\n'),
    ("p.jsonl", '{"id": "1", "labels": ["cat"]\n'),
    ("p.jsonl", _LINE + '{"id": "2", "labels": ["cat"]'),
    ("p.jsonl", _LINE + _LINE),
    ("p.jsonl", _LINE + '{"id": "2", "labels": "dog"}\n'),
    ("p.jsonl", _LINE + '{"id": "2", "labels": null}\n'),
    ("p.jsonl", _LINE + '{"id": "2", "labels": [3]}\n'),
    ("p.jsonl", _LINE + '{"id": "2", "labels": [""]}\n'),
    ("p.jsonl", _LINE + '{"id": null, "labels": ["dog"]}\n'),
    ("p.jsonl", _LINE + '{"id": "2", "id": "3", "labels": ["dog"]}\n'),
    ("p.jsonl", _LINE + '{"id": "2", "labels": ["dog"], "more": 1}\n'),
    ("p.jsonl", _LINE + '{"id": "2", "labels": ["\\udc00"]}\n'),
    ("p.jsonl", _LINE + '{"img_id": "2", "labels": ["dog"]}\n'),
    ("p.jsonl", _LINE + '{"id": "2", "labels": [["dog", 0.5]]}\n'),
    ("p.jsonl", _LINE + '{"id": "2", "labels": ["dog"], "scores": [NaN]}\n'),
    ("p.jsonl", _LINE + "[1]\n"),
    ("p.jsonl", _LINE + "x\n"),
    ("p.jsonl", _LINE + "\n\n" + _LINE.replace("1", "2")),
    ("p.jsonl", _LINE.encode() + b'{"id": "2", "labels": ["caf\xe9"]}\n'),
    ("p.jsonl", b"\xef\xbb\xbf" + _LINE.encode()),
    ("p.jsonl", _LINE.strip() + " " + _LINE),
    ("p.jsonl", '["cat"]\n["dog"]\n'),
    # CSV and TSV
    ("p.csv", ""),
    ("p.csv", "\n"),
    ("p.csv", "\nid,label\n1,cat\n"),
    ("p.csv", "id,label\n"),
    ("p.csv", "photo,seen\n1,cat\n"),
    ("p.csv", "id,photo\n1,cat\n"),
    ("p.csv", "id,label,label\n1,cat,dog\n"),
    ("p.csv", "id,label,name\n1,cat,dog\n"),
    ("p.csv", "id,image_id,label\n1,2,cat\n"),
    ("p.csv", "1,cat\n2,dog\n"),
    ("p.csv", "id;label\n1;cat\n"),
    ("p.csv", "id,label\n1,cat,more\n"),
    ("p.csv", "id,label\n1\n"),
    ("p.csv", "id,label\n1,cat\n\n2,dog\n"),
    ("p.csv", "id,label\n,cat\n"),
    ("p.csv", "id,label\n1,\n1,cat\n"),
    ("p.csv", "id,label\n1,cat\n1,\n"),
    ("p.csv", "id,label\n1, \n"),
    ("p.csv", 'id,label\n1,"cat\n'),
    ("p.csv", 'id,label\n1,"c"at\n'),
    ("p.csv", 'id,label\n1,"cat\ndog"\n'),
    ("p.csv", "id,label\n1,a\0b\n"),
    ("p.csv", "id,label,score\n1,cat,nan\n"),
    ("p.csv", "id,label,score\n1,cat,inf\n"),
    ("p.csv", "id,label,score\n1,cat,high\n"),
    ("p.csv", "id,label,score\n1,cat,\n"),
    ("p.csv", "id,label,score\n1,cat,0.5\n1,dog,\n"),
    ("p.csv", "id,label,score\n1,,0.5\n"),
    ("p.csv", "id,label,score\n1,cat,1_0\n"),
    ("p.csv", "id,label,score\n1,cat, 0.5\n"),
    ("p.csv", "id,label,api\n1,cat,x\n"),
    ("p.csv", b"id,label\n1,caf\xe9\n"),
    ("p.csv", "id,label\r1,cat\r"),
    ("p.csv", "id,label\n1,cat\n2,dog\n1,bus\n"),
    ("p.csv", "ID , Label\n1,cat\n"),
    ("p.tsv", "id,label\n1,cat\n"),
    ("p.tsv", "id\tlabel\n1\tcat\tdog\n"),
    ("p.tsv", 'id\tlabel\n1\t"cat\n'),
    ("--label-delimiter ; p.csv", "id,labels\n1,cat;dog\n1,bus\n"),
    ("--label-delimiter ; p.csv", "id,labels\n1,cat;\n"),
    ("--label-delimiter ; p.csv", "id,labels,scores\n1,cat;dog,1\n"),
    ("--label-delimiter ; p.csv", "id,labels,scores\n1,cat;dog,1;x\n"),
    ("--label-delimiter ; p.csv", "id,labels,scores\n1,,1\n"),
    # COCO instances
    ("p.json", _coco(annotations=[{"image_id": 3, "category_id": 1}])),
    ("p.json", _coco(annotations=[{"image_id": 1, "category_id": 9}])),
    ("p.json", _coco(annotations=[{"image_id": 1}])),
    ("p.json", _coco(annotations=[{"category_id": 1}])),
    ("p.json", _coco(annotations=[7])),
    ("p.json", _coco(annotations={})),
    ("p.json", _coco(images=7)),
    ("p.json", _coco(images=[{"id": 1}, {"id": 1}])),
    ("p.json", _coco(images=[{"id": 1}, {"name": 1}])),
    ("p.json", _coco(categories=[{"id": 1, "name": "cat"}, {"id": 1, "name": "dog"}])),
    ("p.json", _coco(categories=[{"id": 1, "name": "cat"}, {"id": 2, "name": "cat"}])),
    ("p.json", _coco(categories=[{"id": 1, "name": ""}, {"id": 2}])),
    ("p.json", _coco(categories=[{"id": 1, "name": 5}])),
    ("p.json", _coco(more=1)),
    ("--input-format coco p.json", '{"1": ["cat"]}'),
    ("--input-format coco p.json", "[]"),
    # arrays
    ("p.npy", b""),
    ("p.npy", b"\x93NUMPY broken"),
    ("p.npy", _npy(np.eye(2))[:-8]),
    ("p.npy", _npy(np.eye(2)) + b"more"),
    ("p.npy", _npy(np.array([{"a": 1}], object))),
    ("p.npy", _npy(np.zeros(3))),
    ("p.npy", _npy(np.zeros((2, 0)))),
    ("p.npy", _npy(np.zeros((0, 2)))),
    ("p.npy", _npy(np.array([["a", "b"]]))),
    ("p.npy", _npy(np.array([[1, 2]]))),
    ("p.npy", _npy(np.array([[1.0, np.nan]]))),
    ("p.npy", _npy(np.array([[1.0, np.inf]]))),
    ("p.npy", _npy(np.array([[1j]]))),
    ("p.npy", _npy(np.array([[1, 0]], ">i4"))),
    ("p.npy", _npy(np.zeros(2, [("a", int)]))),
    ("p.npz", b""),
    ("p.npz", b"PK\x03\x04broken"),
    ("p.npz", _npz()),
    ("p.npz", _npz(a=np.eye(2), b=np.eye(2))),
    ("p.npz", _npz(a=np.array([None], object))),
    ("p.npz", _zip(a="no array")),
    ("p.npz", _npz(a=np.eye(2))[:-30]),
    ("p.npy.gz", gzipped(_npy(np.array([[1, 0]])))),
    # texts
    ("p.txt", "cat\ndog\n"),
    ("p.pq", b"PAR1 no"),
    ("p.parquet", b""),
]

_CAPTIONS: list[tuple[str, Content]] = [
    ("c.json", ""),
    ("c.json", "{}"),
    ("c.json", "[]"),
    ("c.json", "7"),
    ("c.json", '{"7": 3}'),
    ("c.json", '{"7": null}'),
    ("c.json", '{"7": ["a cat", null]}'),
    ("c.json", '{"7": ["a cat", 3]}'),
    ("c.json", '{"7": {"caption": "a cat"}}'),
    ("c.json", '{"7": "a cat", "8": ["a dog"]}'),
    ("c.json", '{"7": ["a dog"], "8": "a cat"}'),
    ("c.json", '{"7": []}'),
    ("c.json", '{"7": ""}'),
    ("c.json", '{"": "a cat"}'),
    ("c.json", '{"7": "a cat", "7": "a dog"}'),
    ("c.json", '{"7": "\\ud800"}'),
    ("c.json", '{"7": "a\\u0000cat"}'),
    ("c.json", '{"7": "a\\ncat"}'),
    ("c.json", '[{"image_id": 7}]'),
    ("c.json", '[{"caption": "a cat"}]'),
    ("c.json", '[{"image_id": null, "caption": "a cat"}]'),
    ("c.json", '[{"image_id": 7, "caption": 3}]'),
    ("c.json", '[{"image_id": 7, "caption": null}]'),
    ("c.json", '[{"image_id": 7, "caption": ["a cat", 3]}]'),
    ("c.json", '[{"image_id": 7, "caption": "a cat"}, 7]'),
    ("c.json", '[{"image_id": 7, "caption": "a cat"}, {"id": 8, "caption": "a dog"}]'),
    ("c.json", '[{"image_id": 7, "caption": "a cat", "text": "a dog"}]'),
    ("c.json", '[{"image_id": 7, "caption": "a cat", "more": 1}]'),
    (
        "c.json",
        '[{"image_id": 7, "caption": "a cat"}, {"image_id": 7, "caption": "a dog"}]',
    ),
    ("c.json", '["a cat", ["a dog"]]'),
    ("c.json", '["a cat", 7]'),
    ("c.json", '{"annotations": 7}'),
    ("c.json", '{"annotations": [], "images": 7}'),
    ("c.json", '{"annotations": [7]}'),
    ("c.json", '{"annotations": [{"image_id": 1}]}'),
    ("c.json", '{"annotations": [{"caption": "a cat"}]}'),
    ("c.json", '{"annotations": [{"image_id": 1, "caption": 3}]}'),
    (
        "c.json",
        '{"images": [{"id": 2}], "annotations": [{"image_id": 1, "caption": "a"}]}',
    ),
    ("c.json", '{"images": [{"id": 2}, {"id": 2}], "annotations": []}'),
    ("c.json", '{"images": [], "annotations": [{"image_id": 1, "category_id": 3}]}'),
    ("c.jsonl", ""),
    ("c.jsonl", '{"id": "7", "caption": "a cat"}\n{"id": "7"}\n'),
    ("c.jsonl", '{"id": "7", "caption": "a cat"}\n{"id": "8", "caption": null}\n'),
    ("c.jsonl", '{"id": "7", "captions": ["a cat", 3]}\n'),
    ("c.jsonl", '{"id": "7", "caption": "a cat"}\n{"id": "7", "caption": "a dog"}\n'),
    ("c.jsonl", '"a cat"\n'),
    ("c.csv", ""),
    ("c.csv", "image_id,caption\n"),
    ("c.csv", "image_id,caption\n7\n"),
    ("c.csv", "image_id,caption\n,a cat\n"),
    ("c.csv", "image_id,caption\n7,\n"),
    ("c.csv", "image_id,caption,text\n7,a,b\n"),
    ("c.csv", "image_id,colour\n7,a\n"),
    ("c.csv", 'image_id,caption\n7,"a cat\n'),
    ("c.csv", "image_id,caption,more\n7,a cat,x\n"),
    ("c.csv", "id,image_id,caption\n1,7,a cat\n"),
    ("c.csv", b"image_id,caption\n7,caf\xe9\n"),
    ("c.txt", ""),
    ("c.txt", "\n\n"),
    ("c.txt", "a cat\n"),
    ("c.txt", b"caf\xe9\n"),
    ("c.txt", "a cat\ta dog\n"),
    ("c.txt", "a\0cat\n"),
    ("c.txt.gz", gzipped(b"a cat\n")[:-5]),
    ("c.npy", _npy(np.eye(2))),
    ("c.csv.gz", b"image_id,caption\n7,a cat\n"),
]

_PARQUET = (
    "float_ids",
    "null_ids",
    "number_labels",
    "nan_scores",
    "no_labels",
    "twice",
    "null_parts",
    "whole_ids",
    "null_captions",
)


# What stands beside the data: the command that reads it, and contents.
_BESIDE: list[tuple[str, list[tuple[str, Content]]]] = [
    (
        "score -m C-F1 --threshold 0.5 --classes FILE scores.npy truth.npy",
        [
            ("c.txt", ""),
            ("c.txt", "cat\n\ndog\n"),
            ("c.txt", "cat\ncat\na\nb\nc\nd\n"),
            ("c.txt", b"caf\xe9\n"),
            ("c.txt", "\ufeffa\nb\nc\nd\ne\nf\n"),
            ("c.json", "{}"),
            ("c.json", '["a", 7]'),
            ("c.json", '["a", "a"]'),
            ("c.json", '["a", ""]'),
            ("c.json", '"cat"'),
            ("c.json", "["),
            ("c.csv", "a\nb\n"),
            ("c.txt", "a \nb\n"),
            ("c.json", '[["a", "b"], "c"]'),
            ("c.txt", "a\r\nb\r\nc\r\nd\r\ne\r\nf\r\n"),
        ],
    ),
    (
        "score -m F1 --ignore @FILE a.json gt.json",
        [
            ("i.txt", ""),
            ("i.txt", "cat\n\n"),
            ("i.json", '["cat"]'),
            ("i.json", '{"a": 1}'),
        ],
    ),
    (
        "score -m F1 --weights FILE few.json few.json",
        [
            ("w.json", ""),
            ("w.json", "[1, 2]"),
            ("w.json", "[1, 2, 3]"),
            ("w.json", '{"1": 1}'),
            ("w.json", '{"1": 1, "2": "x", "4": 1}'),
            ("w.json", '{"1": 1, "2": -1, "4": 1}'),
            ("w.json", '{"1": 1, "2": NaN, "4": 1}'),
            ("w.json", '{"1": 1, "2": null, "4": 1}'),
            ("w.json", '{"1": 0, "2": 0, "4": 0}'),
            ("w.json", '{"1": 1, "2": 1, "4": 1, "5": 1}'),
            ("w.json", '{"1": 1, "1": 1}'),
            ("w.csv", "id,weight\n1,1\n2,x\n4,1\n"),
            ("w.csv", "id,weight\n1,1\n1,1\n2,1\n4,1\n"),
            ("w.csv", "id,number\n1,1\n"),
            ("w.csv", "id,weight\n1,1\n2,1\n4,2\n"),
            ("w.tsv", "id\tweight\n1\t1\n2\t1\n4\t2\n"),
            ("w.npy", _npy(np.array([1.0, 2.0]))),
            ("w.npy", _npy(np.array([1.0, 2.0, np.inf]))),
            ("w.npy", _npy(np.eye(3))),
            ("w.npy", _npy(np.array([1, 2, 3]))),
            ("w.npy", _npy(np.array(["a", "b", "c"]))),
            ("w.txt", "1\n2\n3\n"),
        ],
    ),
    (
        "score -m F1 --decode {by_size} {set_sizes} FILE scores.npy truth.npy",
        [
            ("s.npy", b""),
            ("s.npy", _npy(np.ones((10, 0)))),
            ("s.npy", _npy(np.ones(10))),
            ("s.npy", _npy(-np.ones((10, 3)))),
            ("s.npy", _npy(np.full((10, 3), np.nan))),
            ("s.npy", _npy(np.ones((9, 3)))),
            ("s.npy", _npy(np.ones((10, 3), int))),
            ("s.json", "[[1]]"),
            ("s.npz", _npz(a=np.ones((10, 2)))),
        ],
    ),
    (
        "score -m hF --taxonomy FILE few.json few.json",
        [
            ("t.json", ""),
            ("t.json", "[]"),
            ("t.json", "{}"),
            ("t.json", '{"a": 7}'),
            ("t.json", '{"a": ["b", 7]}'),
            ("t.json", '{"a": ""}'),
            ("t.json", '{"a": "a"}'),
            ("t.json", '{"a": "b", "b": "c", "c": "a"}'),
            ("t.json", '{"a": "b", "a": "c"}'),
            ("t.json", '{"cat": "pet", "dog": "pet", "couch": "x", "puppy": "dog"}'),
            ("t.json", '{"a": ["b", "b"]}'),
            ("t.json", '{"a": null}'),
            ("t.json", '{"a": []}'),
            ("t.csv", "child,parent\na\n"),
            ("t.csv", "a,b\n"),
            ("t.csv", "child,parent\na,\n"),
            ("t.csv", "child,parent\na,b\na,b\n"),
            ("t.csv", "child,parent\na,b\nb,a\n"),
            ("t.tsv", "child\tparent\na\tb\n"),
            ("t.txt", "a b\n"),
            ("t.csv", "parent,child\na,b\n"),
        ],
    ),
    (
        "calibrate --embedding words.vec --pairs FILE",
        [
            ("p.csv", ""),
            ("p.csv", "a,b,same\n"),
            ("p.csv", "a,b\ncat,dog\n"),
            ("p.csv", "a,b,same\ncat,dog,2\n"),
            ("p.csv", "a,b,same\ncat,dog,maybe\n"),
            ("p.csv", "a,b,same\ncat,dog,0\ndog,dog,0\n"),
            ("p.csv", "a,b,same\ncat,,1\n"),
            ("p.csv", "a,b,same\ncat,dog\n"),
            ("p.csv", "a,b,same,more\ncat,dog,0,x\ncat,car,yes,x\n"),
            ("p.csv", "a,b,same\ncat,kitten,true\ncat,dog,False\n"),
            ("p.csv", "a,b,same\ncat,kitten,1\ncat,kitten,1\ncat,dog,0\n"),
            ("p.csv", "a,b,same\ncat,kitten,1\nkitten,cat,0\n"),
            ("p.json", "{}"),
            ("p.json", "[]"),
            ("p.json", '[["cat", "dog"]]'),
            ("p.json", '[["cat", "dog", 0], ["cat", "kitten", 1]]'),
            ("p.json", '[{"a": "cat", "b": "dog"}]'),
            ("p.json", '[{"a": "cat", "b": 3, "same": 1}]'),
            ("p.json", '[{"a": "cat", "b": "dog", "same": "no"}]'),
            ("p.jsonl", '{"a": "cat", "b": "dog", "same": 1}\nx\n'),
            ("p.txt", "cat dog 1\n"),
        ],
    ),
    (
        "score -m SemF1 --embedding words.vec --calibration FILE a.json gt.json",
        [
            ("c.json", ""),
            ("c.json", "{}"),
            ("c.json", "[]"),
            ("c.json", "["),
            ("c.json", '{"schema": "semmetrics.calibration/1"}'),
            ("c.json", '{"schema": "semmetrics.calibration/9", "threshold": 0.5}'),
        ],
    ),
    (
        "score -m 'SemF1(threshold=0.4)' --embedding FILE a.json gt.json",
        [
            ("e.vec", ""),
            ("e.vec", "2 2\ncat 1 0\n"),
            ("e.vec", "1 2\ncat 1\n"),
            ("e.vec", "1 2\ncat 1 x\n"),
            ("e.vec", "1 2\ncat 1 nan\n"),
            ("e.vec", "1 2\ncat 1 0\n"),
            ("e.vec", "2 2\ncat 1 0\ncat 0 1\n"),
            ("e.vec", b"1 2\ncaf\xe9 1 0\n"),
            ("e.vec", "x y\n"),
            ("e.vec", "0 2\n"),
            ("e.txt", "cat 1 0\ndog 0 1\n"),
            ("e.txt", "cat 1 0\ndog 0\n"),
            ("e.bin", b"1 2\ncat " + struct.pack("<2f", 1, 0) + b"\n"),
            ("e.bin", b"2 2\ncat " + struct.pack("<2f", 1, 0) + b"\n"),
            ("e.bin", b"1 2\ncat \0"),
            ("e.vec.gz", gzipped(b"1 2\ncat 1 0\n")),
            ("e.pkl", b"x"),
            ("e.model", b"x"),
            ("e.vec.gz", gzipped(b"1 2\ncat 1 0\n")[:-6]),
            ("e.npy", _npy(np.eye(2))),
            (
                "e.npz",
                _npz(
                    words=np.array(["cat", "dog"]), vectors=np.eye(2, dtype=np.float32)
                ),
            ),
            ("e.npz", _npz(vectors=np.eye(2))),
            ("e.zip", b"PK"),
        ],
    ),
    (
        "rank FILE",
        [
            ("r.json", ""),
            ("r.json", "[]"),
            ("r.json", "{}"),
            ("r.json", '[{"system": "a"}]'),
            (
                "r.json",
                '[{"schema": "semmetrics.score/1", "system": "a", "measure": "O-F1", '
                '"heading": "O-F1", "value": null}]',
            ),
            (
                "r.json",
                '[{"schema": "semmetrics.score/1", "system": "a", "measure": "O-F1", '
                '"heading": "O-F1", "value": 0.0}]',
            ),
            (
                "r.json",
                '[{"schema": "other/1", "system": "a", "measure": "O-F1", "value": 1}]',
            ),
        ],
    ),
    (
        "score -m 'CIDEr-D' {frequencies} FILE captions.json references.json",
        [
            ("d.json", ""),
            ("d.json", "{}"),
            ("d.json", '{"documents": 3}'),
            ("d.json", '{"documents": 3, "frequencies": []}'),
            ("d.json", '{"documents": -3, "frequencies": {}}'),
            ("d.json", '{"documents": 3.5, "frequencies": {}}'),
            ("d.json", '{"documents": true, "frequencies": {}}'),
            ("d.json", '{"documents": 9007199254740992, "frequencies": {}}'),
            ("d.json", '{"documents": 3, "frequencies": {"a": 4}}'),
            ("d.json", '{"documents": 3, "frequencies": {"a": -1}}'),
            ("d.json", '{"documents": 3, "frequencies": {"a": 1.5}}'),
            ("d.json", '{"documents": 3, "frequencies": {"a": "1"}}'),
            ("d.json", '{"documents": 3, "frequencies": {"a": null}}'),
            ("d.json", '{"documents": 3, "frequencies": {"": 1}}'),
            ("d.json", '{"documents": 3, "frequencies": {"a b": 1, "a  b": 1}}'),
            ("d.json", '{"documents": 3, "frequencies": {"a b c d e f": 1}}'),
            ("d.json", '{"documents": 3, "frequencies": {"a": 1}, "tokenizer": 3}'),
            ("d.json", '{"documents": 3, "frequencies": {"a": 1}, "tokenizer": "13a"}'),
            ("d.json", '{"documents": 3, "frequencies": {"a": 1}, "stem": "porter"}'),
            ("d.json", '{"documents": 3, "frequencies": {"a": 1, "a": 2}}'),
            ("d.json", '\ufeff {"documents": 3, "frequencies": {"a": 1}}'),
            ("d.json", '{"documents": 0, "frequencies": {}}'),
            ("d.json", '{"documents": 3, "frequencies": {"a": 1}, "more": 1}'),
            ("d.npz", _npz(a=np.eye(2))),
            ("d.npz", b"PK\x03\x04"),
            ("d.npz", _npz(said=np.frombuffer(b"{}", np.uint8))),
            ("d.npz", _npz(said=np.frombuffer(b"[1", np.uint8))),
            ("d.npz", _npz(said=np.array([None], object))),
        ],
    ),
]


def _asked(name: str, content: Content, commands: list[str]) -> Any:
    """What commands say of a file that is there for them alone."""
    data = content() if callable(content) else content
    path = Path(name)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    try:
        said = []
        for command in commands:
            code, _, err = run_program(shlex.split(spelled(command)))
            said.append([f"exit {code}", *err.splitlines()])
        return said
    finally:
        path.unlink()


def _bad(number: int, named: str, content: Content, *commands: str) -> Case:
    name = named.rpartition(" ")[2]
    shown = content() if callable(content) else content
    if shown[:2] == b"PK":  # archives differ between versions of NumPy
        shown = "an archive"
    label = f"{number} {named}: {shown!r:.80}"
    every = [command.replace("FILE", named) for command in commands]
    return Case(
        label, lambda: with_files(lambda: {"said": _asked(name, content, every)})
    )


GROUPS = {
    "errors_labels": [
        _bad(
            number,
            named.replace(";", "';'"),
            content,
            "score -q -m F1 --missing skip FILE gt.json",
            "validate FILE",
        )
        for number, (named, content) in enumerate(_LABELS)
    ],
    "errors_captions": [
        _bad(
            number,
            named,
            content,
            "score -q -m BLEU-1 --missing skip FILE references.json",
        )
        for number, (named, content) in enumerate(_CAPTIONS)
    ],
    "errors_parquet": [
        Case(
            name,
            lambda name=name: [
                list(run_program(shlex.split(command)))
                for command in (
                    f"score -m F1 --missing skip {name}.parquet gt.json",
                    f"score -m BLEU-1 --missing skip {name}.parquet references.json",
                    f"validate {name}.parquet",
                )
            ],
            needs=("pyarrow",),
        )
        for name in _PARQUET
    ],
    "errors_beside": [
        _bad(number, name, content, command)
        for command, contents in _BESIDE
        for number, (name, content) in enumerate(contents)
    ],
}
