"""YAML files with the line of every value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from dbagenteval.errors import first_line, quoted
from dbagenteval.project.folder.problems import Problems

__all__ = ["MAX_FILE_BYTES", "Node", "parse_yaml", "read_yaml"]

MAX_FILE_BYTES = 8_000_000
_MAX_DEPTH = 60
_MAX_NODES = 200_000


@dataclass(slots=True)
class Node:
    """One value of a YAML file.

    Args:
        value: The scalar, or None for a mapping or list.
        line: Where it starts, from 1.
        entries: Key to value if it is a mapping, else None.
        key_lines: Key to the line of the key.
        items: Values if it is a list, else None.
        is_plain: A scalar that stands without quotes.
    """

    value: Any
    line: int
    entries: dict[str, Node] | None = None
    key_lines: dict[str, int] = field(default_factory=dict)
    items: list[Node] | None = None
    is_plain: bool = False

    def data(self) -> Any:
        """Give plain Python data."""
        if self.entries is not None:
            return {key: node.data() for key, node in self.entries.items()}
        if self.items is not None:
            return [node.data() for node in self.items]
        return self.value

    def at(self, *path: str | int) -> Node | None:
        """Give the value under keys and positions, or None."""
        node: Node | None = self
        for step in path:
            if node is None:
                return None
            if isinstance(step, int):
                node = node.items[step] if node.items and step < len(node.items) else None
            else:
                node = (node.entries or {}).get(step)
        return node

    def line_of(self, *path: str | int) -> int:
        """Give the line of the key or item at the path, or of the nearest one above it."""
        node, line = self, self.line
        for step in path:
            following = node.at(step)
            if following is None:
                break
            line = following.line if isinstance(step, int) else node.key_lines.get(step, line)
            node = following
        return line

    def scalars(self) -> Iterator[Node]:
        """Walk over every scalar below, itself included."""
        if self.entries is not None:
            for node in self.entries.values():
                yield from node.scalars()
        elif self.items is not None:
            for node in self.items:
                yield from node.scalars()
        else:
            yield self


def read_yaml(path: Path, problems: Problems) -> Node | None:
    """Read a file of one YAML document; faults are noted, and None is given if it has no use."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        problems.error("unreadable", 0, f"cannot be read: {error.strerror or error}")
        return None
    if len(raw) > MAX_FILE_BYTES:
        problems.error("too-large", 0, f"is larger than {MAX_FILE_BYTES:,} bytes")
        return None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        problems.error("not-utf8", line, "is not UTF-8 text; save it as UTF-8")
        return None
    return parse_yaml(text, problems)


def parse_yaml(text: str, problems: Problems) -> Node | None:
    """Parse one YAML document; faults are noted, and None is given if it has no use."""
    try:
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        if root is None:
            problems.error("empty", 1, "is empty")
            return None
        return _Reader(loader, problems).read(root, 0)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        what = getattr(error, "problem", None) or first_line(error)
        problems.error("not-yaml", mark.line + 1 if mark else 1, f"is not valid YAML: {what}")
    except (_TooBig, RecursionError):
        problems.error("too-large", 1, "is nested too deeply, refers to itself or has too much")
    except ValueError as error:  # such as the date 2024-13-45
        problems.error("not-yaml", 1, f"has a value that is none: {error}")
    return None


class _TooBig(Exception):
    """The document is nested too deeply or expands to too much."""


class _Reader:
    """Turns composed nodes into ours, noting keys that stand twice."""

    def __init__(self, loader: yaml.SafeLoader, problems: Problems) -> None:
        self._loader = loader
        self._problems = problems
        self._count = 0

    def read(self, node: yaml.Node, depth: int) -> Node:
        self._count += 1
        if depth > _MAX_DEPTH or self._count > _MAX_NODES:
            raise _TooBig
        line = node.start_mark.line + 1
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, line, depth)
        if isinstance(node, yaml.SequenceNode):
            items = [self.read(item, depth + 1) for item in node.value]
            return Node(None, line, items=items)
        value = self._loader.construct_object(node, deep=True)
        return Node(value, line, is_plain=isinstance(node, yaml.ScalarNode) and node.style is None)

    def _mapping(self, node: yaml.MappingNode, line: int, depth: int) -> Node:
        result = Node(None, line, entries={})
        assert result.entries is not None  # noqa: S101 just set
        first: dict[str, int] = {}
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge" or not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in first:
                self._problems.error(
                    "duplicate-key",
                    key.start_mark.line + 1,
                    f"key {quoted(key.value)} stands twice; it is also at line {first[key.value]}",
                )
            first.setdefault(key.value, key.start_mark.line + 1)
        self._loader.flatten_mapping(node)
        for key, value in node.value:
            key_line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                self._problems.error("bad-key", key_line, "a key must be text")
                continue
            # A key such as `no` or `2018-01-01` is meant as written.
            result.entries[key.value] = self.read(value, depth + 1)
            result.key_lines[key.value] = key_line
        return result
