import unittest

from lineedit import Buffer, Editor
from lineedit.buffer import Change


class BufferTest(unittest.TestCase):
    def test_apply(self):
        buffer = Buffer("one two")
        buffer.apply(Change(4, "two", "2", 7))
        self.assertEqual((buffer.text, buffer.caret), ("one 2", 5))

    def test_apply_elsewhere(self):
        with self.assertRaises(ValueError):
            Buffer("one two").apply(Change(3, "two", "2", 7))

    def test_word_start(self):
        self.assertEqual(Buffer("one two").word_start(), 4)
        self.assertEqual(Buffer("one two  ").word_start(), 4)
        self.assertEqual(Buffer("  ").word_start(), 0)


class EditorTest(unittest.TestCase):
    def test_insert_at_the_caret(self):
        editor = Editor("ac")
        editor.move(1)
        editor.insert("b")
        self.assertEqual((editor.text, editor.caret), ("abc", 2))

    def test_backspace(self):
        editor = Editor("abc")
        editor.backspace()
        self.assertEqual(editor.text, "ab")
        editor.move(0)
        editor.backspace()
        self.assertEqual(editor.text, "ab")

    def test_kill_word(self):
        editor = Editor("one two  ")
        editor.kill_word()
        self.assertEqual(editor.text, "one ")

    def test_move_stays_inside(self):
        editor = Editor("abc")
        editor.move(99)
        self.assertEqual(editor.caret, 3)
        editor.move(-1)
        self.assertEqual(editor.caret, 0)


class UndoTest(unittest.TestCase):
    def test_nothing_to_undo(self):
        self.assertFalse(Editor("abc").undo())
        self.assertFalse(Editor("abc").redo())

    def test_a_word_is_one_step(self):
        editor = Editor()
        editor.insert("one two")
        editor.undo()
        self.assertEqual(editor.text, "one")
        editor.undo()
        self.assertEqual(editor.text, "")

    def test_backspaces_are_one_step(self):
        editor = Editor("abc def")
        for _ in range(3):
            editor.backspace()
        editor.undo()
        self.assertEqual((editor.text, editor.caret), ("abc def", 7))

    def test_moving_ends_a_step(self):
        editor = Editor()
        editor.insert("ab")
        editor.move(2)
        editor.insert("c")
        editor.undo()
        self.assertEqual(editor.text, "ab")

    def test_paste_is_a_step_of_its_own(self):
        editor = Editor()
        editor.insert("a")
        editor.paste("bc")
        editor.insert("d")
        editor.undo()
        self.assertEqual(editor.text, "abc")
        editor.undo()
        self.assertEqual(editor.text, "a")

    def test_redo(self):
        editor = Editor()
        editor.insert("one two")
        while editor.undo():
            pass
        while editor.redo():
            pass
        self.assertEqual((editor.text, editor.caret), ("one two", 7))

    def test_caret_comes_back(self):
        editor = Editor("abc")
        editor.move(1)
        editor.paste("xx")
        editor.move(0)
        editor.undo()
        self.assertEqual((editor.text, editor.caret), ("abc", 1))

    def test_no_redo_after_a_change(self):
        editor = Editor()
        editor.paste("one")
        editor.undo()
        editor.paste("two")
        self.assertFalse(editor.redo())
        self.assertEqual(editor.text, "two")

    def test_limit(self):
        editor = Editor(limit=2)
        for word in ("a", "b", "c"):
            editor.paste(word)
        while editor.undo():
            pass
        self.assertEqual(editor.text, "a")
