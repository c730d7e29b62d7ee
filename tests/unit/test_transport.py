"""Optimal transport against linear programming and POT: exact, certified, each by itself."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import transport as oracle
from refusals import refused

from semmetrics.core import distances as distances_module
from semmetrics.core import transport_solvers, uniform_transport
from semmetrics.core.backend import Backend
from semmetrics.core.distances import EuclideanDistances
from semmetrics.core.transport import WeightedWords, relaxed_transport, transport

SIDES = st.tuples(st.integers(1, 6), st.integers(1, 9))


def random_problems(rng, size, m, n, *, ties):
    costs = (
        rng.integers(0, 4, (size, m, n)).astype(float)
        if ties
        else rng.random((size, m, n))
    )
    rows = rng.integers(0, 3, (size, m)) if ties else rng.random((size, m))
    columns = rng.integers(0, 3, (size, n)) if ties else rng.random((size, n))
    return costs, rows, columns


class Given:
    """Costs given for each item, whose words no other item has."""

    def __init__(self, costs):
        self.backend, self.costs = Backend(costs), costs
        self.items, self.m, self.n = costs.shape

    def __len__(self):
        return self.items * (self.m + self.n)

    def __call__(self, pred_codes, ref_codes):
        ref_codes = ref_codes - self.items * self.m
        rows, columns = pred_codes % self.m, ref_codes % self.n
        return self.costs[
            pred_codes[:, :1, None] // self.m, rows[:, :, None], columns[:, None]
        ]

    def sides(self, rows, columns):
        offsets, first = np.arange(self.items + 1), self.items * self.m
        return (
            WeightedWords(offsets * self.m, np.arange(first), np.ravel(rows)),
            WeightedWords(
                offsets * self.n, np.arange(first, len(self)), np.ravel(columns)
            ),
        )


def solve(costs, rows, columns, **options):
    """Transport of padded problems, costs given."""
    given = Given(costs)
    return transport(given, *given.sides(rows, columns), **options)


def relaxed(costs, rows, columns):
    given = Given(costs)
    return relaxed_transport(given, *given.sides(rows, columns))


def expected_costs(costs, rows, columns):
    return [
        oracle.transport_cost(*one) for one in zip(costs, rows, columns, strict=True)
    ]


@pytest.fixture(
    params=[transport_solvers.linear_program, transport_solvers.network_simplex]
)
def alone(request):
    """Costs of problems solved one by one by either solver, which take turns where one fails."""
    if request.param is transport_solvers.network_simplex:
        pytest.importorskip("ot", reason="POT is not installed")

    def cost(costs, rows, columns):
        used = np.ix_(rows > 0, columns > 0)
        if not costs[used].size:
            return np.nan
        rows, columns = (
            rows[rows > 0] / rows.sum(),
            columns[columns > 0] / columns.sum(),
        )
        largest = costs[used].max() or 1.0
        plan, _ = request.param(
            np.ascontiguousarray(costs[used]) / largest, rows, columns
        )
        np.testing.assert_allclose(plan.sum(1), rows, atol=1e-9)
        np.testing.assert_allclose(plan.sum(0), columns, atol=1e-9)
        return (plan * costs[used]).sum()

    return lambda *problems: [cost(*one) for one in zip(*problems, strict=True)]


@given(SIDES, st.booleans(), st.integers(0, 2**32 - 1))
def test_costs_are_those_of_a_linear_program(sides, ties, seed):
    costs, rows, columns = random_problems(
        np.random.default_rng(seed), 4, *sides, ties=ties
    )
    found = solve(costs, rows, columns)
    np.testing.assert_allclose(
        found.costs, expected_costs(costs, rows, columns), rtol=0, atol=1e-9
    )
    live = ~np.isnan(found.costs)
    assert (found.gaps[live] <= 1e-9 * max(costs.max(), 1e-300)).all()
    assert (found.gaps[live] <= 1e-12 * (1 + costs.max())).all()


def uniform_problems(rng, size, most, *, ties):
    """Equal masses on as many rows as columns, from 1 to ``most`` of them, anywhere."""
    costs = random_problems(rng, size, most, most, ties=ties)[0]
    masses = (np.arange(most) < rng.integers(1, most + 1, size)[:, None]).astype(float)
    return costs, rng.permuted(masses, axis=1), rng.permuted(masses, axis=1)


@pytest.mark.parametrize(("most", "ties"), [(15, False), (15, True), (140, False)])
def test_equal_masses_have_the_same_bits_alone_and_without_padding(most, ties):
    costs, rows, columns = uniform_problems(
        np.random.default_rng(17), 80, most, ties=ties
    )
    whole = solve(costs, rows, columns)
    for k, (row, column) in enumerate(zip(rows > 0, columns > 0, strict=True)):
        alone = solve(costs[k : k + 1], rows[k : k + 1], columns[k : k + 1])
        bare = solve(
            costs[k][np.ix_(row, column)][None], rows[k, row], columns[k, column]
        )
        for other in (alone, bare):
            np.testing.assert_array_equal(np.array(whole)[:, k], np.ravel(other))
    if most < 100:
        expected = expected_costs(costs, rows, columns)
        np.testing.assert_allclose(whole.costs, expected, rtol=0, atol=1e-13)
        assert (whole.gaps < 1e-13).all()


def test_a_plan_is_not_taken_without_its_proof(monkeypatch):
    rng = np.random.default_rng(19)
    costs, ones, halfway = (
        rng.random((60, 9, 9)),
        np.ones((60, 9)),
        uniform_transport._balance_potentials,
    )
    expected = solve(costs, ones, ones).costs

    def swapped(*arguments):
        column, u = halfway(*arguments)
        return column[::-1], u

    def moved(*arguments):
        column, u = halfway(*arguments)
        return column, u + 1e-8 * rng.normal(size=u.shape)

    for wrong in (swapped, moved):
        monkeypatch.setattr(uniform_transport, "_balance_potentials", wrong)
        found = solve(costs, ones, ones)
        np.testing.assert_array_equal(found.costs, expected)
        assert (found.gaps < 1e-13).all()


def test_one_by_one_and_free_problems():
    assert solve(np.full((1, 1, 1), 2.5), [[3]], [[1]]).costs.tolist() == [2.5]
    for m in (3, 70):
        free = solve(np.zeros((1, m, 4)), [[1] * m], [[1, 1, 1, 2]])
        assert (free.costs.tolist(), free.gaps.tolist()) == ([0.0], [0.0])


@pytest.mark.parametrize("sides", [(5, 9), (6, 6), (1, 4), (40, 41)])
def test_the_largest_costs_there_are(sides):
    costs, rows, columns = random_problems(
        np.random.default_rng(3), 6, *sides, ties=False
    )
    if sides == (6, 6):
        rows = columns = np.ones((6, 6))
    largest = np.finfo(float).max
    found = solve(costs / costs.max() * largest, rows, columns)
    expected = solve(costs / costs.max(), rows, columns).costs
    np.testing.assert_allclose(found.costs / largest, expected, rtol=0, atol=1e-12)


def test_masses_over_many_orders_of_magnitude(alone):
    rng = np.random.default_rng(8)
    costs, rows, columns = random_problems(rng, 40, 5, 8, ties=False)
    rows, columns = 10.0 ** (-12 * rows), 10.0 ** (-12 * columns)
    mine = solve(costs, rows, columns)
    np.testing.assert_allclose(
        mine.costs, alone(costs, rows, columns), rtol=0, atol=1e-9
    )


def test_the_linear_program_takes_over_from_the_network_simplex(monkeypatch):
    costs, rows, columns = random_problems(
        np.random.default_rng(10), 3, 39, 39, ties=False
    )
    expected = solve(costs, rows, columns).costs
    for none in (0, 1):  # pivots, before POT gives up; and POT is not there
        with monkeypatch.context() as patched:
            patched.setattr(transport_solvers, "_MAX_PIVOTS", 1)
            if none:
                patched.setitem(sys.modules, "ot.lp.emd_wrap", None)
            found = solve(costs, rows, columns)
        np.testing.assert_allclose(found.costs, expected, rtol=0, atol=1e-13)
        assert (found.gaps < 1e-12).all()


def test_a_problem_without_a_plan_is_named(monkeypatch):
    problem = random_problems(np.random.default_rng(10), 2, 39, 39, ties=False)
    costs = problem[0]
    monkeypatch.setattr(transport_solvers, "network_simplex", lambda *_: None)
    monkeypatch.setattr(transport_solvers, "linear_program", lambda *_: None)
    with refused("unsolved-transport", "problem 0"):
        solve(*problem)
    wrong = np.full(costs[0].shape, 1 / costs[0].size), np.zeros(39)
    monkeypatch.setattr(transport_solvers, "linear_program", lambda *_: wrong)
    with refused("unsolved-transport", "problem 0"):
        solve(*problem)


@given(SIDES, st.booleans(), st.integers(0, 2**32 - 1))
def test_relaxed_costs_are_lower_bounds(sides, ties, seed):
    costs, rows, columns = random_problems(
        np.random.default_rng(seed), 5, *sides, ties=ties
    )
    bounds = relaxed(costs, rows, columns)
    expected = [
        oracle.relaxed_cost(*one) for one in zip(costs, rows, columns, strict=True)
    ]
    np.testing.assert_allclose(bounds, expected, atol=1e-14)
    assert not (bounds > solve(costs, rows, columns).costs + 1e-12).any()


def word_lists(rng, items, words, most):
    sizes = rng.integers(0, most + 1, items)
    indptr = np.r_[0, np.cumsum(sizes)]
    codes = np.concatenate([rng.choice(words, size, replace=False) for size in sizes])
    return WeightedWords(indptr, codes, rng.integers(1, 4, len(codes)).astype(float))


def dense(pred, ref, vectors, k):
    sides = [
        (codes[p[k] : p[k + 1]], w[p[k] : p[k + 1]]) for p, codes, w in (pred, ref)
    ]
    (mine, rows), (theirs, columns) = sides
    costs = np.linalg.norm(vectors[mine][:, None] - vectors[theirs][None], axis=-1)
    return costs, rows, columns


@pytest.fixture
def words():
    rng = np.random.default_rng(12)
    vectors = rng.normal(size=(20, 6)).astype(np.float32)
    vectors[7] = vectors[8]  # two words of one vector
    return (
        vectors.astype(float),
        word_lists(rng, 120, 20, 6),
        word_lists(rng, 120, 20, 9),
    )


def test_costs_are_those_of_each_item(words):
    vectors, pred, ref = words
    expected, bounds = [], []
    for k in range(120):
        costs, rows, columns = dense(pred, ref, vectors, k)
        expected.append(oracle.transport_cost(costs, rows, columns))
        bounds.append(oracle.relaxed_cost(costs, rows, columns))
    distances = EuclideanDistances(vectors)
    found = transport(distances, pred, ref)
    np.testing.assert_allclose(found.costs, expected, rtol=0, atol=1e-9)
    assert np.nanmax(found.gaps) < 1e-12
    np.testing.assert_allclose(
        relaxed_transport(distances, pred, ref), bounds, atol=1e-9
    )


def test_small_problems_load_neither_pot_nor_scipy_nor_torch():
    code = (
        "import sys, numpy as np; from semmetrics.core.distances import EuclideanDistances;"
        "from semmetrics.core.transport import WeightedWords, transport;"
        "words = WeightedWords(np.array([0, 2]), np.array([0, 1]), np.ones(2));"
        "transport(EuclideanDistances(np.eye(2)), words, words);"
        "print([name for name in ('ot', 'torch', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, text=True, capture_output=True
    )
    assert done.stdout.strip() == "[]"


def test_torch_gives_what_numpy_gives(tensor, words):
    rng = np.random.default_rng(14)
    for (m, n), ties in itertools.product(
        [(5, 9), (9, 5), (1, 4), (20, 30), (40, 40)], [0, 1]
    ):
        costs, rows, columns = random_problems(rng, 12, m, n, ties=ties)
        found, there = solve(costs, rows, columns), solve(tensor(costs), rows, columns)
        np.testing.assert_array_equal(there, found)  # solved on the processor
        bound = relaxed(tensor(costs), rows, columns)
        np.testing.assert_array_equal(bound, relaxed(costs, rows, columns))
    vectors, pred, ref = words
    expected = transport(EuclideanDistances(vectors), pred, ref).costs
    for vectors_there in (tensor(vectors), tensor(vectors).requires_grad_()):
        found = transport(EuclideanDistances(vectors_there), pred, ref)
        np.testing.assert_allclose(found.costs, expected, rtol=0, atol=1e-9)


def test_on_torch_an_item_has_the_same_bits_alone(tensor, words):
    vectors, pred, ref = words
    distances = EuclideanDistances(tensor(vectors))
    whole = (
        transport(distances, pred, ref).costs,
        relaxed_transport(distances, pred, ref),
    )
    for k in range(120):
        sides = [
            WeightedWords(
                np.array([0, p[k + 1] - p[k]]), *(x[p[k] : p[k + 1]] for x in more)
            )
            for p, *more in (pred, ref)
        ]
        alone = transport(distances, *sides).costs, relaxed_transport(distances, *sides)
        np.testing.assert_array_equal(np.ravel(alone), np.array(whole)[:, k])


def test_torch_gathers_few_vectors_at_a_time(monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    rng = np.random.default_rng(16)
    distances = EuclideanDistances(torch.from_numpy(rng.normal(size=(50, 30))))
    pred, ref = (torch.from_numpy(rng.integers(50, size=(400, n))) for n in (2, 3))
    whole, gathered, cdist = distances(pred, ref), [], torch.cdist
    monkeypatch.setattr(
        torch,
        "cdist",
        lambda *sides, **how: (
            gathered.append(sum(side.numel() for side in sides)) or cdist(*sides, **how)
        ),
    )
    monkeypatch.setattr(distances_module, "_TORCH_NUMBERS_PER_STEP", 30 * 5 * 7)
    np.testing.assert_array_equal(distances(pred, ref), whole)
    assert max(gathered) == 30 * 5 * 7
    assert sum(gathered) == 30 * 2000


@pytest.mark.parametrize("size", [4, 10, 20])
def test_problems_with_one_best_plan_are_seldom_left_over(size, monkeypatch):
    costs = np.random.default_rng(18).random((400, size, size))
    ones, left = np.ones((400, size)), []
    found, one_by_one = solve(costs, ones, ones), uniform_transport.solve_singly

    def counted(problems):
        left.append(len(problems.largest))
        return one_by_one(problems)

    monkeypatch.setattr(uniform_transport, "solve_singly", counted)
    np.testing.assert_array_equal(found, solve(costs, ones, ones))
    assert sum(left) < 40
    monkeypatch.setattr(transport_solvers, "MAX_TOGETHER", 0)
    np.testing.assert_array_equal(solve(costs, ones, ones).costs, found.costs)


@pytest.mark.parametrize(("m", "n"), [(2, 61), (5, 50), (30, 33), (31, 32)])
def test_up_to_63_rows_and_columns_no_problem_is_left_over(monkeypatch, m, n):
    monkeypatch.setattr(
        transport_solvers, "_solve_alone", lambda *_: pytest.fail("solved alone")
    )
    costs, rows, columns = random_problems(
        np.random.default_rng(17), 20, m, n, ties=False
    )
    assert (solve(costs, rows, columns).gaps <= 1e-12).all()


@pytest.mark.parametrize(
    "sides",
    [(2, 60), (31, 32), (20, 20), (15, 17), (16, 16), (1, 90), (90, 1), (40, 50)],
)
def test_problems_cost_the_same_together_and_alone(sides, alone):
    rng = np.random.default_rng(3)
    for ties in (False, True):
        problems = random_problems(rng, 6, *sides, ties=ties)
        found = solve(*problems)
        np.testing.assert_allclose(
            found.costs, alone(*problems), rtol=0, atol=1e-12 * problems[0].max()
        )
