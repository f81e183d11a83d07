import unittest

from tinytpl import Template, TemplateError


def render(text, **scope):
    return Template(text).render(**scope)


class OutputTest(unittest.TestCase):
    def test_plain_text(self):
        self.assertEqual(render("hello"), "hello")

    def test_variable(self):
        self.assertEqual(render("hi {{ name }}!", name="Ann"), "hi Ann!")

    def test_dotted(self):
        scope = {"user": {"name": "Bob"}}
        self.assertEqual(render("{{ user.name }}", **scope), "Bob")

    def test_missing_is_empty(self):
        self.assertEqual(render("[{{ a.b.c }}]"), "[]")

    def test_literals(self):
        self.assertEqual(render("{{ 'x' }}{{ -3 }}"), "x-3")


class FilterTest(unittest.TestCase):
    def test_chain(self):
        self.assertEqual(render("{{ a | default('none') | upper }}"), "NONE")

    def test_truncate(self):
        self.assertEqual(render("{{ t|truncate(6) }}", t="abcdefghij"),
                         "abc...")
        self.assertEqual(render("{{ t|truncate(6) }}", t="abcdef"), "abcdef")

    def test_two_arguments(self):
        self.assertEqual(render("{{ n|pick('yes','no') }}", n=0), "no")

    def test_pipe_inside_string(self):
        self.assertEqual(render("{{ l|join('|') }}", l=[1, 2]), "1|2")

    def test_nested_call(self):
        self.assertEqual(render("{{ a|default(plus(b,1)) }}", b=4), "5")

    def test_comma_inside_string(self):
        self.assertEqual(render("{{ l|join(', ') }}", l=[1, 2]), "1, 2")

    def test_nested_call_with_strings(self):
        self.assertEqual(render("{{ 0|pick('a, b', plus('c', 'd')) }}"), "cd")

    def test_parenthesis_inside_string(self):
        self.assertEqual(render("{{ a|default('(') }}"), "(")


class ErrorTest(unittest.TestCase):
    def test_errors(self):
        for text in ("{{ a", "{{ }}", "{{ a|b-c }}", "{{ a|upper( }}"):
            with self.subTest(text), self.assertRaises(TemplateError):
                Template(text)

    def test_unknown_filter(self):
        with self.assertRaises(TemplateError):
            render("{{ a|sparkle }}")
