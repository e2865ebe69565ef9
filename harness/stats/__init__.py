"""Statistics over plain numbers: what repeated trials prove, and what they do not. Scripted runs never enter them."""

from harness.stats.agreement import Agreement, cohens_kappa
from harness.stats.bootstrap import Estimate, Measure, bootstrap_interval, bootstrap_ratio
from harness.stats.clusters import clustered_interval, clustered_standard_error
from harness.stats.matched import (
    clustered_rate_interval,
    matched_interval,
    matched_smallest_detectable,
    matched_standard_error,
    matched_trials_needed,
)
from harness.stats.multiple import holm
from harness.stats.paired import Alternative, Pairs, mcnemar_exact, pair, paired_interval, paired_standard_error
from harness.stats.pairs_power import pairs_needed, pairs_power, smallest_detectable_loss
from harness.stats.permutation import RateComparison, permutation_test
from harness.stats.power import (
    cases_needed,
    power_of,
    smallest_detectable_drop,
    smallest_detectable_shift,
    suite_smallest_detectable,
    suite_trials_needed,
    trials_needed,
)
from harness.stats.rates import clopper_pearson_interval, cohens_h, difference_interval, wilson_interval
from harness.stats.reliability import PassRow, flakiness, pass_at_k, pass_hat_k, pass_table
from harness.stats.samples import Interval, StatsInputError, Tally, tally, tally_recordings
from harness.stats.sequential import Decision, SequentialTest, Stopped

__all__ = [
    "Agreement",
    "Alternative",
    "Decision",
    "Estimate",
    "Interval",
    "Measure",
    "Pairs",
    "PassRow",
    "RateComparison",
    "SequentialTest",
    "StatsInputError",
    "Stopped",
    "Tally",
    "bootstrap_interval",
    "bootstrap_ratio",
    "cases_needed",
    "clopper_pearson_interval",
    "clustered_interval",
    "clustered_rate_interval",
    "clustered_standard_error",
    "cohens_h",
    "cohens_kappa",
    "difference_interval",
    "flakiness",
    "holm",
    "matched_interval",
    "matched_smallest_detectable",
    "matched_standard_error",
    "matched_trials_needed",
    "mcnemar_exact",
    "pair",
    "paired_interval",
    "paired_standard_error",
    "pairs_needed",
    "pairs_power",
    "pass_at_k",
    "pass_hat_k",
    "pass_table",
    "permutation_test",
    "power_of",
    "smallest_detectable_drop",
    "smallest_detectable_loss",
    "smallest_detectable_shift",
    "suite_smallest_detectable",
    "suite_trials_needed",
    "tally",
    "tally_recordings",
    "trials_needed",
    "wilson_interval",
]
