"""Cases in YAML: read as nodes first, so that every fault has its line."""

from __future__ import annotations

from typing import Any

import yaml

from dbagenteval.cases.source import Item, Source, case_items

__all__ = ["Loader", "read_yaml"]

Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's where PyYAML has it. The two differ in what they accept, so that all readers of one
file take the same."""

_TAG = "tag:yaml.org,2002:"
# A file of plain cases has no aliases at all; a bomb multiplies a few nodes into millions.
_MAX_EXPANDED = 100_000
_MAX_EXPANSION = 20


def read_yaml(text: str, path: str) -> Source:
    """Read the cases of a YAML document.

    Args:
        text: The document.
        path: Name of the file, for messages.

    Returns:
        Items with the line that each starts on. Duplicate keys at any depth, aliases that
        contain themselves or multiply without end are problems; values that YAML reads
        otherwise than they look (`NO`, `012`, `12:30`) are warnings.
    """
    source = Source()
    loader = Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            case_items(None, path, source.problems)
            return source
        _Inspection(path, source).inspect(node)
        if not source.problems:
            _read_items(loader, node, path, source)
    except yaml.YAMLError as error:
        source.problems.append(_invalid(path, error))
    except RecursionError:
        source.problems.append(f"{path}: invalid YAML (nested too deeply)")
    finally:
        loader.dispose()
    return source


def _case_nodes(root: Any) -> list[Any] | None:
    cases: Any = root
    if isinstance(root, yaml.MappingNode):
        cases = next((value for key, value in root.value if key.value == "cases"), None)
    return cases.value if isinstance(cases, yaml.SequenceNode) else None


def _id_node(case: Any) -> Any:
    pairs = case.value if isinstance(case, yaml.MappingNode) else ()
    return next((value for key, value in pairs if key.value == "id"), None)


def _read_items(loader: Any, root: Any, path: str, source: Source) -> None:
    nodes = _case_nodes(root)
    if nodes is None:
        case_items(None, path, source.problems)
        return
    for node in nodes:
        where = f"{path}:{node.start_mark.line + 1}"
        try:
            # Each item is a document of its own, so that cases that share an anchor do not
            # share the object.
            data = loader.construct_document(node)
        except yaml.YAMLError as error:
            source.problems.append(_invalid(path, error))
            continue
        except ValueError as error:  # a date such as 2024-13-01
            source.problems.append(f"{where}: invalid YAML ({error})")
            continue
        if isinstance(data, dict):
            _keep_written_id(data, node)
        source.items.append(Item(where=where, data=data))


def _keep_written_id(data: dict[Any, Any], case: Any) -> None:
    """Take a numeric id as it is written: YAML reads 0123 as 83."""
    node = _id_node(case)
    if node is not None and node.tag in (_TAG + "int", _TAG + "float"):
        data["id"] = node.value


def _invalid(path: str, error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    line = f":{mark.line + 1}" if mark is not None else ""
    problem = getattr(error, "problem", None) or str(error)
    return f"{path}{line}: invalid YAML ({' '.join(str(problem).split())})"


class _Inspection:
    """Walk the nodes once for what construction would hide."""

    def __init__(self, path: str, source: Source) -> None:
        self.path = path
        self.source = source
        self.sizes: dict[int, int] = {}
        self.open: set[int] = set()
        self.kept_as_written: set[int] = set()

    def inspect(self, root: Any) -> None:
        self.kept_as_written = {id(_id_node(case)) for case in _case_nodes(root) or ()}
        expanded = self._size(root)
        if expanded > _MAX_EXPANDED and expanded > _MAX_EXPANSION * len(self.sizes):
            self.source.problems.append(
                f"{self.path}: invalid YAML (its aliases expand to {expanded} values)"
            )

    def _size(self, node: Any) -> int:
        """Give the number of values that the node stands for, aliases written out."""
        known = self.sizes.get(id(node))
        if known is not None:
            return known
        if id(node) in self.open:
            self._problem(node, "invalid YAML (an alias contains itself)")
            return 1
        self.open.add(id(node))
        size = 1
        if isinstance(node, yaml.MappingNode):
            self._check_keys(node)
            size += sum(self._size(key) + self._size(value) for key, value in node.value)
        elif isinstance(node, yaml.SequenceNode):
            size += sum(self._size(item) for item in node.value)
        else:
            self._warn_of_look_alike(node)
        self.open.discard(id(node))
        self.sizes[id(node)] = size
        return size

    def _check_keys(self, node: Any) -> None:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if (key.tag, key.value) in seen:
                self._problem(key, f"duplicate key {key.value!r}")
            seen.add((key.tag, key.value))

    def _warn_of_look_alike(self, node: Any) -> None:
        # One that is quoted or a block is text, as its author said.
        if node.style or id(node) in self.kept_as_written:
            return
        written = node.value
        read_as = None
        if node.tag == _TAG + "bool" and written.lower() not in ("true", "false"):
            read_as = "true" if written.lower() in ("yes", "on") else "false"
        elif node.tag == _TAG + "int" and _is_odd_int(written):
            read_as = str(yaml.SafeLoader("").construct_yaml_int(node))
        elif node.tag == _TAG + "float" and ":" in written:
            read_as = str(yaml.SafeLoader("").construct_yaml_float(node))
        if read_as is not None:
            self.source.warnings.append(
                f"{self.path}:{node.start_mark.line + 1}: warning: YAML reads {written} as "
                f'{read_as}; write "{written}" in quotes if it is text'
            )

    def _problem(self, node: Any, text: str) -> None:
        self.source.problems.append(f"{self.path}:{node.start_mark.line + 1}: {text}")


def _is_odd_int(written: str) -> bool:
    digits = written.lstrip("+-")
    return ":" in written or (len(digits) > 1 and digits[0] == "0" and digits[1] not in "xXbB")
