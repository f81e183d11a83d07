import re
import unittest

from leaveout import Filter, translate


class TranslateTest(unittest.TestCase):
    def check(self, glob, good, bad):
        regex = re.compile(translate(glob))
        for text in good:
            self.assertTrue(regex.fullmatch(text), text)
        for text in bad:
            self.assertFalse(regex.fullmatch(text), text)

    def test_star(self):
        self.check("*.log", ["a.log", ".log"], ["a.logs", "a/b.log"])

    def test_question_mark(self):
        self.check("a?c", ["abc"], ["ac", "a/c"])

    def test_two_stars(self):
        self.check("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["a/xb"])
        self.check("a/**", ["a/b", "a/b/c"], ["a"])

    def test_sets(self):
        self.check("[a-c]x", ["ax", "cx"], ["dx"])
        self.check("[!a]x", ["bx"], ["ax"])
        self.check("[x", ["[x"], ["x"])

    def test_escapes(self):
        self.check("\\*a+", ["*a+"], ["xa+", "*aa"])


class FilterTest(unittest.TestCase):
    def out(self, text, *paths):
        return [p for p in paths if p not in Filter(text).select(paths)]

    def test_names_at_any_depth(self):
        self.assertEqual(self.out("*.log", "a.log", "x/a.log", "a.txt"),
                         ["a.log", "x/a.log"])

    def test_from_the_top(self):
        self.assertEqual(self.out("/build", "build", "x/build"), ["build"])

    def test_slash_inside_binds(self):
        self.assertEqual(self.out("doc/*.html", "doc/a.html", "x/doc/a.html",
                                  "doc/b/a.html"), ["doc/a.html"])

    def test_two_stars_in_front(self):
        self.assertEqual(self.out("**/tmp/x", "tmp/x", "a/b/tmp/x"),
                         ["tmp/x", "a/b/tmp/x"])

    def test_inside_a_directory(self):
        self.assertEqual(self.out("out", "out/a", "out/b/c", "outer/a"),
                         ["out/a", "out/b/c"])

    def test_directories_only(self):
        self.assertEqual(self.out("cache/", "cache/", "x/cache/a", "x/cache"),
                         ["cache/", "x/cache/a"])

    def test_file_with_the_name_of_a_directory(self):
        rules = Filter("*\n!*/\n!*.c\n")
        self.assertEqual(rules.select(["src/", "src/a.c", "src/a.o", "b"]),
                         ["src/", "src/a.c"])

    def test_last_one_decides(self):
        self.assertEqual(self.out("*.log\n!keep.log", "a.log", "keep.log"),
                         ["a.log"])
        self.assertEqual(self.out("!keep.log\n*.log", "keep.log"),
                         ["keep.log"])

    def test_no_way_back_into_a_directory(self):
        self.assertEqual(self.out("out\n!out/a", "out/a"), ["out/a"])

    def test_comments_and_empty_lines(self):
        self.assertEqual(self.out("# *\n\n  \n*.o  ", "a.o", "# x"), ["a.o"])

    def test_nothing_said(self):
        self.assertIsNone(Filter("*.o").decide("a.c", False))
        self.assertIs(Filter("!*.c").decide("a.c", False), False)
