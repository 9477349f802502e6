"""Where in the text of a YAML file its cases and their fields stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from dbagenteval.cases.yaml_source import Loader
from dbagenteval.errors import UserError

__all__ = ["Field", "Place", "case_list"]


@dataclass(slots=True)
class Place:
    """One value of a document.

    Args:
        start: Index of its first character.
        end: Index behind its last one; for a block of text behind its last line break.
        column: Of its first character; the dash of a list, the first key of a mapping.
        text: What a scalar says; None for lists, mappings and aliases.
        is_flow: Written in brackets or braces.
        is_mapping: It has fields, be they none.
        items: The values of a list.
        fields: The pairs of a mapping.
    """

    start: int
    end: int
    column: int
    text: str | None = None
    is_flow: bool = False
    is_mapping: bool = False
    items: list[Place] = field(default_factory=list)
    fields: list[Field] = field(default_factory=list)

    def field(self, name: str) -> Field | None:
        """Give the field of that name, or None."""
        return next((each for each in self.fields if each.key.text == name), None)


@dataclass(frozen=True, slots=True)
class Field:
    """A pair of a mapping."""

    key: Place
    value: Place


def case_list(text: str, path: str) -> Place | None:
    """Find the list of cases: the document, or what stands under its key `cases`.

    Args:
        text: The document.
        path: Name of the file, for messages.

    Returns:
        None if the document, or its key `cases`, holds nothing but comments.

    Raises:
        UserError: It is no YAML, or has no such list.
    """
    try:
        events = yaml.parse(text, Loader)
        root = next((_place(event, events) for event in events if _opens_value(event)), None)
    except (yaml.YAMLError, RecursionError) as error:
        raise UserError(f"{path}: invalid YAML ({' '.join(str(error).split())})") from None
    if root is None or root.text == "":
        return None
    if root.is_mapping:
        found = root.field("cases")
        if found is not None and found.value.text == "":
            return None
        root = root if found is None else found.value
    if root.is_mapping or root.text is not None:
        raise UserError(f"{path}: expected a list of cases, or a mapping with a 'cases' list")
    if root.items and not root.is_flow:
        # An anchor or a tag may stand where the parser lets the list begin.
        dash = text.rfind("-", 0, root.items[0].start)
        root.column = dash - (text.rfind("\n", 0, dash) + 1)
    return root


def _opens_value(event: Any) -> bool:
    return isinstance(event, (yaml.NodeEvent, yaml.CollectionStartEvent))


def _place(event: Any, events: Iterator[Any]) -> Place:
    """Read one value, the event that opens it being read already."""
    place = Place(event.start_mark.index, event.end_mark.index, event.start_mark.column)
    if isinstance(event, yaml.ScalarEvent):
        place.text = event.value
    elif isinstance(event, yaml.SequenceStartEvent):
        place.is_flow = bool(event.flow_style)
        for each in events:
            if isinstance(each, yaml.SequenceEndEvent):
                _close(place, each, place.items)
                break
            place.items.append(_place(each, events))
    elif isinstance(event, yaml.MappingStartEvent):
        place.is_flow, place.is_mapping = bool(event.flow_style), True
        for each in events:
            if isinstance(each, yaml.MappingEndEvent):
                _close(place, each, [pair.value for pair in place.fields])
                break
            key = _place(each, events)
            place.fields.append(Field(key, _place(next(events), events)))
        if place.fields:
            place.column = place.fields[0].key.column
    return place


def _close(place: Place, event: Any, inner: list[Place]) -> None:
    # A block ends for the parser where the next token is, behind comments that are not its own.
    place.end = event.end_mark.index if place.is_flow or not inner else inner[-1].end
