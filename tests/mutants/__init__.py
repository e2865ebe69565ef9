"""Every mutant of this project: agents and runtimes that are wrong in one known way."""

from __future__ import annotations

from harness.testing.mutants import Mutant

from .any_design import MUTANTS as ANY_DESIGN
from .deep_think import MUTANTS as DEEP_THINK
from .lean import MUTANTS as LEAN
from .lean_plan import MUTANTS as LEAN_PLAN
from .legacy import MUTANTS as LEGACY
from .newsdesk import MUTANTS as NEWSDESK
from .runtime import MUTANTS as RUNTIME
from .two_phase import MUTANTS as TWO_PHASE
from .ultrathink import MUTANTS as ULTRATHINK

MUTANTS: tuple[Mutant, ...] = (
    *RUNTIME,
    *ANY_DESIGN,
    *LEAN,
    *LEAN_PLAN,
    *LEGACY,
    *DEEP_THINK,
    *NEWSDESK,
    *TWO_PHASE,
    *ULTRATHINK,
)
