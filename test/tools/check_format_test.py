import tempfile
import unittest
from pathlib import Path

import check_format


class FormatTest(unittest.TestCase):
    def test_only_the_files_that_are_laid_out_wrongly_are_told(self):
        with tempfile.TemporaryDirectory(dir=check_format.ROOT / "test") as folder:
            good, bad = Path(folder) / "good.cpp", Path(folder) / "bad.cpp"
            good.write_text("int* p = nullptr;\n", encoding="utf-8")
            bad.write_text("int *p=nullptr ;\n", encoding="utf-8")

            found = list(check_format.misformatted([good, bad]))

        self.assertEqual(found, [(bad, b"int* p = nullptr;\n")])


if __name__ == "__main__":
    unittest.main()
