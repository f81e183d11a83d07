import unittest

from smith import Builder, BuildError, RuleError, parse_rules

RULES = """
# a program of two parts
app: main.o util.o
    link app
main.o: main.c util.h
    compile main.c
util.o: util.c util.h
    compile util.c
util.h: util.def
    generate util.h
doc: manual.txt
    format manual.txt
"""
SOURCES = {"main.c": 1, "util.c": 2, "util.def": 3, "manual.txt": 4}


class RulesTest(unittest.TestCase):
    def test_parse(self):
        rules = parse_rules(RULES)
        self.assertEqual(list(rules), ["app", "main.o", "util.o", "util.h",
                                       "doc"])
        self.assertEqual(rules["main.o"].needs, ["main.c", "util.h"])
        self.assertEqual(rules["app"].steps, ["link app"])

    def test_step_without_target(self):
        with self.assertRaises(RuleError) as caught:
            parse_rules("\n  compile x\n")
        self.assertEqual(caught.exception.line, 2)

    def test_second_rule(self):
        with self.assertRaises(RuleError):
            parse_rules("a: b\na: c\n")

    def test_no_colon(self):
        with self.assertRaises(RuleError):
            parse_rules("a b\n")


class BuilderTest(unittest.TestCase):
    def setUp(self):
        self.ran = []
        self.broken = set()
        self.stamps = dict(SOURCES)

    def execute(self, step, target):
        self.ran.append(step)
        if step in self.broken:
            raise BuildError(step)

    def builder(self, text=RULES):
        return Builder(parse_rules(text), self.stamps, self.execute)

    def test_everything(self):
        self.assertEqual(self.builder().build(), [])
        self.assertEqual(self.ran, ["generate util.h", "compile main.c",
                                    "compile util.c", "link app"])

    def test_first_rule_only(self):
        self.builder().build()
        self.assertNotIn("doc", self.stamps)

    def test_named_targets(self):
        self.builder().build("doc", "util.h")
        self.assertEqual(self.ran, ["format manual.txt", "generate util.h"])

    def test_nothing_to_do(self):
        self.builder().build()
        self.ran.clear()
        again = self.builder()
        again.build()
        self.assertEqual(self.ran, [])
        self.assertEqual(set(again.state.values()), {"fresh"})

    def test_one_source_changed(self):
        self.builder().build()
        self.ran.clear()
        self.stamps["main.c"] = 100
        self.builder().build()
        self.assertEqual(self.ran, ["compile main.c", "link app"])

    def test_failure_stops_what_needs_it(self):
        self.broken.add("compile main.c")
        self.assertEqual(self.builder().build(), ["main.o", "app"])
        self.assertEqual(self.ran, ["generate util.h", "compile main.c",
                                    "compile util.c"])

    def test_failure_is_not_tried_again(self):
        self.broken.add("generate util.h")
        builder = self.builder()
        builder.build("main.o", "util.o", "util.h")
        self.assertEqual(self.ran, ["generate util.h"])
        self.assertEqual(builder.state["util.o"], "failed")

    def test_states(self):
        builder = self.builder()
        builder.build()
        self.assertEqual(builder.state, dict.fromkeys(
            ["util.h", "main.o", "util.o", "app"], "built"))

    def test_failed_target_is_gone(self):
        self.builder().build()
        self.stamps["util.c"] = 100
        self.broken.add("compile util.c")
        self.builder().build()
        self.assertNotIn("util.o", self.stamps)
        self.assertNotIn("app", self.stamps)

    def test_no_rule(self):
        del self.stamps["util.def"]
        with self.assertRaises(BuildError):
            self.builder().build()

    def test_circle(self):
        with self.assertRaises(BuildError) as caught:
            self.builder("x: a\na: b\nb: c\nc: a\n").build()
        self.assertEqual(str(caught.exception), "circle: a -> b -> c -> a")
