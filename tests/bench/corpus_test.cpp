#include "corpus.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/memory_manager.hpp"
#include "support/temporary_directory.hpp"

using namespace bmad_mem;
using namespace bmad_mem::bench;

namespace {

constexpr std::uint64_t kBytes = 300'000;

CorpusReport write(const std::string& root, std::uint64_t seed, std::uint64_t session_bytes) {
  init_roomy_root(root);
  Corpus corpus(seed);
  return write_corpus(corpus, root, {.bytes = kBytes, .session_bytes = session_bytes});
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a seed makes the same corpus on every machine") {
  // Whoever changes the generator changes every number measured on it: then this changes, too, and
  // what docs/benchmarks.md shows must be measured anew.
  const test::TemporaryDirectory folder;
  const CorpusReport report = write(folder.path("memory"), 1, kBytes);
  CHECK(report.hash == 0x4acfd75ca868c25d);
  CHECK(report.records == 498);
}

TEST_CASE("a full session keeps all that was written to it") {
  const test::TemporaryDirectory folder;
  const std::string root = folder.path("memory");
  init_roomy_root(root);
  Corpus corpus(1);
  constexpr std::uint64_t kFull = 9'000'000;  // By default it is compacted from 8.4 million on.
  const CorpusReport report = write_corpus(corpus, root, {.bytes = kFull, .session_bytes = kFull});
  REQUIRE(report.sessions.size() == 1);
  std::uint64_t bytes = 0;
  for (const EntryType type : kEntryTypes) {
    bytes += std::filesystem::file_size(root + "/sessions/" + report.sessions.front() + '/' +
                                        std::string(entry_type_info(type).log_file));
  }
  CHECK(bytes == report.bytes);
}

TEST_CASE("two seeds make two corpora") {
  Corpus one(1);
  Corpus two(2);
  CHECK(one.next().line != two.next().line);
}

TEST_CASE("what is tracked of two roots with one seed is the same, byte for byte") {
  const test::TemporaryDirectory folder;
  const CorpusReport first = write(folder.path("a"), 7, kBytes / 3);
  write(folder.path("b"), 7, kBytes / 3);
  REQUIRE(first.sessions.size() >= 3);
  for (const std::string& session : first.sessions) {
    for (const char* name : {"manifest.json", "conversation.jsonl", "events.jsonl"}) {
      const std::string file = "sessions/" + session + "/" + name;
      CHECK(text_of(folder.path("a/" + file)) == text_of(folder.path("b/" + file)));
    }
  }
}

TEST_CASE("the store finds nothing wrong with a corpus and holds every entry of it") {
  const test::TemporaryDirectory folder;
  const CorpusReport report = write(folder.path("memory"), 3, kBytes / 2);
  const Result<MemoryManager> memory = MemoryManager::open({.root = folder.path("memory")});
  REQUIRE(memory);
  const Result<VerifyReport> verified = memory->verify();
  REQUIRE(verified);
  CHECK(verified->findings.empty());
  CHECK(verified->lines == report.records);
  CHECK(verified->bytes == report.bytes);  // So no line was changed on its way to the log.
}

TEST_CASE("a corpus has every type of entry, newer versions, and lines of every length") {
  Corpus corpus(1);
  std::set<EntryType> types;
  std::size_t versions = 0;
  std::size_t bytes = 0;
  std::size_t tokens = 0;
  std::size_t longest = 0;
  constexpr std::size_t kEntries = 4000;
  for (std::size_t i = 0; i < kEntries; ++i) {
    const CorpusEntry entry = corpus.next();
    types.insert(entry.type);
    versions += entry.line.find("\"updated_at\"") != std::string::npos ? 1 : 0;
    bytes += entry.line.size() + 1;
    tokens += count_tokens(entry.text);
    longest = std::max(longest, entry.line.size());
  }
  CHECK(types.size() == kEntryTypeCount);
  CHECK(versions > 10);
  CHECK(longest > 1500);
  // Ten million bytes are about 17,000 entries and 780,000 tokens.
  CHECK(bytes / kEntries > 560);
  CHECK(bytes / kEntries < 620);
  CHECK(tokens / kEntries > 43);
  CHECK(tokens / kEntries < 50);
}

TEST_CASE("what is searched of an entry stands in its line, and a new version says the same") {
  Corpus corpus(1);
  std::map<std::string, std::string> texts;
  for (std::size_t i = 0; i < 2000; ++i) {
    const CorpusEntry entry = corpus.next();
    const std::string first_word = entry.text.substr(0, entry.text.find_first_of(" \n\"\\"));
    CAPTURE(entry.line);
    CHECK(entry.line.contains(first_word));
    CHECK(texts.try_emplace(entry.id, entry.text).first->second == entry.text);
  }
}

TEST_CASE("tokens are runs of letters and digits") {
  struct Row {
    const char* text;
    std::size_t tokens;
  };
  static constexpr Row kRows[] = {
      {"", 0}, {"  ", 0}, {"one", 1}, {"src/auth/x_y.ts", 5}, {"café, naïve!", 2}, {"v1.2", 2},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    CHECK(count_tokens(row.text) == row.tokens);
  }
}

TEST_CASE("endings are spelled so that a stemmer finds the stem") {
  CHECK(with_ending("query", "s") == "queries");
  CHECK(with_ending("match", "s") == "matches");
  CHECK(with_ending("file", "s") == "files");
  CHECK(with_ending("store", "ed") == "stored");
  CHECK(with_ending("retry", "ed") == "retried");
  CHECK(with_ending("drop", "ed") == "dropped");
  CHECK(with_ending("store", "ing") == "storing");
  CHECK(with_ending("run", "ing") == "running");
  CHECK(with_ending("fail", "ing") == "failing");
  CHECK(with_ending("write", "er") == "writer");
  CHECK(with_ending("simple", "ly") == "simply");
  CHECK(with_ending("empty", "ness") == "emptiness");
}

TEST_CASE("frequent ranks are drawn as often as Zipf's law says") {
  const Zipf zipf(1000);
  Random random(5);
  std::vector<std::size_t> drawn(1000);
  constexpr std::size_t kDraws = 200'000;
  for (std::size_t i = 0; i < kDraws; ++i) {
    const std::size_t rank = zipf.draw(random);
    ++drawn.at(rank);
  }
  // 1 / 3 to 1 / 30: rank 0 comes ten times as often as rank 27.
  const double ratio = static_cast<double>(drawn[0]) / static_cast<double>(drawn[27]);
  CHECK(ratio > 8.5);
  CHECK(ratio < 11.5);
}
