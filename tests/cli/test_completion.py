"""Completion of the command line in a shell."""

import pytest
from click.shell_completion import ShellComplete

from semmetrics.cli.app import program


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", {"score", "validate", "completion"}),
        ("score --protocol k", {"kubany2020"}),
        ("score --normalize ", {"none", "lower", "kubany2020"}),
        ("score --format ma", {"markdown"}),
        ("score --input-format j", {"json", "jsonl"}),
        ("score --decode thr", {"threshold:0.5", "threshold:best"}),
        ("explain flickr", {"flickr8k-expert", "flickr8k-cf"}),
        ("rank -m O", {"O-F1"}),
        ("list ", {"measures", "formats"}),
        ("completion z", {"zsh"}),
        ("score --help c", {"captions", "classes"}),
    ],
)
def test_words_are_completed_to_the_possible_values(line, expected):
    *words, incomplete = line.split(" ")
    shell = ShellComplete(program, {}, "semmetrics", "_SEMMETRICS_COMPLETE")

    values = {item.value for item in shell.get_completions(words, incomplete)}

    assert expected <= values
    for value in values:
        assert value.lower().startswith(incomplete.lower())
