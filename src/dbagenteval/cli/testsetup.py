"""What a run of answer tests needs: the tests, how they are run, and the agent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dbagenteval.errors import UserError

if TYPE_CHECKING:
    import datetime

    from dbagenteval.project.agent.call import ProjectAgent
    from dbagenteval.project.folder.answertests import AnswerTest
    from dbagenteval.project.folder.config import Config
    from dbagenteval.project.folder.model import Project
    from dbagenteval.project.runs.settings import RunSettings

__all__ = ["asked_agent", "day_of", "settings_of", "tests_of"]


def tests_of(project: Project, folder: str | None, selects: Sequence[str]) -> list[AnswerTest]:
    """Find and read the tests.

    Raises:
        UserError: There are none, or one has a mistake.
    """
    from dbagenteval.project.folder.answertests import find_tests, load_tests, select_tests

    place = project.root / "tests" if folder is None else Path(folder)
    if not place.is_dir():
        raise UserError(f"{place} is no folder; nothing ran")
    tests, problems = load_tests(project, place)
    errors = [item for item in problems if item.level == "error"]
    if errors:
        for problem in errors:
            click.echo(str(problem), err=True)
        raise UserError(f"{len(errors)} error(s) in test files; nothing ran")
    if not tests:
        raise UserError(f"{place} has no .yml or .yaml test; nothing ran")
    chosen = select_tests(tests, selects)
    if not chosen:
        raise UserError(
            f"--select {' '.join(selects)} matches none of {len(tests)} tests; nothing ran"
        )
    click.echo(f"{len(find_tests(place))} test file(s), {len(chosen)} selected", err=True)
    return chosen


def day_of(text: str | None) -> datetime.date:
    """Read a date; None is today.

    Raises:
        UserError: It is none.
    """
    import datetime

    if text is None:
        return datetime.datetime.now().astimezone().date()
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise UserError(f"--today: expected a date YYYY-MM-DD, got {text!r}") from None


def settings_of(config: Config, options: Mapping[str, Any]) -> RunSettings:
    """Give how tests are run: the options, else what the project's configuration says."""
    from dbagenteval.project.runs.settings import RunSettings

    given = config.test
    configured = given.get("models") or ()
    models = options["models"] or ((configured,) if isinstance(configured, str) else configured)
    for model in models:
        provider, colon, name = model.partition(":")
        if not (provider and colon and name):
            raise UserError(f"--model: expected provider:model, got {model!r}; nothing ran")
    _refuse_self_grading(models, options)
    comparison = given.get("comparison") or {}
    if isinstance(comparison, str):
        comparison = {"mode": comparison}
    tolerance = {
        key: comparison[name]
        for key, name in (("relative", "rtol"), ("absolute", "atol"))
        if name in comparison
    }
    if "decimals" in comparison:
        tolerance["absolute"] = 0.5 * 10.0 ** -comparison["decimals"]
    return RunSettings(
        models=tuple(dict.fromkeys(models)) or ("",),
        k=options["k"] or given.get("k", 1),
        threads=options["threads"] or given.get("threads", 1),
        timeout_s=options["timeout"]
        or given.get("timeout")
        or config.agent.get("timeout")
        or 600.0,
        retries=config.agent.get("retries", 0),
        mode=options["comparison"] or comparison.get("mode", "exact"),
        tolerance=tolerance or None,
        prices=given.get("prices", {}),
        extract=_extractor(options["extract"], given.get("prices", {})),
        provenance=bool(given.get("provenance")),
    )


def _refuse_self_grading(models: Sequence[str], options: Mapping[str, Any]) -> None:
    tested = {model.casefold() for model in models}
    for option in ("extract", "judge"):
        named = options[option]
        if named is not None and named.partition("@")[0].casefold() in tested:
            raise UserError(
                f"--{option} {named}: a model under test grades no answers, its own least of all; "
                "name another; nothing ran"
            )


def _extractor(text: str | None, prices: Mapping[str, Any]) -> Callable[[str], str] | None:
    if text is None:
        return None
    if text.startswith("openai:"):
        from dbagenteval.project.verdict.readermodel import ReaderModel

        return ReaderModel(text.removeprefix("openai:"), prices)
    from dbagenteval.cli.targets import load_judge

    return load_judge(text)


def asked_agent(project: Project, options: Mapping[str, Any]) -> ProjectAgent:
    """Give what answers the tests: recorded replies, or the agent, with its spans if it has them.

    Raises:
        UserError: There is none, or the options don't go together.
    """
    if options["replies"] is not None:
        from dbagenteval.cli.testrun import read_results
        from dbagenteval.project.runs.recorded import RecordedAgent

        if options["agent"] or options["store_dir"]:
            raise UserError("--replies asks no agent; leave --agent and --store out")
        return RecordedAgent(read_results(options["replies"])["results"])
    agent = _agent(project, options["agent"])
    return agent if options["store_dir"] is None else _with_spans(agent, options["store_dir"])


def _agent(project: Project, text: str | None) -> ProjectAgent:
    from dbagenteval.cli.targets import load_agent
    from dbagenteval.project.agent.call import FunctionAgent, HttpAgent

    given = project.config.agent
    if text is None and given.get("url"):
        return HttpAgent(
            str(given["url"]),
            {str(key): str(value) for key, value in (given.get("headers") or {}).items()},
        )
    target = text or given.get("function")
    if not target:
        raise UserError(
            f"no agent; give --agent, or `agent:` in {project.config.file}",
            hint="--agent file:function calls Python, --agent http://… posts JSON",
        )
    if target.startswith(("http://", "https://")):
        return HttpAgent(target)
    if text is None:
        import sys

        target = target.replace(".py:", ":")
        sys.path.insert(0, str(project.root))
    return FunctionAgent(load_agent(target))


def _with_spans(agent: ProjectAgent, store_dir: str) -> ProjectAgent:
    from dbagenteval.cli.stores import read_store
    from dbagenteval.project.agent.call import HttpAgent
    from dbagenteval.project.agent.spans import SpanAgent
    from dbagenteval.traces import Trace, assemble

    if not isinstance(agent, HttpAgent):
        raise UserError("--store needs an agent at a URL: only there a trace id can be handed on")
    with read_store(store_dir):
        pass  # a store that can't be read is told before the agent is asked
    lock = threading.Lock()

    def find(trace_id: str) -> Trace | None:
        with lock, read_store(store_dir) as store:
            return next(iter(assemble(store.otel_traces(trace_ids=[trace_id]))), None)

    return SpanAgent(agent, find)
