"""Which of two levels in words is the 0."""

import pytest

from analyticdag.tables import Cells, look_at
from analyticdag.tables.two_levels import two_levels


@pytest.mark.parametrize(
    ("zero", "one"),
    [
        ("normal", "abnormal"),
        ("none", "drug"),
        ("placebo", "drug"),
        ("no event", "event"),
        ("No Event", "event"),
        ("non-smoker", "smoker"),
        ("Nonsmoker", "Smoker"),
        ("not married", "married"),
        ("unmarried", "married"),
        ("never smoked", "current smoker"),
        ("without pain", "pain"),
        ("HIV negative", "HIV positive"),
        ("not detected", "detected"),
        ("control group", "drug group"),
        ("usual care", "coaching"),
        ("false", "true"),
        ("absent", "present"),
        ("No", "Yes"),
        ("F", "T"),
        ("healthy", "unhealthy"),
        ("normal", "not normal"),
        ("low", "high"),
        ("Nein", "Ja"),
        ("keine Schmerzen", "Schmerzen"),
        ("nej", "ja"),
        ("нет", "да"),
    ],
)
def test_what_is_absent_or_the_base_state_is_zero(zero: str, one: str) -> None:
    assert two_levels("outcome", [one, zero]) == two_levels("outcome", [zero, one]) == (zero, one)


@pytest.mark.parametrize(
    ("name", "zero", "one"),
    [
        ("died", "alive", "died"),
        ("Died", "survived", "died"),
        ("dead", "alive", "dead"),
        ("no_event", "event", "no event"),
        ("normal", "abnormal", "normal"),
    ],
)
def test_the_level_that_the_column_is_called_after_is_one(name: str, zero: str, one: str) -> None:
    assert two_levels(name, [zero, one]) == two_levels(name, [one, zero]) == (zero, one)


@pytest.mark.parametrize("levels", [("died", "survived"), ("b", "a"), ("none", "no"), ("+", "++")])
def test_where_nothing_decides_the_order_stays(levels: tuple[str, str]) -> None:
    assert two_levels("outcome", levels) == levels


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("outcome", ("died", "survived"), "died = 0, survived = 1"),
        ("died", ("died", "survived"), "survived = 0, died = 1"),
        ("ecg", ("abnormal", "normal"), "normal = 0, abnormal = 1"),
        ("arm", ("drug", "none"), "none = 0, drug = 1"),
        ("pain", ("severe", "mild"), "mild = 0, severe = 1"),
        ("risk", ("high", "medium"), "medium = 0, high = 1"),
    ],
)
def test_a_table_is_read_so(name: str, words: tuple[str, str], said: str) -> None:
    look, _ = look_at(Cells((name,), (list(words) * 20,), range(2, 42)))
    assert said in str(look.decisions[0])
