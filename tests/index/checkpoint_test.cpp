// checkpoint_test.cpp - index.json: what stands in it, and that it says the same however it came
// about.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "bmad_mem/json_parser.hpp"
#include "index/checkpoint_format.hpp"
#include "index/checkpoint_reader.hpp"
#include "index/index_fixture.hpp"

namespace bmad_mem::test::checkpoint_test {
namespace {

void add_random(IndexedSession& session, RandomEntries& random, int count) {
  for (int i = 0; i < count; ++i) {
    session.add(random.next());
  }
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// The keys of the object `name`, as they are written, one from each of its lines.
std::vector<std::string> keys_of_lines(std::string_view text, const std::string& name) {
  std::vector<std::string> keys;
  bool inside = false;
  for (const std::string_view line : lines_of(text)) {
    if (line == "\"" + name + "\": {") {
      inside = true;
    } else if (inside && line.starts_with('}')) {
      break;
    } else if (inside) {
      keys.emplace_back(line.substr(1, line.rfind("\": ") - 1));
    }
  }
  return keys;
}

}  // namespace

TEST_CASE("index.json is one JSON value, with each part where `sections` says") {
  IndexedSession session;
  RandomEntries random(1);
  add_random(session, random, 60);
  session.let_time_pass();
  session.checkpoint();
  const std::string text = session.files.read(IndexedSession::index_file());
  JsonParser parser;
  REQUIRE(parser.parse(text).has_value());
  const nlohmann::json index = nlohmann::json::parse(text);
  CHECK(index["version"] == kCheckpointVersion);
  CHECK(index["file_size"] == text.size());
  CHECK(index["session_id"] == kSession);
  CHECK(index["created_at"] == "2026-01-12T10:00:00Z");
  CHECK(index["language"] == "english");
  const std::unique_ptr<SessionIndex> reader = session.index();
  REQUIRE(reader->refresh().has_value());
  REQUIRE(reader->load().has_value());
  // Made at once, it leaves superseded entries out.
  CHECK(index["counts"]["entries"] == reader->slots().size());
  CHECK(index["counts"]["tombstones"] == 0);
  CHECK(index["entries"]["count"] == reader->slots().size());
  CHECK(index["covers"]["conversation"]["bytes"] ==
        session.files.read(IndexedSession::log(EntryType::kConversation)).size());
  CHECK_FALSE(index["covers"].contains("artifact"));
  const std::size_t head_size = index["head_size"];
  REQUIRE(index["sections"].size() == kSectionCount);
  for (std::size_t i = 0; i < kSectionCount; ++i) {
    const std::string name(kSectionNames[i]);
    CAPTURE(name);
    const std::size_t offset = index["sections"][name][0];
    const std::size_t size = index["sections"][name][1];
    const std::string part = text.substr(head_size + offset, size);
    const nlohmann::json& whole = index.contains(name) ? index[name] : index["entries"][name];
    CHECK((whole.is_string() ? nlohmann::json(part) : nlohmann::json::parse("{" + part + "}")) ==
          whole);
  }
}

TEST_CASE(
    "an index has one key a line, sorted as they are written, and a directory of its blocks") {
  IndexedSession session;
  RandomEntries random(2);
  add_random(session, random, 60);
  for (int i = 0; i < 800; ++i) {
    session.add(fact("word-" + std::to_string(i), "word" + std::to_string(i * 7919)));
  }
  session.checkpoint();
  const std::string text = session.files.read(IndexedSession::index_file());
  const nlohmann::json index = nlohmann::json::parse(text);
  for (const std::string name : {"inverted_index", "topic_index", "temporal_index"}) {
    CAPTURE(name);
    const std::vector<std::string> keys = keys_of_lines(text, name);
    CHECK(keys.size() == index[name].size());
    CHECK_FALSE(keys.empty());
    CHECK(std::ranges::is_sorted(keys));
  }
  const std::vector<std::string> keys = keys_of_lines(text, "inverted_index");
  const std::vector<std::string> blocks = keys_of_lines(text, "term_blocks");
  CHECK(blocks.size() > 2);
  CHECK(blocks.front() == keys.front());
  CHECK(std::ranges::includes(keys, blocks));
}

TEST_CASE("a session without entries has a checkpoint, and it is read again") {
  IndexedSession session;
  session.checkpoint();
  JsonParser parser;
  CHECK(parser.parse(session.files.read(IndexedSession::index_file())).has_value());
  const auto reader = CheckpointReader::open(session.files, std::string(kSession), "english");
  REQUIRE(reader.has_value());
  CHECK((*reader)->entry_count() == 0);
  std::vector<Posting> postings;
  CHECK((*reader)->postings(PostingKind::kTerm, "x", postings).has_value());
  CHECK(postings.empty());
}

TEST_CASE("a checkpoint says what the logs say, whether made at once or grown step by step") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    IndexedSession session;
    RandomEntries random(seed);
    std::unique_ptr<SessionIndex> warm = session.index();
    for (std::uint32_t step = 0; step < 5; ++step) {
      CAPTURE(step);
      add_random(session, random, static_cast<int>(random.below(25)));
      if (random.below(2) == 0) {
        session.let_time_pass();
      }
      const std::vector<std::string> expected = told_from_logs(session);
      const std::unique_ptr<SessionIndex> cold = session.index();
      REQUIRE(cold->refresh().has_value());
      CHECK(first_difference(told(*cold).value(), expected).empty());
      REQUIRE(warm->refresh().has_value());
      CHECK(first_difference(told(*warm).value(), expected).empty());
      if (random.below(4) != 0) {
        SessionIndex& writer = random.below(2) == 0 ? *warm : *cold;
        REQUIRE(writer.write_checkpoint().value().has_value());
        CHECK(first_difference(told(writer).value(), expected).empty());
        JsonParser parser;
        CHECK(parser.parse(session.files.read(IndexedSession::index_file())).has_value());
        const std::unique_ptr<SessionIndex> next = session.index();
        REQUIRE(next->refresh().has_value());
        CHECK(first_difference(told(*next).value(), expected).empty());
      }
    }
  }
}

TEST_CASE("a key with escapes is listed once, whatever holds it") {
  IndexedSession session;
  session.add(message("m1", "one", "", "user", "Zoe"));
  session.add(message("m2", "two", "", "user", "\\\"Q"));
  session.checkpoint();
  session.add(message("m3", "three", "", "user", "\\\"Q"));
  session.add(message("m4", "four", "", "user", "Ann"));
  const std::unique_ptr<SessionIndex> index = session.index();
  REQUIRE(index->refresh().has_value());
  std::vector<std::string> keys;
  REQUIRE(index
              ->keys(PostingKind::kTerm, "AGENT:",
                     [&](std::string_view key, std::uint64_t count) {
                       keys.push_back(std::string(key) + " " + std::to_string(count));
                       return true;
                     })
              .has_value());
  CHECK(keys == std::vector<std::string>{"AGENT:Ann 1", "AGENT:Zoe 1", "AGENT:\"Q 2"});
}

TEST_CASE("keys come from the first with the prefix on, until nobody wants more") {
  IndexedSession session;
  session.add(fact("f1", "apple banana cherry"));
  session.checkpoint();
  session.add(fact("f2", "banjo band"));
  const std::unique_ptr<SessionIndex> index = session.index();
  REQUIRE(index->refresh().has_value());
  const auto keys = [&](std::string_view prefix, std::size_t wanted) {
    std::vector<std::string> found;
    CHECK(index
              ->keys(PostingKind::kTerm, prefix,
                     [&](std::string_view key, std::uint64_t) {
                       found.emplace_back(key);
                       return found.size() < wanted;
                     })
              .has_value());
    return found;
  };
  CHECK(keys("ban", 9) == std::vector<std::string>{"banana", "band", "banjo"});
  CHECK(keys("ban", 2) == std::vector<std::string>{"banana", "band"});
  CHECK(keys("zzz", 9).empty());
}

}  // namespace bmad_mem::test::checkpoint_test
