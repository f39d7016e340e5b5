# SPDX-License-Identifier: BSD-3-Clause
"""CommMatrix, and its conversion from and to NumPy and SciPy."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given

import nuice
from matrices import comm_matrices, entry_lists


@given(entry_lists())
def test_holds_what_it_was_given(entries: tuple) -> None:
    num_ranks, messages = entries
    matrix = nuice.CommMatrix.from_messages(num_ranks, messages)
    kept = {(s, d): b for s, d, b in messages if b > 0}
    between = {pair: b for pair, b in kept.items() if pair[0] != pair[1]}
    assert matrix.num_ranks == num_ranks
    assert [matrix.message(i) for i in range(matrix.num_messages)] == [
        (*p, b) for p, b in sorted(between.items())
    ]
    assert matrix.self_bytes.tolist() == [kept.get((r, r), 0) for r in range(num_ranks)]
    src, dst, size = (a.tolist() for a in matrix.entries())
    assert list(zip(src, dst, size, strict=True)) == [(*p, b) for p, b in sorted(kept.items())]
    for rank in range(num_ranks):
        assert [matrix.message(i)[1] for i in matrix.sent_by(rank)] == sorted(
            d for s, d in between if s == rank
        )
        assert [matrix.message(i)[0] for i in matrix.received_by(rank)] == sorted(
            s for s, d in between if d == rank
        )
    assert all(matrix.message(matrix.find(*pair)) == (*pair, b) for pair, b in between.items())


@given(comm_matrices())
def test_there_and_back_through_numpy_and_scipy(matrix: nuice.CommMatrix) -> None:
    assert nuice.from_dense(nuice.to_dense(matrix)) == matrix
    sparse = nuice.to_scipy(matrix)
    assert sparse.dtype == np.int64
    for other in (
        sparse,
        sparse.tocsr(),
        sparse.tocsc(),
        scipy.sparse.csr_matrix(sparse),
        sparse.astype(float),
    ):
        again = nuice.from_scipy(other)
        assert again == matrix
        assert again.fingerprint == matrix.fingerprint
        assert hash(again) == hash(matrix)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int32", "uint64", "float16", "float32", "float64"]
)
def test_every_kind_of_number_is_taken_if_it_is_whole(dtype: str) -> None:
    dense = np.array([[0, 1], [1, 0]], dtype=dtype)
    assert nuice.from_dense(dense).entries()[2].tolist() == [1, 1]


def test_large_sizes_keep_every_bit() -> None:
    for size in (2**62, 2**61 + 1, 2**53 + 1):
        assert nuice.from_dense([[0, size], [0, 0]]).bytes.tolist() == [size]


@pytest.mark.parametrize(
    ("value", "why", "code"),
    [
        (0.5, r"\(0, 1\) = 0.5 is not a whole number", "invalid_argument"),
        (2.0**51 + 0.5, "is not a whole number", "invalid_argument"),
        (-1, r"\(0, 1\) = -1 is negative", "invalid_argument"),
        (-2.0, "is negative", "invalid_argument"),
        (float("nan"), "is not a finite number", "invalid_argument"),
        (float("inf"), "is not a finite number", "invalid_argument"),
        (2**62 + 1, r"\(0, 1\) = 4611686018427387905 is above", "limit"),
        (np.uint64(2**63), "is above", "limit"),
        (1e300, "is above", "limit"),
        (1j, "complex", "invalid_argument"),
        ("8", "not sizes in bytes", "invalid_argument"),
        (2**70, "not sizes in bytes", "invalid_argument"),
    ],
)
def test_sizes_are_refused_by_name_and_never_rounded(value: object, why: str, code: str) -> None:
    dense = (
        np.array([[0, value], [0, 0]]) if not isinstance(value, str) else np.array([["", value], ["", ""]])
    )
    with pytest.raises(nuice.Error, match=why) as caught:
        nuice.from_dense(dense)
    assert caught.value.code == code
    if dense.dtype.kind in "iuf":
        with pytest.raises(nuice.Error, match=why):
            nuice.from_scipy(scipy.sparse.coo_array(dense))


def test_shapes_are_checked() -> None:
    with pytest.raises(nuice.Error, match="2 rows and 3 columns"):
        nuice.from_dense(np.zeros((2, 3)))
    with pytest.raises(nuice.Error, match="1"):
        nuice.from_dense([1, 2])
    with pytest.raises(nuice.Error, match="3 rows and 2 columns"):
        nuice.from_scipy(scipy.sparse.coo_array((3, 2)))


def test_wrong_entries_are_named() -> None:
    with pytest.raises(nuice.Error, match="0.*1"):
        nuice.CommMatrix.from_messages(4, [(0, 1, 1), (2, 3, 1), (0, 1, 2)])


def test_a_pair_stored_twice_is_not_summed() -> None:
    twice = scipy.sparse.coo_array(([1, 2], ([0, 0], [1, 1])), shape=(2, 2))
    with pytest.raises(nuice.Error, match="0.*1"):
        nuice.from_scipy(twice)


def test_ranks_and_ids_outside_are_index_errors() -> None:
    matrix = nuice.random_regular(4, 1)
    for wrong in (
        lambda: matrix.sent_by(4),
        lambda: matrix.received_by(-1),
        lambda: matrix.find(0, 4),
        lambda: matrix.message(4),
        lambda: nuice.slice(matrix, nuice.plan(matrix).schedule, 4),
        lambda: nuice.plan(matrix).schedule.transfers(99),
        lambda: nuice.find_node_contention(nuice.Schedule.from_phases(2, []), 0),
    ):
        with pytest.raises(IndexError):
            wrong()


def test_a_matrix_without_ranks_or_messages_can_be_planned() -> None:
    for num_ranks in (0, 1, 5):
        matrix = nuice.CommMatrix.from_messages(num_ranks, [])
        for comparison in nuice.compare(matrix, topology="fattree:3x3"):
            assert comparison.plan is not None
            assert comparison.plan.verified
            assert comparison.plan.phases == 0


def test_generators_are_given_their_arguments() -> None:
    """tests/unit/patterns_test.cpp has what they promise."""
    matrix = nuice.random_regular(20, 6, unit_bytes=100, max_units=32, seed=4)
    assert np.bincount(matrix.src).tolist() == np.bincount(matrix.dst).tolist() == [6] * 20
    assert set(matrix.bytes % 100) == {0} and 100 < matrix.bytes.max() <= 3200
    assert matrix != nuice.random_regular(20, 6, unit_bytes=100, max_units=32, seed=5)
    assert nuice.random_density(30, 1.0, unit_bytes=7).bytes.tolist() == [7] * 30 * 29


def with_dense_array(name: str, folder: Path) -> None:
    """Calls the function of this name with a dense array instead of the matrix."""
    matrix = nuice.random_regular(4, 2)
    values = {
        "matrix": np.ones((4, 4)),
        "path": folder / "x",
        "schedule": nuice.make_schedule(matrix, "coloring")[0],
        "machine": nuice.find_machine("cm5-32"),
        "topology": nuice.make_topology("hypercube:2"),
        "record": nuice.plan(matrix, "coloring"),
        "scheduler": "coloring",
        "rank": 0,
    }
    arguments = {
        "save_matrix_market": "path matrix",
        "save_schedule": "path record matrix",
        "load_schedule": "path matrix",
        "load_plan": "path matrix",
        "check": "matrix schedule",
        "link_bound_s": "matrix machine",
        "link_bounds": "matrix topology",
        "make_schedule": "matrix scheduler",
        "planning_cost_s": "matrix scheduler",
        "port_bound_s": "matrix machine",
        "slice": "matrix schedule rank",
        "slice_all": "matrix schedule",
        "simulate": "matrix schedule machine",
        "simulate_packets": "matrix schedule machine",
        "simulate_drs_n": "matrix machine",
        "predict": "matrix machine",
        "predict_packets": "matrix machine",
        "advise": "matrix machine",
    }
    getattr(nuice, name)(*(values[word] for word in arguments.get(name, "matrix").split()))


def takes_a_matrix(name: str) -> bool:
    function = getattr(nuice, name)
    if isinstance(function, type) or not callable(function):
        return False
    if function.__module__.endswith("_core") or hasattr(function, "__wrapped__"):
        return "matrix: nuice" in (function.__doc__ or "").splitlines()[0]
    return "matrix" in inspect.signature(function).parameters


@pytest.mark.parametrize("name", sorted(filter(takes_a_matrix, nuice.__all__)))
def test_every_function_says_how_to_make_a_matrix(name: str, tmp_path: Path) -> None:
    with pytest.raises(
        nuice.Error, match="a CommMatrix is needed, this is a ndarray: make one by nuice.from_dense"
    ):
        with_dense_array(name, tmp_path)
    assert list(tmp_path.iterdir()) == []
