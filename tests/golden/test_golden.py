"""Results of calls are those on record. ``python -m tests.golden.record`` records new results."""

import pytest
from golden import cases_names
from golden.cases import GROUPS
from golden.harness import differences, folder_of_inputs, load
from golden.inputs import write_inputs

from semmetrics.cli.app import COMMANDS, load_commands

CASES = [
    pytest.param(group, case, id=f"{group}: {case.name}")
    for group, cases in GROUPS.items()
    for case in cases
]


@pytest.fixture(scope="module")
def records():
    return {group: load(group) for group in GROUPS}


@pytest.fixture(scope="module", autouse=True)
def inputs(tmp_path_factory):
    with folder_of_inputs(tmp_path_factory.mktemp("golden").resolve(), write_inputs):
        yield


@pytest.mark.parametrize(("group", "case"), CASES)
def test_a_result_is_the_recorded_one(records, group, case):
    for package in case.needs:
        pytest.importorskip(package)
    assert case.name in records[group], f"python -m tests.golden.record {group}"

    result = case.run()

    changes = differences(records[group][case.name], result, case.tolerance)
    assert not changes, "\n".join(changes)


def test_each_record_has_one_case(records):
    for group, cases in GROUPS.items():
        assert list(records[group]) == [case.name for case in cases]


def test_each_command_has_recorded_flags():
    # given every command, group of commands and subcommand of the program
    commands = {*COMMANDS, *load_commands()}

    # when
    missing = sorted(commands - set(cases_names.COMMANDS))

    # then
    assert not missing, f"add {missing} to COMMANDS in tests/golden/cases_names.py"
