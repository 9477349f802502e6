"""The file that says what must not be kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from dbagenteval.errors import UserError

__all__ = ["read_rules"]

_KINDS: dict[str, type] = {"keys": list, "detect": list, "patterns": dict}


def read_rules(file: Path) -> dict[str, Any]:
    """Read the rules, as arguments for `Redactor`.

    Raises:
        UserError: There is any fault, which would let through what a rule names.
    """
    try:
        rules: Any = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"{file}: can't be read as YAML") from error
    if not rules or not isinstance(rules, dict):
        raise UserError(f"{file}: expected {', '.join(_KINDS)}")
    for name, found in rules.items():
        if name not in _KINDS:
            raise UserError(f"{file}: unknown field {name!r}; allowed: {', '.join(_KINDS)}")
        texts = found.values() if isinstance(found, dict) else found
        if not isinstance(found, _KINDS[name]) or not all(isinstance(text, str) for text in texts):
            raise UserError(f"{file}: {name} must be a {_KINDS[name].__name__} of texts")
    return {name: rules.get(name, kind()) for name, kind in _KINDS.items()}
