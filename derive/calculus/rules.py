"""The differentiation rules, tried in order."""

from __future__ import annotations

from derive.calculus.algebra_rules import ElementwiseRule, LinearityRule, PowerRule, ProductRule
from derive.calculus.case_rules import BracketRule, CasesRule, PairRule
from derive.calculus.reduction_rules import ExtremumRule, ProdRule, ShortRule, SumRule
from derive.calculus.rule import Rule
from derive.calculus.tensor_rules import CompositionRule, ConstantRule, DefinitionRule, EntryRule
from derive.errors import UnsupportedError
from derive.expr import Entry, Expr, Fn
from derive.module import Module

RULES: tuple[Rule, ...] = (
    ConstantRule(), EntryRule(), CompositionRule(), DefinitionRule(), LinearityRule(), ProductRule(), PowerRule(),
    ElementwiseRule(), SumRule(), ProdRule(), ShortRule(),
    ExtremumRule(), PairRule(), CasesRule(), BracketRule(),
)


def rule_for(of: Expr, wrt: Entry, module: Module) -> Rule:
    """The first rule that applies; raises :class:`UnsupportedError` where none does."""
    for rule in RULES:
        if rule.applies(of, wrt, module):
            return rule
    what = f"the function `{of.name}`" if isinstance(of, Fn) else f"a {type(of).__name__.lower()}"
    raise UnsupportedError(f"no rule differentiates {what} yet")
