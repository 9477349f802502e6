"""How a question is put to a service, and how its answer is read."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from dbagenteval import Trace
from dbagenteval.errors import UserError
from dbagenteval.suite.service_agent import ServiceAgent, ServiceFailed, ServiceRequest

VALUES = {
    "question": 'Who is "Bo" {session_id}?',
    "session_id": "s-1",
    "case_id": "c-1",
    "conversation": [{"role": "user", "content": "Hi"}],
}


def test_a_question_is_put_into_the_texts_of_the_body():
    """Quotes need no care, and braces within the question stay as they are."""
    body = '{"in": {"q": "Q: {question}", "s": "{session_id}", "n": 3}, "past": "{conversation}"}'
    request = ServiceRequest(url="http://x/ask", body=body).build(VALUES, {"baggage": "a=b"})
    assert json.loads(request.data) == {
        "in": {"q": 'Q: Who is "Bo" {session_id}?', "s": "s-1", "n": 3},
        "past": [{"role": "user", "content": "Hi"}],
    }
    assert request.get_method() == "POST"
    assert request.get_header("Content-type") == "application/json"
    assert request.get_header("Baggage") == "a=b"


def test_a_get_request_carries_the_question_in_its_query():
    """Fields of the body become parameters, in the encoding of URLs."""
    request = ServiceRequest(url="http://x/ask?v=1", method="get").build(VALUES, {})
    assert request.full_url == "http://x/ask?v=1&question=Who+is+%22Bo%22+%7Bsession_id%7D%3F"
    assert request.data is None


def test_a_body_that_is_no_json_is_refused_at_once():
    """The message names the option."""
    with pytest.raises(UserError, match="--agent-body is no JSON"):
        ServiceRequest(url="http://x", body="{question}")


def test_a_query_needs_fields():
    """A list is a body that can be posted, but no query of a URL."""
    assert ServiceRequest(url="http://x", body='["{question}"]').build(VALUES, {}).data
    with pytest.raises(UserError, match="must be a JSON object to be sent by GET"):
        ServiceRequest(url="http://x", body='["{question}"]', method="get")


class Spans:
    """Gives spans for every call, and remembers the calls."""

    def __init__(self):
        self.calls = []

    def spans_of(self, call):
        self.calls.append(call)
        return []

    is_alone = True

    def others_of(self, call):
        return []

    def why_none(self):
        return "none came"


@pytest.fixture
def service():
    """A service that answers as the test says, and what it was sent."""

    received = []

    class Handler(BaseHTTPRequestHandler):
        reply = (200, "application/json", b"{}")

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((dict(self.headers.items()), json.loads(body)))
            status, kind, content = self.reply
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Handler.received = received
    Handler.url = f"http://127.0.0.1:{server.server_port}/ask"
    yield Handler
    server.shutdown()
    server.server_close()


def ask(service, **options):
    spans = Spans()
    agent = ServiceAgent(ServiceRequest(url=service.url, **options), spans, {"How many?": "a b"})
    return agent("How many?", [], "s"), spans


@pytest.mark.parametrize(
    ("kind", "content", "path", "answer"),
    [
        ("text/plain", b"Three.", "", "Three."),
        ("application/json", b'"Three."', "", "Three."),
        ("application/json", b'{"id": 1, "answer": "Three."}', "", "Three."),
        (
            "application/json",
            b'{"data": [{"t": "a"}, {"t": "Drei \xc3\xa4"}]}',
            "data.1.t",
            "Drei ä",
        ),
        ("application/json", b'{"data": [{"t": "Three."}]}', "$.data[0].t", "Three."),
        ("application/json", b'{"n": {"v": 3}}', "n", '{"v": 3}'),
        ("text/plain; charset=latin-1", "Größe".encode("latin-1"), "", "Größe"),
    ],
)
def test_the_answer_is_found(service, kind, content, path, answer):
    """Texts, JSON with a usual name, and JSON with a path are read."""
    service.reply = (200, kind, content)
    trace, _ = ask(service, answer=path)
    assert trace.last_of("answer").output == answer


@pytest.mark.parametrize(
    ("reply", "options", "message"),
    [
        ((500, "text/plain", b"out of tokens"), {}, "HTTP 500 .*out of tokens"),
        (
            (200, "application/json", b'{"a": "x"}'),
            {},
            "no answer under .* which has a; .*--agent-answer",
        ),
        ((200, "application/json", b'{"a": []}'), {"answer": "a.0"}, "the response has no a.0"),
        ((200, "text/html", b"<p>"), {"answer": "a"}, "the response is no JSON"),
    ],
)
def test_what_is_no_answer_is_an_error(service, reply, options, message):
    """A failing service is never taken for an answer."""
    service.reply = reply
    with pytest.raises(ServiceFailed, match=message):
        ask(service, **options)


def test_the_call_is_identified_to_the_service(service):
    """The headers carry a sampled trace of its own and the case id, encoded as baggage is."""
    service.reply = (200, "application/json", b'{"answer": "Three."}')
    _, spans = ask(service)
    (call,) = spans.calls
    headers, _ = service.received[-1]
    assert headers["Traceparent"] == f"00-{call.trace_id}-{call.span_id}-01"
    assert headers["Baggage"] == "dbagenteval.case.id=a%20b"


def test_without_spans_the_trace_says_why(service):
    """Only the answer is known; SQL and rows are not observed, with the reason."""
    service.reply = (200, "application/json", b'{"answer": "Three."}')
    trace, _ = ask(service)
    assert [stage.kind for stage in trace.stages] == ["answer"]
    assert {note["stage"]: note["why"] for note in trace.meta["not_observed"]} == {
        "generate": "none came",
        "execute": "none came",
    }
    assert isinstance(trace, Trace)


def test_a_service_that_is_not_there_is_an_error():
    """A refused connection names the URL."""
    agent = ServiceAgent(ServiceRequest(url="http://127.0.0.1:9/ask"), Spans(), {})
    with pytest.raises(ServiceFailed, match=r"no answer from http://127\.0\.0\.1:9/ask"):
        agent("How many?", [], "s")
