#!/usr/bin/env python3
"""Tests check_layering.py: a table of includes that must be accepted or refused."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import check_layering

# The file, its include, accepted?
ROWS = [
    # Ranks.
    ("lib/operations/manager.cpp", '"base/ids.hpp"', True),
    ("lib/operations/manager.cpp", '"knowledge/recall.hpp"', True),
    ("lib/search/query/plan.cpp", '"store/layout.hpp"', True),
    ("lib/base/json_reader.cpp", '"base/text.hpp"', True),
    ("lib/base/ids.cpp", '"model/entry.hpp"', False),
    ("lib/base/ids.cpp", '"operations/manager.hpp"', False),
    ("lib/store/disk/append_log.cpp", '"model/entry.hpp"', True),
    ("lib/model/entry.cpp", '"store/append_log.hpp"', False),
    ("lib/search/query/plan.cpp", '"lifecycle/maintenance.hpp"', False),
    ("lib/knowledge/recall.cpp", '"operations/manager.hpp"', False),
    ("lib/store/include/store/append_log.hpp", '"search/memtable.hpp"', False),
    # Public headers: std and their like only.
    ("lib/include/bmad_mem/result.hpp", "<expected>", True),
    ("lib/include/bmad_mem/memory_manager.hpp", '"bmad_mem/result.hpp"', True),
    ("lib/include/bmad_mem/result.hpp", '"base/ids.hpp"', False),
    ("lib/include/bmad_mem/result.hpp", "<fmt/format.h>", False),
    ("lib/include/bmad_mem/result.hpp", "<unistd.h>", False),
    # Every room sees the public headers, std and fmt.
    ("lib/base/ids.cpp", '"bmad_mem/result.hpp"', True),
    ("lib/privacy/redact.cpp", "<string_view>", True),
    ("lib/privacy/redact.cpp", "<string.h>", True),
    ("lib/privacy/redact.cpp", "<fmt/format.h>", True),
    # A third-party library enters through one room.
    ("lib/base/hash.cpp", "<xxhash.h>", True),
    ("lib/base/json_reader.cpp", "<simdjson.h>", True),
    ("lib/base/json_writer.cpp", "<nlohmann/json.hpp>", True),
    ("lib/search/index/analyzer.cpp", "<libstemmer.h>", True),
    ("lib/search/query/filter.cpp", "<re2/re2.h>", False),
    ("lib/privacy/redact.cpp", "<re2/re2.h>", True),
    ("lib/store/archive/tar.cpp", "<archive.h>", True),
    ("lib/store/archive/tar.cpp", "<zlib.h>", True),
    ("lib/operations/manager.cpp", "<simdjson.h>", False),
    ("lib/model/entry.cpp", "<nlohmann/json.hpp>", False),
    ("lib/store/manifest.cpp", "<xxhash.h>", False),
    ("lib/store/paths.cpp", "<boost/filesystem.hpp>", False),
    ("lib/store/paths.cpp", "<sqlite3.h>", False),
    ("lib/operations/manager.cpp", "<CLI/CLI.hpp>", False),
    # Slow headers stay out of headers.
    ("lib/base/include/base/json_reader.hpp", "<simdjson.h>", False),
    ("lib/base/json_detail.hpp", "<nlohmann/json.hpp>", False),
    ("tools/bmad-mem/command.hpp", "<CLI/CLI.hpp>", False),
    # The system is reached through the store; base needs it for random numbers.
    ("lib/store/disk/append_log.cpp", "<fcntl.h>", True),
    ("lib/store/disk/append_log.cpp", "<sys/stat.h>", True),
    ("lib/base/ids.cpp", "<sys/random.h>", True),
    ("lib/base/ids.cpp", "<sys/stat.h>", False),
    ("lib/operations/manager.cpp", "<unistd.h>", False),
    # Tools see the public headers only.
    ("tools/bmad-mem/main.cpp", '"bmad_mem/memory_manager.hpp"', True),
    ("tools/bmad-bench/peer_xapian.cpp", "<xapian.h>", True),
    ("tools/bmad-mem/options.cpp", "<CLI/CLI.hpp>", False),
    ("tools/bmad-mem/main.cpp", "<unistd.h>", True),
    ("tools/bmad-mem/main.cpp", "<fmt/format.h>", True),
    ("tools/bmad-mem/main.cpp", '"base/ids.hpp"', False),
    ("tools/bmad-mem/main.cpp", "<simdjson.h>", False),
    ("tools/bmad-mem/main.cpp", "<benchmark/benchmark.h>", False),
    ("tools/bmad-bench/main.cpp", "<benchmark/benchmark.h>", False),
    # Private headers lie in the room's own folder.
    ("lib/store/disk/append_log.cpp", '"kernel_lock.hpp"', True),
    ("lib/store/disk/append_log.cpp", '"another_rooms.hpp"', False),
    ("lib/store/disk/append_log.cpp", '"../base/json_reader.hpp"', False),
    # What cannot be placed or read is refused, not passed over.
    ("lib/newroom/file.cpp", "<vector>", False),
    ("lib/base/ids.cpp", "BMAD_SOME_HEADER", False),
]

PRIVATE = {"kernel_lock.hpp": "kernel_lock.hpp"}

# Two files of tools/bmad-mem: may the first include the second?
FOLDER_ROWS = [
    ("options.cpp", "tool.hpp", True),
    ("cli/options.cpp", "tool.hpp", True),
    ("mcp/service.cpp", "cli/tool.hpp", True),
    ("tool.hpp", "mcp/service.hpp", False),
    ("cli/tool.hpp", "exchange/ids.hpp", False),
    ("http/api/export.cpp", "exchange/export/export_writer.hpp", True),
    ("http/api/export.cpp", "http/endpoint.hpp", True),
    ("exchange/import/codex.cpp", "exchange/ids.hpp", True),
    ("exchange/import/own_export.cpp", "exchange/export/export_writer.hpp", True),
    ("exchange/export/csv_writer.cpp", "exchange/import/codex.hpp", False),
    ("exchange/ids.cpp", "exchange/git/installation.hpp", False),
    ("mcp/service.cpp", "http/endpoint.hpp", False),
    ("commands/serve.cpp", "http/endpoint.hpp", True),
    ("options.cpp", "commands/hook.hpp", False),
    ("attic/old.cpp", "tool.hpp", False),
]


class WhyNot(unittest.TestCase):
    def test_each_row_of_the_table_is_judged_as_it_says(self):
        for path, include, accepted in ROWS:
            with self.subTest(path=path, include=include):
                reason = check_layering.why_not(path, include, PRIVATE)
                self.assertEqual(reason is None, accepted, reason)


class Folders(unittest.TestCase):
    def test_each_row_of_the_table_is_judged_as_it_says(self):
        for file, header, accepted in FOLDER_ROWS:
            with self.subTest(file=file, header=header):
                reason = check_layering.why_not_folder(file, header)
                self.assertEqual(reason is None, accepted, reason)

    def test_no_folder_comes_back_to_itself(self):
        self.assertIsNone(check_layering.circle_in(check_layering.TOOL_FOLDERS))
        self.assertEqual(check_layering.circle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}}), "b")


class IncludesOf(unittest.TestCase):
    def test_finds_every_spelling_and_skips_comments(self):
        text = '#include <a>\n  #  include "b/c.hpp"\n/* \n#include "d.hpp"\n*/\n// #include "e.hpp"\n'
        text += "#include MACRO\n"
        self.assertEqual(
            list(check_layering.includes_of(text)), [(1, "<a>"), (2, '"b/c.hpp"'), (7, "MACRO")]
        )


class StdNamesIn(unittest.TestCase):
    def test_finds_functions_outside_classes_only(self):
        text = """
std::string quoted(std::string_view text) {
  return exchange(text);
}
Result<std::vector<Found>> find(FileSystem& files);
bool Store::begin() {
  const Lock lock(mutex);
  std::string format(text);
}
class A {
  void swap(A& other);
};
template <typename T>
constexpr bool less(
    T a, T b);
Status in_quotes(std::string_view text);
constexpr std::string_view kSql = R"sql(
select count(e.seq)
)sql";
"""
        self.assertEqual(
            list(check_layering.std_names_in(text)), [(2, "quoted"), (5, "find"), (14, "less")]
        )


class Main(unittest.TestCase):
    def run_on(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                status = check_layering.main([folder])
            return status, output.getvalue()

    def test_a_clean_tree_passes(self):
        status, output = self.run_on(
            {"lib/base/a.cpp": '#include "b.hpp"\n', "lib/base/b.hpp": "#include <vector>\n"}
        )
        self.assertEqual((status, output), (0, "layering: 2 files, 0 wrong\n"))

    def test_a_private_header_is_named_from_its_room_or_from_beside(self):
        files = {"tools/bmad-bench/deep/b.hpp": "", "tools/bmad-bench/deep/c.cpp": '#include "b.hpp"\n'}
        files["tools/bmad-bench/a.cpp"] = '#include "deep/b.hpp"\n'
        self.assertEqual(self.run_on(files)[0], 0)
        files["tools/bmad-bench/a.cpp"] = '#include "b.hpp"\n'
        self.assertEqual(self.run_on(files)[0], 1)

    def test_a_wrong_include_is_named_by_file_and_line(self):
        status, output = self.run_on({"lib/base/a.cpp": '\n#include "model/b.hpp"\n'})
        self.assertEqual(status, 1)
        self.assertIn('lib/base/a.cpp:2: "model/b.hpp": model is of a higher rank', output)

    def test_a_name_of_std_is_named_by_file_and_line(self):
        status, output = self.run_on({"tools/bmad-mem/a.cpp": "\nbool equal(int a, int b) {\n"})
        self.assertEqual(status, 1)
        self.assertIn("tools/bmad-mem/a.cpp:2: equal(): std has a function of that name", output)

    def test_a_folder_that_includes_one_above_it_is_named(self):
        files = {"tools/bmad-mem/mcp/a.hpp": "", "tools/bmad-mem/hooks/b.cpp": '#include "mcp/a.hpp"\n'}
        status, output = self.run_on(files)
        self.assertEqual(status, 1)
        self.assertIn("hooks may include cli, clients, exchange only", output)

    def test_a_tree_without_files_fails(self):
        self.assertEqual(self.run_on({})[0], 1)


if __name__ == "__main__":
    unittest.main()
