"""What a new recording changed, turn by turn, as a person asks for it."""

from __future__ import annotations

from harness.testing.project import ScratchProject

SCRIPT = "goldensets/scripts/smoke/example/weather.yaml"


def test_a_model_that_answers_otherwise_is_seen_step_by_step(project: ScratchProject) -> None:
    """The same call with another argument, and another answer."""
    before = project.harness("run", "--json").document["run"]
    script = (project.folder / SCRIPT).read_text(encoding="utf-8")
    script = script.replace("city: Berlin}}]", "city: Bern}}]")
    (project.folder / SCRIPT).write_text(script.replace("It is 7", "It is now 7"), encoding="utf-8")
    assert 0 == project.harness("record", "--model", "scripted", "--mode", "all").exit_code
    after = project.harness("run", "--json").document["run"]

    ran = project.harness("diff", before, after)
    assert (0, "") == (ran.exit_code, ran.stderr)
    _, counts, parted, *rest = ran.stdout.splitlines()
    assert counts.startswith("  steps: 2 replaced")
    assert parted == '  they part at step 1: `get_weather` with `city` "Berlin", against "Bern"'
    assert '!     args.city: "Berlin" → "Bern"' in rest
    assert "! answer: It is {+now+} 7 °C in Berlin." in rest
    assert "1 trial compared: 0 the same, 1 different" == rest[-1]
