"""Which facts need the owner's consent, both ways."""

from typing import Any

from grimoire.taught import fact
from metnos.grimoire.consent import about_people, needs_consent
from metnos.grimoire.episode import Provenance
from tables import try_each

PERSONAL = [
    "The owner prefers short answers.",
    "My wife's birthday is on 3 May.",
    "The household goes to bed at ten.",
    "The neighbours feed the cat in August.",
    "She is allergic to penicillin.",
    "He lives in Turin.",
    "The kids have football on Tuesdays.",
    "Reach her at someone@example.org.",
    "The number is +39 011 123 4567.",
    "The account is IT60X0542811101000000123456.",
    "Our mortgage ends in 2031.",
    "Il proprietario preferisce risposte brevi.",
    "La figlia ha 12 anni.",
    "A lui piace il caffè.",
    "Tua sorella abita a Bari.",
    "Mio padre è nato a Roma.",
    "The user always asks for summaries.",
]
WORLD = [
    "find_files takes 2.1 s on network drives.",
    "After send_mail fails, read_mail fails within a minute.",
    "Downloads holds more than 400 files in the morning.",
    "A child process that forks is stopped.",
    "The parent folder must exist before move_files.",
    "Listing an archive before unpacking it avoids errors.",
    "The printer is offline at night.",
    "Prefer the newest of two copies.",
    "convert_images prefers PNG over TIFF.",
    "Il server risponde in 30 ms.",
    "La stampante è spenta di notte.",
    "Backups grow by 2 GB a week.",
    "PDF files with a password cannot be read.",
    "The family of fonts is missing.",  # in doubt, consent
]


@try_each("text", PERSONAL)
def test_what_is_about_people_needs_consent(text: str) -> None:
    assert needs_consent(fact("F", text, domain="notes"))


@try_each("text", WORLD[:-1])
def test_how_the_world_and_the_tools_behave_needs_none(text: str) -> None:
    assert not needs_consent(fact("F", text))


def test_in_doubt_it_is_asked() -> None:
    assert needs_consent(fact("F", WORLD[-1]))


@try_each(
    ("given", "needs"),
    [
        ({"domain": "household"}, True),
        ({"domain": "owner.habits"}, True),
        ({"subject": "owner"}, True),
        ({"subject": "family_calendar"}, True),
        ({"tags": ("health",)}, True),
        ({"provenance": Provenance.OWNER}, True),
        ({"value": "his daughter"}, True),
        ({"data": {"about": [{"who": "my husband"}]}}, True),
        ({"subject": "send_mail"}, False),
        ({"domain": "find_files > move_files"}, False),
        ({"data": {"count": 3, "strategy": "moving files"}}, False),
        ({"provenance": Provenance.DREAM}, False),
    ],
)
def test_what_a_fact_says_of_itself_counts_too(given: dict[str, Any], needs: bool) -> None:
    assert needs_consent(fact("F", "It takes two seconds.", **given)) is needs


def test_of_tools_it_is_said_that_they_prefer_something() -> None:
    assert about_people("It prefers PNG.")
    assert not about_people("It prefers PNG.", of_tools=True)
    assert about_people("It prefers what the owner prefers.", of_tools=True)
