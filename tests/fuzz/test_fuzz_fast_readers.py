"""The fast and the strict readers of JSON lines and tables return the same data or error."""

import csv
import gzip
import io
import json

import pytest
from fuzz.damage import mutate, run_cases

from semmetrics import ReadOptions
from semmetrics.data import inputs, large_text, source
from semmetrics.errors import InputError
from semmetrics.kinds.captions import FORM as CAPTIONS
from semmetrics.kinds.labels import FORM as LABELS

WORDS = ["cat", "dog", "traffic light", "é", "猫", "a,b", 'say "hi"', " x ", ""]
WORDS += ["007", "1e3", "\u2028"]
STRANGE_VALUES = ["", 1, None, [{"x": 1}], -0.0, float("nan"), {"x": [float("inf")]}]
STRANGE_VALUES += ["NaN", 10**400]
STRANGE_LABELS = [None, 3, "cat", [1], [["cat", 0.5]], {"cat": 0.5}, [None]]
OPTIONS = [
    ReadOptions(),
    ReadOptions(max_line_bytes=60),
    ReadOptions(label_delimiter="|"),
    ReadOptions(id_column="key"),
    ReadOptions(delimiter=";"),
]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Read files of a few lines as large files, in blocks of two or three lines."""
    monkeypatch.setattr(source, "MAX_SMALL_BYTES", 48)
    monkeypatch.setattr(source, "CHUNK_BYTES", 32)
    monkeypatch.setattr(large_text, "BLOCK_BYTES", 64)


# ---- files --------------------------------------------------------------------------------------


def draw_values(rng, form):
    values = [rng.choice(WORDS) for _ in range(rng.randrange(4))]
    if form.allows_empty or rng.random() < 0.05:
        return values
    return [value for value in values if value.strip()]


def draw_records(rng, form):
    """Return records with the same keys, some of them with strange values."""
    key = rng.choice([*form.keys[:2], form.keys[0]])
    ids = ["a", "b", "007", "é", "c d", *map(str, range(8))]
    rng.shuffle(ids)
    has_integer_ids = rng.random() < 0.2
    has_other_keys = rng.random() < 0.3
    has_single_values = form.single and rng.random() < 0.5
    has_scores = form.scored and rng.random() < 0.3
    records = []
    for number in range(rng.randrange(1, 9)):
        values = draw_values(rng, form)
        record = {"id": number if has_integer_ids else ids[number], key: values}
        if not has_integer_ids and rng.random() < 0.05:
            record["id"] = rng.choice(ids[:3])  # may occur twice
        if has_single_values:
            record[key] = rng.choice(WORDS)
        if has_scores:
            record["scores"] = [rng.random() for _ in values]
        if has_other_keys and rng.random() < 0.8:
            record[rng.choice(["url", "box"])] = rng.choice(STRANGE_VALUES)
        if rng.random() < 0.03:
            record[key] = rng.choice(STRANGE_LABELS)
        records.append(record)
    return records


def draw_json_lines(rng, form):
    newline = rng.choice(["\n", "\n", "\r\n"])
    has_repeated_key = rng.random() < 0.1
    lines = []
    for record in draw_records(rng, form):
        line = json.dumps(record, ensure_ascii=rng.random() < 0.5)
        if has_repeated_key:  # in a value that is not read
            line = line.replace('"url": 1', '"url": {"k": [1], "k": 2}')
        lines.append(line)
    text = newline.join(lines)
    if rng.random() < 0.5:
        text += newline
    return text.encode()


def rows_of_record(rng, form, record):
    """Return the id, value, score and another cell of each row of a record."""
    (key,) = [key for key in record if key in form.keys]
    values = record[key]
    rows = []
    if not isinstance(values, list):
        rows.append([record["id"], values, "0.5", "x"])
    elif values:
        for value in values:
            rows.append([record["id"], value, "0.5", "x"])
    elif rng.random() < 0.8:
        rows.append([record["id"], "", "", "x"])
    if rng.random() < 0.05:
        rows.append([record["id"], "|".join(WORDS[:3]), "0.5|1|0", ""])
    return rows


def draw_table(rng, form, delimiter):
    header = ["id", form.columns[0]]
    if form.scored and rng.random() < 0.3:
        header.append("score")
    if rng.random() < 0.2:
        header.append("extra")
    text = io.StringIO()
    writer = csv.writer(
        text,
        delimiter=delimiter,
        lineterminator=rng.choice(["\n", "\n", "\r\n"]),
        quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    )
    writer.writerow(header)
    for record in draw_records(rng, form):
        for row in rows_of_record(rng, form, record):
            writer.writerow(row[: len(header)])
    content = text.getvalue()
    if rng.random() < 0.5:
        content = content.rstrip("\r\n")
    return content.encode()


def write_case(rng, folder, form):
    suffix = rng.choice(["jsonl", "csv", "tsv"])
    if suffix == "jsonl":
        content = draw_json_lines(rng, form)
    else:
        content = draw_table(rng, form, "\t" if suffix == "tsv" else ",")
    if rng.random() < 0.4:
        content = mutate(rng, content, most=1)
    path = folder / f"case.{suffix}"
    if rng.random() < 0.1:
        path = folder / f"case.{suffix}.gz"
        content = gzip.compress(content, mtime=0)
    path.write_bytes(content)
    return path


# ---- comparison ---------------------------------------------------------------------------------


def read_plainly(path, form, options):
    """Return all that is read, as plain values, or the message of the error."""
    try:
        lists = inputs.as_data(path, form, options=options)
    except InputError as error:
        return str(error)
    scores = lists.side.scores
    return {
        "ids": list(lists.ids),
        "items": lists.to_list(),
        "scores": None if scores is None else scores.tolist(),
        "vocabulary": list(lists.vocabulary),
        "understood": lists.understood,
        "notes": [note for note in lists.notes if note.code != "unused-columns"],
        "places": [lists.where(row) for row in range(len(lists))],
    }


def read_strictly(path, form, options):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "MAX_SMALL_BYTES", 2**20)
        return read_plainly(path, form, options)


def test_both_readers_return_the_same_data_or_error(
    tmp_path, monkeypatch, fuzz_seconds, fuzz_seed
):
    counts = {"data": 0, "error": 0, "fast": 0}
    read_large = large_text.read_large

    def count_fast_reads(*args):
        items = read_large(*args)
        counts["fast"] += 1
        return items

    def run_case(rng):
        form = rng.choice([LABELS, CAPTIONS])
        path = write_case(rng, tmp_path, form)
        options = OPTIONS[0]
        if rng.random() < 0.3:
            options = rng.choice(OPTIONS)

        result = read_plainly(path, form, options)

        assert result == read_strictly(path, form, options)
        counts["error" if isinstance(result, str) else "data"] += 1

    monkeypatch.setattr(large_text, "read_large", count_fast_reads)
    n_cases = run_cases(run_case, fuzz_seconds, fuzz_seed)

    if n_cases > 100:  # Both readers and both outcomes occur.
        assert min(counts.values()) > 0.05 * n_cases, counts
