import unittest

from inifile import ParseError, read


class ReaderTest(unittest.TestCase):
    def refused(self, text, number):
        with self.assertRaises(ParseError) as caught:
            read(text)
        self.assertEqual(caught.exception.number, number)

    def test_sections(self):
        self.assertEqual(read("a = 1\n[One]\nb=2\n[two]\nb = x = y\n"),
                         {"": {"a": "1"}, "one": {"b": "2"},
                          "two": {"b": "x = y"}})

    def test_section_twice(self):
        self.assertEqual(read("[a]\nx = 1\n[b]\n[a]\ny = 2\n")["a"],
                         {"x": "1", "y": "2"})

    def test_names(self):
        self.assertEqual(read("Hosts   Allow = Me\n")[""],
                         {"hosts allow": "Me"})

    def test_comments(self):
        self.assertEqual(read("# one\na = b;c ; two\n;three\n")[""],
                         {"a": "b;c"})

    def test_value_goes_on(self):
        self.assertEqual(read("a = 1\n  2\n\t3\nb = 4\n")[""],
                         {"a": "1\n2\n3", "b": "4"})

    def test_value_begins_on_the_next_line(self):
        self.assertEqual(read("a =\n  1\n  2\n")[""], {"a": "1\n2"})

    def test_comment_in_a_value(self):
        self.assertEqual(read("a = 1\n  # no\n  2\n")[""], {"a": "1\n2"})

    def test_empty_line_ends_a_value(self):
        self.refused("a = 1\n\n  2\n", 3)

    def test_section_ends_a_value(self):
        self.refused("[one]\na = 1\n[two]\n  2\n", 4)

    def test_indented_at_the_start(self):
        self.refused("  a = 1\n", 1)

    def test_open_bracket(self):
        self.refused("a = 1\n[one\n", 2)
        self.refused("[ ]\n", 1)

    def test_no_value(self):
        self.refused("a\n", 1)
        self.refused("= b\n", 1)

    def test_set_twice(self):
        self.refused("a = 1\nA = 2\n", 2)
