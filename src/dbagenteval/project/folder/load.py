"""Read every file of a project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from dbagenteval.project.folder.config import find_config, load_config
from dbagenteval.project.folder.document import Node, read_yaml
from dbagenteval.project.folder.formats import BUNDLE, BUSINESS_RULES, GLOSSARY, POLICY, SEMANTICS
from dbagenteval.project.folder.model import (
    Bundle,
    BusinessRule,
    Policy,
    Project,
    SemanticModel,
    Term,
)
from dbagenteval.project.folder.plain import data_of, listed, mapping, texts
from dbagenteval.project.folder.problems import Problem, Problems
from dbagenteval.project.folder.shapes import Shape
from dbagenteval.project.folder.tagged import protect_tagged
from dbagenteval.project.folder.translate import bundle_of, model_of, policy_of

__all__ = ["load_project"]

POLICY_FILE = "policies/policy.yml"
SEMANTICS_FILE = "semantics/semantic_model.yml"
RULES_FILE = "semantics/business_rules.yml"
GLOSSARY_FILE = "semantics/glossary.yml"


def load_project(path: str | Path | None = None, env: Mapping[str, str] | None = None) -> Project:
    """Read a project; faults of its files are in `problems`, and what is sound is given.

    Args:
        path: The folder or its configuration file; None searches (see `find_config`).
        env: The environment; None takes that of the process.

    Raises:
        UserError: There is no configuration file.
    """
    config_path = find_config(path)
    root = config_path.parent.resolve()
    reader = _Reader(root)
    config_problems = Problems(config_path.name)
    config = load_config(config_path, config_problems, env)
    reader.problems.extend(config_problems.found)
    policy, models = reader.policy(), reader.models()
    rules, has_rules = reader.rules()
    bundles, terms = reader.bundles(), reader.terms()
    if policy is not None and not policy.faults:
        policy = reader.protected(policy, bundles, models)
    if config.node is not None:
        reader.nodes[config.file] = config.node
    return Project(
        root=root,
        config=config,
        bundles=bundles,
        policy=policy,
        models=models,
        rules=rules,
        terms=terms,
        has_rules_file=has_rules,
        problems=tuple(reader.problems),
        nodes=reader.nodes,
    )


class _Reader:
    """Reads the files below one root and collects their faults."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.problems: list[Problem] = []
        self.nodes: dict[str, Node] = {}

    def bundles(self) -> dict[str, Bundle]:
        found: dict[str, Bundle] = {}
        folder = self.root / "datasets"
        if not folder.is_dir():
            self._warn("no-bundles", "datasets", "there is no datasets/ folder")
            return found
        for place in sorted(item for item in folder.iterdir() if item.is_dir()):
            paths = [place / "dataset.yaml", place / "dataset.yml"]
            path = next((item for item in paths if item.is_file()), None)
            name = f"datasets/{place.name}"
            if path is None:
                self._warn("no-dataset-file", name, "the bundle has no dataset.yaml")
                continue
            name = f"{name}/{path.name}"
            node, problems = self._read(name, BUNDLE)
            bundle = None if node is None else bundle_of(node, name)
            if bundle is not None and node is not None:
                if bundle.bundle_id in found:
                    problems.error(
                        "duplicate-bundle",
                        node.line_of("bundle_id"),
                        f"bundle id {bundle.bundle_id!r} is also that of "
                        f"{found[bundle.bundle_id].file}",
                    )
                else:
                    found[bundle.bundle_id] = bundle
            self.problems.extend(problems.found)
        return found

    def policy(self) -> Policy | None:
        if self._path(POLICY_FILE) is None:
            self._warn("no-policy", POLICY_FILE, "there is no policy file")
            return None
        node, problems = self._read(POLICY_FILE, POLICY)
        self.problems.extend(problems.found)
        faults = tuple(str(item) for item in problems.found if item.level == "error")
        if node is None or faults:
            return Policy(faults=faults or ("the policy can't be read",), node=node)
        return policy_of(node)

    def protected(
        self, policy: Policy, bundles: dict[str, Bundle], models: dict[str, SemanticModel]
    ) -> Policy:
        """Add what the semantic files tag as personal data; a file that can't be read hides it."""
        for name in (SEMANTICS_FILE, RULES_FILE):
            if policy.pii_tags and self._path(name) is not None and name not in self.nodes:
                fault = f"{name} can't be read, so it is not known what it tags as personal data"
                return replace(policy, faults=(fault,))
        semantics, rules = self.nodes.get(SEMANTICS_FILE), self.nodes.get(RULES_FILE)
        policy, found = protect_tagged(policy, semantics, rules, RULES_FILE, bundles, models)
        self.problems.extend(found)
        return policy

    def models(self) -> dict[str, SemanticModel]:
        if self._path(SEMANTICS_FILE) is None:
            return {}
        node, problems = self._read(SEMANTICS_FILE, SEMANTICS)
        self.problems.extend(problems.found)
        models = mapping(data_of(node).get("models"))
        return {
            name: model_of(name, data)
            for name, data in models.items()
            if isinstance(data, dict) and isinstance(data.get("table"), str)
        }

    def rules(self) -> tuple[dict[str, BusinessRule], bool]:
        if self._path(RULES_FILE) is None:
            return {}, False
        node, problems = self._read(RULES_FILE, BUSINESS_RULES)
        found: dict[str, BusinessRule] = {}
        for index, item in enumerate(listed(data_of(node).get("rules"))):
            name = mapping(item).get("name")
            if not isinstance(name, str) or node is None:
                continue
            if name in found:
                line = node.line_of("rules", index, "name")
                problems.error("duplicate-name", line, f"two rules are named {name!r}")
                continue
            found[name] = BusinessRule(
                name=name,
                severity=str(item.get("severity") or "info"),
                applies_to=texts(item.get("applies_to")),
                guidance=str(item.get("guidance") or ""),
            )
        self.problems.extend(problems.found)
        return found, True

    def terms(self) -> tuple[Term, ...] | None:
        if self._path(GLOSSARY_FILE) is None:
            return None
        node, problems = self._read(GLOSSARY_FILE, GLOSSARY)
        self.problems.extend(problems.found)
        return tuple(
            Term(
                term=item["term"],
                meanings=texts(item.get("meanings")),
                settled_by=texts(item.get("settled_by")),
            )
            for item in listed(data_of(node).get("terms"))
            if isinstance(item, dict) and isinstance(item.get("term"), str)
        )

    def _path(self, name: str) -> Path | None:
        path = self.root / name
        return path if path.exists() else None

    def _read(self, name: str, shape: Shape) -> tuple[Node | None, Problems]:
        problems = Problems(name)
        node = read_yaml(self.root / name, problems)
        if node is not None:
            self.nodes[name] = node
            shape.check(node, "", problems)
        return node, problems

    def _warn(self, rule: str, name: str, message: str) -> None:
        problems = Problems(name)
        problems.warn(rule, 0, message)
        self.problems.extend(problems.found)
