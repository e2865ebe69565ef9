"""From a run to its page, as a person asks for it: one file that holds every trace and needs nothing else."""

from __future__ import annotations

import base64
import json
import re
import zlib

from harness.testing.project import ScratchProject

SCRIPT = "goldensets/scripts/smoke/example/weather.yaml"


def test_a_run_becomes_a_page_beside_the_run_before(project: ScratchProject) -> None:
    """The page lies in the run's folder, holds what was asked and done, and shows what changed since."""
    before = project.harness("run", "--json").document["run"]
    script = (project.folder / SCRIPT).read_text(encoding="utf-8")
    (project.folder / SCRIPT).write_text(script.replace("city: Berlin}}]", "city: Bern}}]"), encoding="utf-8")
    assert 0 == project.harness("record", "--model", "scripted", "--mode", "all").exit_code
    after = project.harness("run", "--json").document["run"]

    ran = project.harness("report", "--format", "html", "--against", before)
    assert (0, f"reports/runs/{after}/report.html", "") == (ran.exit_code, ran.stdout.strip(), ran.stderr)
    html = (project.folder / ran.stdout.strip()).read_text(encoding="utf-8")
    index = json.loads(re.search(r'id="index">(.*?)</script>', html)[1])
    (diffs,) = index["diffs"]
    assert '`get_weather` with `city` "Berlin", against "Bern"' == diffs["pairs"][0]["because"]
    packed = re.search(r'id="chunk-0">(.*?)</script>', html)[1]
    (trial,) = json.loads(zlib.decompress(base64.b64decode(packed)))
    assert "get_weather" in [step["data"].get("tool") for step in trial["legs"][0]]


def test_a_page_needs_nothing_else(project: ScratchProject) -> None:
    """No address in it leads out of it, and its policy lets none be loaded."""
    project.harness("run")
    path = project.harness("report", "--format", "html").stdout.strip()
    html = (project.folder / path).read_text(encoding="utf-8")

    assert "default-src &#39;none&#39;" in html
    assert [] == re.findall(r'\b(?:src|href|action|data)="(?!#)[^"]*"', html)
