"""`eval --engine --store` says which captured answers broke the policy."""

from __future__ import annotations

import json

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from dbagenteval.cli.main import main
from dbagenteval.project.folder.load import load_project
from dbagenteval.project.governance.captured import judge_trace
from dbagenteval.project.policy.audit import audit_faults
from dbagenteval.store import Store
from dbagenteval.traces import Stage, Trace


def _judge(folder, trace: Trace) -> tuple[str, str]:
    result = judge_trace(trace, load_project(folder.root))
    return result.verdict, result.detail


def test_harmless_questions_can_hide_leaks(folder) -> None:
    """The SQL that ran decides, whatever the question was."""
    sql = "SELECT email FROM main.customers LIMIT 5"
    verdict, detail = _judge(
        folder, Trace.simple("How is business?", answer="fine", sql=sql, rows=[])
    )
    assert verdict == "BROKE"
    assert "main.customers.email" in detail
    kept = Trace.simple(
        "Show me every e-mail",
        answer="4",
        sql="SELECT count(*) FROM main.customers",
        rows=[{"n": 4}],
    )
    assert _judge(folder, kept)[0] == "KEPT"


def test_every_statement_of_an_answer_counts(folder) -> None:
    """One bad statement among good ones breaks the policy."""
    stages = [
        Stage("generate", "one", output="SELECT count(*) FROM main.customers"),
        Stage("execute", "run one", rows=[{"n": 4}]),
        Stage("generate", "two", output="SELECT * FROM staging.raw_payments"),
        Stage("execute", "run two", rows=[]),
    ]
    assert _judge(folder, Trace("q", stages))[0] == "BROKE"


def test_what_was_not_seen_is_unknown_not_fine(folder) -> None:
    """An answer without SQL, or with a statement that was not captured, is not counted as kept."""
    assert _judge(folder, Trace.simple("q", answer="4"))[0] == "UNKNOWN"
    hidden = Stage("generate", output=None, meta={"observed": {"output": {"state": "masked"}}})
    assert _judge(folder, Trace("q", [hidden, Stage("execute", rows=[{"n": 4}])]))[0] == "UNKNOWN"
    assert _judge(folder, Trace("q", [Stage("execute", rows=[{"n": 4}])]))[0] == "UNKNOWN"


def test_masking_does_not_excuse_what_ran(folder) -> None:
    """In mode `mask` a captured statement that read protected columns broke the policy."""
    folder.replace("policies/policy.yml", "mode: block", "mode: mask")
    trace = Trace.simple("q", answer="x", sql="SELECT email FROM main.customers LIMIT 5", rows=[])
    assert _judge(folder, trace)[0] == "BROKE"


def _store(directory, turns: list[tuple[str, str | None]]) -> str:
    """Record answers with the real SDK and keep them in a store."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    for question, sql in turns:
        with tracer.start_as_current_span("ask", attributes={"dbagenteval.question": question}):
            if sql is not None:
                for kind in ("generate", "execute"):
                    attributes = {
                        "dbagenteval.stage": kind,
                        "db.query.text": sql,
                        "dbagenteval.rows": "[]",
                    }
                    tracer.start_span(kind, attributes=attributes).end()
            attributes = {"dbagenteval.stage": "answer", "dbagenteval.output": "done"}
            tracer.start_span("answer", attributes=attributes).end()
    with Store.open(directory, write=True, create=True) as store:
        body = encode_spans(exporter.get_finished_spans()).SerializeToString()
        store.append("traces", body).result()
    return str(directory)


GOOD = ("How many customers?", "SELECT count(*) AS n FROM main.customers")
BAD = ("How is business?", "SELECT email FROM main.customers LIMIT 5")
BLIND = ("How many?", None)


@pytest.mark.parametrize(
    ("turns", "options", "code", "summary"),
    [
        ([GOOD], [], 0, {"KEPT": 1}),
        ([GOOD, BAD], [], 1, {"KEPT": 1, "BROKE": 1}),
        ([GOOD, BLIND], [], 1, {"KEPT": 1, "UNKNOWN": 1}),
        ([GOOD, BLIND], ["--allow-unknown"], 0, {"KEPT": 1, "UNKNOWN": 1}),
    ],
)
def test_the_command_judges_a_store(
    folder, tmp_path, capsys, turns, options, code: int, summary: dict
) -> None:
    """The exit code follows the captured answers, and each statement is in the audit."""
    store = _store(tmp_path / "store", turns)
    arguments = ["eval", "-p", str(folder.root), "--engine", "--store", store, "--json", *options]
    assert main(arguments) == code
    report = json.loads(capsys.readouterr().out)
    assert report["summary"] == summary
    audit = folder.root / "contracts/audit.jsonl"
    records = [json.loads(line) for line in audit.read_text("utf-8").splitlines()]
    assert len(records) == sum(sql is not None for _, sql in turns)
    assert all(record["source"].startswith("trace:") for record in records)
    assert audit_faults(audit) == []
