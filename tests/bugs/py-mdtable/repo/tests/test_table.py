import pytest

from gridtext import Table


def rows(table):
    return table.render().splitlines()


def test_plain():
    table = Table("name", "place").add("Ann", "Oslo").add("Bartholomew", None)
    assert rows(table) == [
        "| name        | place |",
        "| ----------- | ----- |",
        "| Ann         | Oslo  |",
        "| Bartholomew |       |"]


def test_numbers_go_right():
    table = Table("item", "price").add("tea", 3.5).add("cake", 12.25)
    assert rows(table) == [
        "| item | price |",
        "| ---- | ----: |",
        "| tea  |  3.50 |",
        "| cake | 12.25 |"]


def test_chosen_sides():
    table = Table("a", "b", align={"a": "center", "b": "left"}).add("x", 1)
    assert rows(table)[1:] == ["| :-: | :-- |", "|  x  | 1   |"]


def test_wide_characters_line_up():
    table = Table("city", "n").add("東京", 1).add("Rome", 22)
    assert rows(table) == [
        "| city |   n |",
        "| ---- | --: |",
        "| 東京 |   1 |",
        "| Rome |  22 |"]


def test_accents_line_up():
    table = Table("word").add("cafe\u0301").add("table")
    assert rows(table)[2:] == ["| cafe\u0301  |", "| table |"]


def test_limit():
    table = Table("note", limit=6).add("much too long")
    assert rows(table)[2] == "| much … |"


def test_bars_are_escaped():
    assert rows(Table("x").add("a|b"))[2] == "| a\\|b |"


def test_percent_is_a_number():
    assert rows(Table("x").add("5%").add("12%"))[2] == "|  5% |"


def test_wrong_number_of_values():
    with pytest.raises(ValueError):
        Table("a", "b").add(1)


def test_no_such_column():
    with pytest.raises(KeyError):
        Table("a", align={"b": "left"})
