"""The statistics on runs made by others: τ-bench's published table from its raw trajectories, and four models on GSM8K."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from harness.stats import (
    Tally,
    clopper_pearson_interval,
    clustered_standard_error,
    flakiness,
    mcnemar_exact,
    pair,
    paired_standard_error,
    pass_table,
    permutation_test,
    tally,
    wilson_interval,
)

pytestmark = pytest.mark.realdata

TRAJECTORIES = "trajectories/tau-bench_gpt-4o_airline_4trials.json"
SOLUTIONS = "golden/gsm8k/model_solutions_first200.jsonl"


@pytest.fixture(scope="module")
def expected(realdata: Path) -> dict[str, Any]:
    """What an independent reader computed."""
    found: dict[str, Any] = json.loads((realdata / "expected.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def rows(realdata: Path) -> list[tuple[int, bool]]:
    """Task and outcome of each of the 200 trajectories; a reward is 0 or 1."""
    trajectories = json.loads((realdata / TRAJECTORIES).read_text(encoding="utf-8"))
    assert {0.0, 1.0} == {row["reward"] for row in trajectories}
    return [(row["task_id"], row["reward"] == 1.0) for row in trajectories]


@pytest.fixture(scope="module")
def tasks(rows: list[tuple[int, bool]]) -> list[Tally]:
    """Passes and trials of each task."""
    return [tally(passed for of, passed in rows if of == task) for task in sorted({task for task, _ in rows})]


@pytest.fixture(scope="module")
def solved(realdata: Path) -> dict[str, list[bool]]:
    """Which of the 200 questions each of four models solved."""
    lines = [json.loads(line) for line in (realdata / SOLUTIONS).read_text(encoding="utf-8").splitlines()]
    models = [name for name, entry in lines[0].items() if isinstance(entry, dict)]
    return {model: [line[model]["is_correct"] for line in lines] for model in models}


def test_pass_hat_k_is_exactly_that_of_tau_bench(tasks: list[Tally], expected: dict[str, Any]) -> None:
    """The fractions are equal, and rounded they are the table in τ-bench's README."""
    found = {str(row.k): row.pass_hat_k for row in pass_table(tasks)}
    wanted = expected[TRAJECTORIES]

    assert {k: Fraction(entry["fraction"]) for k, entry in wanted["pass_hat_k"].items()} == found
    assert wanted["published"]["pass_hat"] == {k: round(float(value), 3) for k, value in found.items()}


def test_pass_at_k_is_that_expected(tasks: list[Tally], expected: dict[str, Any]) -> None:
    """Each value is that of the unbiased estimator, averaged over tasks."""
    found = {str(row.k): float(row.pass_at_k) for row in pass_table(tasks)}

    assert pytest.approx({k: entry["value"] for k, entry in expected[TRAJECTORIES]["pass_at_k"].items()}) == found


def test_intervals_and_errors_of_the_trajectories(
    rows: list[tuple[int, bool]], tasks: list[Tally], expected: dict[str, Any]
) -> None:
    """Intervals over rows, and the clustered standard error that shows how much too narrow they are."""
    wanted = expected[TRAJECTORIES]
    values, families = [float(passed) for _, passed in rows], [task for task, _ in rows]
    rate = wanted["passes"] / wanted["rows"]

    assert (wanted["passes"], wanted["rows"]) == (
        sum(case.passes for case in tasks),
        sum(case.trials for case in tasks),
    )
    assert pytest.approx(wanted["wilson95_over_rows"]) == list(wilson_interval(84, 200))
    assert pytest.approx(wanted["clopper_pearson95_over_rows"]) == list(clopper_pearson_interval(84, 200))
    assert pytest.approx(wanted["stderr_clustered_by_task"]) == clustered_standard_error(values, families)
    assert pytest.approx(wanted["stderr_naive_rows"]) == sqrt(rate * (1 - rate) / len(rows))


def test_half_of_the_tasks_flicker(tasks: list[Tally], expected: dict[str, Any]) -> None:
    """Tasks with neither 0 nor 4 passes are flaky, the others are not."""
    histogram = expected[TRAJECTORIES]["successes_per_task_histogram"]

    assert sum(histogram[passes] for passes in "123") == sum(flakiness(*case) > 0 for case in tasks)


def test_models_on_the_same_questions(solved: dict[str, list[bool]], expected: dict[str, Any]) -> None:
    """Rates with both intervals, for each of the four models."""
    for model, wanted in expected[SOLUTIONS]["models"].items():
        counts = tally(solved[model])
        assert (wanted["correct"], 200) == counts
        assert pytest.approx(wanted["wilson95"]) == list(wilson_interval(*counts))
        assert pytest.approx(wanted["clopper_pearson95"]) == list(clopper_pearson_interval(*counts))


def test_models_against_each_other(solved: dict[str, list[bool]], expected: dict[str, Any]) -> None:
    """Pairs, standard error and exact p-value of all six comparisons; the permutation test agrees with McNemar's."""
    wanted = expected[SOLUTIONS]["paired"]
    for first, second in combinations(expected[SOLUTIONS]["models"], 2):
        pairs = pair(solved[first], solved[second])
        of = wanted[f"{first} vs {second}"]
        cases = [(tally([before]), tally([after])) for before, after in zip(solved[first], solved[second], strict=True)]

        assert (of["both_pass"], of["only_first"], of["only_second"], of["neither"]) == tuple(pairs)
        assert pytest.approx(of["difference_second_minus_first"]) == pairs.difference
        assert pytest.approx(of["se_paired"]) == paired_standard_error(pairs)
        assert pytest.approx(of["mcnemar_exact_two_sided_p"], rel=1e-9) == mcnemar_exact(pairs.lost, pairs.gained)
        assert pytest.approx(of["mcnemar_exact_two_sided_p"], rel=1e-9) == permutation_test(cases).p_value
