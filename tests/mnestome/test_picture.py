import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metnos.mnestome import picture
from metnos.mnestome.export import Graph, gather
from metnos.mnestome.rules import State
from mnestome.test_export import NOW, attacked, mnest, some


class Page(HTMLParser):
    """What a browser would make of a page: its elements, and the text in its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = dict(attrs).get("id") or tag if tag in ("script", "style") else ""

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts[self._open] = self.texts.get(self._open, "") + data

    @property
    def data(self) -> Any:
        return json.loads(self.texts["data"])


def crowd(count: int) -> Graph:
    """A graph whose names are as long as those of real executors."""
    names = [f"{verb}_{what}" for verb in ("find", "read", "extract", "summarise") for what in
             ("files", "tables", "text_office", "images", "notes", "reminders", "archives", "pages", "folders", "units",
              "duplicates", "text_pdf", "text_html", "links", "dates")][:count]  # fmt: skip
    pairs = [(one, names[(number * 7 + 3) % count]) for number, one in enumerate(names)]
    pairs += [(names[number % 3], two) for number, two in enumerate(names) if number % 2]
    return gather([mnest(one, two, 0.1 + (number % 9) / 10, id=f"{number:026}") for number, (one, two) in
                   enumerate(dict.fromkeys(pairs)) if one != two], NOW)  # fmt: skip


def test_the_page_needs_nothing_from_anywhere() -> None:
    text = picture.to_html(some())
    page = Page(text)
    for _, attributes in page.elements:
        assert not {"src", "href", "style", "onload", "onclick"} & set(attributes)
    assert not re.search(r"https?://", re.sub(r"http://www\.w3\.org/[\w/]+", "", text))
    assert "@import" not in text
    assert "url(" not in text


def test_the_policy_allows_the_pages_own_style_and_script_and_nothing_else() -> None:
    page = Page(picture.to_html(some()))
    (policy,) = (each["content"] for tag, each in page.elements if each.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for name in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(page.texts[name].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy


def test_what_a_model_may_have_said_is_data_and_never_markup() -> None:
    plain, hostile = Page(picture.to_html(some())), Page(picture.to_html(attacked()))
    assert [tag for tag, _ in hostile.elements] == [tag for tag, _ in plain.elements]
    assert hostile.texts["script"] == plain.texts["script"]
    names = {each["name"] for each in hostile.data["nodes"]}
    assert "</script><script>alert(1)</script>" in names
    assert "@script@" in names


@settings(max_examples=settings().max_examples // 3)
@given(st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=3, unique=True))
def test_any_text_comes_out_of_the_page_as_it_went_in(words: list[str]) -> None:
    page = Page(picture.to_html(attacked(words)))
    assert {each["name"] for each in page.data["nodes"]} >= set(words)
    assert set(page.data["tags"]) == set(words)


def test_the_script_never_reads_a_name_as_markup() -> None:
    script = Page(picture.to_html(some())).texts["script"]
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "fetch(",
                 "XMLHttpRequest", "localStorage", "srcdoc"):  # fmt: skip
        assert word not in script


def test_every_part_that_the_script_looks_for_is_in_the_page() -> None:
    page = Page(picture.to_html(some()))
    ids = {attributes.get("id") for _, attributes in page.elements}
    assert set(re.findall(r"\$\(\"(\w+)\"\)", page.texts["script"])) <= ids


def test_every_state_has_a_look_and_a_word() -> None:
    page = Page(picture.to_html(some()))
    for state in State:
        assert f"--{state}:" in page.texts["style"]
        assert f"{state}:" in page.texts["script"]


@pytest.mark.parametrize("way", ["wide", "tall"])
def test_no_name_lies_on_another_in_a_picture_of_sixty(way: str) -> None:
    data = Page(picture.to_html(crowd(60))).data
    assert len(data["nodes"]) == 60
    boxes = []
    for node in data["nodes"]:
        (x, y), radius, lines = node[way]["at"], node["r"], node[way]["lines"]
        half = max(radius, max(map(len, lines)) * 3.4)  # half a letter of the page's font
        boxes.append((x - half, y - radius, x + half, y + radius + 5 + 13.5 * len(lines)))
    for one, two in combinations(boxes, 2):
        assert one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1]
    width, height = data["size"][way]
    assert all(left >= 0 and right <= width and top >= 0 and low <= height for left, top, right, low in boxes)


def test_versions_of_one_pair_are_one_line_with_the_heaviest_first() -> None:
    data = Page(picture.to_html(some())).data
    pair = next(each for each in data["links"] if data["nodes"][each["src"]]["name"] == "find_files")
    assert [each["id"] for each in pair["mnests"]] == ["01OTHER", "01FIND_FILESREAD_FILES"]
    assert pair["weight"] == pair["mnests"][0]["weight"]


@pytest.mark.slow
def test_a_very_large_graph_shows_its_heaviest_and_says_what_is_missing() -> None:
    many = [mnest(f"read_{number}", f"write_{number}", 0.2 + number / 1000, id=f"{number:026}") for number in range(90)]
    data = Page(picture.to_html(gather(many, NOW))).data
    assert len(data["nodes"]) == picture.MOST_NODES
    assert data["left_out"] == 90 - len(data["links"]) > 0
    drawn = {each["mnests"][0]["id"] for each in data["links"]}
    assert f"{89:026}" in drawn
    assert f"{0:026}" not in drawn


def test_an_empty_mnestome_is_a_page_too() -> None:
    assert Page(picture.to_html(gather([], NOW))).data["nodes"] == []
