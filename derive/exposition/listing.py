"""The layer in code: its listings, and the check that says how they were tried."""

from __future__ import annotations

from dataclasses import replace

from derive.calculus.messages import Messages
from derive.exposition.builder import Builder
from derive.listing import Listed, listings
from derive.listing.layer import results
from derive.sheet import Sheet
from derive.verify.report import Check, Verdict


def with_listings(sheet: Sheet, messages: Messages) -> tuple[Sheet, tuple[Check, ...]]:
    """The sheet with the layer in code at its end, and the check of each listing.

    Raises :class:`derive.errors.VerificationError` where a listing does not give what the formulas give.
    """
    found, reason = listings(messages)
    b = Builder({"layer": messages.module.table}, "listing")
    b.heading("heading_listing")
    if not found:
        b.prose("listing_none", reason=reason)
    else:
        b.prose("listing_intro", given="upstream", results=", ".join(f"`{name}`" for name in results(messages)))
    for listed in found:
        if len(found) > 1:
            b.prose(f"listing_{listed.style}")
        b.listing(listed.source)
    if found and reason:
        b.prose("listing_partly", reason=reason)
    return replace(sheet, details=(*sheet.details, *b.blocks)), _checks(b, found)


def _checks(b: Builder, found: tuple[Listed, ...]) -> tuple[Check, ...]:
    if not found:
        return ()
    trial = min((listed.trial for listed in found), key=lambda t: t.points)
    sizes = ["×".join(map(str, shape)) for shape in trial.shapes if shape]
    said = b.say("listing_checked", count=len(found), points=trial.points, sizes=sizes, tied=trial.tied)
    return (Check("listing", "", Verdict.TESTED, said, points=trial.points),)
