import unittest

import check_docs

FILES = {"README.md", "docs/flow.md", "libtask/task/task.hpp", "scripts/test"}


def findings(text, path="docs/page.md"):
    return list(check_docs.check(path, text, lambda name: name.replace("docs/../", "") in FILES))


class DocsTest(unittest.TestCase):
    def test_links_that_lead_somewhere(self):
        self.assertEqual(findings("[a](flow.md#top) [b](../README.md) [c](https://x.org/y) [d](#e)"),
                         [])
        self.assertEqual(findings("[a](docs/flow.md) [b](/README.md)", "README.md"), [])

    def test_a_dead_link(self):
        self.assertEqual(findings("\n[a](gone.md)"), [(2, "dead link: gone.md")])

    def test_named_files(self):
        self.assertEqual(findings("`scripts/test` and `libtask/task/task.hpp` and `a/b`"), [])
        self.assertEqual(findings("`libtask/gone.hpp`"), [(1, "no such file: libtask/gone.hpp")])

    def test_code_blocks_are_not_read(self):
        self.assertEqual(findings("```\n[a](gone.md)\n```\n"), [])


if __name__ == "__main__":
    unittest.main()
