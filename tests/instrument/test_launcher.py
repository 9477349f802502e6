"""What `dbagenteval instrument` finds in an environment, and how it sets one up."""

import os
import stat
import sys

import pytest

from dbagenteval.cli.main import main
from dbagenteval.errors import TargetError
from dbagenteval.instrument.content_settings import settings_for
from dbagenteval.instrument.libraries import findings
from dbagenteval.instrument.program import look_at

GENAI_OPENAI = "opentelemetry-instrumentation-genai-openai"


def found(**installed):
    versions = {name.replace("_", "-"): version for name, version in installed.items()}
    return {one.name: one for one in findings(versions)}


def test_a_client_without_instrumentation_is_missing_its_package():
    """The package to install is named."""
    one = found(openai="3.57.0")["openai"]
    assert (one.by, one.missing) == ("", GENAI_OPENAI)


def test_the_package_that_does_not_load_is_named():
    """openai-v2 skips openai 3 without a word, so we say it."""
    one = found(openai="3.57.0", opentelemetry_instrumentation_openai_v2="2.4b0")["openai"]
    assert one.missing == GENAI_OPENAI
    assert (
        one.note == "opentelemetry-instrumentation-openai-v2 2.4b0 doesn't load with openai 3.57.0"
    )
    one = found(openai="2.54.0", opentelemetry_instrumentation_openai_v2="2.4b0")["openai"]
    assert one.by == "opentelemetry-instrumentation-openai-v2"


def test_a_client_below_a_framework_needs_nothing():
    """A framework that tells of its model calls covers the client it calls."""
    ones = found(openai="3.57.0", pydantic_ai_slim="2.68.0")
    assert ones["pydantic-ai-slim"].by == "itself"
    assert ones["openai"].missing == ""
    assert GENAI_OPENAI in ones["openai"].note


@pytest.mark.parametrize(("version", "by"), [("1.30.0", ""), ("2.3.0", "itself")])
def test_mcp_traces_itself_from_version_2_on(version, by):
    """Before that it needs a package."""
    assert found(mcp=version)["mcp"].by == by


def settings(given=None, **options):
    options = {
        "endpoint": "http://h:4318",
        "service": "app",
        "hook": "/hook",
        "rows": None,
        **options,
    }
    return settings_for(given=given or {}, **options)


def test_content_is_turned_on_and_goes_to_the_endpoint():
    """An empty environment gets all it takes."""
    made = settings(rows=7)
    assert made["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] == "SPAN_ONLY"
    assert made["OTEL_SEMCONV_STABILITY_OPT_IN"] == "gen_ai_latest_experimental,database,http"
    assert made["OTEL_LOGS_EXPORTER"] == "otlp"
    assert made["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://h:4318"
    assert made["OTEL_EXPORTER_OTLP_PROTOCOL"] == "http/protobuf"
    assert made["OTEL_SERVICE_NAME"] == "app"
    assert made["DBAGENTEVAL_ROWS"] == "7"
    assert made["PYTHONPATH"] == "/hook"
    assert settings(endpoint="http://h:4317")["OTEL_EXPORTER_OTLP_PROTOCOL"] == "grpc"


def test_what_the_user_has_set_stays():
    """Lists are added to, values are kept, and a name in the resource is not overridden."""
    made = settings(
        {
            "OTEL_SEMCONV_STABILITY_OPT_IN": "database/dup",
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "EVENT_ONLY",
            "OTEL_RESOURCE_ATTRIBUTES": "service.name=mine",
            "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": "redis, psycopg",
            "PYTHONPATH": os.pathsep.join(["/a", "/hook", "/b"]),
        }
    )
    assert made["OTEL_SEMCONV_STABILITY_OPT_IN"] == "database/dup,gen_ai_latest_experimental,http"
    assert made["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] == "EVENT_ONLY"
    assert "OTEL_SERVICE_NAME" not in made
    assert (
        made["OTEL_PYTHON_DISABLED_INSTRUMENTATIONS"]
        == "redis,psycopg,sqlite3,psycopg2,asyncpg,pymysql"
    )
    assert made["PYTHONPATH"].split(os.pathsep) == ["/hook", "/a", "/b"]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ((sys.executable, "apps/shop.py", "--x"), "shop"),
        ((sys.executable, "-u", "-m", "shop.main"), "shop"),
        ((sys.executable,), "python"),
    ],
)
def test_the_program_gives_the_service_its_name(command, name):
    """The file or module that runs names the service."""
    assert look_at(command).name == name


def test_a_script_tells_its_interpreter(tmp_path):
    """What pip installs as a command names its Python in the first line."""
    script = tmp_path / "serve-shop"
    script.write_text(f"#!{sys.executable}\nprint('hello')\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    program = look_at((str(script), "--port", "1"))
    assert program.interpreter == sys.executable
    assert program.name == "serve-shop"
    assert program.environment().has_recorder


def test_a_program_that_is_not_there_is_a_mistake_of_the_user(capsys):
    """The exit code says so, and the hint helps with a bare file name."""
    with pytest.raises(TargetError, match=r"there is no program 'nope\.py'"):
        look_at(("nope.py",))
    assert main(["instrument", "--", "nope.py"]) == 2
    assert "hint: python nope.py" in capsys.readouterr().err


def test_a_dry_run_prints_the_environment(capsys, monkeypatch):
    """Nothing runs; variables on stdout, findings on stderr."""
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    assert (
        main(["instrument", "--dry-run", "--endpoint", "http://h:1", "--", sys.executable, "a.py"])
        == 0
    )
    captured = capsys.readouterr()
    assert "OTEL_EXPORTER_OTLP_ENDPOINT=http://h:1\n" in captured.out
    assert "OTEL_SERVICE_NAME=a\n" in captured.out


def test_an_endpoint_that_is_no_url_is_refused(capsys):
    """A missing scheme is the usual mistake."""
    assert main(["instrument", "--endpoint", "localhost:4318", "--", sys.executable]) == 2
    assert "expected a URL such as http://127.0.0.1:4318" in capsys.readouterr().err
