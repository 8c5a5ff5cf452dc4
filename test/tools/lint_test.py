import unittest

import lint


def findings(text, path="libtask/task/task.cpp"):
    return [message for _, message in lint.check(path, text)]


class LintTest(unittest.TestCase):
    def accepts(self, text, path="libtask/task/task.cpp"):
        self.assertEqual(findings(text, path), [], text)

    def refuses(self, text, why, path="libtask/task/task.cpp"):
        found = findings(text, path)
        self.assertEqual(len(found), 1, (text, found))
        self.assertIn(why, found[0])

    def test_seams_are_not_bypassed(self):
        for text, rule in [
            ("auto t = std::chrono::steady_clock::now();", "clock"),
            ("auto t = system_clock::now();", "clock"),
            ("auto t = time(nullptr);", "clock"),
            ("gettimeofday(&now, nullptr);", "clock"),
            ("std::random_device source;", "random"),
            ("int i = rand();", "random"),
            ("std::mt19937 generator;", "random"),
            ("auto generator = std::mt19937_64{};", "random"),
            ("std::thread worker{run};", "thread"),
            ("std::vector<std::jthread> workers;", "thread"),
            ("auto f = std::async(run);", "thread"),
            ("std::this_thread::sleep_for(1s);", "sleep"),
            ("usleep(10);", "sleep"),
            ("auto* file = fopen(name, mode);", "files"),
            ("std::ifstream input{name};", "files"),
            ("int fd = ::open(name, O_RDONLY);", "files"),
            ("if (std::filesystem::exists(name)) {}", "files"),
            ("namespace fs = std::filesystem;", "files"),
            ("auto* home = std::getenv(name);", "environment"),
        ]:
            self.refuses(text, rule + ": ")

    def test_what_only_looks_like_it_is_let_through(self):
        self.accepts("clock.now(); message.time(0); auto random = brand(); operator_.open(context);")
        self.accepts("// std::thread of old\nauto text = \"std::getenv(x)\";")
        self.accepts("using generator = std::mt19937_64; std::mt19937_64 generator{seed}; std::thread::id owner;")
        self.accepts("std::filesystem::path name; auto million = 1'000'000; auto x = 'a';")

    def test_homes_are_free(self):
        self.accepts("steady_clock::now();", "libactors/base/clock.cpp")
        self.accepts("::open(name, 0);", "libactors/base/file_system.cpp")
        self.accepts("std::thread t;", "libactors/base/executor.cpp")
        self.accepts("std::getenv(name);", "apps/node/node.cpp")

    def test_a_test_does_not_sleep(self):
        self.refuses("std::this_thread::sleep_for(1s);", "sleep", "test/libtask/task/task_test.cpp")

    def test_an_allowance_names_its_rule_and_its_reason(self):
        self.accepts("std::getenv(name); // lint(environment): read once, at the start")
        self.refuses("std::getenv(name); // lint(clock): read once", "environment")
        self.refuses("std::getenv(name); // lint(environment):", "environment")

    def test_headers(self):
        self.accepts("#pragma once\n", "libtask/task/task.hpp")
        self.refuses("int x;\n", "#pragma once", "libtask/task/task.hpp")
        self.refuses("#pragma once\nusing namespace std;\n", "using namespace", "libtask/x.hpp")

    def test_long_files_fail(self):
        self.accepts("\n" * 800)
        self.refuses("\n" * 801, "split the file")

    def test_todo_needs_a_reason(self):
        self.accepts("// TODO(#12): when the compiler can")
        self.refuses("// TODO: later", "without a reason")
        self.refuses("// FIXME", "without a reason")

    def test_names_that_name_nothing_are_refused(self):
        self.refuses("", "names no thing", "libtask/string_utils.cpp")
        self.refuses("", "names no thing", "libtask/common/row.cpp")
        self.accepts("", "libtask/commonality.cpp")


if __name__ == "__main__":
    unittest.main()
