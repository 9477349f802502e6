"""Agents and cases for tests of `dbagenteval run`."""

from __future__ import annotations

AGENT = """
import os, sys, time, sqlite3
from dbagenteval import Trace
from dbagenteval.rules import ReadOnly

def run_sql(sql):
    db = sqlite3.connect(":memory:")
    db.row_factory = sqlite3.Row
    return [dict(row) for row in db.execute(sql)]

def good(question): return Trace.simple(question, sql="SELECT 2 AS n", rows=[{"n": 2}], answer="2")
def by_question(question): return Trace.simple(question, sql="SELECT 2 AS n", rows=[{"n": 2 if "good" in question else 3}], answer="x")
def prints(question):
    print("noise on stdout"); sys.stdout.write("more noise"); print("noise on stderr", file=sys.stderr)
    return good(question)
def closes(question):
    sys.stdout.close(); sys.stdout = None
    return good(question)
def starts_a_program(question):
    os.write(1, b"noise on descriptor 1\\n")
    os.system("echo noise of a program")
    return good(question)
def exits(question): sys.exit(0)
def hangs(question): time.sleep(60)
def hangs_in_a_pool(question):
    from concurrent.futures import ThreadPoolExecutor
    return ThreadPoolExecutor(1).submit(time.sleep, 3600).result()
async def async_good(question): return good(question)
def judge(prompt): return '{"pass": true, "reason": "ok"}'
RULES = [ReadOnly()]
NOT_RULES = [ReadOnly]
NO_RULES: list[ReadOnly] = []
NUMBER = 3
"""
CASES = """\
- {id: one, question: good 1, tags: [a], expect: {rows: [{n: 2}]}}
- {id: two, question: good 2, tags: [b], reference_sql: SELECT 2}
- {id: three, question: bad 3, tags: [b], expect: {rows: [{n: 2}]}}
"""
