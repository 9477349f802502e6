"""The model that reads rows out of an agent's text, apart from the model under test."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from dbagenteval.errors import TargetError

__all__ = ["ReaderModel"]

_MILLION = 1_000_000


class ReaderModel:
    """A model behind an OpenAI-compatible address; key and address come from the environment.

    Args:
        model: Name of the model.
        prices: `test.prices` of the configuration; `openai:MODEL` is looked up.

    Raises:
        TargetError: The client library or the key is missing.
    """

    def __init__(self, model: str, prices: Mapping[str, Any]) -> None:
        try:
            from openai import OpenAI, OpenAIError  # noqa: PLC0415 an extra
        except ImportError as error:
            raise TargetError(
                f"--extract openai:{model} needs the package openai",
                hint="pip install 'dbagenteval[judge]'",
            ) from error
        try:
            self._client = OpenAI()
        except OpenAIError as error:
            raise TargetError(f"--extract openai:{model}: {error}") from error
        self._model = model
        self._price = prices.get(f"openai:{model}")
        self._lock = threading.Lock()
        self._calls = self._input = self._output = 0

    def __call__(self, prompt: str) -> str:
        """Give the model's text for one prompt."""
        answer = self._client.chat.completions.create(
            model=self._model,
            temperature=0,
            messages=[{"role": "user", "content": prompt}],
        )
        with self._lock:
            self._calls += 1
            if answer.usage is not None:
                self._input += answer.usage.prompt_tokens
                self._output += answer.usage.completion_tokens
        return (answer.choices[0].message.content or "") if answer.choices else ""

    def usage(self) -> dict[str, Any]:
        """Give what was used; `cost` in USD is None where no price is known."""
        cost = None
        if self._price is not None:
            paid = self._input * self._price["input"] + self._output * self._price["output"]
            cost = paid / _MILLION
        return {
            "model": f"openai:{self._model}",
            "calls": self._calls,
            "input_tokens": self._input,
            "output_tokens": self._output,
            "cost": cost,
        }
