"""A judge that asks a model behind an OpenAI-compatible address, and remembers its replies."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbagenteval.checks.prompts import SYSTEM_PROMPT
from dbagenteval.checks.verdict import parse_verdict
from dbagenteval.errors import TargetError

if TYPE_CHECKING:
    from openai import OpenAI

__all__ = ["ModelJudge", "Price", "default_cache_dir"]

_TIMEOUT_S = 120.0
_NO_KEY = "not needed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a model costs, in any currency, per million tokens.

    Args:
        input: For tokens of prompts.
        output: For tokens of replies.
    """

    input: float
    output: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reply:
    text: str
    input_tokens: int = 0
    output_tokens: int = 0


def default_cache_dir() -> Path:
    """Give the folder for replies: in `DBAGENTEVAL_CACHE_DIR`, else in the user's cache."""
    own = os.environ.get("DBAGENTEVAL_CACHE_DIR")
    if own:
        return Path(own) / "judge"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "dbagenteval" / "judge"


class ModelJudge:
    """A judge for `--judge openai:MODEL`; call it with a prompt, it gives the reply.

    The key is taken from `OPENAI_API_KEY`, an address that isn't given from `OPENAI_BASE_URL`.
    A reply that holds a verdict is kept on disk under a digest of address, model and prompt, so
    that the same question to the same model is asked and paid once.

    Args:
        model: Name of the model.
        base_url: Address of the service; None means OpenAI's, or the environment's.
        cache_dir: Where replies are kept; None keeps none.
        price: To work out the cost.

    Raises:
        TargetError: The client library or the key is missing.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        cache_dir: Path | None = None,
        price: Price | None = None,
    ) -> None:
        self.model = model
        self._client = _client(base_url)
        self._cache_dir = cache_dir
        self._price = price
        self._lock = threading.Lock()
        self._calls = self._cached = self._input_tokens = self._output_tokens = 0

    def __call__(self, prompt: str) -> str:
        """Give the model's reply, from disk if this was asked before.

        Raises:
            openai.OpenAIError: The service can't be reached or refuses.
        """
        # A lone surrogate from a database can't be sent.
        prompt = prompt.encode("utf-8", "backslashreplace").decode("utf-8")
        path = self._path_for(prompt)
        known = _read(path)
        if known is not None:
            with self._lock:
                self._cached += 1
            return known.text
        reply = self._ask(prompt)
        with self._lock:
            self._calls += 1
            self._input_tokens += reply.input_tokens
            self._output_tokens += reply.output_tokens
        if path is not None and _has_verdict(reply.text):
            _keep(path, reply)
        return reply.text

    def usage(self) -> dict[str, Any]:
        """Give what was used so far, for reports.

        Returns:
            `model`; `calls` that were paid and `cached` ones; their `input_tokens` and
            `output_tokens`; `cost`, which is None where no price is known.
        """
        cost = None
        if self._price is not None:
            paid = self._input_tokens * self._price.input + self._output_tokens * self._price.output
            cost = round(paid / 1_000_000, 6)
        return {
            "model": self.model,
            "calls": self._calls,
            "cached": self._cached,
            "input_tokens": self._input_tokens,
            "output_tokens": self._output_tokens,
            "cost": cost,
        }

    def _ask(self, prompt: str) -> _Reply:
        answer = self._client.chat.completions.create(
            model=self.model,
            messages=[
                {"role": "system", "content": SYSTEM_PROMPT},
                {"role": "user", "content": prompt},
            ],
        )
        text = answer.choices[0].message.content if answer.choices else None
        usage = answer.usage
        return _Reply(
            text=text or "",
            input_tokens=usage.prompt_tokens if usage else 0,
            output_tokens=usage.completion_tokens if usage else 0,
        )

    def _path_for(self, prompt: str) -> Path | None:
        if self._cache_dir is None:
            return None
        asked = [str(self._client.base_url), self.model, SYSTEM_PROMPT, prompt]
        digest = hashlib.sha256(json.dumps(asked).encode()).hexdigest()
        return self._cache_dir / digest[:2] / f"{digest}.json"


def _client(base_url: str | None) -> OpenAI:
    try:
        import openai  # noqa: PLC0415 an extra, and slow to import
    except ImportError as error:
        raise TargetError(
            "a judge by model needs the package openai",
            hint="pip install 'dbagenteval[judge]'",
        ) from error
    address = base_url or os.environ.get("OPENAI_BASE_URL")
    key = os.environ.get("OPENAI_API_KEY")
    if not key and not address:
        raise TargetError(
            "OPENAI_API_KEY is not set", hint="set it, or give the address: openai:MODEL@URL"
        )
    # A service on one's own machine needs no key, but the client insists on some text.
    return openai.OpenAI(api_key=key or _NO_KEY, base_url=address, timeout=_TIMEOUT_S)


def _has_verdict(text: str) -> bool:
    try:
        parse_verdict(text)
    except ValueError:
        return False
    return True


def _read(path: Path | None) -> _Reply | None:
    if path is None:
        return None
    try:
        kept: Any = json.loads(path.read_text(encoding="utf-8"))
        reply = _Reply(**kept)
    except (OSError, ValueError, TypeError):  # not there, or not written by this version
        return None
    return reply if isinstance(kept.get("text"), str) and _has_verdict(reply.text) else None


def _keep(path: Path, reply: _Reply) -> None:
    """Write a reply as a whole; a cache that can't be written is no reason to fail a case."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            json.dump(asdict(reply), file)
        Path(name).replace(path)
