import tempfile
import unittest
from pathlib import Path

import digest_headers


class DigestTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        self.write("libgraph/api/headrace.hpp", '#include "libgraph/data/column.hpp"\n')
        self.write("libgraph/data/column.hpp", '#include "schema/ids.capnp.h"\nint column;\n')
        self.write("libgraph/data/hidden.hpp", "int hidden;\n")
        self.write("schema/ids.capnp", "@0x1;\n")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def digest(self):
        return digest_headers.digest_of(digest_headers.public_headers(self.root))

    def test_the_same_files_give_the_same(self):
        self.assertEqual(self.digest(), self.digest())

    def test_what_users_see_counts_and_nothing_else(self):
        before = self.digest()
        self.write("libgraph/data/hidden.hpp", "int other;\n")
        self.assertEqual(self.digest(), before)
        for path in ["libgraph/data/column.hpp", "libgraph/api/headrace.hpp", "schema/ids.capnp"]:
            known = self.digest()
            self.write(path, (self.root / path).read_text(encoding="utf-8") + "// more\n")
            self.assertNotEqual(self.digest(), known, path)


if __name__ == "__main__":
    unittest.main()
