"""The fast and the strict readers of JSON lines and tables: the same data, or the same refusal."""

import gzip
import json

import pytest
from fuzz.damage import mutate, run_cases

from semmetrics import ReadOptions
from semmetrics.data import inputs, source
from semmetrics.errors import InputError
from semmetrics.kinds.captions import FORM as CAPTIONS
from semmetrics.kinds.labels import FORM as LABELS

HEAD = 48  # bytes that count as small here, so that every reader has a beginning and a rest
WORDS = [
    "cat",
    "dog",
    "traffic light",
    "é",
    "猫",
    "a,b",
    'say "hi"',
    " x ",
    "",
    "007",
    "1e3",
    "\u2028",
]
OPTIONS = [
    ReadOptions(),
    ReadOptions(max_line_bytes=60),
    ReadOptions(label_delimiter="|"),
    ReadOptions(id_column="key"),
    ReadOptions(delimiter=";"),
]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Files of a few lines are large, and are read in blocks of two or three lines."""
    from semmetrics.data import large_text

    monkeypatch.setattr(source, "SMALL", HEAD)
    monkeypatch.setattr(source, "_CHUNK", 32)
    monkeypatch.setattr(large_text, "BLOCK_BYTES", 64)


ODD = [
    "",
    1,
    None,
    [{"x": 1}],
    -0.0,
    float("nan"),
    {"x": [float("inf")]},
    "NaN",
    10**400,
]


def records(rng, form):
    """Records of one shape, now and then with one of another."""
    key = rng.choice([*form.keys[:2], form.keys[0]])
    ids = ["a", "b", "007", "é", "c d", *map(str, range(8))]
    rng.shuffle(ids)
    numbered, extra = rng.random() < 0.2, rng.random() < 0.3
    single = form.single and rng.random() < 0.5
    scored = form.scored and rng.random() < 0.3
    for number in range(rng.randrange(1, 9)):
        id_ = rng.choice(ids[:3]) if rng.random() < 0.05 else ids[number]
        values = [rng.choice(WORDS) for _ in range(rng.randrange(4))]
        if not form.allows_empty and rng.random() < 0.95:
            values = [value for value in values if value.strip()]
        record = {"id": number if numbered else id_}
        record[key] = rng.choice(WORDS) if single else values
        if scored:
            record["scores"] = [rng.random() for _ in values]
        if extra and rng.random() < 0.8:
            record[rng.choice(["url", "box"])] = rng.choice(ODD)
        if rng.random() < 0.03:
            record[key] = rng.choice(
                [None, 3, "cat", [1], [["cat", 0.5]], {"cat": 0.5}, [None]]
            )
        yield record


def jsonl(rng, form):
    ends = rng.choice(["\n", "\n", "\r\n"])
    lines = [
        json.dumps(one, ensure_ascii=rng.random() < 0.5) for one in records(rng, form)
    ]
    if rng.random() < 0.1:  # a key that stands twice where nobody looks
        lines = [
            line.replace('"url": 1', '"url": {"k": [1], "k": 2}') for line in lines
        ]
    return ends.join(lines).encode() + rng.choice([b"", ends.encode()])


def table(rng, form, comma):
    rows = [
        [
            "id",
            form.columns[0],
            *(["score"] if form.scored and rng.random() < 0.3 else []),
        ]
    ]
    if rng.random() < 0.2:
        rows[0].append("extra")
    for record in records(rng, form):
        values = next(value for key, value in record.items() if key in form.keys)
        for value in values if isinstance(values, list) else [values]:
            rows.append([record["id"], value, "0.5", "x"][: len(rows[0])])
        if values == [] and rng.random() < 0.8:
            rows.append([record["id"], "", "", "x"][: len(rows[0])])
        if rng.random() < 0.05:
            rows.append(
                [record["id"], "|".join(map(str, WORDS[:3])), "0.5|1|0", ""][
                    : len(rows[0])
                ]
            )

    def cell(value):
        text = str(value)
        quoted = any(c in text for c in f'"{comma}\n') or rng.random() < 0.1
        return '"' + text.replace('"', '""') + '"' if quoted else text

    ends = rng.choice(["\n", "\n", "\r\n"])
    return ends.join(comma.join(map(cell, row)) for row in rows).encode() + rng.choice(
        [b"", b"\n"]
    )


def outcome(read, path, form, options):
    """What is read, as plain values, or the refusal."""
    try:
        found = read(path, form, options)
    except InputError as error:
        return str(error)
    scores = found.side.scores
    places = [found.where(i) for i in range(len(found))]
    notes = [note for note in found.notes if note.code != "unused-columns"]
    return (
        list(found.ids),
        found.to_list(),
        None if scores is None else scores.tolist(),
        list(found.vocabulary),
        found.understood,
        notes,
        places,
    )


def strict(path, form, options):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "SMALL", 2**20)
        return inputs.as_data(path, form, options=options)


def fast(path, form, options):
    return inputs.as_data(path, form, options=options)


def run_case(rng, folder, counts):
    form = rng.choice([LABELS, CAPTIONS])
    kind = rng.choice(["jsonl", "csv", "tsv"])
    comma = "\t" if kind == "tsv" else ","
    data = jsonl(rng, form) if kind == "jsonl" else table(rng, form, comma)
    if rng.random() < 0.4:
        data = mutate(rng, data, most=1)
    packed = rng.random() < 0.1
    path = folder / f"case.{kind}{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(data, mtime=0) if packed else data)
    options = rng.choice(OPTIONS) if rng.random() < 0.3 else OPTIONS[0]
    expected, found = (outcome(read, path, form, options) for read in (strict, fast))
    assert found == expected
    counts["read" if isinstance(found, tuple) else "refused"] += 1


def test_both_readers_give_the_same_data_or_the_same_refusal(
    tmp_path, monkeypatch, fuzz_seconds, fuzz_seed
):
    from semmetrics.data import large_text

    counts = {"read": 0, "refused": 0, "fast": 0}
    whole = large_text.read_large

    def counted(*args):
        found = whole(*args)
        counts["fast"] += 1
        return found

    monkeypatch.setattr(large_text, "read_large", counted)
    number = run_cases(
        lambda rng: run_case(rng, tmp_path, counts), fuzz_seconds, fuzz_seed
    )
    if number > 100:  # otherwise it looks at one of the readers alone
        assert min(counts.values()) > 0.05 * number, counts
