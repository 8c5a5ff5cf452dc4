import unittest

import check_layers


def messages(path, *includes):
    text = "#pragma once\n" + "".join(f"#include {include}\n" for include in includes)
    return [message for _, message in check_layers.check(path, text)]


class LayersTest(unittest.TestCase):
    def accepts(self, path, include):
        self.assertEqual(messages(path, include), [])

    def refuses(self, path, include, why):
        found = messages(path, include)
        self.assertEqual(len(found), 1, found)
        self.assertIn(why, found[0])

    def test_a_folder_sees_itself_and_what_stands_above(self):
        self.accepts("libactors/rpc/node.cpp", '"libactors/rpc/node.hpp"')
        self.accepts("libactors/rpc/node.cpp", '"libactors/base/clock.hpp"')
        self.accepts("libtask/operator/window/slicer.hpp", '"libgraph/data/column.hpp"')
        self.accepts("apps/run/run.cpp", '"apps/cluster/mini_cluster.hpp"')
        self.accepts("libtask/task/task.cpp", '"schema/task.capnp.h"')

    def test_a_folder_does_not_see_what_stands_below(self):
        self.refuses("libactors/base/clock.cpp", '"libactors/rpc/node.hpp"', "stands below")
        self.refuses("libstate/key/key.hpp", '"libtask/task/task.hpp"', "stands below")
        self.refuses("libscheduler/slot/slot_pool.cpp", '"apps/cluster/registries.hpp"', "below")

    def test_the_line_of_the_include_is_told(self):
        found = list(check_layers.check("schema/x.hpp", '\n\n#include "libgraph/data/column.hpp"\n'))
        self.assertEqual(found[0][0], 3)

    def test_task_and_scheduler_do_not_see_each_other(self):
        self.refuses("libscheduler/slot/slot_pool.cpp", '"libtask/task/task.hpp"', "meet in")
        self.refuses("libtask/task/task.cpp", '"libscheduler/slot/slot_pool.hpp"', "below")

    def test_graph_and_state_see_no_actors(self):
        self.refuses("libgraph/data/column.cpp", '"libactors/rpc/node.hpp"', "know no actors")
        self.refuses("libstate/heap/page.cpp", '"libactors/http/server.hpp"', "know no actors")
        self.accepts("libstate/heap/page.cpp", '"libactors/message/message.hpp"')

    def test_the_front_end_is_hidden_from_the_runtime(self):
        self.refuses("libtask/task/task.cpp", '"libgraph/sql/parse/lexer.hpp"', "front end")
        self.refuses("libscheduler/job_master/x.cpp", '"libgraph/api/stream.hpp"', "front end")
        self.refuses("libstate/heap/page.cpp", '"libgraph/api/stream.hpp"', "front end")
        self.accepts("libstate/processor/x.hpp", '"libgraph/api/type_info.hpp"')
        self.accepts("apps/run/run.cpp", '"libgraph/api/stream.hpp"')

    def test_nothing_sees_tests_and_bench(self):
        self.refuses("apps/main.cpp", '"test/support/seed.hpp"', "nothing includes test")
        self.refuses("test/libtask/x_test.cpp", '"bench/timer.hpp"', "nothing includes bench")
        self.accepts("test/libtask/x_test.cpp", '"test/support/seed.hpp"')

    def test_third_parties_stay_at_home(self):
        for path, include in [
            ("libtask/task/task.hpp", "<caf/all.hpp>"),
            ("libtask/task/task.hpp", "<capnp/message.h>"),
            ("libtask/task/task.hpp", "<simdjson.h>"),
            ("libactors/base/clock.cpp", "<spdlog/spdlog.h>"),
            ("libstate/heap/page.cpp", "<zstd.h>"),
            ("libgraph/api/stream.cpp", "<CLI/CLI.hpp>"),
            ("libactors/base/clock.cpp", "<yaml-cpp/yaml.h>"),
            ("libtask/task/task.cpp", "<doctest/doctest.h>"),
            ("bench/json.cpp", "<sqlite3.h>"),
        ]:
            self.refuses(path, include, "included only in" if "sqlite" not in include else "no home")
        for path, include in [
            ("libactors/rpc/node.cpp", "<caf/all.hpp>"),
            ("libactors/base/config.cpp", "<yaml-cpp/yaml.h>"),
            ("libactors/base/log.cpp", "<spdlog/spdlog.h>"),
            ("libstate/snapshot/block.cpp", "<zstd.h>"),
            ("libtask/format/json_format.cpp", "<simdjson.h>"),
            ("test/libtask/x_test.cpp", "<doctest/doctest.h>"),
            ("test/libtask/x_test.cpp", "<caf/all.hpp>"),
            ("libgraph/data/column.hpp", "<vector>"),
            ("libactors/base/file_system.cpp", "<sys/stat.h>"),
        ]:
            self.accepts(path, include)

    def test_unknown_folders_and_relative_includes_are_refused(self):
        self.assertIn("not listed", messages("libfoo/x.hpp")[0])
        self.refuses("libgraph/data/column.cpp", '"column.hpp"', "root of the repository")

    def test_comments_are_not_includes(self):
        self.assertEqual(messages("schema/x.hpp") +
                         [*check_layers.check("schema/x.hpp", '// #include "apps/x.hpp"\n')], [])


if __name__ == "__main__":
    unittest.main()
