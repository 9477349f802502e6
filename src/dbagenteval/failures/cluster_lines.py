"""Clusters as lines for a person."""

from __future__ import annotations

from dbagenteval.failures.clusters import WEEK, Cluster, Clusters
from dbagenteval.printable import printable

__all__ = ["cluster_lines", "question_lines"]

_NAME_CHARS = 160


def cluster_lines(clusters: Clusters, limit: int = 10, least: int = 1) -> list[str]:
    """Give the largest clusters of failures, one line each; nothing if there are none.

    A line names what they have in common, how many of all outcomes that is, how it changed from
    one week to the next where more than a week is known, and by what they failed.

    Args:
        clusters: All outcomes.
        limit: How many to list; the others are counted.
        least: Failures that a cluster must have to be listed; those of smaller ones are counted
            at the end.
    """
    of_all = clusters.failures()
    found = [cluster for cluster in of_all if cluster.count >= least]
    if not found:
        return []
    failed = sum(cluster.count for cluster in found)
    others = sum(cluster.count for cluster in of_all) - failed
    lines = [f"{failed:,} failure(s), {len(found):,} cluster(s):"]
    for cluster in found[:limit]:
        parts = [cluster.stage, *([cluster.check, cluster.reason] if cluster.edit else [])]
        where = printable(" · ".join(part for part in parts if part), _NAME_CHARS)
        lines.append(
            f"  {printable(cluster.name, _NAME_CHARS)}, {cluster.count:,} of {clusters.total:,}"
            f"{_trend(cluster, clusters)}{f'  [{where}]' if where else ''}"
        )
    alone = [f"  {others:,} failure(s) in smaller clusters"] if others else []
    return [*lines, *_rest(len(found), limit), *alone]


def question_lines(clusters: Clusters, limit: int = 10) -> list[str]:
    """Give the questions without a case, worst first, one line each; nothing if there are none."""
    found = clusters.questions()
    if not found:
        return []
    asked = sum(cluster.count for cluster in found)
    lines = [f"{asked:,} question(s) without a case, {len(found):,} cluster(s):"]
    for cluster in found[:limit]:
        failed = f", {cluster.failed:,} failed" if cluster.failed else ""
        lines.append(
            f"  {printable(cluster.name, _NAME_CHARS)!r}, {cluster.count:,} of {clusters.total:,}"
            f"{failed}{_trend(cluster, clusters)}"
        )
    return [*lines, *_rest(len(found), limit)]


def _rest(count: int, limit: int) -> list[str]:
    return [f"  … {count - limit:,} more cluster(s)"] if count > limit else []


def _trend(cluster: Cluster, clusters: Clusters) -> str:
    last = clusters.last_day
    if last - clusters.first_day < WEEK:
        return ""
    now, before = cluster.in_week(last), cluster.in_week(last - WEEK)
    if now == before:
        return f", {now:,} in the last 7 days as in those before"
    return f", {now:,} in the last 7 days, {'up' if now > before else 'down'} from {before:,}"
