"""How two trajectories differ: pure functions from traces to `harness.records.trajectory.Diff`."""
