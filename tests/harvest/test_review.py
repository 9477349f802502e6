"""`dbagenteval harvest review`: in a terminal, and by options."""

import io
import os
import pty
import select
import shutil
import stat
import sys
import time

import pytest

from dbagenteval import load_cases
from dbagenteval.cli import main
from dbagenteval.harvest.review import ReferenceRun, sheet

DRAFTS = """\
# Harvested in December.
- id: customers
  question: How many customers do we have?
  status: draft   # to be looked at
  tags: [harvested]
  reference_sql: SELECT COUNT(*) AS n FROM customers WHERE tenant_id = 1
  harvested:
    trace: t1
    time: '2026-11-30T22:10:05Z'
    service: shop-agent
    count: 41
    failed: generate / tenant_filter
    why: no tenant_id filter on ['customers']
    sql: SELECT COUNT(*) AS n FROM customers
    rows:
      - n: 3
    row_count: 1
    answer: "It is 3.\\e[31m"
    reference_from: 'the agent''s SQL repaired: filter tenant_id = 1 on customers'

- id: pending
  question: How many orders are pending?
  status: draft
- id: accepted
  question: How many orders?
  reference_sql: SELECT COUNT(*) FROM orders
"""


@pytest.fixture
def file(shop):
    """A file with two drafts and an accepted case."""
    path = shop.folder / "new.yaml"
    path.write_text(DRAFTS)
    return path


def in_terminal(folder, words, typed, **environment):
    """Run the command in a pseudo-terminal; give what it shows and its exit code."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        command = [sys.executable, "-m", "dbagenteval.cli", "harvest", "review", *words]
        os.execve(command[0], command, {**os.environ, **environment})
    shown, waiting = "", list(typed)
    ends = time.monotonic() + 60
    while time.monotonic() < ends and select.select([terminal], [], [], 30)[0]:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # how Linux tells that the other end is closed
            break
        shown += data.decode()
        if shown.endswith("[q]uit: ") and waiting:
            os.write(terminal, waiting.pop(0).encode())
    os.close(terminal)
    return shown.replace("\r\n", "\n"), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_all_that_is_needed_is_in_view(shop, file):
    """Question, SQL, rows, proposed reference with its edit and its rows; nothing unprintable."""
    shown, code = in_terminal(shop.folder, ["new.yaml", "--database", shop.url], ["q\n"])
    assert code == 0
    for line in (
        "draft 1 of 2: customers",
        "  question   How many customers do we have?",
        "  seen       2026-11-30T22:10:05Z, shop-agent, 41 times, trace t1",
        "  failed     generate / tenant_filter: no tenant_id filter on ['customers']",
        "      SELECT COUNT(*) AS n FROM customers",
        "      n: 3",
        "  answer     It is 3.\\x1b[31m",
        "  reference (the agent's SQL repaired: filter tenant_id = 1 on customers)",
        "      SELECT COUNT(*) AS n FROM customers WHERE tenant_id = 1",
        "  edit       the agent's SQL: missing filter on customers.tenant_id",
        "      + WHERE",
        "      +   tenant_id = 1",
        "  reference's rows now (1)",
        "      n: 2",
        "2 draft(s) left in new.yaml",
    ):
        assert line in shown.split("\n"), shown
    assert file.read_text() == DRAFTS


def test_a_draft_with_data_is_shown_on_it(shop, file, monkeypatch, capsys):
    """Its reference runs there, without any database."""
    script = "CREATE TABLE customers (tenant_id INTEGER);\nINSERT INTO customers VALUES (1), (2);\n"
    (shop.folder / "two.sql").write_text(script)
    text = DRAFTS.replace(
        "  harvested:\n", "  data: two.sql\n  harvested:\n    redacted: [name]\n", 1
    )
    file.write_text(text)
    monkeypatch.setattr(sys, "stdin", io.StringIO("q\n"))
    assert main(["harvest", "review", "new.yaml"]) == 0
    shown = capsys.readouterr().out
    assert "  reference's rows on the case's data (1)\n      n: 1\n" in shown
    assert "two.sql: " in shown
    assert "  redacted   name: there are stand-ins\n" in shown


def test_accepting_in_the_terminal(shop, file):
    """The file says who accepted and when; all else is as it was."""
    words = ["new.yaml", "--by", "ann"]
    shown, code = in_terminal(shop.folder, words, ["a\n", "s\n"])
    assert code == 0
    assert "1 draft(s) left" in shown
    text = file.read_text()
    before, accepted, after = text.partition("    accepted:\n      by: ann\n      at: '")
    assert accepted
    assert before == DRAFTS[: DRAFTS.index("\n- id: pending")].replace(
        "  status: draft   # to be looked at\n", ""
    )
    assert after.partition("'\n")[2] == DRAFTS[DRAFTS.index("\n- id: pending") :]
    assert [case.id for case in load_cases(file) if case.is_draft] == ["pending"]


def test_what_is_accepted_has_been_seen(shop, file, monkeypatch, capsys):
    """A draft that was changed in an editor meanwhile is shown again."""

    class Typed(io.StringIO):
        def readline(self):
            line = super().readline()
            if line == "a\n" and "SELECT 8" not in file.read_text():
                text = file.read_text()
                seen = "reference_sql: SELECT COUNT(*) AS n FROM customers WHERE tenant_id = 1"
                file.write_text(text.replace(seen, "reference_sql: SELECT 8 AS n"))
            return line

    monkeypatch.setattr(sys, "stdin", Typed("a\nq\n"))
    assert main(["harvest", "review", "new.yaml", "--database", shop.url]) == 0
    shown = capsys.readouterr().out
    assert "it has changed in the file since it was shown:\n" in shown
    assert shown.endswith("2 draft(s) left in new.yaml\n")
    assert "      SELECT 8 AS n\n" in shown


def test_a_draft_that_expects_nothing_is_not_accepted(shop, file):
    """It would pass whatever the agent answers."""
    shown, _ = in_terminal(shop.folder, ["new.yaml"], ["s\n", "a\n", "q\n"])
    assert "it can't be accepted: it has no reference SQL and expects nothing" in shown
    assert file.read_text() == DRAFTS


def test_a_reference_that_fails_is_not_accepted(shop, file):
    """On the database that was given."""
    file.write_text(DRAFTS.replace("customers WHERE tenant_id", "clients WHERE tenant_id"))
    shown, _ = in_terminal(shop.folder, ["new.yaml", "--database", shop.url], ["a\n", "q\n"])
    assert "it can't be accepted: its reference SQL fails: " in shown
    assert "no such table: clients" in shown


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT id FROM customers WHERE full_name LIKE '%Name1%'", "Name1"),
        ("SELECT id FROM customers WHERE email = 'email1@example.com'", "email1@example.com"),
        ("SELECT id FROM customers WHERE phone = 9990000001", "9990000001"),
        ("SELECT name1 FROM customers WHERE city = 'Bonn'", None),
    ],
)
def test_a_reference_that_looks_for_stand_ins_is_not_accepted(shop, file, capsys, sql, found):
    """It finds nothing in the database, as any wrong SQL may, unless it has data of its own."""
    reference = "SELECT COUNT(*) AS n FROM customers WHERE tenant_id = 1\n  harvested:\n"
    text = DRAFTS.replace(reference, f"{sql}\n  harvested:\n    redacted: [name]\n")
    file.write_text(text)
    code = main(["harvest", "review", "new.yaml", "--accept", "customers"])
    if found is None:
        assert code == 0
        return
    assert code == 2
    assert f"its reference SQL looks for {found}, which stands for" in capsys.readouterr().err
    assert file.read_text() == text


def test_a_draft_on_data_without_rows_is_not_accepted(shop, file, capsys):
    """On it every SQL that finds nothing is right."""
    (shop.folder / "none.sql").write_text("CREATE TABLE customers (tenant_id INTEGER);\n")
    text = DRAFTS.replace("  harvested:\n", "  data: none.sql\n  harvested:\n", 1)
    file.write_text(text)
    assert main(["harvest", "review", "new.yaml", "--accept", "customers"]) == 2
    assert "its data has no rows" in capsys.readouterr().err
    assert file.read_text() == text


def test_editing_a_reference(shop, file):
    """In the user's editor; the draft is shown again with what it gives."""
    editor = shop.folder / "editor"
    editor.write_text("#!/bin/sh\necho 'SELECT 7' > \"$1\"\necho ' AS n' >> \"$1\"\n")
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    words = ["new.yaml", "--database", shop.url]
    typed = ["s\n", "e\n", "a\n"]
    shown, code = in_terminal(shop.folder, words, typed, EDITOR=str(editor), VISUAL="")
    assert code == 0
    assert "      n: 7" in shown.split("\n")
    (case,) = [case for case in load_cases(file) if case.id == "pending"]
    assert case.reference_sql == "SELECT 7\n AS n"
    assert not case.is_draft


def test_what_was_rejected_is_not_harvested_again(shop, file):
    """A comment keeps its question."""
    in_terminal(shop.folder, ["new.yaml"], ["r\n", "q\n"])
    assert '\n# rejected by harvest review: "How many customers do we have?"\n' in file.read_text()
    shop.turn("How many customers do we have", sql="SELECT COUNT(*) FROM customers", rows=[])
    shop.ingest()
    before = file.read_text()
    assert shop.harvest() == 0
    assert file.read_text() == before


def test_the_only_draft_under_a_key_is_rejected(shop):
    """The file can be harvested into again."""
    path = shop.folder / "new.yaml"
    path.write_text("cases:\n  - {id: a, question: A?, status: draft, sql: none}\n")
    assert main(["harvest", "review", "new.yaml", "--reject", "a"]) == 0
    assert path.read_text() == 'cases:\n  # rejected by harvest review: "A?"\n'
    shop.turn("A?", answer="B.")
    shop.turn("C?", answer="D.")
    shop.ingest()
    assert shop.harvest() == 0
    assert [case.question for case in load_cases(path)] == ["C?"]


def test_leaving_loses_nothing(shop, file):
    """What was decided before the end of the input is written."""
    shown, code = in_terminal(shop.folder, ["new.yaml"], ["a\n", "\x04"])
    assert code == 0
    assert "1 draft(s) left" in shown
    shown, code = in_terminal(shop.folder, ["new.yaml"], ["\x03"])
    assert code == 130
    assert [case.id for case in load_cases(file) if case.is_draft] == ["pending"]


def test_deciding_by_options(shop, file, capsys):
    """For scripts: all or nothing."""
    shutil.copy(file, shop.folder / "copy.yaml")
    assert (
        main(["harvest", "review", "new.yaml", "--accept", "customers", "--reject", "pending"]) == 0
    )
    assert "1 accepted, 1 rejected" in capsys.readouterr().out
    assert [case.id for case in load_cases(file)] == ["customers", "accepted"]
    assert not any(case.is_draft for case in load_cases(file))
    assert main(["harvest", "review", "new.yaml"]) == 0
    assert "new.yaml: no drafts" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--accept", "customers", "--accept", "pending"],
            "'pending' can't be accepted: it has no",
        ),
        (["--accept", "customers", "--reject", "gone"], "no draft has the id 'gone'"),
        (["--reject", "accepted"], "no draft has the id 'accepted'"),
        (["--accept", "customers", "--reject", "customers"], "can't be accepted and rejected"),
        (["--accept", "customers", "--database", "nonsense"], "is not a database URL"),
    ],
)
def test_decisions_that_can_t_be_taken(file, capsys, words, message):
    """Exit 2, and nothing is written."""
    assert main(["harvest", "review", "new.yaml", *words]) == 2
    assert message in capsys.readouterr().err
    assert file.read_text() == DRAFTS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "new.yaml: there is no such file"),
        ("- question: How many?\n  status: draft\n", "the draft 'How many?' has no id"),
        ("- question: How many?\n  status: drafted\n", "'status' must be one of"),
    ],
)
def test_files_that_can_t_be_reviewed(shop, capsys, text, message):
    """Exit 2."""
    if text is not None:
        (shop.folder / "new.yaml").write_text(text)
    assert main(["harvest", "review", "new.yaml"]) == 2
    assert message in capsys.readouterr().err


def test_a_status_from_an_alias_is_not_taken_for_removed(shop, capsys):
    """The file stays as it is."""
    text = "- &d {id: a, question: A?, reference_sql: SELECT 1, status: draft}\n- <<: *d\n  id: b\n  question: B?\n"
    (shop.folder / "new.yaml").write_text(text)
    assert main(["harvest", "review", "new.yaml", "--accept", "b"]) == 2
    assert "case 'b' has its status from somewhere else" in capsys.readouterr().err
    assert (shop.folder / "new.yaml").read_text() == text


def test_a_reference_that_writes_is_refused(file, capsys):
    """And never run."""
    file.write_text(
        DRAFTS.replace("SELECT COUNT(*) AS n FROM customers WHERE", "DELETE FROM customers WHERE")
    )
    assert main(["harvest", "review", "new.yaml", "--accept", "customers"]) == 2
    assert "its reference SQL does not plainly read" in capsys.readouterr().err


def test_a_dialect_by_the_name_of_its_database(file):
    """`postgresql` is read as in a run: the draft is shown and accepted."""
    file.write_text(DRAFTS.replace("  harvested:", "  dialect: postgresql\n  harvested:"))
    draft = load_cases(file)[0]
    assert "      +   tenant_id = 1" in list(sheet(draft, ReferenceRun()))
    assert main(["harvest", "review", str(file), "--accept", "customers"]) == 0
    assert not load_cases(file)[0].is_draft
