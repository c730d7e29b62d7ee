"""Every flag that takes a value, with values that are none: exit code 0 or 2, never 1."""

import itertools

import click
import pytest
from click.testing import CliRunner
from fuzz.test_fuzz_documents import folder, problem_of  # noqa: F401 - a fixture

from semmetrics.cli.app import load_commands, program
from semmetrics.metrics import measure_table, registry

VALUES = (
    "-1",
    "0",
    "9223372036854775808",
    "-9223372036854775809",
    "100000000000",
    "9" * 5000,
    "1e308",
    "1e400",
    "nan",
    "-inf",
    "",
    "x",
    "1,9223372036854775808",
    "1:2:1e-300",
    "0:1:0.00000001",
    "(",
)
NUMBERS = VALUES[:10]
CALLS = {
    "score": "score --ci -m F1 p.json g.json",
    "compare": "compare -m F1 --resamples 20 p.json other.json g.json",
    "merge": "merge p.state",
    "sweep": "sweep p.json g.json",
    "calibrate": "calibrate --holdout 1 p.json g.json",
    "doc-freq": "doc-freq -o y.npz r.json",
    "pairs": "pairs --overwrite -o y.npy c.json r.json",
    "correlate": "correlate --ci g.csv p.csv",
    "meta": "meta -m F1 --resamples 20 ratings.json p.json g.json",
    "validate": "validate g.json",
    "rank": "rank s.json",
    "explain": "explain F1",
    "list": "list",
    "cite": "cite F1",
    "mad select": "mad select -k 1 --page p.html -o y.json c.json other.json",
    "positives": "positives -o y.json p.json p.json",
    "mad replace": "mad replace --exclude w.txt -o y.json state.json c.json other.json",
    "mad inspect": "mad inspect -o y.csv sheet.csv",
    "mad add": "mad add -o y.json state.json c.json other.json p.json",
    "mad rank": "mad rank --references r.json state.json",
}

# Commands, or groups of them, that need a model, the network or a shell.
NOT_CALLED = {"embed", "spice", "completion", "demo"}


def flags(name):
    command = program
    for word in name.split():
        command = command.get_command(click.Context(command), word)
    for one in command.params:
        if (
            isinstance(one, click.Option)
            and not one.is_flag
            and "FILE" not in str(one.metavar)
        ):
            yield one.opts[-1]


def test_every_command_is_called():
    # given
    commands = load_commands()
    groups = {name.split()[0] for name in commands if " " in name}

    # when
    missing = []
    for name in commands:
        if name in CALLS or name in groups or name.split()[0] in NOT_CALLED:
            continue
        missing.append(name)

    # then
    assert not missing, (
        f"add a call of {missing} to CALLS in tests/fuzz/test_fuzz_flags.py"
    )


@pytest.mark.parametrize("name", CALLS)
def test_values_of_flags(folder, name, some_of):  # noqa: F811
    CliRunner().invoke(
        program, ["score", "--format", "json", "-o", "s.json", "p.json", "g.json"]
    )
    CliRunner().invoke(program, ["score", "--state", "p.state", "p.json", "g.json"])
    words, wrong = CALLS[name].split(), []
    size = len(name.split())
    for flag, value in some_of(itertools.product(flags(name), VALUES)):
        problem = problem_of([*words[:size], flag, value, *words[size:]])
        if problem:
            wrong.append(f"{flag} {value[:20]}: {problem}")
    assert not wrong, "\n".join(wrong)


def test_values_in_measures(folder, some_of):  # noqa: F811
    wrong, definitions = (
        [],
        [(registry.find(name, kind)[0], kind) for kind, name in measure_table.ROWS],
    )
    for definition, kind in definitions:
        files = ["p.json", "g.json"] if kind == "labels" else ["c.json", "r.json"]
        options = [
            option.name for option in definition.options if option.kind is not str
        ]
        for spelled in (
            *(f"({name}={{}})" for name in options),
            *["@{}"] * definition.cutoff,
        ):
            for value in some_of(NUMBERS):
                measure = definition.name + spelled.format(value)
                problem = problem_of(["score", "-m", measure, *files])
                if problem:
                    wrong.append(f"{measure[:60]}: {problem}")
    assert not wrong, "\n".join(wrong)
