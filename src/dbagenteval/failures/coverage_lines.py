"""Coverage as lines for a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dbagenteval.failures.clusters import Cluster
from dbagenteval.failures.coverage import Coverage
from dbagenteval.printable import printable

__all__ = ["coverage_lines", "uncovered_lines"]

_NAMES_SHOWN = 20
_NAME_CHARS = 120


def coverage_lines(coverage: Coverage) -> list[str]:
    """Say what the cases exercise and what they do not."""
    lines = [_counts(coverage)]
    for part in ("tables", "columns", "joins", "operators", "tenants"):
        exercised: Mapping[str, list[str]] = getattr(coverage, part)
        missing = coverage.missing.get(part, [])
        if not exercised and not missing:
            continue
        total = f" of {len(exercised) + len(missing):,}" if missing else ""
        lines.append(f"{part}: {len(exercised):,}{total}")
        lines += _named("  ", [f"{name} ({len(keys)})" for name, keys in _by_use(exercised)])
        lines += _named("  not exercised: ", missing)
    for rule, kept in coverage.rules.items():
        broken = coverage.broken_rules.get(rule, [])
        lines.append(f"rule {printable(rule)}: {len(kept):,} reference(s) keep it")
        lines += _named("  the reference itself breaks it: ", broken)
    return lines


def uncovered_lines(covering: Sequence[tuple[Cluster, str]], total: int, limit: int) -> list[str]:
    """List the production questions that no case asks, worst first.

    Args:
        covering: Clusters with the case that asks the same in other words, or nothing.
        total: Questions asked in production.
        limit: How many to list.
    """
    if not covering:
        return ["every question asked has a case"] if total else []
    asked = sum(cluster.count for cluster, _ in covering)
    lines = [f"questions without a case: {asked:,} of {total:,}, {len(covering):,} cluster(s)"]
    for cluster, case in covering[:limit]:
        failed = f", {cluster.failed:,} failed" if cluster.failed else ""
        other = f"; case {printable(case, 60)} asks much the same" if case else ""
        lines.append(
            f"  {printable(cluster.name, _NAME_CHARS)!r}: {cluster.count:,}{failed}{other}"
        )
    if len(covering) > limit:
        lines.append(f"  … {len(covering) - limit:,} more")
    return lines


def _counts(coverage: Coverage) -> str:
    parts = [f"{coverage.cases:,} case(s)"]
    for keys, what in (
        (coverage.without_sql, "without reference SQL"),
        (coverage.unreadable, "whose reference cannot be analysed"),
    ):
        if keys:
            parts.append(f"{len(keys):,} {what}")
    if coverage.drafts:
        parts.append(f"{coverage.drafts:,} draft(s) left out")
    return ", ".join(parts)


def _by_use(exercised: Mapping[str, list[str]]) -> list[tuple[str, list[str]]]:
    return sorted(exercised.items(), key=lambda item: (-len(item[1]), item[0]))


def _named(before: str, names: Iterable[str]) -> list[str]:
    shown = [printable(name, _NAME_CHARS) for name in names]
    if not shown:
        return []
    more = f", … {len(shown) - _NAMES_SHOWN:,} more" if len(shown) > _NAMES_SHOWN else ""
    return [f"{before}{', '.join(shown[:_NAMES_SHOWN])}{more}"]
