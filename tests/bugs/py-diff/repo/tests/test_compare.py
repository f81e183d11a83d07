import pytest

from linediff import compare


@pytest.mark.parametrize("old, new, changes", [
    ("abc", "abc", []),
    ("", "ab", [(0, 0, 0, 2)]),
    ("ab", "", [(0, 2, 0, 0)]),
    ("abc", "axc", [(1, 2, 1, 2)]),
    ("abcd", "bcde", [(0, 1, 0, 0), (4, 4, 3, 4)]),
    ("lamp", "clam", [(0, 0, 0, 1), (3, 4, 4, 4)]),
])
def test_compare(old, new, changes):
    assert compare(old, new) == changes


@pytest.mark.parametrize("old, new", [
    ("tidal", "total"), ("banana", "ananas"), ("xaxbxc", "abcx")])
def test_changes_lead_to_the_new_text(old, new):
    made = ""
    at = 0
    for change in compare(old, new):
        made += old[at:change.old_start]
        made += new[change.new_start:change.new_end]
        at = change.old_end
    assert made + old[at:] == new
