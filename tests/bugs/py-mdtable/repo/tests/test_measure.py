import pytest

from gridtext.measure import clip, fill, width


@pytest.mark.parametrize("text, columns", [
    ("", 0), ("abc", 3), ("日本", 4), ("e\u0301", 1), ("ｱ", 1), ("Ａ", 2),
    ("a\u200db", 2)])
def test_width(text, columns):
    assert width(text) == columns


@pytest.mark.parametrize("text, limit, clipped", [
    ("short", 5, "short"), ("longer", 5, "long…"), ("日本語", 5, "日本…"),
    ("日本語", 4, "日…")])
def test_clip(text, limit, clipped):
    assert clip(text, limit) == clipped


@pytest.mark.parametrize("align, filled", [
    ("left", "ab   "), ("right", "   ab"), ("center", " ab  ")])
def test_fill(align, filled):
    assert fill("ab", 5, align) == filled


def test_fill_is_never_negative():
    assert fill("abcdef", 3) == "abcdef"
