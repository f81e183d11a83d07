import unittest

from torrent import BencodeError, Meta, MetaError, decode, encode


class DecodeTest(unittest.TestCase):
    def refuse(self, *texts):
        for data in texts:
            with self.assertRaises(BencodeError, msg=data):
                decode(data)

    def test_integers(self):
        self.assertEqual(decode(b"i42e"), 42)
        self.assertEqual(decode(b"i-7e"), -7)
        self.assertEqual(decode(b"i0e"), 0)
        self.assertEqual(decode(b"i100e"), 100)

    def test_bad_integers(self):
        self.refuse(b"ie", b"i-e", b"i4.2e", b"i--1e", b"i42", b"i 1e")

    def test_integers_are_written_in_one_way_only(self):
        self.refuse(b"i042e", b"i-07e", b"i-0e", b"i00e")

    def test_strings(self):
        self.assertEqual(decode(b"4:spam"), b"spam")
        self.assertEqual(decode(b"0:"), b"")
        self.assertEqual(decode(b"10:0123456789"), b"0123456789")

    def test_bad_strings(self):
        self.refuse(b"5:spam", b"04:spam", b"4spam", b"-1:x")

    def test_lists(self):
        self.assertEqual(decode(b"li1e1:al2:bcee"), [1, b"a", [b"bc"]])
        self.assertEqual(decode(b"le"), [])

    def test_dictionaries(self):
        self.assertEqual(decode(b"d1:ai1e2:bbdee"), {b"a": 1, b"bb": {}})

    def test_keys_in_order(self):
        self.refuse(b"d1:bi1e1:ai2ee", b"d1:ai1e1:ai2ee", b"di1e1:ae")

    def test_open_ends(self):
        self.refuse(b"", b"l", b"d1:a", b"li1e", b"x")

    def test_more_data(self):
        with self.assertRaises(BencodeError) as caught:
            decode(b"i1ei2e")
        self.assertEqual(caught.exception.pos, 3)

    def test_depth(self):
        self.assertEqual(len(decode(b"l" * 51 + b"e" * 51)), 1)
        self.refuse(b"l" * 52 + b"e" * 52)


class EncodeTest(unittest.TestCase):
    def test_values(self):
        self.assertEqual(encode([1, "é", b"x", {}]), b"li1e2:\xc3\xa91:xdee")

    def test_keys_are_sorted(self):
        self.assertEqual(encode({"b": 1, "a": -2}), b"d1:ai-2e1:bi1ee")

    def test_no_such_types(self):
        for value in (True, 1.5, None):
            with self.assertRaises(TypeError):
                encode(value)


class MetaTest(unittest.TestCase):
    def meta(self, **info):
        info = {"name": "x", "piece length": 10, "pieces": b"." * 60,
                "length": 25, **info}
        return Meta(encode({"info": info}))

    def test_one_file(self):
        meta = self.meta()
        self.assertEqual(meta.files(), [("x", 25)])
        self.assertEqual(meta.count(), 3)

    def test_many_files(self):
        files = [{"path": ["a", "b"], "length": 20}, {"path": ["c"],
                                                      "length": 3}]
        meta = self.meta(files=files)
        self.assertEqual(meta.files(), [("x/a/b", 20), ("x/c", 3)])

    def test_digest_is_of_info_only(self):
        self.assertEqual(self.meta().digest(), self.meta().digest())
        self.assertNotEqual(self.meta().digest(), self.meta(private=1).digest())

    def test_pieces(self):
        for pieces in (b"." * 59, b"." * 40):
            with self.assertRaises(MetaError):
                self.meta(pieces=pieces)

    def test_no_info(self):
        with self.assertRaises(MetaError):
            Meta(b"d4:spami1ee")
