"""What the package says today, case by case: a difference is a change, wanted or not.

A wanted change is put on record by ``python -m tests.golden.record``.
"""

from importlib.metadata import version

import pytest
from golden.cases import GROUPS
from golden.harness import differences, folder_of_inputs, load
from golden.inputs import write_inputs


def _numbers(text):
    return [int(part) for part in text.split(".")[:2]]


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
def test_as_on_record(records, group, case):
    for need in case.needs:
        package, _, oldest = need.partition(">=")
        pytest.importorskip(package)
        if oldest and _numbers(version(package)) < _numbers(oldest):
            pytest.skip(f"{package} is older than {oldest}")
    assert case.name in records[group], "not on record: python -m tests.golden.record"
    found = differences(records[group][case.name], case.run(), case.tolerance)
    assert not found, "\n".join(["another result than on record:", *found])


def test_no_name_stands_twice():
    for group, cases in GROUPS.items():
        names = [case.name for case in cases]
        assert len(set(names)) == len(names), group


def test_every_record_has_a_case(records):
    for group, cases in GROUPS.items():
        assert list(records[group]) == [case.name for case in cases]
