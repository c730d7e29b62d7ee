"""Readers of damaged files return items or raise an InputError, without a warning."""

import gzip
import io
import json
import warnings

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from fuzz.damage import mutate, run_cases
from scipy import sparse

from semmetrics import ReadOptions, as_candidates, as_captions, as_labels
from semmetrics.data.lists import Lists
from semmetrics.data.side_inputs import read_class_list, read_numbers
from semmetrics.embed.word_files import read_matrix
from semmetrics.errors import InputError
from semmetrics.kinds import resolve_kind
from semmetrics.kinds.captions import as_texts

COCO = {
    "images": [{"id": 1}, {"id": 2}],
    "annotations": [
        {"image_id": 1, "category_id": 18},
        {"image_id": 2, "category_id": 3},
    ],
    "categories": [{"id": 18, "name": "dog"}, {"id": 3, "name": "car"}],
}
RECORDS = [
    {"id": 1, "labels": ["cat"], "scores": [0.5]},
    {"id": "b", "tags": {"dog": 1}},
]
CAPTIONS = {
    "images": [{"id": 1}, {"id": 2}],
    "annotations": [
        {"id": 5, "image_id": 1, "caption": "a cat"},
        {"image_id": 1, "caption": ""},
    ],
}
KARPATHY = {
    "images": [
        {"imgid": 1, "split": "test", "sentences": [{"sentid": 5, "raw": "a cat"}]},
        {"imgid": 2, "split": "val", "sentences": [{"sentid": 6, "raw": ""}]},
    ]
}
RESULTS = [
    {"image_id": 1, "caption": "a cat\u2028"},
    {"image_id": 1, "caption": "the cat"},
]
REGION = {"type": "choices", "value": {"x": 1, "choices": ["cat"]}, "score": 0.5}
TASK = {
    "id": 1,
    "data": {"image": "a.jpg"},
    "annotations": [{"result": [REGION], "was_cancelled": False}],
    "predictions": [{"result": [REGION]}],
}
FIFTYONE = {
    "filepath": "x/a.jpg",
    "p": {"detections": [{"label": "cat", "confidence": 0.5}]},
}
LABELBOX = {
    "data_row": {"id": "x", "external_id": "a.jpg"},
    "projects": {
        "p": {
            "labels": [
                {
                    "annotations": {
                        "objects": [{"name": "cat"}],
                        "classifications": [
                            {"name": "q", "radio_answer": {"name": "yes"}}
                        ],
                    }
                }
            ]
        }
    },
}
DATUMARO = {
    "categories": {"label": {"labels": [{"name": "cat"}]}},
    "items": [
        {
            "id": "a",
            "annotations": [
                {"type": "label", "label_id": 0, "attributes": {"score": 1}}
            ],
            "image": {"path": "a.jpg"},
        }
    ],
}
LVIS = {
    **COCO,
    "images": [{"id": 1, "neg_category_ids": [3]}, {"id": 2, "neg_category_ids": []}],
}
MSRVTT = {
    "videos": [{"video_id": "v", "split": "test"}],
    "sentences": [{"video_id": "v", "sen_id": 1, "caption": "a cat"}],
}
TEXTCAPS = {"data": [{"image_id": "a", "caption_id": 1, "reference_strs": ["a cat"]}]}
DOCUMENTS = [
    [{"image_id": 1, "category_id": 18, "score": 0.5}],
    LVIS,
    [TASK],
    [
        {
            "id": 1,
            "choice": REGION["value"],
            "annotation_id": 1,
            "annotator": 1,
            "lead_time": 1,
        }
    ],
    {
        "classes": ["cat", "dog"],
        "labels": {"a": 1, "b": [{"label": "cat", "confidence": 1}]},
    },
    {"a": {"classifications": [{"label": "cat"}]}},
    {"samples": [FIFTYONE]},
    [LABELBOX],
    [{"External ID": "a", "Label": {"objects": [{"title": "cat"}]}}],
    DATUMARO,
    MSRVTT,
    TEXTCAPS,
    [{"videoID": "v", "enCap": ["a cat"]}],
    [{"image": "x/a.jpg", "caption": ["a cat"]}],
    {"v": {"timestamps": [[0, 1]], "sentences": ["a cat"]}},
]
CVAT = (
    b'<annotations><image id="0" name="a.jpg"><tag label="cat"/></image></annotations>'
)
ARFF = (
    b"@relation 'x: -C 1'\n@attribute cat {0,1}\n@attribute x numeric\n@data\n1,0.5\n"
)


def saved(save, *args, **options):
    """Return the bytes that a function writes into a file."""
    stream = io.BytesIO()
    save(stream, *args, **options)
    return stream.getvalue()


def as_json(document):
    return json.dumps(document).encode()


def as_json_lines(records):
    return "\n".join(map(json.dumps, records)).encode()


def public_formats():
    """Yield the extension and the content of a file of each public format."""
    for document in DOCUMENTS:
        yield "json", as_json(document)
    yield "jsonl", as_json_lines([LABELBOX, LABELBOX])
    yield "csv", b"image_id,category_id,score\n1,18,0.5\n1,18,0.7\n2,3,0.5\n"
    yield "csv", b"file_name,caption_1,caption_2\na.wav,a cat,\nb.wav,x,y\n"
    row = b'1,"{""choices"": [""cat""]}",1,1,1'
    yield "csv", b"id,choice,annotation_id,annotator,lead_time\n" + row + b"\n"
    yield "txt", b"2 4\n1:1.0 3:0.5\n0:1\n"
    yield "txt", b"2 9 4\n1,3 0:0.5 4:1.2\n 0:1\n"
    yield "txt", b"__label__cat 0.5 __label__dog 0.25\n__label__cat a cat\n"
    yield "xml", CVAT
    yield "arff", ARFF


def label_files():
    labels = {"a": ["cat", {"label": "dog", "score": 0.5}], "b": []}
    yield "json", as_json(labels)
    yield "json", as_json({"a": {"cat": 0.5}, "é": {"dog": 1}})
    yield "json", json.dumps(RECORDS, indent=1).encode("utf-16")
    yield "json", as_json([["cat", ["bin", "ashcan"]], []])
    yield "json", as_json(COCO)
    yield "jsonl", as_json_lines(RECORDS)
    yield "csv", b'id,label,score\na,cat,0.5\nb,"d, og",1\na,car,0\nc,,\n'
    yield "csv", b"id,label\r\na,cat\r\na,dog\r\n\r\nb,\r\n"
    yield "tsv", b"img_id\ttags\na\tcat|dog\nb\t\n"
    yield "csv", b"id,weight\na,0.5\nb,2\n"
    yield "txt", b"cat\ndog\ntraffic light\n"


def caption_files():
    yield "json", as_json(CAPTIONS)
    yield "json", json.dumps(RESULTS, ensure_ascii=False).encode()
    yield "json", json.dumps({"a": "a cat", "b": ""}).encode("utf-16")
    yield "json", as_json({"a": ["a cat", "the cat"], "b": ["😀"]})
    yield "json", as_json(["a cat", "a dog sleeps"])
    yield "jsonl", as_json_lines([*RESULTS, {"id": 2, "refs": ["x", "y"]}])
    table = "image_id\tcaption_id\tcaption\r\n1\t5\ta cat\r\n2\t6\t\r\n1\t7\té"
    yield "tsv", table.encode()
    yield "txt", "a cat\tthe cat\r\n\n猫\u2028\x85b\n".encode()
    yield "txt", "1.jpg#0\ta cat\r\n1.jpg#1\tthe cat\n2.jpg#0\t猫\n".encode()
    yield "token", b"1.jpg#0\ta cat\n2.jpg#0\t\n"
    yield "json", as_json(KARPATHY)


def array_files():
    matrix = sparse.csr_array(np.array([[0, 0.5], [1, 0]]))
    names = {"classes": np.array(["a", "b"]), "ids": np.array([1, 2])}
    yield "npy", saved(np.save, np.array([[0.5, 1], [0, 0.25]]))
    yield "npy", saved(np.save, np.array([True, False]))
    yield "npz", saved(np.savez, y=np.eye(2), **names)
    yield "npz", saved(np.savez_compressed, values=np.eye(2, dtype=np.int8))
    yield "npz", saved(sparse.save_npz, matrix)
    yield "npz", saved(sparse.save_npz, matrix.tocoo(), compressed=False)


def arrow_files():
    caption_rows = {"image_id": [1, 1, 2], "caption": ["x", "", "y z"]}
    scored_rows = {"id": ["a", "a", "b"], "label": ["x", "y", None]}
    scored_rows["score"] = [0.5, 1.0, None]
    caption_lists = {"id": ["a", "b"], "references": [["x", "y"], []]}
    label_lists = {"id": [1, 2], "labels": [["x", "y"], []]}
    label_lists["scores"] = [[0.5, 1.0], []]
    coded = {"id": [1, 2], "label": pyarrow.array(["x", "y"]).dictionary_encode()}
    for columns in (scored_rows, caption_rows, caption_lists, label_lists):
        yield "parquet", saved(write_parquet, columns)
    for columns in (scored_rows, caption_lists, label_lists, coded):
        yield "arrow", saved(write_arrow, columns, pyarrow.ipc.new_file)
        yield "arrows", saved(write_arrow, columns, pyarrow.ipc.new_stream)


def write_parquet(stream, columns):
    pyarrow.parquet.write_table(pyarrow.table(columns), stream)


def write_arrow(stream, columns, open_writer):
    table = pyarrow.table(columns)
    with open_writer(stream, table.schema) as writer:
        writer.write_table(table)


SEEDS = [
    *public_formats(),
    *label_files(),
    *caption_files(),
    *array_files(),
    *arrow_files(),
]


# ---- readers ------------------------------------------------------------------------------------


def read_kind(path, options):
    """Recognise the kind of a file next to label sets that could also be captions."""
    try:
        resolve_kind(path, {"a": ["cat"]}, options=options)
    except InputError as error:
        is_about_both = (
            "could be" in error.problem or "different kinds" in error.problem
        )
        if not is_about_both:
            raise


LIST_READERS = {
    "labels": lambda path, options: as_labels(path, options=options),
    "captions": lambda path, options: as_captions(path, options=options),
    "texts": lambda path, options: as_texts(path, options=options),
}
OTHER_READERS = {
    "candidates": lambda path, options: as_candidates(path, options=options),
    "class list": read_class_list,
    "kind": read_kind,
    "numbers": read_numbers,
    "vectors": lambda path, options: read_matrix(path, max_bytes=options.max_bytes),
}
READERS = {**LIST_READERS, **OTHER_READERS}
OPTIONS = [
    ReadOptions(max_bytes=2**20, max_line_bytes=2**16),
    ReadOptions(max_bytes=2**20, label_delimiter="|"),
    ReadOptions(max_bytes=2**20, max_line_bytes=30, delimiter=";"),
    ReadOptions(max_bytes=2**20, classes=["a", "b"]),
    ReadOptions(max_bytes=2**20, caption_column="caption", id_column="id"),
    ReadOptions(max_bytes=2**20, split="test"),
]


def write_case(rng, folder):
    """Write a file that is damaged in most cases, and return its path."""
    extension, data = rng.choice(SEEDS)
    if rng.random() < 0.95:
        data = mutate(rng, data)
    if rng.random() < 0.2:
        data = gzip.compress(data, mtime=0)
        if rng.random() < 0.5:
            data = mutate(rng, data)
        extension += rng.choice(["", ".gz"])
    path = folder / f"case.{extension}"
    path.write_bytes(data)
    return path


def run_readers(path, options):
    """Check the result of each reader, and return how many of them read the file."""
    n_accepted = 0
    for name, read in READERS.items():
        try:
            result = read(path, options)
        except InputError as error:
            check_error(error, path.name)
            continue
        n_accepted += 1
        if name in LIST_READERS:
            check_lists(result)
    return n_accepted


def check_error(error, file_name):
    stem = file_name.partition(".")[0]
    assert stem in error.where, error
    assert str(error)


def check_lists(lists):
    assert isinstance(lists, Lists)
    n_items = len(lists)
    indptr = lists.side.indptr
    assert n_items > 0
    assert len(lists.ids) == n_items == len(indptr) - 1
    assert indptr[0] == 0
    assert indptr[-1] == len(lists.side.codes)
    assert {type(entry) for entry in lists.vocabulary} <= {str, tuple}
    for terms in lists.terms:
        "".join(terms).encode()
    if not isinstance(lists.ids, range):
        assert len(set(lists.ids)) == n_items
        assert all(isinstance(id_, str) and id_ for id_ in lists.ids)
    assert lists.source in lists.where(n_items - 1)


def test_readers_return_items_or_raise_an_input_error(
    tmp_path, fuzz_seconds, fuzz_seed
):
    n_accepted = []

    def run_case(rng):
        path = write_case(rng, tmp_path)
        n_accepted.append(run_readers(path, rng.choice(OPTIONS)))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        n_cases = run_cases(run_case, fuzz_seconds, fuzz_seed)

    if fuzz_seconds >= 5:
        # If no file or each file were accepted, the fuzzer would test nothing.
        assert 0.01 < sum(n_accepted) / n_cases < 1


@pytest.mark.parametrize("number", range(len(SEEDS)))
def test_some_reader_accepts_an_undamaged_file(tmp_path, number):
    extension, data = SEEDS[number]
    path = tmp_path / f"case.{extension}"
    path.write_bytes(data)

    assert run_readers(path, ReadOptions()) > 0
