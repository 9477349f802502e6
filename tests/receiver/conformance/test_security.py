"""Checklist items 55, 63 and 68 to 74, 78 to 80: who may do what, and what the operator sees."""

from __future__ import annotations

import http.client
import logging
import os
import re
import ssl
import subprocess
import sys
import time
from pathlib import Path

import grpc
import pytest
import requests
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (
    OTLPSpanExporter as GrpcSpanExporter,
)
from opentelemetry.exporter.otlp.proto.http.trace_exporter import (
    OTLPSpanExporter as HttpSpanExporter,
)
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter

from dbagenteval.cli.main import main
from dbagenteval.errors import UserError
from dbagenteval.otlp.redaction import Redactor
from dbagenteval.receiver import Address, ReceiverConfig, TlsFiles, Tokens
from dbagenteval.store import Store
from tests.receiver.running import JSON, METHODS, PROTOBUF, Running, running, status_of
from tests.receiver.serving import serve
from tests.store.requests import logs_request, traces_request

BODY = traces_request((1, 1), (1, 2)).SerializeToString()


def token_file(folder: Path, *lines: str) -> Path:
    path = folder / "tokens"
    path.write_text("\n".join(["# who may send", *lines]))
    path.chmod(0o600)
    return path


def grpc_code(receiver: Running, **headers: str) -> str:
    try:
        receiver.call(BODY, metadata=tuple(headers.items()))
    except grpc.RpcError as error:
        return str(error.code().name)
    return "OK"


def test_item_55_and_63_credentials(tmp_path: Path) -> None:
    """Missing and wrong ones are 401, a token without the right is 403; over gRPC the same."""
    tokens = Tokens(token_file(tmp_path, "all-rights", "only-send ingest", "only-read read"), {})
    with running(tokens=tokens) as receiver:
        cases = [
            ({}, 401, "UNAUTHENTICATED"),
            ({"authorization": "Bearer wrong"}, 401, "UNAUTHENTICATED"),
            ({"authorization": "Bearer "}, 401, "UNAUTHENTICATED"),
            ({"authorization": "Basic all-rights"}, 401, "UNAUTHENTICATED"),
            ({"x-api-key": "all-right"}, 401, "UNAUTHENTICATED"),
            ({"authorization": "Bearer only-read"}, 403, "PERMISSION_DENIED"),
            ({"authorization": "Bearer only-send"}, 200, "OK"),
            ({"authorization": "bearer all-rights"}, 200, "OK"),
            ({"x-api-key": "all-rights"}, 200, "OK"),
        ]
        for headers, code, name in cases:
            response = receiver.post(BODY, headers=headers)
            assert response.status_code == code, headers
            assert grpc_code(receiver, **headers) == name
            if code != 200:
                assert status_of(response).message
            assert ("WWW-Authenticate" in response.headers) == (code == 401)
        read = {"authorization": "Bearer only-read"}
        assert requests.get(f"{receiver.http}/metrics", headers=read, timeout=9).ok
        assert requests.get(f"{receiver.http}/metrics", timeout=9).status_code == 401
        assert requests.get(f"{receiver.http}/healthz", timeout=9).ok
    assert len(receiver.sink.requests) == 6


def test_item_69_tokens_rotate_and_compare_in_constant_time(tmp_path: Path) -> None:
    path = token_file(tmp_path, "old")
    tokens = Tokens(path, {})
    with running(tokens=tokens) as receiver:
        assert receiver.post(BODY, headers={"x-api-key": "old"}).ok
        token_file(tmp_path, "old", "new-token")
        assert receiver.post(BODY, headers={"x-api-key": "new-token"}).ok
        token_file(tmp_path, "new-token", "#")
        assert receiver.post(BODY, headers={"x-api-key": "old"}).status_code == 401
        path.write_text("# none left by mistake, longer than before")
        assert receiver.post(BODY, headers={"x-api-key": "new-token"}).ok
        assert receiver.post(BODY).status_code == 401
    source = Path(sys.modules[Tokens.__module__].__file__ or "").read_text()
    assert "hmac.compare_digest" in source
    assert Tokens(None, {"DBAGENTEVAL_TOKEN": "from-env"}).is_empty is False


def test_token_files_of_any_editor(tmp_path: Path) -> None:
    """A byte order mark, a tab before the right, and letters that HTTP sends as bytes."""
    path = tmp_path / "tokens"
    path.write_bytes("\ufefffirst\ntök-à\tingest\r\n".encode())
    path.chmod(0o600)
    with running(tokens=Tokens(path, {})) as receiver:
        for token in ("first", "tök-à"):
            header = {"authorization": f"Bearer {token}".encode()}
            assert receiver.post(BODY, headers=header).status_code == 200, token
        assert receiver.post(BODY, headers={"x-api-key": b"t?k-?"}).status_code == 401


@pytest.mark.parametrize(
    ("lines", "mode", "message"),
    [
        (["a"], 0o644, "others can read it"),
        ([], 0o600, "holds no token"),
        (["a write"], 0o600, "unknown right"),
    ],
)
def test_faulty_token_files_stop_the_start(
    tmp_path: Path, lines: list[str], mode: int, message: str
) -> None:
    path = token_file(tmp_path, *lines)
    path.chmod(mode)
    with pytest.raises(UserError, match=message):
        Tokens(path, {})


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate authority with certificates for two servers and a client."""
    folder = tmp_path_factory.mktemp("ca")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    key = ["-newkey", "rsa:2048", "-nodes"]
    openssl(
        "req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=ca", "-days", "2"
    )
    (folder / "san").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1")
    for name in ("first", "second", "client"):
        openssl(
            "req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}"
        )
        signing = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "san"]
        openssl("x509", "-req", "-in", f"{name}.csr", *signing, "-out", f"{name}.pem", "-days", "2")
    return folder


def use(authority: Path, folder: Path, name: str) -> None:
    for kind in ("pem", "key"):
        (folder / f"server.{kind}").write_bytes((authority / f"{name}.{kind}").read_bytes())


def server_name(receiver: Running) -> str:
    """The name in the certificate that the HTTP port shows now."""
    address = receiver.receiver.http_address
    assert address is not None
    pem = ssl.get_server_certificate((address.host, address.port), timeout=5)
    ended = subprocess.run(
        ["openssl", "x509", "-noout", "-subject"],
        input=pem,
        text=True,
        capture_output=True,
        check=True,
    )
    return ended.stdout.strip().rpartition("=")[2].strip()


def grpc_over_tls(receiver: Running, authority: Path, *, client: bool = False) -> bytes:
    roots = (authority / "ca.pem").read_bytes()
    pair = [(authority / f"client.{kind}").read_bytes() for kind in ("key", "pem")]
    credentials = grpc.ssl_channel_credentials(roots, *(pair if client else ()))
    with grpc.secure_channel(receiver.grpc, credentials) as channel:
        answer: bytes = channel.unary_unary(METHODS["traces"])(BODY, timeout=5)
        return answer


def test_item_68_tls_with_reload_and_no_plain_text(tmp_path: Path, authority: Path) -> None:
    use(authority, tmp_path, "first")
    files = TlsFiles(certificate=tmp_path / "server.pem", key=tmp_path / "server.key")
    with running(tls=files) as receiver:
        url = receiver.http.replace("http:", "https:") + "/v1/traces"
        headers = {"Content-Type": PROTOBUF}
        answer = requests.post(url, BODY, headers=headers, verify=authority / "ca.pem", timeout=9)
        assert answer.status_code == 200
        assert grpc_over_tls(receiver, authority) == b""
        with pytest.raises(requests.ConnectionError):
            receiver.post(BODY)
        with pytest.raises(grpc.RpcError):
            receiver.call(BODY)
        assert server_name(receiver) == "first"
        (tmp_path / "server.pem").write_text("broken")
        time.sleep(1.3)
        assert server_name(receiver) == "first"
        use(authority, tmp_path, "second")
        deadline = time.monotonic() + 10
        while server_name(receiver) != "second" and time.monotonic() < deadline:
            time.sleep(0.1)
        assert server_name(receiver) == "second"
        assert grpc_over_tls(receiver, authority) == b""
    assert len(receiver.sink.requests) == 3


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_item_68_exporters_send_over_tls_while_certificates_change(
    tmp_path: Path, authority: Path, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exporters of opentelemetry-python, with the authority's file; nothing is refused."""
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):  # `requests` would prefer them
        monkeypatch.delenv(name, raising=False)
    use(authority, tmp_path, "first")
    options = [
        "--tls-cert",
        str(tmp_path / "server.pem"),
        "--tls-key",
        str(tmp_path / "server.key"),
    ]
    ca = authority / "ca.pem"
    with serve(tmp_path / "s", *options) as served:
        assert served.http.startswith("https://")
        for number in range(1, 31):
            use(authority, tmp_path, ("first", "second")[number % 2])
            if protocol == "http":
                exporter: SpanExporter = HttpSpanExporter(
                    endpoint=f"{served.http}/v1/traces", certificate_file=str(ca)
                )
            else:
                credentials = grpc.ssl_channel_credentials(ca.read_bytes())
                exporter = GrpcSpanExporter(endpoint=served.grpc, credentials=credentials)
            provider = TracerProvider()
            provider.add_span_processor(SimpleSpanProcessor(exporter))
            provider.get_tracer("test").start_span("one").end()
            provider.shutdown()
            time.sleep(0.1)
        assert served.stop() == 0
    with Store.open(tmp_path / "s", write=False) as store:
        assert store.stats().spans == 30


def test_the_conformance_command_trusts_a_given_authority(
    tmp_path: Path, authority: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without it the certificate isn't trusted; a file that holds none is told. Both exit 2."""
    use(authority, tmp_path, "first")
    files = TlsFiles(certificate=tmp_path / "server.pem", key=tmp_path / "server.key")
    with running(tls=files) as receiver:
        url = receiver.http.replace("http:", "https:")
        assert main(["conformance", url, "--ca-file", str(authority / "ca.pem")]) == 0
        assert "all as it should be" in capsys.readouterr().out
        assert main(["conformance", url]) == 2
        assert "certificate verify failed" in capsys.readouterr().err
        for faulty in (tmp_path / "missing.pem", authority / "san"):
            assert main(["conformance", url, "--ca-file", str(faulty)]) == 2
            assert "no certificates can be read" in capsys.readouterr().err


def test_item_68_clients_must_show_a_certificate(tmp_path: Path, authority: Path) -> None:
    use(authority, tmp_path, "first")
    files = TlsFiles(
        certificate=tmp_path / "server.pem",
        key=tmp_path / "server.key",
        client_ca=authority / "ca.pem",
    )
    with running(tls=files) as receiver:
        url = receiver.http.replace("http:", "https:") + "/v1/traces"
        headers = {"Content-Type": PROTOBUF}
        ca = authority / "ca.pem"
        with pytest.raises(requests.RequestException):
            requests.post(url, BODY, headers=headers, verify=ca, timeout=5)
        with pytest.raises(grpc.RpcError):
            grpc_over_tls(receiver, authority)
        pair = (str(authority / "client.pem"), str(authority / "client.key"))
        assert requests.post(url, BODY, headers=headers, verify=ca, cert=pair, timeout=5).ok
        assert grpc_over_tls(receiver, authority, client=True) == b""
    assert len(receiver.sink.requests) == 2


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0"])
@pytest.mark.parametrize("option", ["--grpc", "--http"])
def test_item_70_open_to_all_needs_a_guard_or_force(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], address: str, option: str
) -> None:
    """Nothing is made or opened."""
    assert main(["serve", "--store", str(tmp_path / "s"), option, address]) == 2
    assert "reachable from other machines" in capsys.readouterr().err
    assert not (tmp_path / "s").exists()


def test_item_70_a_token_or_force_opens(tmp_path: Path) -> None:
    everywhere = Address("0.0.0.0", 4317)
    tokens = Tokens(token_file(tmp_path, "t"), {})
    ReceiverConfig(grpc=everywhere, tokens=tokens).check_exposure()
    with serve(tmp_path / "s", "--http", "0.0.0.0:0", "--insecure") as served:
        assert served.stop() == 0


def preflight(receiver: Running, origin: str) -> requests.Response:
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    return requests.options(f"{receiver.http}/v1/traces", headers=headers, timeout=9)


def test_item_71_cors_is_off_by_default(receiver: Running) -> None:
    assert preflight(receiver, "https://app.example.com").status_code == 405
    answer = receiver.post(BODY, headers={"Origin": "https://app.example.com"})
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


def test_item_71_cors_for_named_origins() -> None:
    with running(cors_origins=("https://*.example.com", "http://localhost:3000")) as receiver:
        for origin in (
            "https://app.example.com",
            "http://localhost:3000",
            "https://a.b.example.com",
        ):
            answer = preflight(receiver, origin)
            assert answer.status_code == 204
            assert answer.headers["Access-Control-Allow-Origin"] == origin
            assert answer.headers["Access-Control-Allow-Headers"] == "content-type"
            assert answer.headers["Access-Control-Allow-Methods"] == "POST"
            assert int(answer.headers["Access-Control-Max-Age"]) > 0
            posted = receiver.post(BODY, headers={"Origin": origin})
            assert posted.headers["Access-Control-Allow-Origin"] == origin
        for origin in ("https://example.com.evil.org", "https://example.com", "null"):
            answer = preflight(receiver, origin)
            assert answer.status_code == 405
            assert "Access-Control-Allow-Origin" not in answer.headers


SECRET = "hunter2-secret-value"


def test_item_72_error_answers_and_logs_hold_no_values(
    receiver: Running, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    template = (
        '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"x","spanId":"y",'
        '"attributes":[{"key":"k","value":{%s}}]}]}]}]}'
    )
    for value in (f'"intValue":"{SECRET}"', f'"stringValue":"{SECRET}"', f'"{SECRET}":'):
        answer = receiver.post((template % value).encode(), JSON)
        assert SECRET not in answer.text
    assert SECRET not in receiver.post(SECRET.encode() + BODY).text
    headers = {"Content-Encoding": SECRET}
    assert SECRET not in receiver.post(BODY, headers=headers).text
    assert SECRET not in caplog.text


def test_item_73_redaction_comes_before_the_disk(tmp_path: Path) -> None:
    """No byte of it is in any file of the store, journal included, also after a kill."""
    rules = tmp_path / "rules.yaml"
    rules.write_text("keys: [enduser.*]\ndetect: [email]\npatterns: {code: 'needle-[0-9]+'}\n")
    request = traces_request((1, 1))
    span = request.resource_spans[0].scope_spans[0].spans[0]
    span.attributes.add(key="enduser.id").value.string_value = "needle-user"
    span.events.add(name="e").attributes.add(key="k").value.string_value = "needle@x.org"
    span.links.add(trace_id=b"t" * 16, span_id=b"s" * 8).attributes.add(
        key="k"
    ).value.string_value = "needle-4711"
    resource = request.resource_spans[0].resource
    resource.attributes.add(key="owner").value.string_value = "needle@y.org"
    logs = logs_request((1, 1), text="needle-1234")
    with serve(tmp_path / "s", "--redact", str(rules)) as served:
        for path, message in (("traces", request), ("logs", logs)):
            answer = requests.post(
                f"{served.http}/v1/{path}",
                message.SerializeToString(),
                headers={"Content-Type": PROTOBUF},
                timeout=9,
            )
            assert answer.ok
        files = [path for path in (tmp_path / "s").rglob("*") if path.is_file()]
        journal = [path for path in files if path.suffix == ".journal"]
        assert journal
        assert [path for path in files if b"needle" in path.read_bytes()] == []
        assert b"REDACTED" in journal[0].read_bytes()
        assert served.stop() == 0
    for path in (tmp_path / "s").rglob("*"):
        assert path.is_dir() or b"needle" not in path.read_bytes()


@pytest.mark.parametrize(
    "text", ["", "[]", "keys: x", "detect: [mail]", "other: []", "keys: [1]", "{"]
)
def test_item_73_faulty_rules_stop_the_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    """Serving without them would let through what they name."""
    (tmp_path / "rules.yaml").write_text(text)
    arguments = ["serve", "--store", str(tmp_path / "s"), "--redact", str(tmp_path / "rules.yaml")]
    assert main([*arguments, "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"]) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert not (tmp_path / "s").exists()


def test_item_74_liveness_and_readiness(receiver: Running) -> None:
    """Readiness follows the store: a commit that fails, a queue over its limit."""
    assert requests.get(f"{receiver.http}/healthz", timeout=9).status_code == 200
    assert requests.get(f"{receiver.http}/readyz", timeout=9).status_code == 200
    receiver.sink.problem_text = "the database can't commit"
    ready = requests.get(f"{receiver.http}/readyz", timeout=9)
    assert (ready.status_code, ready.text) == (503, "the database can't commit\n")
    assert requests.get(f"{receiver.http}/healthz", timeout=9).status_code == 200
    receiver.sink.problem_text = None
    assert requests.get(f"{receiver.http}/readyz", timeout=9).status_code == 200


def test_item_78_own_metrics(tmp_path: Path) -> None:
    """Requests, items by outcome, bytes, backlog and commit time, in Prometheus' format."""
    with serve(tmp_path / "s") as served:
        headers = {"Content-Type": PROTOBUF}
        mixed = traces_request((1, 1), (0, 2)).SerializeToString()
        for body in (BODY, mixed, b"\xff"):
            requests.post(f"{served.http}/v1/traces", body, headers=headers, timeout=9)
        requests.post(f"{served.http}/v1/traces", BODY, headers={"Content-Type": "x/y"}, timeout=9)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            text = requests.get(f"{served.http}/metrics", timeout=9).text
            found = dict(re.findall(r"^([a-z_]+(?:\{.*\})?) (\S+)$", text, re.MULTILINE))
            if found.get("dbagenteval_store_spans_added") == "2":
                break
            time.sleep(0.05)
        assert served.stop() == 0
    outcome = "dbagenteval_receiver_requests_total"
    assert found[outcome + '{signal="traces",outcome="accepted"}'] == "2"
    assert found[outcome + '{signal="traces",outcome="refused_400"}'] == "1"
    assert found[outcome + '{signal="traces",outcome="refused_415"}'] == "1"
    items = "dbagenteval_receiver_items_total"
    assert found[items + '{signal="traces",outcome="accepted"}'] == "3"
    assert found[items + '{signal="traces",outcome="rejected"}'] == "1"
    assert int(found['dbagenteval_receiver_bytes_total{signal="traces"}']) > len(BODY)
    assert found["dbagenteval_store_spans_added"] == "2"
    assert found["dbagenteval_store_duplicate_spans"] == "1"
    assert float(found["dbagenteval_store_last_commit_seconds"]) > 0
    assert found["dbagenteval_journal_backlog_bytes"] == "0"
    assert found["dbagenteval_receiver_ready"] == "1"
    for line in text.splitlines():
        assert re.fullmatch(
            r'# (HELP|TYPE) \S+ .+|[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? \S+', line
        )


def test_item_80_is_shown_by_the_tests_of_ingest() -> None:
    """Files of every format, and a bad line that is named, in `tests/otlp`."""
    from tests.otlp import test_ingest_command as tests

    assert tests.test_file_formats
    assert tests.test_a_bad_line_is_named_and_the_rest_loaded


def test_environment_tokens_guard_the_command(tmp_path: Path) -> None:
    """`DBAGENTEVAL_TOKEN` alone is enough."""
    os.environ["DBAGENTEVAL_TOKEN"] = "from-the-environment"
    try:
        with serve(tmp_path / "s") as served:
            address = served.http.removeprefix("http://")
            connection = http.client.HTTPConnection(address, timeout=9)
            connection.request("POST", "/v1/traces", BODY, {"Content-Type": PROTOBUF})
            assert connection.getresponse().status == 401
            served.stop()
    finally:
        del os.environ["DBAGENTEVAL_TOKEN"]


def test_redactor_is_off_by_default() -> None:
    assert ReceiverConfig().redactor is None
    assert Redactor([], [], {}).redact("traces", BODY) == BODY
