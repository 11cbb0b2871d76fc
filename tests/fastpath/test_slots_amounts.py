import re

from hypothesis import given
from hypothesis import strategies as st

from fastpath.reading import slots, told
from metnos.fastpath.slots import Kind
from tables import try_each

# As `find_files` reads a size.
ACCEPTED = re.compile(r"^ *[0-9]{1,15}([.][0-9]{1,6})? *([kKmMgGtT]i?)?[bB]? *$")
AMOUNTS = [
    # sizes
    ("files over 1 GB", ["size 1 GB @min"]),
    ("file oltre 1,5 GB", ["size 1.5 GB @min"]),
    ("10 mega", ["size 10 MB"]),
    ("due giga", ["size 2 GB"]),
    ("500 kilobytes", ["size 500 KB"]),
    ("1.5 GiB", ["size 1.5 GiB"]),
    ("20MB", ["size 20 MB"]),
    ("100 bytes", ["size 100 B"]),
    ("10M", ["size 10 MB"]),
    ("5m", ["number 5"]),
    ("half a gigabyte", ["size 0.5 GB"]),
    ("mezzo giga", ["size 0.5 GB"]),
    ("a gigabyte", ["size 1 GB"]),
    ("più di un giga", ["size 1 GB @min"]),
    ("at least 2 TB", ["size 2 TB @min"]),
    ("almeno 2 tera", ["size 2 TB @min"]),
    ("under 5 MB", ["size 5 MB @max"]),
    ("sotto i 5 mega", ["size 5 MB @max"]),
    ("smaller than 100 KB", ["size 100 KB @max"]),
    ("più piccoli di 100 KB", ["size 100 KB @max"]),
    ("larger than 3 GB", ["size 3 GB @min"]),
    ("più grandi di 3 GB", ["size 3 GB @min"]),
    ("maggiori di 3 GB", ["size 3 GB @min"]),
    ("10 MB or more", ["size 10 MB @min"]),
    ("10 MB al massimo", ["size 10 MB @max"]),
    ("non più di 10 MB", ["size 10 MB @max"]),
    ("between 10 and 20 MB", ["size 10 MB @min", "size 20 MB @max"]),
    ("tra 10 e 20 mega", ["size 10 MB @min", "size 20 MB @max"]),
    ("5 km", ["number 5"]),
    # counts
    ("the first ten rows", ["count 10 @first"]),
    ("top 5", ["count 5 @first"]),
    ("the last 3 notes", ["count 3 @last"]),
    ("le prime tre pagine", ["count 3 @first"]),
    ("i primi cinque", ["count 5 @first"]),
    ("gli ultimi 3 appunti", ["count 3 @last"]),
    ("the ten largest files", ["count 10 @first", "order largest"]),
    ("i 10 file più grandi", ["count 10 @first", "order largest"]),
    ("the 10 largest PDFs", ["count 10 @first", "order largest", "files *.pdf"]),
    ("i 10 pdf più grandi", ["count 10 @first", "files *.pdf", "order largest"]),
    ("newest 5", ["order newest", "count 5 @first"]),
    ("the five most expensive items", ["count 5 @first"]),
    ("le venti parole più usate", ["count 20 @first"]),
    ("5 file più grandi di 10 MB", ["number 5", "size 10 MB @min"]),
    # orders
    ("the biggest files", ["order largest"]),
    ("i file più pesanti", ["order largest"]),
    ("the smallest ones", ["order smallest"]),
    ("rendi più piccole le immagini", ["files *.jpg|*.jpeg|*.png|*.heic|*.gif|*.webp"]),
    ("i più piccoli", ["order smallest"]),
    ("the most recent photo.jpg", ["order newest", "name photo.jpg"]),
    ("i file più recenti", ["order newest"]),
    ("recently changed files", ["order newest"]),
    ("gli ultimi file", ["order newest"]),
    ("the oldest files", ["order oldest"]),
    ("i file più vecchi", ["order oldest"]),
    ("i file più vecchi della cartella Video", ["order oldest", "folder ~/Video @in"]),
    ("più recenti del 3 maggio", ["date 2026-05-03 @after"]),
]


@try_each(("text", "expected"), AMOUNTS)
def test_sizes_counts_and_orders(text: str, expected: list[str]) -> None:
    assert told(text) == expected


@given(
    st.floats(0, 10**14, allow_nan=False).map(lambda number: round(number, 5)),
    st.sampled_from(["B", "kb", "MB", "GB", "TB", "KiB", "MiB", "mega", "giga", "bytes"]),
)
def test_an_executor_can_read_every_size(number: float, unit: str) -> None:
    for slot in slots(f"files over {number:f} {unit}"):
        assert slot.kind is Kind.SIZE
        assert ACCEPTED.match(slot.value)


def test_a_size_beyond_all_disks_is_none() -> None:
    assert not [slot for slot in slots("over 9999999999999999 GB") if slot.kind is Kind.SIZE]
