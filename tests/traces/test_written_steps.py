"""Agents whose tool calls stand in the texts of their models: ReAct, DSPy and code."""

from __future__ import annotations

import pytest

from dbagenteval.traces import assemble
from tests.traces.spans import one_trace, span

SQL = "SELECT count(*) AS n FROM orders"
OTHER = "SELECT count(*) AS n FROM refunds"
ASKED = "How many orders?"


def model(number, inputs, said, **where):
    """Give a model span: what went in as pairs of role and text, and the text that came out."""
    facts = {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": said,
    }
    for index, (role, text) in enumerate(inputs):
        facts[f"llm.input_messages.{index}.message.role"] = role
        facts[f"llm.input_messages.{index}.message.content"] = text
    return span(number, facts, at_ms=number * 10, **where)


def run(*spans):
    (trace,) = assemble(one_trace(*spans))
    return trace


def seen(trace):
    """Give what ran with rows or error, and the answer."""
    ran = [
        (one.meta.get("sql"), one.rows if one.error is None else one.error)
        for one in trace.stages
        if one.kind == "execute"
    ]
    answer = trace.last_of("answer")
    return ran, answer.output if answer else None


REACT = f"""Answer the following questions. You have access to: run_sql

Question: the input question you must answer
Thought: you should always think about what to do
Action: the action to take, should be one of [run_sql]
Action Input: the input to the action
Observation: the result of the action
Thought: I now know the final answer
Final Answer: the final answer to the original input question

Begin!

Question: {ASKED}
Thought:"""


def act(sql=SQL, name="run_sql"):
    return f" I should count.\nAction: {name}\nAction Input: {sql}"


@pytest.mark.parametrize(
    "written", [SQL, f'"{SQL}"', f'{{"query": "{SQL}"}}', f"```sql\n{SQL}\n```"]
)
def test_react_in_one_prompt(written):
    """A scratchpad in the prompt tells statement and rows; the last text is the answer."""
    first = act(written)
    trace = run(
        span(1, {"openinference.span.kind": "CHAIN"}, for_ms=90),
        model(2, [("user", REACT)], first, parent=1),
        model(
            3,
            [("user", f"{REACT}{first}\nObservation: [(47,)]\nThought:")],
            " I now know the final answer\nFinal Answer: There are 47.",
            parent=1,
        ),
    )
    assert trace.question == ASKED
    assert seen(trace) == ([(SQL, [{"column_1": 47}])], "There are 47.")


def test_react_in_traces_of_their_own():
    """Model calls without a root are one turn by their history."""
    first = act()
    log = f"{REACT}{first}\nObservation: [(47,)]\nThought:"
    trace = run(
        model(1, [("user", REACT)], first, trace_id="a" * 32),
        model(2, [("user", log)], "Final Answer: 47", trace_id="b" * 32),
    )
    assert seen(trace) == ([(SQL, [{"column_1": 47}])], "47")


@pytest.mark.parametrize("role", ["user", "tool"])
def test_react_in_messages(role):
    """LlamaIndex sends each observation as a message, and marks the answer in its own way."""
    thought = f'Thought: I need a tool.\nAction: run_sql\nAction Input: {{"query": "{SQL}"}}'
    history = [("user", ASKED), ("assistant", thought), (role, 'Observation: [{"n": 47}]')]
    trace = run(
        model(1, [("user", ASKED)], thought),
        model(2, history, "Thought: I can answer now.\nAnswer: There are 47."),
    )
    assert trace.question == ASKED
    assert seen(trace) == ([(SQL, [{"n": 47}])], "There are 47.")


def test_react_with_the_observation_in_the_assistant_text():
    """CrewAI adds the observation to what the model said."""
    thought = f'Thought: Count.\nAction: run_sql\nAction Input: {{"sql": "{SQL}"}}'
    history = [("user", ASKED), ("assistant", f"{thought}\nObservation: (47,)")]
    trace = run(
        model(1, [("user", ASKED)], thought),
        model(2, history, "Thought: I now know.\nFinal Answer: 47 orders."),
    )
    assert seen(trace) == ([(SQL, [{"column_1": 47}])], "47 orders.")


def test_an_observation_that_a_model_made_up_is_no_result():
    """Without a stop word a model goes on and writes the observation itself."""
    invented = f"{act()}\nObservation: [(99,)]\nThought: done\nFinal Answer: 99"
    trace = run(
        model(1, [("user", REACT)], invented),
        model(
            2,
            [("user", f"{REACT}{act()}\nObservation: [(99,)]\nObservation: [(47,)]\nThought:")],
            "Final Answer: 47",
        ),
    )
    (execute,) = [one for one in trace.stages if one.kind == "execute"]
    assert (execute.meta["sql"], execute.rows) == (SQL, None)
    assert execute.observed("rows").state == "not captured"
    assert trace.last_of("answer").output == "47"


def test_a_failed_statement_in_react_is_an_error_and_its_retry_another():
    """Observations answer the actions before them, in order."""
    bad = act("SELECT count(*) FROM order")
    log = f"{REACT}{bad}\nObservation: Error: no such table: order\nThought:"
    trace = run(
        model(1, [("user", REACT)], bad),
        model(2, [("user", log)], act()),
        model(3, [("user", f"{log}{act()}\nObservation: [(47,)]\nThought:")], "Final Answer: 47"),
    )
    assert seen(trace) == (
        [
            ("SELECT count(*) FROM order", "Error: no such table: order"),
            (SQL, [{"column_1": 47}]),
        ],
        "47",
    )


def test_a_checker_in_react_runs_nothing():
    """The name of the action tells what it does, as a tool's name does."""
    check = act(name="sql_db_query_checker")
    log = f"{REACT}{check}\nObservation: {SQL}\nThought:"
    trace = run(model(1, [("user", REACT)], check), model(2, [("user", log)], "Final Answer: none"))
    assert seen(trace) == ([], "none")


def test_a_plain_answer_that_has_the_words_is_kept_whole():
    """Only a model that was told to mark its answer has it marked."""
    said = "Orders were counted.\nFinal Answer: 47"
    assert seen(run(model(1, [("user", ASKED)], said)))[1] == said


def code(text):
    return f"Thought: query\n<code>\n{text}\n</code>"


def observed(text):
    return (
        "tool-response",
        f"Observation:\nExecution logs:\n{text}\nLast output from code snippet:\nNone",
    )


def run_code(written, observation, last):
    history = [("user", f"New task:\n{ASKED}"), ("assistant", code(written)), observation]
    return run(model(1, history[:1], code(written)), model(2, history, code(last)))


@pytest.mark.parametrize(
    "written",
    [
        f'print(run_sql("{SQL}"))',
        f'print(run_sql(query="{SQL}"))',
        f'sql = """{SQL}"""\nrows = run_sql(sql)\nprint(rows)',
    ],
)
def test_a_code_agent_of_which_only_models_are_seen(written):
    """Statement, printed result and final answer are read from the code, without running it."""
    trace = run_code(written, observed("[(47,)]"), "final_answer('There are 47.')")
    assert trace.question == ASKED
    assert seen(trace) == ([(SQL, [{"column_1": 47}])], "There are 47.")


def test_a_call_that_ends_the_code_shows_in_the_last_output():
    """What is not printed shows as the value of the last line."""
    observation = ("tool-response", "Observation:\nLast output from code snippet:\n[(47,)]")
    trace = run_code(f'run_sql("{SQL}")', observation, "final_answer('47')")
    assert seen(trace) == ([(SQL, [{"column_1": 47}])], "47")


@pytest.mark.parametrize(
    "written",
    [
        f'print(run_sql("{SQL}")[0])',
        f'rows = run_sql("{SQL}")\nprint(len(rows))',
        f'rows = run_sql("{SQL}")\nprint("rows:")\nprint(rows)',
        f'if True:\n    print(run_sql("{SQL}"))',
    ],
)
def test_what_code_printed_besides_its_result_is_no_result(written):
    """Only a print of the bare result, alone, is taken for it."""
    trace = run_code(written, observed("47"), "final_answer('47')")
    (execute,) = [one for one in trace.stages if one.kind == "execute"]
    assert (execute.meta["sql"], execute.rows) == (SQL, None)
    assert execute.observed("rows").state == "not captured"


def test_two_statements_in_one_code_block_have_no_result_of_their_own():
    """Which line belongs to which statement can't be told."""
    written = f'print(run_sql("{SQL}"))\nprint(run_sql("{OTHER}"))'
    trace = run_code(written, observed("[(47,)]\n[(11,)]"), "final_answer('47 and 11')")
    assert seen(trace) == ([(SQL, None), (OTHER, None)], "47 and 11")
    assert {n["what"] for n in trace.meta["not_observed"]} == {"rows"}


def test_a_statement_that_code_computes_is_said_to_be_unseen():
    """An f-string is no statement: that one ran is noted, and what it was is not made up."""
    trace = run_code(
        "print(run_sql(f'SELECT count(*) FROM {table}'))", observed("[(47,)]"), "final_answer('47')"
    )
    generate = trace.stage("generate")
    assert generate.output is None
    assert generate.observed("output").state == "not captured"
    assert ("output", "generate") in {(n["what"], n["stage"]) for n in trace.meta["not_observed"]}


def test_an_answer_that_code_computes_is_not_the_code():
    """`final_answer(total)` says nothing that can be checked, and why is said."""
    trace = run_code(f'print(run_sql("{SQL}"))', observed("[(47,)]"), "final_answer(f'{n} orders')")
    answer = trace.last_of("answer")
    assert answer.output is None
    assert answer.observed("output").state == "not captured"
    assert "the agent's code computes the answer" in answer.observed("output").why


@pytest.mark.parametrize("written", ["x = 1 +", "total = 40 + 7"])
def test_code_without_a_known_call_is_no_answer(written):
    """A step of a code agent is never taken for what it told the user."""
    history = [("user", ASKED)]
    answer = run(model(1, history, code(written))).last_of("answer")
    assert answer.output is None


def test_a_code_agent_whose_statement_fails():
    """The interpreter's report of the failing line is the statement's error."""
    error = (
        f"Error:\nCode execution failed at line 'print(run_sql(\"{SQL}\"))' due to: "
        "OperationalError: no such table: orders\nNow let's retry: take care not to repeat "
        "previous errors!"
    )
    trace = run_code(f'print(run_sql("{SQL}"))', ("tool-response", error), "final_answer('?')")
    assert seen(trace) == ([(SQL, "OperationalError: no such table: orders")], "?")


def test_dspy_writes_its_calls_into_fields():
    """Name and arguments of the next tool, and what tools gave, are fields of a text."""
    asked = f"[[ ## question ## ]]\n{ASKED}\n\n[[ ## trajectory ## ]]\n"
    call = (
        "[[ ## next_thought ## ]]\nthink\n\n[[ ## next_tool_name ## ]]\nrun_sql\n\n"
        f'[[ ## next_tool_args ## ]]\n{{"sql": "{SQL}"}}\n\n[[ ## completed ## ]]'
    )
    done = (
        "[[ ## thought_0 ## ]]\nthink\n\n[[ ## tool_name_0 ## ]]\nrun_sql\n\n[[ ## tool_args_0 ## ]]\n"
        f'{{"sql": "{SQL}"}}\n\n[[ ## observation_0 ## ]]\n[(47,)]\n\n'
    )
    ask = "Respond with the corresponding output fields."
    trace = run(
        model(1, [("user", f"{asked}\n\n{ask}")], call),
        model(
            2, [("user", f"{asked}{done}{ask}")], "[[ ## answer ## ]]\n47.\n\n[[ ## completed ## ]]"
        ),
    )
    assert trace.question == ASKED
    assert seen(trace) == ([(SQL, [{"column_1": 47}])], "47.")
