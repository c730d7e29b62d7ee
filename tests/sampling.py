"""Sampled tests: some cases of a large parametrised test in normal runs, and all in slow runs.

``@pytest.mark.sampled(30)`` on a parametrised test runs 30 of its cases. The choice depends only on
the names of the cases, so that all workers and all runs agree. Each value of a parameter that has
no more than 30 values occurs in it, even if this takes a few more cases. ``SEMMETRICS_SLOW=1`` runs
all cases.
"""

import random
from collections import defaultdict


def deselect_unsampled(config, items):
    """Remove the cases of sampled tests that a normal run leaves out."""
    cases_by_test = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled") and hasattr(item, "callspec"):
            cases_by_test[item.nodeid.partition("[")[0]].append(item)

    left_out = set()
    for test, cases in cases_by_test.items():
        count = cases[0].get_closest_marker("sampled").args[0]
        chosen = sample_cases(cases, count, seed=test)
        left_out.update(case for case in cases if case not in chosen)

    if left_out:
        config.hook.pytest_deselected(
            items=[item for item in items if item in left_out]
        )
        items[:] = [item for item in items if item not in left_out]


def sample_cases(cases, count, *, seed):
    """Return about ``count`` cases that have each value of each parameter with few values."""
    shuffled = sorted(cases, key=lambda case: case.nodeid)
    random.Random(seed).shuffle(shuffled)

    values_by_parameter = defaultdict(set)
    for case in cases:
        for parameter, index in case.callspec.indices.items():
            values_by_parameter[parameter].add(index)
    covered_parameters = [
        name for name, values in values_by_parameter.items() if len(values) <= count
    ]

    chosen = []
    values_seen = set()
    for case in shuffled:
        values = {(name, case.callspec.indices[name]) for name in covered_parameters}
        if not values <= values_seen:
            chosen.append(case)
            values_seen |= values

    others = [case for case in shuffled if case not in chosen]
    chosen += others[: max(0, count - len(chosen))]
    return set(chosen)
