"""What is wanted of a table."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.fastpath.slots import extract
from metnos.turn.plan.clauses import split
from metnos.turn.plan.fill_tables import Wanted, joined_on, wanted
from metnos.turn.plan.fill_text import swallows
from tables import try_each
from turn.plan.routing import CWD, HOME, NOW


def read(text: str) -> Wanted:
    return wanted(split(text, extract(text, now=NOW, home=HOME, cwd=CWD), swallows)[0])


@try_each(("text", "conditions"), [
    ("rows of x.csv where amount > 100", [("amount", "greater", 100)]),
    ("rows of x.csv where amount >= 1.5 and city = Rome", [("amount", "at_least", 1.5), ("city", "equals", "Rome")]),
    ("righe di x.csv dove la città è Roma", [("città", "equals", "Roma")]),
    ("rows of x.csv with age over 30", [("age", "greater", 30)]),
    ("righe di x.csv con prezzo maggiore di 10", [("prezzo", "greater", 10)]),
    ("rows of x.csv where name contains 'de la'", [("name", "contains", "de la")]),
    ("rows of x.csv where city is not Rome", [("city", "not", "Rome")]), ("show x.csv", []),
    ("rows of x.csv where phone is empty", [("phone", "empty", None)]),
])  # fmt: skip
def test_conditions(text: str, conditions: list[tuple[str, str, Any]]) -> None:
    assert [(each["column"], each["is"], each.get("value")) for each in read(text).conditions] == conditions


@pytest.mark.parametrize(("text", "aggregates", "by"), [
    ("total of the column amount in x.csv", [("amount", "sum")], []),
    ("average price by city in x.csv", [("price", "mean")], ["city"]),
    ("somma degli importi per mese in x.csv", [("importi", "sum")], ["mese"]),
    ("età media per città in x.csv", [("età", "mean")], ["città"]),
    ("maximum of price in x.csv", [("price", "max")], []), ("how many orders per customer in x.csv", [], ["customer"]),
])  # fmt: skip
def test_sums_and_groups(text: str, aggregates: list[tuple[str, str]], by: list[str]) -> None:
    found = read(text)
    assert ([(each["column"], each["do"]) for each in found.aggregates], found.by) == (aggregates, by)


@pytest.mark.parametrize(("text", "order"), [
    ("sort x.csv by price", [{"column": "price"}]),
    ("sort x.csv by price descending", [{"column": "price", "descending": True}]),
    ("ordina x.csv per data dal più recente", [{"column": "data", "descending": True}]),
    ("the rows with the lowest price in x.csv", [{"column": "price"}]), ("how many orders per day in x.csv", []),
])  # fmt: skip
def test_orders(text: str, order: list[dict[str, Any]]) -> None:
    assert read(text).order == order


def test_the_columns_that_two_tables_share() -> None:
    text = "join a.csv and b.csv on id = code"
    clause = split(text, extract(text, now=NOW, home=HOME, cwd=CWD), swallows)[0]
    assert joined_on(clause) == [{"column": "id", "right": "code"}]


@given(st.integers(-(10**9), 10**9), st.sampled_from([">", "<", ">=", "<=", "=", "!="]))
def test_a_number_in_a_condition_is_that_number(value: int, sign: str) -> None:
    (found,) = read(f"rows of x.csv where amount {sign} {value}").conditions
    assert (found["column"], found["value"]) == ("amount", value)
