from linediff import unified

LETTERS = list("abcdefghijklmnop")


def changed(*places):
    return [line.upper() if number in places else line
            for number, line in enumerate(LETTERS, 1)]


def heads(lines):
    return [line for line in lines if line.startswith("@@")]


def test_same():
    assert unified(LETTERS, LETTERS) == []


def test_one_line():
    assert unified(LETTERS, changed(5), "x.txt") == [
        "--- a/x.txt", "+++ b/x.txt", "@@ -2,7 +2,7 @@",
        " b", " c", " d", "-e", "+E", " f", " g", " h"]


def test_at_the_edges():
    assert heads(unified(LETTERS, changed(1, 16))) == [
        "@@ -1,4 +1,4 @@", "@@ -13,4 +13,4 @@"]


def test_less_context():
    assert unified(LETTERS, changed(5), context=1)[2:] == [
        "@@ -4,3 +4,3 @@", " d", "-e", "+E", " f"]


def test_no_context():
    assert unified(LETTERS, changed(5), context=0)[2:] == [
        "@@ -5 +5 @@", "-e", "+E"]


def test_changes_side_by_side():
    assert heads(unified(LETTERS, changed(5, 7))) == ["@@ -2,9 +2,9 @@"]


def test_far_apart():
    assert heads(unified(LETTERS, changed(3, 12))) == [
        "@@ -1,6 +1,6 @@", "@@ -9,7 +9,7 @@"]


def test_contexts_that_touch_are_one_hunk():
    lines = unified(LETTERS, changed(4, 11))
    assert heads(lines) == ["@@ -1,14 +1,14 @@"]
    assert len(lines) == 2 + 1 + 14 + 2


def test_no_line_stands_in_two_hunks():
    lines = unified(LETTERS, changed(6, 11))
    kept = [line for line in lines if line.startswith(" ")]
    assert len(kept) == len(set(kept))


def test_new_file():
    assert unified([], ["a", "b"])[2:] == ["@@ -0,0 +1,2 @@", "+a", "+b"]


def test_emptied_file():
    assert unified(["a"], [])[2:] == ["@@ -1 +0,0 @@", "-a"]


def test_inserted_without_context():
    new = LETTERS[:4] + ["new"] + LETTERS[4:]
    assert heads(unified(LETTERS, new, context=0)) == ["@@ -4,0 +5 @@"]
