"""Load what the command line names as `file:NAME`, or as a URL."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbagenteval.checks import Check, Executor, Judge
from dbagenteval.errors import TargetError, UserError

if TYPE_CHECKING:
    from dbagenteval.checks.model_judge import Price

__all__ = ["load_agent", "load_executor", "load_judge", "load_rules", "load_target"]


_OPENAI = "openai:"


def load_target(text: str, option: str) -> Any:
    """Import `file:NAME` and give what has that name.

    The current folder is searched first.

    Args:
        text: A module (`shop`, `examples.toy_agent`), a colon, one name of it.
        option: The option it was given to, for messages.

    Raises:
        TargetError: Malformed, or the import fails, or there is no such name.
    """
    module_name, _, name = text.partition(":")
    if not module_name or not name:
        raise TargetError(
            f"expected module:attribute, got {text!r}", hint=f"for example {option} shop:NAME"
        )
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        raise TargetError(
            f"cannot import {module_name!r}: {type(error).__name__}: {error}",
            hint=_import_hint(module_name, name, error),
        ) from error
    try:
        return getattr(module, name)
    except AttributeError:
        raise TargetError(f"module {module_name!r} has no attribute {name!r}") from None


def _import_hint(module_name: str, name: str, error: BaseException) -> str | None:
    if module_name.endswith(".py"):
        written = module_name[: -len(".py")].replace("/", ".").strip(".")
        return f"write {written}:{name}, without .py"
    if isinstance(error, ModuleNotFoundError) and error.name == module_name.partition(".")[0]:
        return f"run the command from the folder that has {module_name.partition('.')[0]}.py"
    return None


def load_agent(text: str) -> Callable[..., Any]:
    """Load the function of `--agent`."""
    return _function(text, "--agent")


def load_rules(text: str) -> list[Check]:
    """Load the list of rules of `--rules`."""
    rules = load_target(text, "--rules")
    if not isinstance(rules, (list, tuple)) or not all(isinstance(rule, Check) for rule in rules):
        raise TargetError(f"{text} must be a list of checks, such as [ReadOnly(), ...]")
    if not rules:
        raise TargetError(
            f"{text} is an empty list, so no rule would be checked; leave out --rules"
        )
    return list(rules)


def load_judge(
    text: str, *, cache_dir: Path | None = None, price: str | None = None, cache: bool = True
) -> Judge:
    """Load the judge of `--judge`: a function, or a model as `openai:MODEL[@URL]`.

    Args:
        text: What the user gave.
        cache_dir: Where replies of a model are kept; None means the user's cache folder.
        price: `INPUT,OUTPUT` per million tokens.
        cache: Keep and use replies of a model.

    Raises:
        TargetError: It can't be loaded.
    """
    if not text.startswith(_OPENAI):
        return _function(text, "--judge")
    from dbagenteval.checks.model_judge import ModelJudge, default_cache_dir

    model, at, address = text[len(_OPENAI) :].rpartition("@http")
    if not at:
        model, address = text[len(_OPENAI) :], ""
    if not model:
        raise TargetError(f"expected openai:MODEL, got {text!r}")
    return ModelJudge(
        model,
        base_url=f"http{address}" if address else None,
        cache_dir=(cache_dir or default_cache_dir()) if cache else None,
        price=_price(price),
    )


def _price(text: str | None) -> Price | None:
    if text is None:
        return None
    from dbagenteval.checks.model_judge import Price

    try:
        paid_in, paid_out = (float(part) for part in text.split(","))
    except ValueError:
        raise UserError(
            f"--judge-price: expected INPUT,OUTPUT such as 0.15,0.60, got {text!r}"
        ) from None
    return Price(input=paid_in, output=paid_out)


def load_executor(execute: str | None, database: str | None = None) -> Executor | None:
    """Load the function of `--execute`, or make one for the URL of `--database`.

    Returns:
        The executor, or None if neither is given.
    """
    if execute and database:
        raise UserError("--execute and --database exclude each other; give one of them")
    if execute:
        return _function(execute, "--execute")
    if database:
        from dbagenteval.executors import executor_for

        return executor_for(database)
    return None


def _function(text: str, option: str) -> Callable[..., Any]:
    target = load_target(text, option)
    if not callable(target):
        raise TargetError(f"{text} is not a function; {option} needs one")
    return target  # type: ignore[no-any-return]
