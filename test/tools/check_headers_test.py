import tempfile
import unittest
from pathlib import Path

import check_headers

COMPILER = ["g++"]


class HeadersTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.build = self.root / "build"
        self.build.mkdir()

    def write(self, name, text):
        (self.root / name).write_text(text, encoding="utf-8")

    def check(self, name, compiler=None):
        return check_headers.check(name, self.build, compiler or COMPILER, self.root)

    def test_a_header_that_lacks_an_include_does_not_compile(self):
        self.write("a.hpp", "#pragma once\ninline std::string name;\n")

        self.assertIn("std", self.check("a.hpp"))

    def test_a_header_is_compiled_again_only_when_what_it_includes_has_changed(self):
        self.write("a.hpp", '#pragma once\n#include "b.hpp"\ninline b value;\n')
        self.write("b.hpp", "#pragma once\nstruct b {};\n")
        self.assertEqual(self.check("a.hpp"), "")

        before = check_headers.stamp_of("a.hpp", COMPILER, self.root)
        self.assertTrue((self.build / "header-stamps" / before).exists())

        self.write("b.hpp", "#pragma once\n")
        self.assertIn("b", self.check("a.hpp"))


if __name__ == "__main__":
    unittest.main()
