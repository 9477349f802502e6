"""Inputs on which the published evaluator is wrong, each with what is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dbagenteval import Case, NumbersGrounded, Stage, Trace, evaluate, rules
from dbagenteval.checks import RowsFromSql, ask_judge, check_expected
from dbagenteval.checks.judge import parse_verdict
from dbagenteval.cli import main
from dbagenteval.report import diff_reports, passes_that_are_gone

DATA = Path(__file__).parent / "data" / "published_weak_points.jsonl"
RECORDS = [json.loads(line) for line in DATA.read_text(encoding="utf-8").split("\n") if line]


def records(*calls: str) -> pytest.MarkDecorator:
    """Parametrize a test over the records that replay one of the calls."""
    chosen = [record for record in RECORDS if record["call"] in calls]
    assert chosen
    return pytest.mark.parametrize("record", chosen, ids=[record["id"] for record in chosen])


@records("evaluate")
def test_evaluate(record: dict[str, Any]) -> None:
    """The verdict, and where a pass is doubtful the warning in a detail."""
    given, right = record["input"], record["right"]
    case = Case.from_dict(given["case"])
    chosen = [_rule(each) for each in given.get("rules", [])]

    def evaluated() -> Any:
        return evaluate(
            Trace.from_dict(given["trace"]),
            case,
            rules=chosen,
            execute=lambda sql: given["reference_rows"],
        )

    if "error" in right:
        with pytest.raises(ValueError) as raised:
            evaluated()
        assert right["error"] in str(raised.value)
        return
    card = evaluated()
    assert card.verdict == right["verdict"], card.summary()
    if "failed" in right:
        assert [card.failed.stage, card.failed.check] == right["failed"]
    if "detail" in right:
        assert any(right["detail"] in result.detail for result in card.results)


def _rule(given: dict[str, Any]) -> Any:
    if given["rule"] == "NumbersGrounded":
        return NumbersGrounded()
    return getattr(rules, given["rule"])(**given.get("args", {}))


@records("expected")
def test_expected(record: dict[str, Any]) -> None:
    """The status and detail of `expected` or `recall`."""
    given, right = record["input"], record["right"]
    trace = Trace("q", [Stage(given["kind"], output=given["output"])])
    result = check_expected(trace, given["kind"], given["expected"])
    assert result.status == right["status"]
    assert right.get("detail", result.detail) == result.detail


@records("judge")
def test_judge(record: dict[str, Any]) -> None:
    """A verdict one level down is read; one that is contradicted warns in the detail."""
    reply, right = record["input"]["reply"], record["right"]
    assert parse_verdict(reply)[0] is right["passes"]
    passed, reason = ask_judge(lambda prompt: reply, "{answer}", "q", "a", None)
    assert passed is right["passes"]
    assert ("verdicts that disagree" in reason) is right.get("warning", False)


@records("diff")
def test_diff(record: dict[str, Any]) -> None:
    """Regressions of cases that share a name, and passes that are gone, are seen."""
    given, right = record["input"], record["right"]
    changes = diff_reports(given["old"], given["new"])
    assert [each["case"] for each in changes["regressions"]] == right.get("regressions", [])
    assert passes_that_are_gone(changes) == right.get("gone", [])


@records("cli", "cli2")
def test_command(
    record: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The exit code, and what stdout, stderr and a written file must hold."""
    given, right = record["input"], record["right"]
    # Each record has its own module, since Python keeps the first one of a name.
    name = "agent_" + record["id"].replace("-", "_")
    for file, text in given["files"].items():
        path = tmp_path / file.replace("a.py", f"{name}.py")
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    commands = given.get("argvs") or [given["argv"]]
    codes = [main([_renamed(word, name) for word in command]) for command in commands]
    printed = capsys.readouterr()
    assert codes == right.get("exits", [right.get("exit")]), printed
    assert right.get("out", "") in printed.out
    assert right.get("err", "").replace("a:ok", f"{name}:ok") in printed.err
    if "file" in right:
        file, text = right["file"]
        assert text in (tmp_path / file).read_text(encoding="utf-8")


def _renamed(word: str, name: str) -> str:
    for start in ("a:", "a.py:"):
        if word.startswith(start):
            return word.replace("a", name, 1)
    return word


def test_deeply_nested_json_is_a_mistake_in_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not a traceback (ds-deep-json)."""
    (tmp_path / "c.json").write_text("[" * 100_000)
    assert main(["validate", str(tmp_path / "c.json")]) == 2
    assert "invalid JSON (nested too deeply)" in capsys.readouterr().err


@pytest.mark.parametrize(("returned", "verdict"), [([{"n": 3}], "PASS"), ([{"n": 1}], "FAIL")])
def test_rows_that_the_sql_does_not_return_fail_where_it_is_run_again(
    returned: list[dict], verdict: str
) -> None:
    """The check is opt-in, since nothing else runs the agent's SQL (eval-fabricated-rows)."""
    trace = Trace.simple(
        "How many?",
        sql="SELECT COUNT(*) AS n FROM orders WHERE status = 'CANCELLED'",
        rows=[{"n": 3}],
        answer="3",
    )
    case = Case("How many?", reference_sql="SELECT COUNT(*) AS n FROM orders")
    card = evaluate(
        trace, case, rules=[RowsFromSql(lambda sql: returned)], execute=lambda sql: [{"n": 3}]
    )
    assert card.verdict == verdict
    assert card.results[-1].check == "rows_from_sql"
