"""What a hostile page, a hostile program and a hostile network try, and what they get: nothing."""

from datetime import timedelta
from typing import Any

from starlette.testclient import TestClient

from api.http.served import HERE, OFTEN, Client, Served, entered, serving
from metnos.api.http import guard_rules
from metnos.api.http.guard import Limits
from metnos.api.http.rate import Rate
from metnos.core.clock import MovableClock
from metnos.law.principal import Autonomy, Channel, at_terminal

ASK = {"text": "how full are the disks?"}
JSON = {"content-type": "application/json"}


def sent(client: Client, path: str = "/api/turns", body: Any = ASK, **headers: str | None) -> int:
    """The status of a POST with a page's own headers, but for those that are given: ``None`` takes one away."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    kept = {name: value for name, value in (client.headers | named).items() if value is not None}
    return client.http.post(path, json=body, headers=kept).status_code


def test_the_page_itself_may(page: Client) -> None:
    assert sent(page) == 202  # else nothing below shows anything


# -- another page in the owner's browser


def test_csrf_from_another_origin(page: Client) -> None:
    for origin in ["http://evil.example", "null", "http://127.0.0.1:9999", "https://127.0.0.1:8674"]:
        assert sent(page, origin=origin) == 403


def test_csrf_by_what_the_browser_says_of_the_sender(page: Client) -> None:
    for site in ["cross-site", "same-site", "none", "nonsense"]:
        assert sent(page, sec_fetch_site=site) == 403


def test_csrf_with_two_origins(page: Client) -> None:
    headers = [*page.headers.items(), ("origin", "http://evil.example"), *JSON.items()]
    assert page.http.post("/api/turns", content=b'{"text":"x"}', headers=headers).status_code == 403


def test_csrf_without_saying_where_it_comes_from(page: Client) -> None:
    assert sent(page, origin=None, sec_fetch_site=None) == 403


def test_csrf_without_what_only_a_page_of_ours_knows(page: Client) -> None:
    for token in [b"", b"x", b"0" * 43, "é".encode()]:
        headers = {**page.headers, guard_rules.HEADER: token}
        assert page.http.post("/api/turns", json=ASK, headers=headers).status_code == 403


def test_csrf_with_the_token_of_another_session(page: Client) -> None:
    other = page.device("full")
    assert sent(page, **{guard_rules.HEADER: other.headers[guard_rules.HEADER]}) == 403


def test_a_form_of_a_foreign_page_sends_no_json(page: Client) -> None:
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]:
        headers = page.headers | {"content-type": kind}
        assert page.http.post("/api/turns", content=b'{"text":"x"}', headers=headers).status_code == 415


def test_reading_from_another_site(page: Client) -> None:
    headers = {"sec-fetch-site": "cross-site"}
    assert page.http.get("/api/runs", headers=headers).status_code == 403


def test_no_answer_tells_a_browser_that_others_may_read_it(page: Client) -> None:
    for method in ("GET", "OPTIONS"):
        answer = page.http.request(method, "/api/runs", headers={"origin": "http://evil.example"})
        assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_a_preflight_gets_nothing(page: Client) -> None:
    asked = {"origin": "http://evil.example", "access-control-request-method": "POST"}
    assert page.http.options("/api/turns", headers=asked).status_code == 405


def test_no_page_can_be_put_into_a_frame_or_run_foreign_script(page: Client) -> None:
    headers = page.http.get("/api/runs").headers
    policy = headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert (headers["x-frame-options"], headers["x-content-type-options"]) == ("DENY", "nosniff")
    assert headers["cache-control"] == "no-store"


def test_whoever_opens_a_window_with_a_page_of_ours_has_no_hold_on_it(page: Client) -> None:
    """A browser says that a user came by themselves; nobody else can make it say so."""
    policy = "cross-origin-opener-policy"
    for said in ({}, {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"sec-fetch-site": "None"}):
        assert page.http.get("/api/runs", headers=said).headers[policy] == "same-origin"
    twice = [("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")]
    assert page.http.get("/api/runs", headers=twice).headers[policy] == "same-origin"
    for said in ("none", "same-origin"):
        assert policy not in page.http.get("/api/runs", headers={"sec-fetch-site": said}).headers


# -- names


def test_rebinding_a_name_to_us(page: Client) -> None:
    for host in [
        "evil.example",
        "evil.example:8674",
        "127.0.0.1",
        "127.0.0.1:80",
        "127.0.0.1.evil.example:8674",
        "0.0.0.0:8674",
        "localhost:8674@evil.example",
        "",
        "127.0.0.1:8674 ",
        "[::ffff:127.0.0.1]:8674",
    ]:
        answer = page.http.get("/api/runs", headers={"host": host})
        assert answer.status_code == 421


def test_two_hosts_at_once(page: Client) -> None:
    headers = [("host", "127.0.0.1:8674"), ("host", "evil.example")]
    assert page.http.get("/api/runs", headers=headers).status_code == 421


def test_what_a_proxy_would_say_counts_for_nothing(page: Client) -> None:
    headers = {"host": "evil.example", "x-forwarded-host": "127.0.0.1:8674", "x-forwarded-for": "127.0.0.1"}
    assert page.http.get("/api/runs", headers=headers).status_code == 421


# -- sessions


def test_a_link_is_good_once(served: Served) -> None:
    code = served.app.pairing.offer(Channel.WEB, Autonomy.FULL, 10, at_terminal())
    first, second = (TestClient(served.guard, base_url=HERE, follow_redirects=False) for _ in range(2))
    assert first.get(f"/enter?key={code}").headers["location"] == "/"
    again = second.get(f"/enter?key={code}")
    assert again.headers["location"] == "/locked?why=link"
    assert "set-cookie" not in again.headers


def test_a_link_that_is_too_old(served: Served, clock: MovableClock) -> None:
    code = served.app.pairing.offer(Channel.WEB, Autonomy.FULL, 10, at_terminal())
    clock.move(timedelta(minutes=11))
    assert "set-cookie" not in Client(served).http.get(f"/enter?key={code}").headers


def test_fixation_a_secret_that_was_brought_along_is_never_taken_over(served: Served) -> None:
    chosen = "A" * 43
    client = Client(served)
    client.http.cookies.set(guard_rules.COOKIE, chosen)
    assert client.http.get("/api/runs").status_code == 401
    code = served.app.pairing.offer(Channel.WEB, Autonomy.FULL, 10, at_terminal())
    given = client.http.get(f"/enter?key={code}").headers["set-cookie"]
    assert chosen not in given
    assert all(part in given for part in ("HttpOnly", "SameSite=Strict", "Path=/"))
    stranger = TestClient(served.guard, base_url=HERE, cookies={guard_rules.COOKIE: chosen})
    assert stranger.get("/api/runs").status_code == 401


def test_tossing_a_second_cookie_signs_nobody_in(page: Client) -> None:
    secret = page.http.cookies[guard_rules.COOKIE]
    both = {"cookie": f"{guard_rules.COOKIE}={'B' * 43}; {guard_rules.COOKIE}={secret}"}
    stranger = TestClient(page.served.guard, base_url=HERE)
    assert stranger.get("/api/runs", headers=both).status_code == 401


def test_a_session_that_was_ended_is_over_at_once(page: Client) -> None:
    mine = next(each["id"] for each in page.get("/api/devices")["devices"] if each["this"])
    page.post(f"/api/devices/{mine}/revoke")
    assert page.http.get("/api/runs").status_code == 401


def test_whatever_is_sent_instead_of_a_secret(served: Served) -> None:
    for secret in ["", "x", "../../etc/passwd", "a" * 5000, "%00", "' OR 1=1 --" + "a" * 40]:
        for headers in ({"cookie": f"metnos={secret}"}, {"authorization": f"Bearer {secret}"}):
            assert TestClient(served.guard, base_url=HERE).get("/api/runs", headers=headers).status_code == 401


def test_guessing_links_is_slowed_down(equipped: Any, clock: MovableClock) -> None:
    equipped.close()
    limits = Limits(OFTEN.read, OFTEN.write, OFTEN.stranger, Rate(0.2, 3))
    with serving(equipped.workspace, clock, limits) as served:
        tries = [Client(served).http.get(f"/enter?key={number}").status_code for number in range(5)]
    assert tries == [303, 303, 303, 429, 429]


def test_a_program_cannot_use_the_pages_and_a_page_no_programs_way(page: Client) -> None:
    program = page.program("full")
    assert program.http.get("/", headers=program.headers).status_code == 403
    as_program = {"authorization": f"Bearer {page.http.cookies[guard_rules.COOKIE]}"}
    stranger = TestClient(page.served.guard, base_url=HERE)
    assert stranger.get("/api/runs", headers=as_program).status_code == 401
    as_page = {"cookie": f"{guard_rules.COOKIE}={program.program_secret}"}
    assert stranger.get("/api/runs", headers=as_page).status_code == 401


def test_a_program_never_answers_and_lets_nobody_in(page: Client) -> None:
    program = page.program("full")
    assert program.refused("POST", "/api/devices/code", {"level": "read_only"})[0] == 403
    run = program.post("/api/turns", **ASK)["run"]
    assert program.refused("POST", f"/api/runs/{run}/answer", {"question": 1, "answer": "yes"})[0] == 403
    program.follow(run)


def test_who_may_only_look_decides_nothing(page: Client) -> None:
    guest = page.device("read_only")
    assert guest.refused("POST", "/api/devices/code", {"level": "read_only"})[0] == 403
    assert guest.refused("POST", "/api/runs/x/answer", {"question": 1, "answer": "yes"})[0] == 403


def test_a_device_gives_no_more_than_it_has(page: Client) -> None:
    assert page.device("supervised").refused("POST", "/api/devices/code", {"level": "full"})[0] == 403


def test_a_run_is_seen_answered_and_cancelled_by_whoever_began_it(page: Client) -> None:
    other = page.device("full")
    run = page.post("/api/turns", **ASK)["run"]
    assert other.refused("GET", f"/api/runs/{run}/events")[0] == 404
    assert other.refused("POST", f"/api/runs/{run}/answer", {"question": 1, "answer": "yes"})[0] == 404
    assert other.refused("POST", f"/api/runs/{run}/cancel")[0] == 404
    assert other.get("/api/runs") == []
    assert page.follow(run)[-1]["event"] == "Answered"


def test_an_inside_call_cannot_be_claimed_from_outside(served: Served) -> None:
    headers = {"metnos.who": "owner", "x-metnos-who": "terminal:owner", "metnos-inside": "true"}
    assert TestClient(served.guard, base_url=HERE).get("/api/runs", headers=headers).status_code == 401


# -- addresses and bodies


def test_paths_that_lead_elsewhere(page: Client) -> None:
    for path in [
        "/static/../../etc/passwd",
        "/static/%2e%2e/%2e%2e/etc/passwd",
        "/static/..%2f..%2fetc/passwd",
        "//etc/passwd",
        "/static/%00",
        "/api/executors/..%2F..%2Fkeys",
        "/api\\runs",
        "/static/....//etc/passwd",
    ]:
        answer = page.http.get(f"{HERE}{path}", headers=page.headers)
        assert answer.status_code in (400, 404)
        assert "root:" not in answer.text


def test_a_body_that_is_too_long(page: Client) -> None:
    long = b'{"text":"' + b"x" * guard_rules.LONGEST_BODY + b'"}'
    assert page.http.post("/api/turns", content=long, headers=page.headers | JSON).status_code == 413


def test_a_body_whose_length_is_a_lie_or_said_twice(page: Client) -> None:
    for lengths in (["-1"], ["1e9"], ["5", "9"], ["0x10"]):
        headers = [*page.headers.items(), *JSON.items(), *(("content-length", each) for each in lengths)]
        answer = page.http.request("POST", "/api/turns", headers=headers, content=b'{"text":"x"}')
        assert answer.status_code in (400, 413), lengths


def test_an_address_that_is_too_long(page: Client) -> None:
    assert page.http.get("/api/runs?x=" + "a" * 9000).status_code == 414


def test_methods_that_are_none_of_ours(page: Client) -> None:
    for method in ["PUT", "PATCH", "TRACE", "CONNECT", "PROPFIND"]:
        assert page.http.request(method, "/api/runs").status_code == 405


NO_REQUESTS = (
    b"",
    b"[]",
    b"null",
    b'"x"',
    b"{",
    b'{"text": 5}',
    b'{"text": "x", "principal": "owner"}',
    b'{"text": ""}',
    b'{"text": "   "}',
    b'{"text":"\xff"}',
    b"[" * 20000,
    b'{"text":"x","conversation":"../x"}',
)


def test_what_is_no_request(page: Client) -> None:
    for body in NO_REQUESTS:
        answer = page.http.post("/api/turns", content=body, headers=page.headers | JSON)
        assert answer.status_code in (400, 422), body[:50]
        assert set(answer.json()["error"]) == {"type", "what", "fix"}


def test_too_many_changes_and_too_many_looks(equipped: Any, clock: MovableClock) -> None:
    equipped.close()
    limits = Limits(Rate(0.001, 5), Rate(0.001, 3), OFTEN.stranger, OFTEN.enter)
    with serving(equipped.workspace, clock, limits) as served:
        page = entered(served)
        assert [page.http.get("/api/runs").status_code for _ in range(6)] == [200] * 5 + [429]
        changes = [sent(page, "/api/devices/code", {"level": "read_only"}) for _ in range(4)]
        assert changes == [200] * 3 + [429]
        assert entered(served).http.get("/api/runs").status_code == 200  # somebody else is not held up


def test_too_many_runs_at_once(page: Client) -> None:
    slots = page.served.desk.runs._counter.slots
    for _ in range(slots.most):
        assert slots.take(0)
    try:
        statuses = [sent(page) for _ in range(9)]
        assert statuses == [202] * 8 + [503]
    finally:
        for _ in range(slots.most):
            slots.give_back()


def test_nothing_of_a_secret_is_logged(page: Client) -> None:
    page.http.get("/enter?key=SECRET-THAT-WAS-TRIED")
    page.http.get("/api/nothing?key=SECRET-THAT-WAS-TRIED")
    assert not any("SECRET" in line for line in page.served.logged)
