"""scipy comes with an extra: it is imported late, and missed in words."""

from __future__ import annotations

import subprocess
import sys

import pytest

from harness.errors import UsageError
from harness.stats.extra import numeric


def test_statistics_import_neither_scipy_nor_numpy() -> None:
    """Who imports the statistics, or uses those that need no scipy, does not pay for it."""
    code = (
        "import sys; from harness.stats import *; wilson_interval(1, 2); mcnemar_exact(1, 2); holm([0.1]);"
        "permutation_test([(Tally(1, 2), Tally(2, 2))]); trials_needed(0.5, 0.9); pairs_needed(0.3, 0.1);"
        "print(sorted({'scipy', 'numpy'} & {*sys.modules}))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]" == ran.stdout.strip()


def test_a_missing_package_is_told_with_the_command_to_run() -> None:
    """Who lacks the extra reads which package is missing and how to get it."""
    with pytest.raises(UsageError) as refused:
        numeric("scipy_that_is_not_there.special")

    assert (
        "error[no-scipy]: this statistic needs `scipy_that_is_not_there`, which is not installed\n\n"
        'hint: pip install "tapegate[stats]"'
    ) == str(refused.value)
