"""Every option of a command with wrong and extreme values: exit code 0 or 2, never 1."""

import itertools

import click
import pytest
from fuzz.commands import problem_of

from semmetrics.cli.app import load_commands, program
from semmetrics.metrics import measure_table, registry

NUMBERS = (
    *("-1", "0", "9223372036854775808", "-9223372036854775809", "100000000000"),
    *("9" * 5000, "1e308", "1e400", "nan", "-inf"),
)
VALUES = (
    *NUMBERS,
    *("", "x", "1,9223372036854775808", "1:2:1e-300", "0:1:0.00000001", "("),
)
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


def options_with_values(name):
    """Return the options of a command that take a value other than a file."""
    command = program
    for word in name.split():
        command = command.get_command(click.Context(command), word)
    names = []
    for parameter in command.params:
        if not isinstance(parameter, click.Option) or parameter.is_flag:
            continue
        if "FILE" not in str(parameter.metavar):
            names.append(parameter.opts[-1])
    return names


def test_every_command_is_called():
    commands = load_commands()
    groups = {name.split()[0] for name in commands if " " in name}

    missing = []
    for name in commands:
        if name in CALLS or name in groups or name.split()[0] in NOT_CALLED:
            continue
        missing.append(name)

    assert not missing, (
        f"add a call of {missing} to CALLS in tests/fuzz/test_fuzz_flags.py"
    )


@pytest.mark.parametrize("name", CALLS)
def test_values_of_options_are_accepted_or_raise_an_input_error(folder, name, sample):
    assert not problem_of(
        ["score", "--format", "json", "-o", "s.json", "p.json", "g.json"]
    )
    assert not problem_of(["score", "--state", "p.state", "p.json", "g.json"])
    n_words = len(name.split())
    words = CALLS[name].split()

    problems = []
    cases = itertools.product(options_with_values(name), VALUES)
    for option, value in sample(cases):
        problem = problem_of([*words[:n_words], option, value, *words[n_words:]])
        if problem:
            problems.append(f"{option} {value[:20]}: {problem}")

    assert not problems, "\n".join(problems)


def measures_with_values():
    """Yield the files and a template for each option and cutoff of each measure."""
    for kind, name in measure_table.ROWS:
        definition, _ = registry.find(name, kind)
        files = ["p.json", "g.json"] if kind == "labels" else ["c.json", "r.json"]
        for option in definition.options:
            if option.kind is not str:
                yield files, f"{definition.name}({option.name}={{}})"
        if definition.cutoff:
            yield files, f"{definition.name}@{{}}"


def test_values_in_measures_are_accepted_or_raise_an_input_error(folder, sample):
    problems = []
    for files, template in measures_with_values():
        for value in sample(NUMBERS):
            measure = template.format(value)
            problem = problem_of(["score", "-m", measure, *files])
            if problem:
                problems.append(f"{measure[:60]}: {problem}")

    assert not problems, "\n".join(problems)
