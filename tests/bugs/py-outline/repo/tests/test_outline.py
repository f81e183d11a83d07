import unittest

from outline import OutlineError, parse, to_html, to_text
from outline.parser import measure, split_box
from outline.progress import count
from outline.writer import summary

TODO = """\
Groceries
  [x] milk
  [ ] bread
House
  Kitchen
    [x] sink
"""


def titles(nodes):
    return [n.title for n in nodes]


class ParseTest(unittest.TestCase):
    def test_empty(self):
        self.assertEqual(parse("\n\n").children, [])

    def test_measure(self):
        self.assertEqual(measure("   x"), 3)
        self.assertEqual(measure("  \tx"), 8)

    def test_box(self):
        self.assertEqual(split_box("[X] a"), (True, "a"))
        self.assertEqual(split_box("[ ]"), (False, ""))
        self.assertEqual(split_box("[x]a"), (None, "[x]a"))

    def test_siblings_at_top(self):
        self.assertEqual(titles(parse("a\nb\nc").children), ["a", "b", "c"])

    def test_dedent_to_no_level(self):
        with self.assertRaises(OutlineError) as caught:
            parse("a\n    b\n  c")
        self.assertEqual(caught.exception.lineno, 3)

    def test_first_line_may_be_indented(self):
        self.assertEqual(titles(parse("  a\n  b").children), ["a", "b"])


class NestedTest(unittest.TestCase):
    def setUp(self):
        self.root = parse(TODO)

    def test_walk(self):
        self.assertEqual(titles(self.root.walk()),
                         ["Groceries", "milk", "bread",
                          "House", "Kitchen", "sink"])

    def test_last_leaf_and_previous(self):
        self.assertEqual(self.root.last_leaf().title, "sink")
        bread = self.root.children[0].children[1]
        self.assertEqual(bread.previous().title, "milk")
        self.assertIsNone(bread.previous().previous())

    def test_continues(self):
        milk, bread = self.root.children[0].children
        self.assertFalse(milk.continues())
        self.assertFalse(bread.continues())
        self.assertTrue(self.root.children[1].continues())

    def test_blocked_by_the_item_above(self):
        items = parse("[x] a\n[ ] b\n[ ] c").children
        self.assertEqual([i.blocked() for i in items[1:]], [False, True])

    def test_count(self):
        self.assertEqual(count(self.root), (2, 3))
        self.assertEqual(summary(self.root), "66% of 3")


class WriterTest(unittest.TestCase):
    def test_flat_text(self):
        self.assertEqual(to_text(parse("a\n[x] b")), "a\n[x] b")

    def test_nested_text(self):
        self.assertEqual(to_text(parse(TODO)), """\
Groceries (1/2)
  [x] milk
  [ ] bread
House (1/1)
  Kitchen (1/1)
    [x] sink""")

    def test_blocked_is_marked(self):
        self.assertEqual(to_text(parse("[ ] a\n[ ] b"), mark_blocked=True),
                         "[ ] a\n[ ] b *")

    def test_flat_html(self):
        self.assertEqual(to_html(parse("a&b\n[x] c")),
                         '<ul><li>a&amp;b</li><li class="done">c</li></ul>')

    def test_summary_without_boxes(self):
        self.assertEqual(summary(parse("a\nb")), "0% of 0")
