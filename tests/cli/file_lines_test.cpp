#include "exchange/file_lines.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace bmad_mem::cli::file_lines_test {
namespace {

/// A file that is gone at the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content) {
    const int descriptor = ::mkstemp(path_.data());
    REQUIRE(descriptor >= 0);
    ::close(descriptor);
    std::ofstream(path_, std::ios::binary) << content;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { ::unlink(path_.c_str()); }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/bmad-lines-XXXXXX";
};

/// The lines as "number text"; "number !" for one that is too long.
std::vector<std::string> lines_of(const std::string& content) {
  const TemporaryFile file(content);
  Result<FileLines> lines = FileLines::open(file.path());
  REQUIRE(lines);
  std::vector<std::string> out;
  FileLine line;
  while (lines->next(line).value()) {
    out.push_back(std::to_string(line.number) + " " +
                  (line.too_long ? std::string("!") : std::string(line.text)));
  }
  CHECK(lines->bytes_read() == content.size());
  return out;
}

TEST_CASE("a file is read line by line") {
  using Lines = std::vector<std::string>;
  CHECK(lines_of("").empty());
  CHECK(lines_of("a") == Lines{"1 a"});
  CHECK(lines_of("a\n") == Lines{"1 a"});
  CHECK(lines_of("a\r\n\nb") == Lines{"1 a", "2 ", "3 b"});
}

TEST_CASE(
    "lines that are longer than a chunk come whole, and those that are too long are skipped") {
  const std::string long_line(700'000, 'x');
  const std::string longest(FileLines::kLineSizeMax, 'y');
  const std::string too_long(3 * FileLines::kLineSizeMax, 'z');
  const auto lines =
      lines_of("a\n" + long_line + "\n" + longest + "\n" + too_long + "\nb\n" + too_long);
  REQUIRE(lines.size() == 6);
  CHECK(lines[0] == "1 a");
  CHECK(lines[1] == "2 " + long_line);
  CHECK(lines[2] == "3 " + longest);
  CHECK(lines[3] == "4 !");
  CHECK(lines[4] == "5 b");
  CHECK(lines[5] == "6 !");
}

TEST_CASE("the beginning can be looked at before the lines") {
  const TemporaryFile file("a\nb\n");
  Result<FileLines> lines = FileLines::open(file.path());
  REQUIRE(lines);
  CHECK(lines->beginning().value() == "a\nb\n");
  FileLine line;
  CHECK(lines->next(line).value());
  CHECK(line.text == "a");
}

TEST_CASE("a file that isn't there is an I/O error that names it") {
  const Result<FileLines> lines = FileLines::open("/nonexistent/x.jsonl");
  REQUIRE(!lines);
  CHECK(lines.error().code == ErrorCode::E_STORAGE_IO);
  CHECK(lines.error().path == "/nonexistent/x.jsonl");
}

}  // namespace
}  // namespace bmad_mem::cli::file_lines_test
