"""The JSON documents: every field is always there, and the schemas say so."""

from __future__ import annotations

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.records.finding import Finding
from harness.records.run import CaseVerdict, RunRecord, Totals
from harness.reports.documents import DOCUMENTS, full, schema_of


def test_fields_at_their_default_are_written_out():
    """On disk they are left out; a script must find them."""
    assert full(Finding(contract="CX1", state="kept")) == {
        "contract": "CX1",
        "state": "kept",
        "because": "",
        "witness": [],
        "leg": 0,
        "turn": None,
        "shortest": [],
        "at": "",
        "advisory": False,
        "judged_by": "",
    }


findings = st.builds(
    Finding,
    contract=st.text(),
    state=st.sampled_from(["kept", "broken", "could_not_check", "vacuous"]),
    because=st.text(),
)
verdicts = st.builds(
    CaseVerdict,
    agent=st.text(),
    profile=st.text(),
    model=st.text(),
    provenance=st.sampled_from(["live", "local", "scripted", "none"]),
    set=st.text(),
    case=st.text(),
    trial=st.integers(0, 9),
    verdict=st.sampled_from(["kept", "broken", "could_not_check"]),
    findings=st.lists(findings, max_size=3).map(tuple),
    cost_usd=st.none() | st.floats(0, 9),
    answer=st.text(),
)


@given(st.lists(verdicts, max_size=3))
def test_every_run_keeps_to_its_schema(results):
    """Whatever a run holds."""
    record = RunRecord(run="r1", results=tuple(results), totals=Totals(), exit_code=0, manifest={"jobs": 1})

    jsonschema.validate(full(record), schema_of("run"))


@pytest.mark.parametrize(
    "name", ["run", "record", "accept", "cassettes-check", "doctor", "error", "list", "ask", "explain"]
)
def test_the_documents_have_schemas(name):
    """Every command's document is published."""
    assert name in DOCUMENTS
    assert schema_of(name)["$schema"] == "https://json-schema.org/draft/2020-12/schema"
