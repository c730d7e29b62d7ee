"""Optimal transport, compared with linear programming and POT."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import transport as oracle
from refusals import refused
from scipy.spatial.distance import cdist

from semmetrics.core import transport_solvers, uniform_transport
from semmetrics.core.distances import EuclideanDistances
from semmetrics.core.ragged import offsets
from semmetrics.core.transport import WeightedWords, relaxed_transport, transport
from semmetrics.core.transport_problems import Plans, TransportProblems, certify
from semmetrics.core.transport_solvers import linear_program, network_simplex

# ---- problems with given costs ------------------------------------------------------


def shares(masses):
    """Divide the masses of each problem by their sum, which may be 0."""
    return masses / np.maximum(masses.sum(0), 1e-300)


def random_problems(n_problems, n_rows, n_columns, *, ties=False, seed=0):
    """Draw costs and shares of mass, with the problems along the last axis."""
    rng = np.random.default_rng(seed)
    costs = rng.random((n_rows, n_columns, n_problems))
    rows = rng.random((n_rows, n_problems))
    columns = rng.random((n_columns, n_problems))
    if ties:
        costs = np.floor(3 * costs)
        rows = np.floor(3 * rows)
        columns = np.floor(3 * columns)
    return costs, shares(rows), shares(columns)


def solve(costs, rows, columns):
    """Solve problems along the last axis as one block."""
    numbers = np.arange(costs.shape[-1])
    return transport_solvers.solve_block(costs, rows, columns, numbers)


def single_problems(costs, rows, columns):
    """Return contiguous costs and masses of each problem."""
    arrays = np.moveaxis(costs, -1, 0), rows.T, columns.T
    return zip(*map(np.ascontiguousarray, arrays), strict=True)


def oracle_costs(problems):
    return [oracle.transport_cost(*problem) for problem in single_problems(*problems)]


@given(
    n_rows=st.integers(1, 6),
    n_columns=st.integers(1, 9),
    ties=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_costs_equal_a_linear_program(n_rows, n_columns, ties, seed):
    problems = random_problems(4, n_rows, n_columns, ties=ties, seed=seed)

    solutions = solve(*problems)

    largest_cost = problems[0].max()
    gaps = np.nan_to_num(solutions.gaps)
    assert_allclose(solutions.costs, oracle_costs(problems), rtol=0, atol=1e-9)
    assert gaps.max() <= 1e-12 * (1 + largest_cost)


@pytest.mark.parametrize("solver", [linear_program, network_simplex])
@pytest.mark.parametrize(
    "shape", [(2, 60), (31, 32), (15, 17), (16, 16), (1, 90), (90, 1), (40, 50)]
)
@pytest.mark.parametrize("max_magnitude", [0, 12])
def test_problems_of_a_block_cost_what_each_costs_alone(solver, shape, max_magnitude):
    if solver is network_simplex:
        pytest.importorskip("ot", reason="POT is not installed")
    costs, rows, columns = random_problems(6, *shape)
    magnitudes = max_magnitude * rows / rows.max()
    rows = shares(rows / 10.0**magnitudes)

    solutions = solve(costs, rows, columns)

    problems = single_problems(costs, rows, columns)
    for problem, cost in zip(problems, solutions.costs, strict=True):
        flows = solver(*problem).flows
        expected = np.vdot(flows, problem[0])
        assert cost == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("max_size", "ties"), [(15, False), (15, True), (140, False)])
def test_problems_of_equal_masses_have_the_same_bits_without_padding(max_size, ties):
    rng = np.random.default_rng(17)
    costs = random_problems(40, max_size, max_size, ties=ties)[0]
    sizes = rng.integers(1, max_size + 1, 40)
    is_used = np.less.outer(np.arange(max_size), sizes)
    masses = shares(is_used.astype(float))
    rows = rng.permuted(masses, axis=0)
    columns = rng.permuted(masses, axis=0)

    solutions = solve(costs, rows, columns)

    for number, size in enumerate(sizes):
        own_costs = costs[..., number]
        own_costs = own_costs[rows[:, number] > 0]
        own_costs = own_costs[:, columns[:, number] > 0]
        own_masses = np.full((size, 1), 1 / size)
        unpadded = solve(own_costs[..., None], own_masses, own_masses)
        assert_array_equal(unpadded.costs, solutions.costs[[number]])
        assert_array_equal(unpadded.gaps, solutions.gaps[[number]])
    assert np.nanmax(solutions.gaps) < 1e-13
    if max_size < 100:
        expected = oracle_costs((costs, rows, columns))
        assert_allclose(solutions.costs, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("cells", "gap"),
    [([[0], [4], [8]], 0), ([[1], [3], [8]], 2 / 3), ([[0], [4], [4]], 4 / 3)],
    ids=["optimal", "swapped", "incomplete"],
)
def test_a_plan_that_is_not_optimal_has_a_gap(cells, gap):
    size = np.array([3])
    masses = np.full((3, 1), 1 / 3)
    costs = 1.0 - np.eye(3)[:, :, None]
    problem = TransportProblems(costs, masses, masses, size, size, np.ones(1))
    plan = Plans(np.array(cells), masses, np.zeros((3, 1)))

    solutions = certify(problem, costs, plan)

    assert solutions.gaps == pytest.approx([gap], abs=0)


def swap_columns(plans):
    rows, columns = np.divmod(plans.cells, 9)
    return plans._replace(cells=9 * rows + columns[::-1])


def shift_potentials(plans):
    potentials = plans.row_potentials
    shifts = np.random.default_rng(19).normal(size=potentials.shape)
    return plans._replace(row_potentials=potentials + 1e-8 * shifts)


@pytest.mark.parametrize("damage", [swap_columns, shift_potentials])
def test_problems_of_equal_masses_without_a_proof_are_solved_again(monkeypatch, damage):
    costs = random_problems(60, 9, 9)[0]
    masses = np.full((9, 60), 1 / 9)
    expected = solve(costs, masses, masses).costs

    def certify_damaged(problems, costs, plans):
        return certify(problems, costs, damage(plans))

    monkeypatch.setattr(uniform_transport, "certify", certify_damaged)
    solutions = solve(costs, masses, masses)

    assert_array_equal(solutions.costs, expected)
    assert (solutions.gaps < 1e-13).all()


@pytest.mark.parametrize("n_rows", [1, 3, 70])
def test_problems_without_costs_are_free(n_rows):
    costs, rows, columns = random_problems(1, n_rows, 4)

    solutions = solve(np.zeros_like(costs), rows, columns)

    assert solutions.costs == [0]
    assert solutions.gaps == [0]


@pytest.mark.parametrize("shape", [(5, 9), (6, 6), (1, 4), (40, 41)])
def test_costs_may_be_as_large_as_floats(shape):
    costs, rows, columns = random_problems(6, *shape)
    if shape == (6, 6):
        rows = columns = np.full((6, 6), 1 / 6)
    costs /= costs.max()
    largest = np.finfo(float).max

    solutions = solve(costs * largest, rows, columns)

    expected = solve(costs, rows, columns).costs
    assert_allclose(solutions.costs / largest, expected, rtol=0, atol=1e-12)


def test_the_linear_program_is_used_without_pot(monkeypatch):
    problems = random_problems(3, 39, 39)
    expected = solve(*problems).costs
    monkeypatch.setitem(sys.modules, "ot.lp.emd_wrap", None)

    solutions = solve(*problems)

    assert_allclose(solutions.costs, expected, rtol=0, atol=1e-13)
    assert (solutions.gaps < 1e-12).all()


def test_the_linear_program_is_used_if_pot_stops_before_the_optimum(monkeypatch):
    emd_wrap = pytest.importorskip("ot.lp.emd_wrap", reason="POT is not installed")
    emd_c = emd_wrap.emd_c
    problems = random_problems(3, 39, 39)
    expected = solve(*problems).costs

    def stop_after_one_pivot(rows, columns, costs, max_pivots, n_threads):
        return emd_c(rows, columns, costs, 1, n_threads)

    monkeypatch.setattr(emd_wrap, "emd_c", stop_after_one_pivot)
    solutions = solve(*problems)

    assert_allclose(solutions.costs, expected, rtol=0, atol=1e-13)
    assert (solutions.gaps < 1e-12).all()


WRONG_PLAN = (np.full((39, 39), 1 / 39**2), np.zeros(39))


@pytest.mark.parametrize("plan", [None, WRONG_PLAN], ids=["no plan", "wrong plan"])
def test_a_problem_without_an_optimal_plan_is_an_error(monkeypatch, plan):
    monkeypatch.setattr(transport_solvers, "network_simplex", lambda *problem: None)
    monkeypatch.setattr(transport_solvers, "linear_program", lambda *problem: plan)

    with refused("unsolved-transport", "problem 0"):
        solve(*random_problems(2, 39, 39))


@pytest.mark.parametrize("shape", [(2, 61), (5, 50), (30, 33), (31, 32)])
def test_up_to_63_rows_and_columns_are_solved_in_blocks(monkeypatch, shape):
    for name in ("network_simplex", "linear_program"):
        monkeypatch.setattr(transport_solvers, name, lambda *problem: None)
    problems = random_problems(20, *shape)

    solutions = solve(*problems)

    assert (solutions.gaps <= 1e-12).all()


@pytest.mark.parametrize("size", [4, 10, 20])
def test_most_problems_of_equal_masses_are_solved_together(size, monkeypatch):
    costs = random_problems(400, size, size)[0]
    masses = np.full((size, 400), 1 / size)
    solve_singly = uniform_transport.solve_singly
    sizes_of_single_blocks = []

    def count_problems(problems):
        sizes_of_single_blocks.append(len(problems.largest))
        return solve_singly(problems)

    monkeypatch.setattr(uniform_transport, "solve_singly", count_problems)
    together = solve(costs, masses, masses)
    assert sum(sizes_of_single_blocks) < 40

    monkeypatch.setattr(transport_solvers, "MAX_TOGETHER", 0)
    singly = solve(costs, masses, masses)
    assert_array_equal(singly.costs, together.costs)


# ---- words --------------------------------------------------------------------------


def random_words(rng, max_words):
    """Draw different words of 120 items, with counts."""
    sizes = rng.integers(0, max_words + 1, 120)
    codes_of_items = [rng.choice(20, size, replace=False) for size in sizes]
    codes = np.concatenate(codes_of_items)
    counts = rng.integers(1, 4, len(codes)).astype(float)
    return WeightedWords(offsets(sizes), codes, counts)


def take_item(words, item):
    """Return the words of one item."""
    start, stop = words.indptr[item : item + 2]
    codes = words.codes[start:stop]
    weights = words.weights[start:stop]
    return WeightedWords(np.array([0, len(codes)]), codes, weights)


@pytest.fixture
def vectors():
    vectors = np.random.default_rng(12).normal(size=(20, 6))
    vectors[7] = vectors[8]
    return vectors


@pytest.fixture
def sides():
    rng = np.random.default_rng(13)
    return random_words(rng, 6), random_words(rng, 9)


def test_transport_of_words_and_its_lower_bounds_equal_the_oracle(vectors, sides):
    distances = EuclideanDistances(vectors)

    solutions = transport(distances, *sides)
    bounds = relaxed_transport(distances, *sides)

    assert np.nanmax(solutions.gaps) < 1e-12
    assert not (bounds > solutions.costs + 1e-12).any()
    values = zip(solutions.costs, bounds, strict=True)
    for item, (cost, bound) in enumerate(values):
        pred, ref = [take_item(side, item) for side in sides]
        costs = cdist(vectors[pred.codes], vectors[ref.codes])
        problem = costs, pred.weights, ref.weights
        expected_cost = oracle.transport_cost(*problem)
        expected_bound = oracle.relaxed_cost(*problem)
        assert_allclose(cost, expected_cost, rtol=0, atol=1e-9)
        assert_allclose(bound, expected_bound, rtol=0, atol=1e-9)


def test_small_problems_do_not_import_pot_scipy_or_torch():
    code = """
import sys
import numpy as np
from semmetrics.core.distances import EuclideanDistances
from semmetrics.core.transport import WeightedWords, transport
words = WeightedWords(np.array([0, 2]), np.array([0, 1]), np.ones(2))
transport(EuclideanDistances(np.eye(2)), words, words)
print(sys.modules.keys() & {"ot", "torch", "scipy"})
"""
    process = subprocess.run(
        [sys.executable, "-c", code], check=True, text=True, capture_output=True
    )
    assert process.stdout.strip() == "set()"


def test_torch_gives_the_costs_of_numpy(tensor, vectors, sides):
    numpy_distances = EuclideanDistances(vectors)
    distances = EuclideanDistances(tensor(vectors).requires_grad_())
    expected_costs = transport(numpy_distances, *sides).costs
    expected_bounds = relaxed_transport(numpy_distances, *sides)

    costs = transport(distances, *sides).costs
    bounds = relaxed_transport(distances, *sides)

    assert_allclose(costs, expected_costs, atol=1e-9)
    assert_allclose(bounds, expected_bounds, atol=1e-9)


@pytest.mark.parametrize("measure", [transport, relaxed_transport])
def test_with_torch_an_item_has_the_same_bits_alone(tensor, vectors, sides, measure):
    distances = EuclideanDistances(tensor(vectors))
    together = np.atleast_2d(measure(distances, *sides))[0]

    for item in range(120):
        own_sides = [take_item(side, item) for side in sides]
        alone = np.atleast_2d(measure(distances, *own_sides))[0]
        assert_array_equal(alone, together[[item]])


def test_torch_gathers_a_limited_number_of_vectors_at_a_time(monkeypatch):
    torch = pytest.importorskip("torch")
    distances = EuclideanDistances(torch.eye(2, 4096))
    codes = torch.arange(3000)[:, None] % 2
    cdist = torch.cdist
    gathered_numbers = []

    def count_numbers(pred, ref, **options):
        gathered_numbers.append(pred.numel() + ref.numel())
        return cdist(pred, ref, **options)

    monkeypatch.setattr(torch, "cdist", count_numbers)
    table = distances(codes, codes.flip(0))

    assert torch.allclose(table, table.new_tensor(2).sqrt())
    assert max(gathered_numbers) <= 2**24
    assert sum(gathered_numbers) == 2 * 3000 * 4096
