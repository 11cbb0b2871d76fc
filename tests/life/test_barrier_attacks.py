"""What must not cross a death, in the spellings that people use: places, files, telephones, accounts, passwords; and
numbers that nobody can round."""

import pytest

from life.lived import fact
from metnos.grimoire.fact import Kind
from metnos.life import barrier
from metnos.life.barrier_scan import Known, by_form, names_file
from tables import try_each

KNOWN = Known((), frozenset({"files", "read", "tables", "report", "csv", "slow", "is", "the", "size", "manager"}))

PLACES = (
    "see `/home/marco/tax` first",
    "it is at file:///home/marco/tax",
    "look in [/home/marco/tax]",
    "path:/home/marco/tax is slow",
    "</srv/private/x> is slow",
    "C:/Users/Marco/tax is slow",
    r"c:\users\marco is slow",
    "/Volumes/Backup/letters is slow",
    "/volume1/photos is slow",
    "$HOME/letters is slow",
    "${HOME}/letters is slow",
    r"%USERPROFILE%\letters is slow",
    "smb://nas/private is slow",
    "http://192.168.1.20/letters is slow",
    "10.0.0.7 answers slowly",
    "nas.lan answers slowly",
    "https://nas.local:8443/ answers slowly",
    "203.0.113.77 answers slowly",
    "0a:1b:2c:3d:4e:5f drops off",
)
REACHED = (
    "call 555-123-4567 instead",
    "call (02) 1234 5678 instead",
    "call 347 123 4567 instead",
    "tel. 3471234567 answers",
    "0039 347 1234567 answers",
    "0039-347-1234567 answers",
    "pay with 4111-1111-1111-1111",
    "pay with 4111111111111111",
    "pay to IT60X0542811101000000123456",
    "pay to it60x0542811101000000123456",
    "pay to IT60 X054 2811 1010 0000 0123 456",
    "for RSSMRA85T10A562S only",
    "number 123-45-6789 of the insured",
    "mario.rossi@localhost answers",
    "mario@93.184.216.34 answers",
    "mario (at) example.com answers",
    "mario\uff20example.com answers",
)
SECRETS = (
    "la password è Gatto123",
    "the password hunter2 opens it",
    "pwd=hunter2 opens it",
    "the pin is 4821",
    "the wifi password zorblatquim opens it",
    "la parola d'ordine è zorblat",
    "the vpn key is hunter2!x",
    "il codice: 48-29-13",
    "PIN: 4821",
    "key 9f86d081884c7d659a2feaa0c55ad015 opens it",
    "key 123e4567-e89b-42d3-a456-426614174000 opens it",
)
HARMLESS = (
    "Sorting tables of more than 100 rows takes long; split them first.",
    "Pages under https://example.com/home/index answer slowly.",
    "On 2026-11-17 at 04:00 nothing answered.",
    "1024 / 1024 / 1024 is no telephone, and 10 000 rows are none.",
    "A password manager is slow.",
    "Passwords are asked for twice; a pin is asked for once.",
    "Version 1.20.333 of it works, and so does 10.1.2.",
    "http://127.0.0.1:8080/ and threading.local() are everybody's.",
    "The contract 0x7a250d5630b4cf539739df2c5dacb4c659f2488d is slow.",
    "read_tables and sort_tables fail with not_found.",
)


@try_each("text", PLACES)
def test_a_place(text: str) -> None:
    assert by_form(text, KNOWN) == "it names a place on this machine"


@try_each("text", REACHED)
def test_a_way_to_reach_somebody(text: str) -> None:
    assert by_form(text, KNOWN) == "it holds a way to reach a person"


@try_each("text", SECRETS)
def test_a_secret(text: str) -> None:
    assert by_form(text, KNOWN) == "it holds what looks like a key or a password"


@try_each("text", HARMLESS)
def test_what_is_none_of_it(text: str) -> None:
    assert by_form(text, KNOWN) == ""


@pytest.mark.parametrize("name", ["fattura_rossi_2024.pdf", "Lettera a Anna.docx", "anna-ecografia.JPG", "rossi.csv"])
def test_a_name_of_a_file_that_is_the_owners(name: str) -> None:
    said = fact(1, Kind.INSIGHT, f"Reading {name} is slow.")
    assert barrier.crossing(said, KNOWN).fact is None
    assert barrier.crossing(said, KNOWN, released=True).fact is not None


def test_two_words_in_the_place_of_an_executor_are_no_executor() -> None:
    data = {"warning": "x", "executor": "anna_rossi", "error": "not_found", "when": {"args": {"path": "x"}}}
    crossed = barrier.crossing(fact(1, Kind.ANTI, "anna_rossi fails with not_found.", data=data), KNOWN).fact
    assert crossed is not None
    assert "anna" not in repr(crossed)


def test_a_name_of_a_file_that_says_nothing_of_anybody() -> None:
    assert barrier.crossing(fact(1, Kind.INSIGHT, "Reading report.csv is slow."), KNOWN).fact is not None


WORDS = (
    "The Notary gets late payments in Northtown.",
    "Rent of 1250EUR goes out first.",
    "The clinic visit of 2026-03-14 moved.",
    "Files at the bank are slow.",
    "files of Report are slow",  # a word of ours, but here it is a name
)


@pytest.mark.parametrize("text", WORDS)
@pytest.mark.parametrize("kind", [Kind.INSIGHT, Kind.HEURISTIC, Kind.LINK, Kind.PATTERN])
def test_somebodys_own_words_however_few(text: str, kind: Kind) -> None:
    """A language model tells what it learnt in the words of what it read, and of five words four may be its own."""
    found = barrier.crossing(fact(1, kind, text, data={"strategy": "x"}), KNOWN)
    assert (found.fact, found.reason) == (None, "it is told in words of somebody's own")
    assert barrier.crossing(fact(1, kind, text, data={"strategy": "x"}), KNOWN, released=True).fact is not None


@pytest.mark.parametrize("text", WORDS)
def test_a_warning_in_somebodys_own_words_crosses_bare(text: str) -> None:
    found = barrier.crossing(fact(1, Kind.WARNING, text), KNOWN).fact
    assert found is not None
    assert found.text == "Something that was done with files went badly."


def test_a_cause_in_somebodys_own_words() -> None:
    data = {"cause": "notary calls", "effect": "payment to Northtown stops"}
    assert barrier.crossing(fact(1, Kind.CAUSAL, "x", data=data), KNOWN).fact is None


def test_an_argument_that_somebody_named() -> None:
    data = {"executor": "read_tables", "error": "not_found", "when": {"args": {"aunt_birthday": 1}}}
    found = barrier.crossing(fact(1, Kind.ANTI, "x", data=data), KNOWN).fact
    assert "aunt" not in repr(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["." * 200_000, "a." * 100_000, "a" * 200_000, "a-" * 100_000, "1 " * 100_000, "@" * 200_000]
)
def test_a_long_text_is_read_through_once(text: str) -> None:
    """Whoever reads it again from each of its characters does not come to an end here."""
    assert isinstance(by_form(text, KNOWN), str)
    assert isinstance(names_file(text, KNOWN), str)


@pytest.mark.parametrize(
    "number", [10**400, -(10**400), 1.7e308, -1.7e308, 5e-324, float("inf"), float("nan"), True], ids=range(8)
)
@pytest.mark.parametrize("kind", [Kind.BASELINE, Kind.CAUSAL])
def test_a_number_that_nobody_can_round_stops_nothing(number: float, kind: Kind) -> None:
    data = {"metric": "size", "mean": number, "stddev": 1, "cause": "read", "effect": "slow", "lag": number, "lift": 2}
    found = barrier.crossing(fact(1, kind, "The size is the size.", data=data), KNOWN)
    assert found.fact is not None or found.reason


def test_a_number_in_words_that_nobody_can_round() -> None:
    said = fact(1, Kind.INSIGHT, f"Tables above {'9' * 400} are slow, and those above {'9' * 5000} too.")
    crossed = barrier.crossing(said, KNOWN).fact
    assert crossed is None or "999" not in crossed.text
