"""Tables of an audit."""

from collections.abc import Mapping
from typing import Any

from hexathlon.baselines.harness.report import percent, span
from hexathlon.baselines.harness.tables import ReportTable

__all__ = ["audit_tables"]


def audit_tables(audit: Mapping[str, Any]) -> list[ReportTable]:
    """Return an audit as two tables: agreement by criterion; biases and attacks."""
    rows = [
        (name, f"{row['scored']:,} of {row['items']:,}", *_cells(row["kappa"]),
         *_cells(row["alpha"]), row["status"])
        for name, row in audit["agreement"]["criteria"].items()
    ]  # fmt: skip
    headings = ("criterion", "scored", "kappa", "95% interval", "alpha", "95% interval", "state")
    made = [ReportTable("Agreement with the labels", headings, tuple(rows))]
    measured = {
        "same winner in both orders": audit["swap"]["consistency"],
        "first position wins inconsistent pairs": audit["swap"]["first_rate"],
        "better of a pair is chosen": audit["swap"]["accuracy"],
        "label per doubling of length": audit["length"]["slope"],
        "label after padding": audit["length"]["padded_shift"],
        "gain by padding": audit["length"]["padded_gain"],
        "self-preference": audit["self_preference"],
        "two repeats differ": audit["flips"]["disagreement"],
        "unstable items": audit["flips"]["unstable"],
        "injections that pass": audit["injection"]["guarded"],
        "… without guards": audit["injection"]["bare"],
        "empty replies that pass": audit["master_keys"]["guarded"],
        "… without their guards": audit["master_keys"]["bare"],
        "Kendall tau of groups": audit["groups"]["tau"],
        "earlier place wins in groups": audit["groups"].get("first_rate"),
        "unscored": audit["unscored"]["rate"],
        "mean score, judged": audit["corrected"]["judged"],
        "mean score, prediction-powered": audit["corrected"]["powered"],
    }
    body = [
        (name, *(_cells(row)), f"{row['n']:,}") for name, row in measured.items() if row is not None
    ]
    made.append(
        ReportTable(
            "Biases and attacks", ("measurement", "value", "95% interval", "n"), tuple(body)
        )
    )
    return made


def _cells(row: Mapping[str, Any] | None) -> tuple[str, str]:
    return ("", "") if row is None else (percent(row["value"]), span(row["low"], row["high"]))
