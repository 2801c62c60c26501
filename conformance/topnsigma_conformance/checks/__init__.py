"""Every check of the suite, in the order of the rules."""

from __future__ import annotations

from topnsigma_conformance.check import Check
from topnsigma_conformance.checks import (
    accuracy,
    cut,
    independence,
    parameter,
    sigma,
    tensor,
    theorems,
    untouched,
)

CHECKS: dict[str, Check] = {
    check.id: check
    for check in (
        *parameter.CHECKS,
        *untouched.CHECKS,
        *sigma.CHECKS,
        *cut.CHECKS,
        *independence.CHECKS,
        *accuracy.CHECKS,
        *tensor.CHECKS,
        *independence.REPEAT_CHECKS,
        *theorems.CHECKS,
    )
}
