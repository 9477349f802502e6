"""Change a YAML file of cases where it changes, and leave every other byte as it is.

A writer that loads and dumps a document keeps its comments at best, not its line breaks, quotes
and indentation. So a change is spliced into the text, at the places that the parser tells, and
what comes out is read again: it has to say what it said, and what was changed.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from dbagenteval.cases.yaml_places import Place, case_list
from dbagenteval.cases.yaml_source import Loader
from dbagenteval.errors import UserError, quoted

__all__ = ["append_cases", "remove_case", "remove_field", "set_field"]

_NEVER_FOLD = 1 << 30
# PyYAML adds breaks of its own to other line breaks; blank lines at an end are lost to the eye.
_BROKEN_AS_BLOCK = re.compile("[\r\x85\u2028\u2029]|\n\n\\Z")


class _Dumper(yaml.SafeDumper):
    """Block style, texts of several lines as they are, no aliases."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 PyYAML's signature
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002 PyYAML's signature
        # Lists in mappings are indented, as people write them.
        super().increase_indent(flow, indentless=False)


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text.strip() else None
    if _BROKEN_AS_BLOCK.search(text):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def append_cases(text: str, cases: Sequence[Mapping[str, Any]], path: str) -> str:
    """Give the text with further cases at the end of its list.

    Args:
        text: A cases file, or nothing, or comments only.
        cases: JSON-ready mappings with the fields of cases, in the order to write them.
        path: Name of the file, for messages.

    Raises:
        UserError: The file can't be read, or its list is one to which nothing can be appended.
    """
    new = [dict(case) for case in cases]
    listed = case_list(text, path)
    if listed is None:
        return _checked(_joined(text, _entries(new, text, 0)), new, path)
    if listed.is_flow:
        raise UserError(
            f"{path}: its list of cases is written in brackets; expected a dash before each case",
            hint="write the new cases to a file of their own",
        )
    end = _end_of_line(text, _content_end(text, listed))
    if all(line.strip()[:1] in ("", "#") for line in text[end:].splitlines()):
        end = len(text)
    changed = _joined(text[:end], _entries(new, text, listed.column)) + text[end:]
    expected = [*_items(text), *new]
    if not text.endswith("\n") and _items(text + "\n") != _items(text):
        raise UserError(f"{path}: its last text ends without a line break; end the file with one")
    return _checked(changed, expected, path)


def set_field(text: str, case_id: str, names: tuple[str, ...], value: Any, path: str) -> str:
    """Give the text with one field of one case set.

    Args:
        text: A cases file.
        case_id: Id of the case.
        names: The field, or the way to it through mappings.
        value: JSON-ready.
        path: Name of the file, for messages.

    Raises:
        UserError: There is no such case, or its place can't be changed.
    """
    index, mapping = _entry(text, case_id, path)
    # Each by itself: what cases share by an alias would change in all of them.
    expected = [copy.deepcopy(item) for item in _items(text)]
    data = expected[index]
    for name in names[:-1]:
        inner = mapping.field(name)
        if inner is None or not inner.value.is_mapping:
            raise UserError(f"{path}: case {quoted(case_id)} has no mapping {name!r}")
        mapping, data = inner.value, data[name]
    data[names[-1]] = value
    if mapping.is_flow or not mapping.fields:
        raise UserError(f"{path}: case {quoted(case_id)} is written in braces; edit it by hand")
    margin = " " * mapping.column
    written = _indented(_dumped({names[-1]: value}, text), margin)
    field = mapping.field(names[-1])
    if field is not None:
        start, end = field.key.start, _content_end(text, field.value)
        changed = text[:start] + written.rstrip()[len(margin) :] + text[end:]
    else:
        end = _end_of_line(text, _content_end(text, mapping))
        changed = _ended(text[:end], text) + written + text[end:]
    return _checked(changed, expected, path)


def remove_field(text: str, case_id: str, name: str, path: str) -> str:
    """Give the text without one field of one case.

    Raises:
        UserError: There is no such case, or its place can't be changed.
    """
    index, mapping = _entry(text, case_id, path)
    field = mapping.field(name)
    if field is None:
        return text
    expected = _items(text)
    expected[index] = {key: value for key, value in expected[index].items() if key != name}
    start, end = field.key.start, _content_end(text, field.value)
    position = mapping.fields.index(field)
    line = _start_of_line(text, start)
    if mapping.is_flow and position > 0:
        start = mapping.fields[position - 1].value.end
    elif not mapping.is_flow and not text[line:start].strip():
        start, end = line, _end_of_line(text, end)
    elif len(mapping.fields) > 1:
        # The dash or brace before the first field stays for the next one, and for its comments.
        end = _next_in(text, end, mapping.fields[1].key.start)
    return _checked(text[:start] + text[end:], expected, path)


def _next_in(text: str, end: int, next_field: int) -> int:
    """Give where the comments above the next field begin, else where it begins itself."""
    between = text[_end_of_line(text, end) : next_field]
    return next_field - len(between.lstrip()) if between.strip() else next_field


def remove_case(text: str, case_id: str, path: str, *, comment: str = "") -> str:
    """Give the text without one case; a comment of one line may stand in its place.

    Raises:
        UserError: There is no such case, or its place can't be changed.
    """
    index, entry = _entry(text, case_id, path)
    listed = case_list(text, path)
    if listed is None or listed.is_flow:
        raise UserError(f"{path}: its list of cases is written in brackets; edit it by hand")
    expected = _items(text)
    del expected[index]
    start = _start_of_line(text, _dash_before(text, entry))
    end = _end_of_line(text, _content_end(text, entry))
    left = f"{' ' * listed.column}# {comment}{_line_break(text)}" if comment else ""
    return _checked(text[:start] + left + text[end:], expected, path)


def _entry(text: str, case_id: str, path: str) -> tuple[int, Place]:
    listed = case_list(text, path)
    for index, entry in enumerate(() if listed is None else listed.items):
        field = entry.field("id")
        if field is not None and field.value.text == case_id:
            return index, entry
    raise UserError(f"{path}: no case has the id {quoted(case_id)}")


def _checked(changed: str, expected: list[Any], path: str) -> str:
    """Read the changed text again: it must say what is expected, and nothing else."""
    try:
        found = _items(changed)
    except (yaml.YAMLError, TypeError, KeyError):
        found = [None]
    if found != expected:
        raise UserError(f"{path}: this case can't be changed by itself; edit the file by hand")
    return changed


def _items(text: str) -> list[Any]:
    document = yaml.load(text, Loader)  # noqa: S506 a safe loader
    return list((document["cases"] if isinstance(document, dict) else document) or ())


def _entries(cases: list[dict[str, Any]], text: str, column: int) -> str:
    written = (_indented(_dumped([case], text), " " * column) for case in cases)
    return _line_break(text).join(written)


def _dumped(value: Any, like: str) -> str:
    text: str = yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_NEVER_FOLD
    )
    return text.replace("\n", _line_break(like))


def _indented(text: str, margin: str) -> str:
    return "".join(
        margin + line if line.strip() else line for line in re.findall(r"[^\n]*\n|[^\n]+$", text)
    )


def _joined(before: str, entries: str) -> str:
    """Put entries behind a text, with a blank line between."""
    before = _ended(before, before)
    is_apart = before.endswith(2 * _line_break(before)) or not before.strip()
    return before + ("" if is_apart else _line_break(before)) + entries


def _ended(text: str, like: str) -> str:
    return text if not text or text.endswith("\n") else text + _line_break(like)


def _line_break(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _content_end(text: str, place: Place) -> int:
    """Give where the text of a place ends, without the blank lines that a block ends in."""
    return place.start + len(text[place.start : place.end].rstrip())


def _dash_before(text: str, entry: Place) -> int:
    return text.rindex("-", 0, entry.start)


def _start_of_line(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _end_of_line(text: str, index: int) -> int:
    end = text.find("\n", index)
    return len(text) if end < 0 else end + 1
