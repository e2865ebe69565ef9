"""Baselines that earlier versions wrote, brought to the form of today; what they did not keep stays unknown."""

from __future__ import annotations

from typing import Any

Json = Any


def migrated(content: Json) -> Json:
    """
    The baseline of format 1 in format 2: contracts, which were a list of names, get what they came to over the trials.

    Which of the trials triggered a contract was not kept, so all of them count; the version of each is 0, unknown.
    What is no baseline at all is handed back as it is, for the reader to refuse.
    """
    try:
        agents = {
            agent: {
                model: {**cell, "cases": {id: _case(case) for id, case in cell["cases"].items()}}
                for model, cell in models.items()
            }
            for agent, models in content["agents"].items()
        }
    except (AttributeError, KeyError, TypeError):
        return content
    return {**content, "format": 2, "agents": agents}


def _case(case: Json) -> Json:
    trials = case["trials"]
    held = {
        name: [sum(name not in trial.get("broken", ()) for trial in trials), len(trials), 0]
        for name in case.get("contracts", ())
    }
    return {**case, "contracts": held}
