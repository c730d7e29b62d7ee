"""Tables of the raw tuples of captions, and their files."""

import gzip

import pytest
from refusals import refused

from semmetrics.text.tuple_tables import TupleTable, read_tuples, tuple_lines

PARSED = {
    "a dog": [["dog"]],
    'é\n"x"': [["dog", "small"], ["dog", "sofa", "on"]],
    "": [],
}


def test_a_file_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "tuples.jsonl.gz"
    lines = "".join(tuple_lines(PARSED.items(), "mine@1"))
    path.write_bytes(gzip.compress(lines.encode()))

    table = read_tuples(path)

    assert table.tuples == PARSED
    assert table.of_parser("mine@1") == PARSED
    assert table.of_parser("official") == {}
    assert table.identity.startswith("mine@1@")


def test_the_identity_of_a_table_depends_on_its_tuples():
    identity = TupleTable.of(PARSED).identity

    assert identity.startswith("given@")
    assert identity == TupleTable.of(dict(reversed(PARSED.items()))).identity
    assert identity != TupleTable.of({**PARSED, "": [["x"]]}).identity


GOOD = '{"caption": "a dog", "tuples": [["dog"]]}'


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ('["a dog"]', "wrong-tuple-line", 1),
        ('{"caption": "a dog"}', "wrong-tuple-line", 1),
        (f"{GOOD}\n\n{{}}", "wrong-tuple-line", 3),
        ('{"caption": 3, "tuples": []}', "wrong-tuple-line", 1),
        ('{"caption": "a", "tuples": [], "parser": 1}', "wrong-tuple-line", 1),
        ('{"caption": "a", "tuples": [], "score": 1}', "wrong-tuple-line", 1),
        ('{"caption": "a", "tuples": ["dog"]}', "wrong-content", 1),
        ('{"caption": "a", "tuples": [["a", "b", "c", "d"]]}', "wrong-content", 1),
        ('{"caption": "a", "tuples": [["a", " "]]}', "wrong-content", 1),
        (f'{GOOD}\n{{"caption": " a dog ", "tuples": []}}', "conflicting-tuples", 2),
    ],
)
def test_a_wrong_line_is_an_error(tmp_path, text, code, line):
    path = tmp_path / "tuples.jsonl"
    path.write_text(text)

    with refused(code, f"{path}, line {line}"):
        read_tuples(path)


@pytest.mark.parametrize(
    ("tuples", "code"),
    [
        ({"a": "dog"}, "wrong-content"),
        ({"a": [["a", 2]]}, "wrong-content"),
        ({"a": [["b"]], "a ": [["c"]]}, "conflicting-tuples"),
    ],
)
def test_a_wrong_mapping_is_an_error(tuples, code):
    with refused(code):
        TupleTable.of(tuples)
