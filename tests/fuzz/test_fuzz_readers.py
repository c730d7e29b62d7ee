"""Readers on damaged files: each gives items or an InputError, and never a warning."""

import gzip
import io
import json
import warnings

import numpy as np
import pytest
from fuzz.damage import mutate, run_cases
from scipy import sparse

from semmetrics import ReadOptions, as_candidates, as_captions, as_labels
from semmetrics.data.lists import Lists
from semmetrics.data.side_inputs import read_class_list, read_numbers
from semmetrics.embed.word_files import read_matrix
from semmetrics.errors import InputError
from semmetrics.kinds import Resolved, resolve_kind
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


def saved(save, *args, **kwargs):
    stream = io.BytesIO()
    save(stream, *args, **kwargs)
    return stream.getvalue()


def write(writer, table):
    with writer:
        writer.write_table(table)


def formats():
    for document in DOCUMENTS:
        yield "json", json.dumps(document).encode()
    yield "jsonl", "\n".join(map(json.dumps, [LABELBOX, LABELBOX])).encode()
    yield "csv", b"image_id,category_id,score\n1,18,0.5\n1,18,0.7\n2,3,0.5\n"
    yield "csv", b"file_name,caption_1,caption_2\na.wav,a cat,\nb.wav,x,y\n"
    yield (
        "csv",
        b'id,choice,annotation_id,annotator,lead_time\n1,"{""choices"": [""cat""]}",1,1,1\n',
    )
    yield "txt", b"2 4\n1:1.0 3:0.5\n0:1\n"
    yield "txt", b"2 9 4\n1,3 0:0.5 4:1.2\n 0:1\n"
    yield "txt", b"__label__cat 0.5 __label__dog 0.25\n__label__cat a cat\n"
    yield "xml", CVAT
    yield "arff", ARFF


def seeds():
    yield from formats()
    matrix = sparse.csr_array(np.array([[0, 0.5], [1, 0]]))
    yield (
        "json",
        json.dumps({"a": ["cat", {"label": "dog", "score": 0.5}], "b": []}).encode(),
    )
    yield "json", json.dumps({"a": {"cat": 0.5}, "é": {"dog": 1}}).encode()
    yield "json", json.dumps(RECORDS, indent=1).encode("utf-16")
    yield "json", json.dumps([["cat", ["bin", "ashcan"]], []]).encode()
    yield "json", json.dumps(COCO).encode()
    yield "jsonl", "\n".join(map(json.dumps, RECORDS)).encode()
    yield "csv", b'id,label,score\na,cat,0.5\nb,"d, og",1\na,car,0\nc,,\n'
    yield "csv", b"id,label\r\na,cat\r\na,dog\r\n\r\nb,\r\n"
    yield "tsv", b"img_id\ttags\na\tcat|dog\nb\t\n"
    yield "csv", b"id,weight\na,0.5\nb,2\n"
    yield "txt", b"cat\ndog\ntraffic light\n"
    yield "json", json.dumps(CAPTIONS).encode()
    yield "json", json.dumps(RESULTS, ensure_ascii=False).encode()
    yield "json", json.dumps({"a": "a cat", "b": ""}).encode("utf-16")
    yield "json", json.dumps({"a": ["a cat", "the cat"], "b": ["😀"]}).encode()
    yield "json", json.dumps(["a cat", "a dog sleeps"]).encode()
    yield (
        "jsonl",
        "\n".join(map(json.dumps, [*RESULTS, {"id": 2, "refs": ["x", "y"]}])).encode(),
    )
    yield (
        "tsv",
        "image_id\tcaption_id\tcaption\r\n1\t5\ta cat\r\n2\t6\t\r\n1\t7\té".encode(),
    )
    yield "txt", "a cat\tthe cat\r\n\n猫\u2028\x85b\n".encode()
    yield "txt", "1.jpg#0\ta cat\r\n1.jpg#1\tthe cat\n2.jpg#0\t猫\n".encode()
    yield "token", b"1.jpg#0\ta cat\n2.jpg#0\t\n"
    yield "json", json.dumps(KARPATHY).encode()
    yield "npy", saved(np.save, np.array([[0.5, 1], [0, 0.25]]))
    yield "npy", saved(np.save, np.array([True, False]))
    yield (
        "npz",
        saved(
            np.savez, y=np.eye(2), classes=np.array(["a", "b"]), ids=np.array([1, 2])
        ),
    )
    yield "npz", saved(np.savez_compressed, values=np.eye(2, dtype=np.int8))
    yield "npz", saved(sparse.save_npz, matrix)
    yield "npz", saved(sparse.save_npz, matrix.tocoo(), compressed=False)
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        return
    long = {"id": ["a", "a", "b"], "label": ["x", "y", None], "score": [0.5, 1.0, None]}
    yield "parquet", saved(lambda to: parquet.write_table(arrow.table(long), to))
    texts = {"image_id": [1, 1, 2], "caption": ["x", "", "y z"]}
    yield "parquet", saved(lambda to: parquet.write_table(arrow.table(texts), to))
    many = {"id": ["a", "b"], "references": [["x", "y"], []]}
    yield "parquet", saved(lambda to: parquet.write_table(arrow.table(many), to))
    wide = {"id": [1, 2], "labels": [["x", "y"], []], "scores": [[0.5, 1.0], []]}
    yield "parquet", saved(lambda to: parquet.write_table(arrow.table(wide), to))
    coded = {"id": [1, 2], "label": arrow.array(["x", "y"]).dictionary_encode()}
    for columns in (long, many, wide, coded):
        table = arrow.table(columns)
        for extension, writer in (
            ("arrow", arrow.ipc.new_file),
            ("arrows", arrow.ipc.new_stream),
        ):
            yield (
                extension,
                saved(
                    lambda to, table=table, new=writer: write(
                        new(to, table.schema), table
                    )
                ),
            )


SEEDS = list(seeds())


def labels(path, options=None):
    return as_labels(path, options=options)


def captions(path, options=None):
    return as_captions(path, options=options)


def kind(path, options=None):
    """What it is beside labels that could be captions; other errors than doubt are the file's."""
    try:
        return resolve_kind(path, {"a": ["cat"]}, options=options or ReadOptions())
    except InputError as error:
        if "could be" in error.problem or "different kinds" in error.problem:
            return Resolved("labels", error.problem)
        raise


def texts(path, options=None):
    return as_texts(path, options=options)


def vectors(path, options=None):
    return read_matrix(path, max_bytes=(options or ReadOptions()).max_bytes)


def candidates(path, options=None):
    return as_candidates(path, options=options)


READERS = (
    labels,
    read_class_list,
    read_numbers,
    vectors,
    captions,
    texts,
    candidates,
    kind,
)
OPTIONS = [
    ReadOptions(max_bytes=2**20, max_line_bytes=2**16),
    ReadOptions(max_bytes=2**20, label_delimiter="|"),
    ReadOptions(max_bytes=2**20, max_line_bytes=30, delimiter=";"),
    ReadOptions(max_bytes=2**20, classes=["a", "b"]),
    ReadOptions(max_bytes=2**20, caption_column="caption", id_column="id"),
    ReadOptions(max_bytes=2**20, split="test"),
]


def run_case(rng, folder):
    """Damage one file and give it to every reader; returns how many readers accepted it."""
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
    options = rng.choice(OPTIONS)
    accepted = 0
    for reader in READERS:
        try:
            result = reader(path, options)
        except InputError as error:
            check_error(error, path.name)
            continue
        accepted += 1
        if reader in (labels, captions, texts):
            check_lists(result)
    return accepted


def check_error(error, name):
    assert name.partition(".")[0] in error.where, error  # or of the file beside it
    assert str(error)


def check_lists(got):
    assert isinstance(got, Lists)
    rows = len(got)
    assert rows > 0
    assert len(got.ids) == rows == len(got.side.indptr) - 1
    assert got.side.indptr[0] == 0
    assert got.side.indptr[-1] == len(got.side.codes)
    assert set(map(type, got.vocabulary)) <= {str, tuple}
    "".join(term for terms in got.terms for term in terms).encode()
    if not isinstance(got.ids, range):
        assert len(set(got.ids)) == rows
        assert all(isinstance(id_, str) and id_ for id_ in got.ids)
    assert got.source in got.where(rows - 1)


def test_readers_give_items_or_an_input_error(tmp_path, fuzz_seconds, fuzz_seed):
    accepted = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        number = run_cases(
            lambda rng: accepted.append(run_case(rng, tmp_path)),
            fuzz_seconds,
            fuzz_seed,
        )
    if fuzz_seconds >= 5:
        # A fuzzer whose every file is refused, or none, looks at nothing.
        assert 0.01 < sum(accepted) / number < 1


@pytest.mark.parametrize("case", range(len(SEEDS)))
def test_undamaged_files_are_accepted_by_some_reader(tmp_path, case):
    extension, data = SEEDS[case]
    path = tmp_path / f"case.{extension}"
    path.write_bytes(data)
    accepted = 0
    for reader in READERS:
        try:
            reader(path)
            accepted += 1
        except InputError:
            pass
    assert accepted
