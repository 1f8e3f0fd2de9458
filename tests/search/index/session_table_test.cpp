// session_table_test.cpp - scanned lines to columns, postings and conversations.
#include "search/index/session_table.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/json.hpp"
#include "search/index/index_fixture.hpp"
#include "search/slot_table.hpp"

namespace bmad_mem::test::session_table_test {
namespace {

/// A table that lines are added to, all of one log as far as places go.
class Filled {
 public:
  Ordinal add(const NewLine& line) {
    JsonParser parser;
    const JsonValue value = parser.parse(line.text).value();
    const auto ordinal = static_cast<Ordinal>(table_.columns.size());
    REQUIRE(builder_
                .add({.type = line.type,
                      .value = value,
                      .text = line.text,
                      .offset = offset_,
                      .line = ordinal + 1})
                .has_value());
    offset_ += line.text.size() + 1;
    return ordinal;
  }

  void start_word_thread() { builder_.start_word_thread(); }

  /// The live entries by slot, a bar in front of each that begins a conversation.
  [[nodiscard]] std::string conversations() const {
    const SlotTable slots = build_slots(table_.columns);
    std::string told;
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
      told += slots.reach[slot].before == 0 ? "|" : " ";
      told += std::to_string(slots.ordinal(slot));
    }
    return told;
  }

  [[nodiscard]] const SessionTable& table() const { return table_; }
  [[nodiscard]] std::ptrdiff_t tombstones() const {
    return std::ranges::count_if(table_.columns.flags,
                                 [](std::uint32_t flags) { return (flags & kFlagTombstone) != 0; });
  }
  [[nodiscard]] std::vector<Posting> postings(PostingKind kind, std::string_view key) {
    builder_.finish();
    const auto list = table_.memtable.postings(kind, key);
    return {list.begin(), list.end()};
  }

 private:
  SessionTable table_;
  Analyzer analyzer_ = std::move(Analyzer::create("english").value());
  SessionTableBuilder builder_{
      table_, analyzer_, {.id_of = [](Ordinal) -> Result<std::string> { return Error{}; }}};
  std::uint64_t offset_ = 0;
};

/// As long as it lives no thread can be started: the stack of each would be larger than memory.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge = before_;
    pthread_attr_setstacksize(&huge, std::size_t{1} << 60U);
    pthread_setattr_default_np(&huge);
  }
  ~NoThreads() { pthread_setattr_default_np(&before_); }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_{};
};

}  // namespace

TEST_CASE("an entry has its columns, its words and its keys") {
  Filled filled;
  filled.add({.type = EntryType::kConversation,
              .text = R"({"id":"m1","timestamp":"2026-01-11T10:05:23Z","agent_id":"Ann",)"
                      R"("role":"user","content":"Why did we drop MongoDB?","tags":["db","why"],)"
                      R"("context":{"conversation_id":"c","topic":"choice",)"
                      R"("parent_message_id":"m0"},"pinned":true})"});
  const SessionTable& table = filled.table();
  REQUIRE(table.columns.size() == 1);
  const std::uint32_t flags = table.columns.flags[0];
  CHECK(flag_type(flags) == EntryType::kConversation);
  CHECK(flag_role(flags) == EntryRole::kUser);
  CHECK((flags & kFlagAsks) != 0);
  CHECK((flags & kFlagPinned) != 0);
  CHECK((flags & (kFlagSensitive | kFlagTombstone | kFlagOdd | kFlagFollows)) == 0);
  CHECK(table.columns.timestamps[0] == 1'768'125'923'000);
  CHECK(table.columns.rows[0].line == 1);
  CHECK(table.columns.id_hashes[0] == entry_id_hash(EntryType::kConversation, "m1"));
  const std::vector<Posting> once = {{0, 1}};
  CHECK(filled.postings(PostingKind::kTerm, "mongodb") == once);
  CHECK(filled.postings(PostingKind::kTerm, "AGENT:Ann") == once);
  CHECK(filled.postings(PostingKind::kTerm, "TAG:db") == once);
  CHECK(filled.postings(PostingKind::kTerm, reference_key("m0")) == once);
  CHECK(filled.postings(PostingKind::kTopic, "choice") == once);
  CHECK(filled.postings(PostingKind::kHour, "2026-01-11T10") == once);
  CHECK(table.facts.participants == std::vector<std::string>{"Ann"});
  CHECK(table.facts.has_user);
  CHECK_FALSE(table.facts.has_assistant);
}

TEST_CASE("a question ends with its mark, whatever quotes and blanks come behind") {
  Filled filled;
  for (const auto& [content, asks] : std::map<std::string, bool>{{"ok?", true},
                                                                 {"(really?) \\n", true},
                                                                 {"? no", false},
                                                                 {"", false},
                                                                 {"said 'why?'", true}}) {
    CAPTURE(content);
    const Ordinal ordinal =
        filled.add(message("m" + std::to_string(filled.table().columns.size()), content));
    CHECK(((filled.table().columns.flags[ordinal] & kFlagAsks) != 0) == asks);
  }
}

TEST_CASE("conversations in turns stand apart, and other types stand alone") {
  Filled filled;
  filled.add(message("a1", "x", "a"));
  filled.add(message("b1", "x", "b"));
  filled.add(fact("f1", "x"));
  filled.add(message("a2", "x", "a"));
  filled.add(fact("f2", "x"));
  filled.add(message("b2", "x", "b"));
  filled.add(message("a3", "x", "a"));
  CHECK(filled.conversations() == "|0 3 6|1 5|2|4");
}

TEST_CASE("messages that name no conversation are one") {
  Filled filled;
  filled.add(message("m1", "x"));
  filled.add(message("a1", "x", "a"));
  filled.add(message("m2", "x"));
  CHECK(filled.conversations() == "|0 2|1");
}

TEST_CASE("a new version supersedes the old one, which leaves its conversation whole") {
  struct Row {
    const char* name;
    const char* id;
    const char* conversation;
    const char* expected;
  };
  for (const Row& row :
       {Row{"the first", "m0", "a", "|1 2 4|3"}, Row{"one in the middle", "m1", "a", "|0 2 4|3"},
        Row{"the last", "m2", "a", "|0 1 4|3"},
        Row{"into another conversation", "m1", "b", "|0 2|3 4"},
        Row{"the only one of its conversation", "m3", "b", "|0 1 2|4"},
        Row{"the only one, into another", "m3", "a", "|0 1 2 4"},
        Row{"into a new conversation", "m0", "c", "|1 2|3|4"}}) {
    CAPTURE(row.name);
    Filled filled;
    filled.add(message("m0", "pool", "a"));
    filled.add(message("m1", "pool", "a"));
    filled.add(message("m2", "pool", "a"));
    filled.add(message("m3", "pool", "b"));
    filled.add(message(row.id, "new", row.conversation));
    CHECK(filled.conversations() == row.expected);
    CHECK(filled.tombstones() == 1);
    CHECK(filled.table().columns.odd.at(4).versions == 2);
    CHECK(filled.postings(PostingKind::kTerm, "pool").size() == 4);  // Tombstones stay in lists.
  }
}

TEST_CASE("versions count up, and one after another the whole of a conversation may be replaced") {
  Filled filled;
  for (const char* id : {"m0", "m1", "m2", "m1", "m0", "m2", "m1", "m1"}) {
    filled.add(message(id, "x", "a"));
  }
  CHECK(filled.conversations() == "|4 5 7");
  CHECK(filled.tombstones() == 5);
  CHECK(filled.table().columns.odd.at(7).versions == 4);
  CHECK(filled.table().columns.odd.at(4).versions == 2);
}

TEST_CASE("an id is one of its type: a fact does not supersede a message") {
  Filled filled;
  filled.add(message("x", "one"));
  filled.add(fact("x", "two"));
  CHECK(filled.tombstones() == 0);
  CHECK(filled.conversations() == "|0|1");
}

TEST_CASE("what few entries have stands apart, and is told by a flag") {
  Filled filled;
  filled.add({.type = EntryType::kFact,
              .text = R"({"id":"f","timestamp":"2026-01-11T10:00:00Z","content":"x",)"
                      R"("decay_factor":0.25,"last_accessed":"2026-01-12T00:00:00Z"})"});
  filled.add(fact("g", "x"));
  const EntryColumns& columns = filled.table().columns;
  CHECK((columns.flags[0] & kFlagOdd) != 0);
  CHECK((columns.flags[1] & kFlagOdd) == 0);
  REQUIRE(columns.odd.size() == 1);
  CHECK(columns.odd.at(0).decay_factor == 0.25);
  CHECK(columns.odd.at(0).versions == 1);
  CHECK(columns.odd.at(0).last_accessed.has_value());
}

TEST_CASE("an error while comparing ids with the segment is handed on") {
  SessionTable table;
  table.columns.flags = {static_cast<std::uint32_t>(EntryType::kFact)};
  table.columns.id_hashes = {entry_id_hash(EntryType::kFact, "f1")};
  table.columns.lengths = {1};
  table.columns.previous = {0};
  table.columns.timestamps = {0};
  table.columns.rows.resize(1);
  Analyzer analyzer = std::move(Analyzer::create("english").value());
  Result<std::string> answer = Error{.code = ErrorCode::E_CONCURRENT_MOD};
  const auto first = [](std::uint32_t) { return std::vector<Ordinal>{0}; };
  SessionTableBuilder builder(table, analyzer,
                              {.id_of = [&](Ordinal) { return answer; }, .with_hash = first});
  JsonParser parser;
  const NewLine line = fact("f1", "x");
  const ScannedEntry scanned = {.type = line.type,
                                .value = parser.parse(line.text).value(),
                                .text = line.text,
                                .offset = 0,
                                .line = 1};
  const Status failed = builder.add(scanned);
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.error().code == ErrorCode::E_CONCURRENT_MOD);
}

TEST_CASE("where no thread can be started, words are indexed without one") {
  Filled filled;
  Ordinal ordinal = 0;
  {
    const NoThreads none;
    REQUIRE_THROWS(std::jthread([] {}));
    filled.start_word_thread();
    ordinal = filled.add(
        {.type = EntryType::kFact,
         .text = R"({"id":"f","timestamp":"2026-01-11T10:05:23Z","content":"postgres"})"});
    CHECK(filled.postings(PostingKind::kTerm, "postgr").size() == 1);
  }
  CHECK(filled.table().columns.lengths[ordinal] == 1);
}

}  // namespace bmad_mem::test::session_table_test
