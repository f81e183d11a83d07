import unittest

from modes import ModeError, change, parse_octal, show


class ShowTest(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(show(0o754), "rwxr-xr--")
        self.assertEqual(show(0), "---------")

    def test_special(self):
        self.assertEqual(show(0o4755), "rwsr-xr-x")
        self.assertEqual(show(0o2644), "rw-r-Sr--")
        self.assertEqual(show(0o1777), "rwxrwxrwt")

    def test_octal(self):
        self.assertEqual(parse_octal("0644"), 0o644)
        for text in ("999", "17777", "-1"):
            with self.assertRaises(ValueError):
                parse_octal(text)


class ChangeTest(unittest.TestCase):
    def check(self, before, text, after, **more):
        self.assertEqual(show(change(before, text, **more)), show(after))

    def test_add(self):
        self.check(0o644, "u+x", 0o744)
        self.check(0o600, "go+r", 0o644)
        self.check(0o644, "a+x", 0o755)

    def test_add_what_is_there(self):
        self.check(0o644, "a+r", 0o644)

    def test_take(self):
        self.check(0o775, "g-w", 0o755)
        self.check(0o777, "go-rwx", 0o700)

    def test_take_what_is_not_there(self):
        self.check(0o755, "a-w", 0o555)
        self.check(0o644, "o-x", 0o644)

    def test_set(self):
        self.check(0o777, "go=r", 0o744)
        self.check(0o644, "o=", 0o640)

    def test_several_clauses(self):
        self.check(0o600, "u+x,g=rx,o=r", 0o754)

    def test_several_actions(self):
        self.check(0o464, "u+w-r", 0o264)

    def test_copy(self):
        self.check(0o740, "g=u", 0o770)
        self.check(0o751, "o=g", 0o755)

    def test_umask_without_class(self):
        self.check(0o400, "+w", 0o600)
        self.check(0o666, "-w", 0o466)

    def test_conditional_execute(self):
        self.check(0o644, "a+X", 0o644)
        self.check(0o744, "a+X", 0o755)
        self.check(0o644, "a+X", 0o755, is_dir=True)

    def test_special(self):
        self.check(0o755, "u+s,+t", 0o5755)
        self.check(0o6755, "u-s", 0o2755)

    def test_set_takes_special_away(self):
        self.check(0o6755, "ug=rx", 0o555)
        self.check(0o6755, "ug=rx", 0o2555, is_dir=True)

    def test_bad(self):
        for text in ("", "x", "u", "u+q", "u+x,", "z+r", "u=ug"):
            with self.assertRaises(ModeError, msg=text):
                change(0, text)
