"""A drafted file as YAML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

__all__ = ["yaml_text"]


def yaml_text(comment: str, data: Mapping[str, Any]) -> str:
    """Give data as YAML below a comment."""
    text = yaml.safe_dump(dict(data), sort_keys=False, allow_unicode=True, width=100)
    return f"# {comment}\n{text}"
