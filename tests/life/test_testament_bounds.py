"""The door of an inheritance: what somebody packs to hold it open, or to break it, is refused after bounded work."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from life.willed import a_signer, a_testament, an_entry, forged
from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.errors import TestamentError
from metnos.core.sign import Signer
from metnos.grimoire import poison
from metnos.life import testament_file, testament_lines
from metnos.life.testament import PURPOSE

Json = dict[str, Any]
Nests = Callable[[Json, Json, Any], None]

DEPTHS = (10, 100, 300, 600, 900, 1_500, 10_000, 100_000)
MARK = "here it is deep"

PLACES: dict[str, Nests] = {
    "data": lambda _f, s, deep: s["entries"][0].update(data={"a": deep}),
    "an entry": lambda _f, s, deep: s["entries"].append(deep),
    "a text": lambda _f, s, deep: s["entries"][0].update(text=deep),
    "tags": lambda _f, s, deep: s["entries"][0].update(tags=[deep]),
    "an affect": lambda _f, s, deep: s["entries"][0].update(pad=[0, 0, deep]),
    "a kind": lambda _f, s, deep: s["entries"][0].update(kind=deep),
    "a number": lambda _f, s, deep: s["entries"][0].update(confidence=deep),
    "a relation": lambda _f, s, deep: s["links"][0].update(relation=deep),
    "an episode": lambda _f, s, deep: s["episodes"][0].update(tags=[deep]),
    "a bone": lambda _f, s, deep: s["bones"][0].update(src=deep),
    "the executors": lambda _f, s, deep: s.update(executors=deep),
    "the body": lambda _f, s, deep: s.update(links=deep),
    "the reflection": lambda f, _s, deep: f["core"]["reflection"].update({"what worked": deep}),
    "what was counted": lambda f, _s, deep: f["core"]["lived"].update(bytes=deep),
    "the ancestors": lambda f, _s, deep: f["core"].update(ancestors=[deep]),
    "a habit": lambda f, _s, deep: f["core"].update(habits=[{"setting": "a.b", "value": deep, "held": 1}]),
    "what is left": lambda f, _s, deep: f["left"].update(entries=deep),
    "the key": lambda f, _s, deep: f.update(key=deep),
    "the version": lambda f, _s, deep: f.update(version=deep),
    "a part that there is not": lambda f, _s, deep: f.update(other=deep),
}


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return a_signer(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def sound(signer: Signer) -> bytes:
    return testament_file.pack(a_testament(), b"", signer)


def nested(raw: bytes, signer: Signer, place: Nests, lists: bytes) -> bytes:
    """A testament with that in it, written by hand: no encoder would go so deep. Signed, as a forger would."""
    first, second = (json.loads(line) for line in raw.splitlines())
    place(first, second, MARK)
    mark = canonical_json(MARK)
    body = canonical_json(second).replace(mark, lists)
    first["body"] = {"bytes": len(body), "sha256": sha256_hex(body)}
    first.pop("signature")
    content = canonical_json(first).replace(mark, lists)
    signature = signer.sign(PURPOSE, content)
    # "signature" stands before "version" in the order of names.
    head, found, tail = content.rpartition(b'"version":')
    return head + b'"signature":' + canonical_json(signature) + b"," + found + tail + b"\n" + body + b"\n"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("around", [(b"[", b"]"), (b'{"a":', b"}")], ids=["lists", "names"])
def test_what_is_nested_is_refused_at_any_depth(
    place: str, around: tuple[bytes, bytes], sound: bytes, signer: Signer
) -> None:
    for depth in DEPTHS:
        deep = around[0] * depth + b"1" + around[1] * depth
        with pytest.raises(TestamentError) as refused:
            testament_file.unpack(nested(sound, signer, PLACES[place], deep))
        assert refused.value.what
        assert refused.value.fix


def test_what_is_nested_too_deep_for_any_reader_is_told_as_that(sound: bytes, signer: Signer) -> None:
    deep = b"[" * 50_000 + b"]" * 50_000
    with pytest.raises(TestamentError, match="nested deeper"):
        testament_file.unpack(nested(sound, signer, PLACES["data"], deep))


def test_executors_that_are_nested_are_refused(sound: bytes, signer: Signer) -> None:
    for depth in DEPTHS:
        text = "[" * depth + "]" * depth
        with pytest.raises(TestamentError, match="executors"):
            testament_file.unpack(forged(sound, signer, lambda _f, s, text=text: s.update(executors=text)))


class TestData:
    def test_as_deep_as_it_may_be(self) -> None:
        value: Any = 1
        for _ in range(testament_lines.DEEP - 1):
            value = [value]
        assert testament_lines.is_data({"a": value})
        assert not testament_lines.is_data({"a": [value]})

    @pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: {"a": v}, lambda v: (v,)], ids=["list", "dict", "tuple"])
    def test_what_has_no_end_is_no_data(self, wrap: Callable[[Any], Any]) -> None:
        value: Any = 1
        for _ in range(100_000):
            value = wrap(value)
        assert not testament_lines.is_data({"a": value})
        # A nest that deep would overflow the stack of some interpreters when it is thrown away at once.
        while isinstance(value, list | tuple | dict):
            value = value["a"] if isinstance(value, dict) else value[0]

    def test_nor_is_what_holds_itself(self) -> None:
        ring: dict[str, Any] = {}
        ring["ring"] = ring
        assert not testament_lines.is_data(ring)

    def test_numbers_are_found_at_any_depth_it_may_have(self) -> None:
        assert not testament_lines.is_data({"a": [{"b": [1e301]}]})
        assert not testament_lines.is_data({"a": ({"b": -(10**301)},)})
        assert testament_lines.is_data({"a": [{"b": [1e299, True, None, "1e999"]}]})


class TestReading:
    """The work of the door is the sum of what is read, and has a limit."""

    def refused(self, raw: bytes, words: str) -> None:
        with pytest.raises(TestamentError, match=words):
            testament_file.unpack(raw)

    def test_more_than_can_be_read_is_refused(self, sound: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(testament_file, "MOST_READ", 50)
        self.refused(sound, "more than can be looked through")

    @pytest.mark.slow
    def test_and_no_more_is_read_than_that(self, sound: bytes, signer: Signer, monkeypatch: pytest.MonkeyPatch) -> None:
        done: list[int] = []
        screen = poison.screen

        def counted(text: str) -> poison.Screened:
            found = screen(text)
            done.append(found.work)
            return found

        entries = [{**_plain(sound), "id": f"E{number}", "text": f"{number} costs much. " * 9} for number in range(200)]
        raw = _with(sound, signer, entries)
        assert testament_file.unpack(raw)
        monkeypatch.setattr(testament_file, "MOST_READ", 60_000)
        monkeypatch.setattr(poison, "screen", counted)
        self.refused(raw, "more than can be looked through")
        assert len(done) < 150
        assert sum(done[:-1]) <= 60_000

    @pytest.mark.slow
    def test_what_cannot_be_read_in_any_case_is_not_begun(
        self, sound: bytes, signer: Signer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def never(text: str) -> poison.Screened:
            raise AssertionError(text)

        monkeypatch.setattr(poison, "screen", never)
        said = {**_plain(sound), **dict.fromkeys(("text", "subject", "value"), "x" * 4000)}
        entries = [{**said, "id": f"E{number}"} for number in range(1400)]
        self.refused(_with(sound, signer, entries), "more than can be looked through")

    def test_the_fullest_testament_of_a_life_is_far_below(self, signer: Signer) -> None:
        """Twice as much to say of each thing as is usual, and as many things as there may be."""
        said = "Tables of more than {} rows take long to sort; split them at the first column, e.g. by year. " * 4
        one = an_entry(0, text=said.format(*range(4)), data={"executor": "sort_table", "seen": "12 of 14 times"})
        texts = "\n".join((one.text, one.subject, one.value, one.domain, "executor", "sort_table", "seen", "12 of 14"))
        assert 2048 * poison.screen(texts).work < testament_file.MOST_READ / 2

    @pytest.mark.parametrize(
        "text",
        [
            "\n" * 4000,
            "&#" + "1" * 3990 + ";",
            "a" + "\u0315\u0300" * 1900,
            "<a style=" * 400,
            "a-" + "\n" * 3900 + "!",
        ],
        ids=["lines", "a number", "marks", "tags", "a split word"],
    )
    def test_what_was_costly_to_read_is_read(self, sound: bytes, signer: Signer, text: str) -> None:
        raw = forged(sound, signer, lambda _f, s: s["entries"][0].update(subject=text))
        assert testament_file.unpack(raw).testament.entries[0].subject == text


def _with(raw: bytes, signer: Signer, entries: list[Json]) -> bytes:
    def change(first: Json, second: Json) -> None:
        second.update(entries=entries, links=[])
        first["left"].update(entries=len(entries), links=0)

    return forged(raw, signer, change)


def _plain(raw: bytes) -> Json:
    entry: Json = json.loads(raw.splitlines()[1])["entries"][0]
    return entry
