"""The pages show runs safely: escaped, guarded, without anything from elsewhere."""

from __future__ import annotations

import http.client
import json
import re
import time
from urllib.parse import quote, urlsplit

import pytest

from dbagenteval.errors import UserError
from dbagenteval.web import serve_results, standalone_page
from dbagenteval.web.shown import tables_of

NEWEST = "results_20260102_030405.json"


def get(base: str, path: str, **headers: str) -> tuple[int, dict[str, str], str]:
    parts = urlsplit(base)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    text = response.read().decode("utf-8")
    connection.close()
    return response.status, {key.lower(): value for key, value in response.getheaders()}, text


def test_the_newest_run_is_shown_with_its_numbers(serve, outputs) -> None:
    """`/` leads to the newest file; cards and rows say what is in it, unknown costs as such."""
    base = serve(outputs)
    status, headers, _ = get(base, "/")
    assert (status, headers["location"]) == (302, f"/run/{NEWEST}")
    status, headers, text = get(base, f"/run/{NEWEST}")
    assert status == 200
    for words in ("33%", "cities", "local:small", "no answer", "unknown", "+1 unknown", "2,150"):
        assert words in text, words
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


def test_nothing_is_loaded_from_elsewhere(serve, outputs) -> None:
    """No page, style or script names another host."""
    base = serve(outputs)
    for path in (
        f"/run/{NEWEST}",
        f"/run/{NEWEST}/1",
        "/compare",
        "/static/pages.css",
        "/static/pages.js",
        "/nope",
    ):
        text = get(base, path)[2]
        assert not re.search(
            r"(?:src|href|url\(|@import|fetch\()\s*=?[\"'(]?\s*(?:https?:)?//", text
        ), path


def test_the_detail_shows_what_differs(serve, outputs) -> None:
    """The differing cell is marked, rows in another place are not; diff, calls and SQL are there."""
    text = get(serve(outputs), f"/run/{NEWEST}/1")[2]
    assert re.findall(r"<mark>(.*?)</mark>", text) == ["3", "4"]
    for words in (
        "execute_sql",
        "SELECT city, n FROM t",
        "Oslo has 2",
        "+city=Bergen, n=3",
        "-city=Bergen, n=4",
        "What is cities?",
    ):
        assert words in text, words


def test_two_runs_side_by_side(serve, outputs) -> None:
    """Regressions come first, then fixes, added and removed tests."""
    text = get(serve(outputs), f"/compare?before=results_20260101_000000.json&after={NEWEST}")[2]
    changes = re.findall(r'<tr class="(\w+)">', text)
    assert changes[:1] != ["same"]
    assert sorted(changes) == ["added", "added", "removed", "removed", "same"]


@pytest.mark.parametrize(
    "name",
    [
        "../secret.json",
        "..%2Fsecret.json",
        "secret.json",
        "results_%00.json",
        "results_1.json",
        "%2Fetc%2Fpasswd",
    ],
)
def test_no_other_file_is_read(serve, outputs, name: str) -> None:
    """Only results files of the folder are served."""
    (outputs / "secret.json").write_text('{"results": [], "project": "SECRET"}', "utf-8")
    (outputs.parent / "secret.json").write_text('{"results": [], "project": "SECRET"}', "utf-8")
    status, _, text = get(serve(outputs), f"/run/{name}")
    assert status == 404
    assert "SECRET" not in text


def test_a_name_with_a_space_is_served(serve, outputs) -> None:
    """Names are decoded."""
    (outputs / NEWEST).rename(outputs / "results_my run.json")
    assert get(serve(outputs), f"/run/{quote('results_my run.json')}")[0] == 200


def test_broken_and_unfinished_files(serve, outputs) -> None:
    """A file that is none gives a page that says so; a run that was cut off shows what it has."""
    (outputs / "results_x.json").write_text("[1, 2", "utf-8")
    first = json.loads((outputs / NEWEST).read_text("utf-8"))["results"][0]
    lines = [
        json.dumps({"run": {"project": "bakery", "k": 1}}),
        json.dumps(first),
        '{"name": "torn',
    ]
    (outputs / "results_y.partial.jsonl").write_text("\n".join(lines), "utf-8")
    base = serve(outputs)
    assert get(base, "/run/results_x.json")[0] == 404
    status, _, text = get(base, "/run/results_y.partial.jsonl")
    assert status == 200
    assert "did not end" in text
    assert "revenue" in text
    assert get(base, f"/run/{NEWEST}/99")[0] == 404


def test_a_token_and_a_host_guard_the_pages(serve, outputs) -> None:
    """Without the token there is nothing; it leaves the address; foreign hosts are refused."""
    base = serve(outputs, token="s3cret", hosts=("127.0.0.1",))
    assert get(base, "/")[0] == 401
    assert get(base, "/?token=wrong")[0] == 401
    assert get(base, "/", authorization="Bearer s3cret")[0] == 302
    status, headers, _ = get(base, "/?token=s3cret")
    assert (status, headers["location"]) == (303, "/")
    assert "HttpOnly" in headers["set-cookie"]
    assert get(base, "/", host="evil.example", authorization="Bearer s3cret")[0] == 421


def test_other_addresses_need_a_token(tmp_path) -> None:
    """The server does not start where others reach it without a token."""
    with pytest.raises(UserError, match="token"):
        serve_results(tmp_path, host="0.0.0.0", port=0)


def test_a_hostile_result_is_text_and_fast(serve, hostile, hostile_script) -> None:
    """Script in every field, a 5 MB answer and 10,000 rows give small pages of plain text."""
    base = serve(hostile)
    for path in ("/run/results_20260103_000000.json", "/run/results_20260103_000000.json/0"):
        begun = time.monotonic()
        status, _, text = get(base, path)
        taken = time.monotonic() - begun
        assert status == 200
        assert "<script>window" not in text
        assert "<img" not in text
        assert "{{7*7}}" in text
        assert len(text) < 2_500_000
        assert taken < 60, taken
    for index in (1, 2):
        assert get(base, f"/run/results_20260103_000000.json/{index}")[0] == 200


def test_the_standalone_file_holds_everything(outputs, hostile) -> None:
    """`--html` gives one file with details, its own style and script and a policy for them."""
    page = standalone_page(json.loads((outputs / NEWEST).read_text("utf-8")))
    assert 'id="result-1"' in page
    assert "<mark>3</mark>" in page
    assert "script-src &#39;sha256-" in page
    assert "src=" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    evil = standalone_page(json.loads(next(hostile.iterdir()).read_text("utf-8")))
    assert "<script>window" not in evil


def test_rows_are_paired_by_content_first() -> None:
    """Equal rows pair wherever they stand; rows of one table alone are told."""
    actual, expected = tables_of(
        [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}],
        [{"a": 2, "b": "y"}, {"a": 3, "b": "x"}, {"a": 9, "b": None}],
    )
    assert actual is not None
    assert expected is not None
    assert [[cell.differs for cell in row] for row in actual.rows] == [
        [True, False],
        [False, False],
    ]
    assert expected.alone == (False, False, True)
    assert actual.alone == (False, False)
