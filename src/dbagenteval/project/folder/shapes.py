"""What a YAML value may look like, and the check of a value against it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field

from dbagenteval.errors import quoted
from dbagenteval.project.folder.document import Node
from dbagenteval.project.folder.problems import Problems, did_you_mean

__all__ = [
    "FLAG",
    "TEXT",
    "TEXTS",
    "TEXT_OR_TEXTS",
    "AnyValue",
    "Choice",
    "DateValue",
    "Flag",
    "ListOf",
    "MapOf",
    "Number",
    "OneOf",
    "Record",
    "Shape",
    "Text",
    "Whole",
]


class Shape:
    """Base of the shapes; `check` notes every fault of a value and says whether it is sound."""

    def check(self, node: Node, where: str, problems: Problems) -> bool:
        """Note the faults of the value at `where`, such as `pii.mode`."""
        return self._check(node, where, problems)

    def _check(self, node: Node, where: str, problems: Problems) -> bool:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class AnyValue(Shape):
    """Whatever another program reads."""

    def _check(self, node: Node, where: str, problems: Problems) -> bool:  # noqa: ARG002 the interface
        return True


@dataclass(frozen=True, slots=True)
class Text(Shape):
    """Text that is not blank."""

    def _check(self, node: Node, where: str, problems: Problems) -> bool:
        if isinstance(node.value, str) and node.value.strip():
            return True
        hint = ""
        if isinstance(node.value, (bool, int, float, datetime.date)):
            hint = "; put it in quotes if that is meant"
        problems.error("wrong-type", node.line, f"{where} must be text, not {_shown(node)}{hint}")
        return False


@dataclass(frozen=True, slots=True)
class Flag(Shape):
    """True or false."""

    def _check(self, node: Node, where: str, problems: Problems) -> bool:
        if isinstance(node.value, bool):
            return True
        problems.error(
            "wrong-type", node.line, f"{where} must be true or false, not {_shown(node)}"
        )
        return False


@dataclass(frozen=True, slots=True)
class Whole(Shape):
    """A whole number of at least `minimum`."""

    minimum: int = 0

    def _check(self, node: Node, where: str, problems: Problems) -> bool:
        value = node.value
        if isinstance(value, int) and not isinstance(value, bool) and value >= self.minimum:
            return True
        problems.error(
            "wrong-type",
            node.line,
            f"{where} must be a whole number of at least {self.minimum}, not {_shown(node)}",
        )
        return False


@dataclass(frozen=True, slots=True)
class Number(Shape):
    """A finite number, optionally of at least `minimum`."""

    minimum: float | None = None

    def _check(self, node: Node, where: str, problems: Problems) -> bool:
        value = node.value
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if is_number and abs(value) != float("inf") and value == value:  # noqa: PLR0124 NaN
            if self.minimum is None or value >= self.minimum:
                return True
            problems.error(
                "out-of-range", node.line, f"{where} must be at least {self.minimum}, not {value}"
            )
            return False
        problems.error("wrong-type", node.line, f"{where} must be a number, not {_shown(node)}")
        return False


@dataclass(frozen=True, slots=True)
class DateValue(Shape):
    """A date as YYYY-MM-DD, with or without quotes."""

    def _check(self, node: Node, where: str, problems: Problems) -> bool:
        value = node.value
        if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
            return True
        if isinstance(value, str):
            try:
                datetime.date.fromisoformat(value)
            except ValueError:
                pass
            else:
                return True
        problems.error(
            "wrong-type", node.line, f"{where} must be a date YYYY-MM-DD, not {_shown(node)}"
        )
        return False


@dataclass(frozen=True, slots=True)
class Choice(Shape):
    """One of a few words."""

    words: tuple[str, ...]

    def _check(self, node: Node, where: str, problems: Problems) -> bool:
        if isinstance(node.value, str) and node.value in self.words:
            return True
        near = did_you_mean(node.value, list(self.words)) if isinstance(node.value, str) else ""
        problems.error(
            "unknown-value",
            node.line,
            f"{where} must be one of {', '.join(self.words)}, not {_shown(node)}{near}",
        )
        return False


@dataclass(frozen=True, slots=True)
class ListOf(Shape):
    """A list whose items have one shape."""

    item: Shape
    minimum: int = 0

    def _check(self, node: Node, where: str, problems: Problems) -> bool:
        if node.items is None:
            problems.error("wrong-type", node.line, f"{where} must be a list, not {_shown(node)}")
            return False
        if len(node.items) < self.minimum:
            problems.error("too-few", node.line, f"{where} must have {self.minimum} item(s)")
            return False
        sound = [
            self.item.check(item, f"{where}[{index}]", problems)
            for index, item in enumerate(node.items)
        ]
        return all(sound)


@dataclass(frozen=True, slots=True)
class MapOf(Shape):
    """A mapping from any name to values of one shape."""

    value: Shape

    def _check(self, node: Node, where: str, problems: Problems) -> bool:
        if node.entries is None:
            problems.error(
                "wrong-type", node.line, f"{where} must be a mapping, not {_shown(node)}"
            )
            return False
        sound = [
            self.value.check(value, f"{where}.{key}", problems)
            for key, value in node.entries.items()
        ]
        return all(sound)


@dataclass(frozen=True, slots=True)
class Record(Shape):
    """A mapping of known keys.

    Args:
        fields: Key to shape.
        required: Keys that must be there.
        others: `error`, `warn` (keys of other programs, unless it looks like a typing mistake)
            or `allow`.
        nullable: Keys whose value may be null, as if they were absent.
    """

    fields: Mapping[str, Shape]
    required: tuple[str, ...] = ()
    others: str = "error"
    nullable: tuple[str, ...] = field(default=())

    def _check(self, node: Node, where: str, problems: Problems) -> bool:
        if node.entries is None:
            place = where or "the file"
            problems.error(
                "wrong-type", node.line, f"{place} must be a mapping, not {_shown(node)}"
            )
            return False
        prefix = f"{where}." if where else ""
        sound = True
        for key, value in node.entries.items():
            shape = self.fields.get(key)
            if shape is None:
                sound = self._unknown(key, node, prefix, problems) and sound
            elif value.data() is None and key in self.nullable:
                continue
            else:
                sound = shape.check(value, f"{prefix}{key}", problems) and sound
        for key in self.required:
            if key not in node.entries:
                problems.error("missing-key", node.line, f"missing '{prefix}{key}'")
                sound = False
        return sound

    def _unknown(self, key: str, node: Node, prefix: str, problems: Problems) -> bool:
        if self.others == "allow":
            return True
        line = node.key_lines[key]
        near = did_you_mean(key, list(self.fields))
        if self.others == "warn" and not near:
            problems.warn("unknown-key", line, f"key '{prefix}{key}' is not read")
            return True
        allowed = "" if near else f"; allowed: {', '.join(self.fields)}"
        problems.error("unknown-key", line, f"unknown key '{prefix}{key}'{near}{allowed}")
        return False


@dataclass(frozen=True, slots=True)
class OneOf(Shape):
    """A value of one of several kinds, told apart by being a scalar, a list or a mapping."""

    scalar: Shape | None = None
    items: Shape | None = None
    mapping: Shape | None = None

    def _check(self, node: Node, where: str, problems: Problems) -> bool:
        if node.entries is not None:
            shape = self.mapping
        else:
            shape = self.items if node.items is not None else self.scalar
        if shape is None:
            kinds = [("text", self.scalar), ("a list", self.items), ("a mapping", self.mapping)]
            allowed = " or ".join(name for name, kind in kinds if kind is not None)
            problems.error(
                "wrong-type", node.line, f"{where} must be {allowed}, not {_shown(node)}"
            )
            return False
        return shape.check(node, where, problems)


def _shown(node: Node) -> str:
    if node.entries is not None:
        return "a mapping"
    if node.items is not None:
        return "a list"
    return "null" if node.value is None else quoted(node.value)


TEXT = Text()
FLAG = Flag()
TEXTS = ListOf(TEXT)
TEXT_OR_TEXTS = OneOf(scalar=TEXT, items=TEXTS)
