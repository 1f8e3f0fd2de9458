#include "concurrency/swarm_entries.hpp"

#include <charconv>
#include <fstream>
#include <iterator>
#include <random>

#include <fmt/format.h>

namespace bmad_mem::test {

std::string SwarmEntry::id() const { return fmt::format("w{:02}-{:06}", writer, number); }

std::string SwarmEntry::json() const {
  std::minstd_rand random(seed * 7919U + writer * 104'729U + number + 1U);
  const std::size_t size = number % 100 == 7 ? 9000 : random() % 300;
  std::string text;
  while (text.size() < size) {
    // Escapes, newlines in disguise, and characters of two to four bytes: where lines could break.
    constexpr std::string_view kWords[] = {"postgres ",    "\\n",           "\\\"{}\\\" ",
                                           "caf\xC3\xA9 ", "\xE2\x82\xAC ", "\xF0\x9F\x98\x80",
                                           "\\u0041 ",     "[1,2] "};
    text += kWords[random() % std::size(kWords)];
  }
  return fmt::format(
      R"({{"id":"{}","timestamp":"2026-01-11T10:00:00Z","role":"user","content":"{}.",)"
      R"("decay_factor":1.0}})",
      id(), text);
}

void SwarmTally::count(std::string_view line) {
  const auto note = [&](const std::string& problem) {
    if (problem_.empty()) {
      problem_ = fmt::format("{}: {}", problem, line.substr(0, 200));
    }
  };
  constexpr std::string_view kHead = "{\"id\":\"w";
  unsigned writer = 0;
  if (!line.starts_with(kHead) || line.size() < kHead.size() + 2) {
    note("a line that no writer wrote");
    return;
  }
  std::from_chars(line.data() + kHead.size(), line.data() + kHead.size() + 2, writer);
  if (writer >= counts_.size()) {
    note("a line of no writer");
    return;
  }
  const SwarmEntry expected{.seed = seed_, .writer = writer, .number = counts_[writer]};
  if (line != expected.json()) {
    note(fmt::format("instead of the whole entry {}", expected.id()));
  }
  ++counts_[writer];
}

void SwarmTally::count_log(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!bytes.ends_with('\n')) {
    problem_ = "the log does not end in a newline";
  }
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    count(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
}

}  // namespace bmad_mem::test
