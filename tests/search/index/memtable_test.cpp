// memtable_test.cpp - words and keys of new entries, and in which of them they occur.
#include "search/memtable.hpp"

#include <map>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/clock.hpp"
#include "search/index/string_table.hpp"

namespace bmad_mem::test::memtable_test {
namespace {

std::vector<Posting> listed(Memtable& table, PostingKind kind, std::string_view key) {
  table.arrange();
  const auto postings = table.postings(kind, key);
  return {postings.begin(), postings.end()};
}

}  // namespace

TEST_CASE(
    "words count once per occurrence, under their stems; stop words and wholes add no length") {
  Analyzer analyzer = std::move(Analyzer::create("english").value());
  Memtable table;
  CHECK(table.add_text(analyzer, "The pools pool, and the pooling.", 3) == 3);
  CHECK(table.add_text(analyzer, "", 4) == 0);
  CHECK(table.add_text(analyzer, "the and of", 5) == 0);
  CHECK(table.add_text(analyzer, "getUserById in a pool", 9) == 4);
  CHECK(listed(table, PostingKind::kTerm, "pool") == std::vector<Posting>{{3, 3}, {9, 1}});
  CHECK(listed(table, PostingKind::kTerm, "getuserbyid") == std::vector<Posting>{{9, 1}});
  CHECK(listed(table, PostingKind::kTerm, "user") == std::vector<Posting>{{9, 1}});
  CHECK(listed(table, PostingKind::kTerm, "the").empty());
  CHECK(listed(table, PostingKind::kTerm, "pooling").empty());
  CHECK(listed(table, PostingKind::kTopic, "pool").empty());
}

TEST_CASE("one entry's text may come in pieces") {
  Analyzer analyzer = std::move(Analyzer::create("english").value());
  Memtable table;
  table.add_text(analyzer, "pool", 0);
  table.add_text(analyzer, "pool", 0);
  CHECK(listed(table, PostingKind::kTerm, "pool") == std::vector<Posting>{{0, 2}});
}

TEST_CASE("filter keys have prefixes, each kind has its own table, and an empty key is none") {
  Memtable table;
  table.add_key(PostingKind::kTerm, kAgentPrefix, "Ann", 0);
  table.add_key(PostingKind::kTerm, kTagPrefix, "Ann", 1);
  table.add_key(PostingKind::kTopic, {}, "Ann", 2);
  table.add_key(PostingKind::kTerm, kTagPrefix, "", 3);
  table.add_hour(parse_rfc3339("2026-01-11T10:59:59.999Z").value(), 4);
  table.add_hour(parse_rfc3339("2026-01-11T11:00:00+01:00").value(), 5);
  CHECK(listed(table, PostingKind::kTerm, "AGENT:Ann") == std::vector<Posting>{{0, 1}});
  CHECK(listed(table, PostingKind::kTerm, "TAG:Ann") == std::vector<Posting>{{1, 1}});
  CHECK(listed(table, PostingKind::kTerm, "TAG:").empty());
  CHECK(listed(table, PostingKind::kTopic, "Ann") == std::vector<Posting>{{2, 1}});
  CHECK(listed(table, PostingKind::kHour, "2026-01-11T10") == std::vector<Posting>{{4, 1}, {5, 1}});
}

TEST_CASE("hours are UTC, also before 1970") {
  CHECK(hour_key(Timestamp()) == "1970-01-01T00");
  CHECK(hour_key(Timestamp(std::chrono::milliseconds(-1))) == "1969-12-31T23");
  CHECK(hour_key(parse_rfc3339("2024-02-29T23:59:59Z").value()) == "2024-02-29T23");
}

TEST_CASE("an id is referred to by its hash") {
  CHECK(reference_key("msg-1").starts_with(kReferencePrefix));
  CHECK(reference_key("msg-1").size() == kReferencePrefix.size() + 5);
  CHECK(reference_key("msg-1") == reference_key("msg-1"));
  CHECK(reference_key("msg-1") != reference_key("msg-2"));
}

TEST_CASE("sorted() holds every key once, ascending by bytes, with all its postings") {
  std::mt19937 random(11);
  Memtable table;
  std::map<std::string, std::vector<Posting>> expected;
  for (Ordinal ordinal = 0; ordinal < 4000; ++ordinal) {
    for (int i = 0; i < 3; ++i) {
      const std::string key = std::to_string(random() % 3000) + (i == 0 ? "\xC3\xBC" : "");
      table.add_key(PostingKind::kTerm, {}, key, ordinal);
      std::vector<Posting>& list = expected[key];
      if (!list.empty() && list.back().ordinal == ordinal) {
        ++list.back().frequency;
      } else {
        list.push_back({.ordinal = ordinal, .frequency = 1});
      }
    }
  }
  table.arrange();
  const std::vector<Memtable::KeyedPostings> sorted = table.sorted(PostingKind::kTerm);
  REQUIRE(sorted.size() == expected.size());
  auto next = expected.begin();
  for (const Memtable::KeyedPostings& each : sorted) {
    CHECK(each.key == next->first);
    CHECK(std::vector<Posting>(each.postings.begin(), each.postings.end()) == next->second);
    CHECK(listed(table, PostingKind::kTerm, next->first) == next->second);
    ++next;
  }
}

TEST_CASE("what comes later is added to what was read before") {
  Analyzer analyzer = std::move(Analyzer::create("english").value());
  Memtable table;
  table.add_text(analyzer, "pool", 0);
  CHECK(listed(table, PostingKind::kTerm, "pool") == std::vector<Posting>{{0, 1}});
  table.add_text(analyzer, "pool, and another pool", 1);
  table.add_key(PostingKind::kTerm, kTagPrefix, "pool", 1);
  CHECK(listed(table, PostingKind::kTerm, "pool") == std::vector<Posting>{{0, 1}, {1, 2}});
  CHECK(listed(table, PostingKind::kTerm, "TAG:pool") == std::vector<Posting>{{1, 1}});
  std::string keys;
  for (const Memtable::KeyedPostings& each : table.sorted(PostingKind::kTerm)) {
    keys += std::string(each.key) + " ";
  }
  CHECK(keys == "TAG:pool anoth pool ");
}

TEST_CASE("a frozen table tells all that it told before") {
  Analyzer analyzer = std::move(Analyzer::create("english").value());
  Memtable table;
  for (Ordinal ordinal = 0; ordinal < 300; ++ordinal) {
    const std::string number = std::to_string(ordinal * ordinal % 97);
    table.add_text(analyzer, "heron " + number + " lake heron x" + number, ordinal);
    table.add_key(PostingKind::kTerm, kTagPrefix, number, ordinal);
    table.add_key(PostingKind::kTopic, {}, ordinal % 3 == 0 ? "" : "topic" + number, ordinal);
    table.add_hour(Timestamp(std::chrono::hours(ordinal / 7)), ordinal);
  }
  table.arrange();
  using Lists = std::map<std::string, std::vector<Posting>>;
  const auto listed_from = [&](PostingKind kind, std::string_view prefix) {
    Lists lists;
    std::string last;
    for (const Memtable::KeyedPostings& each : table.sorted(kind, prefix)) {
      CHECK((lists.empty() || last < each.key));
      last = each.key;
      lists[last] = {each.postings.begin(), each.postings.end()};
    }
    return lists;
  };
  std::map<std::pair<PostingKind, std::string>, Lists> before;
  for (const PostingKind kind : {PostingKind::kTerm, PostingKind::kTopic, PostingKind::kHour}) {
    for (const char* prefix : {"", "h", "x1", "topic3", "TAG:", "19", "zz"}) {
      before[{kind, prefix}] = listed_from(kind, prefix);
    }
  }
  table.freeze();
  table.arrange();
  for (const auto& [asked, lists] : before) {
    CHECK(listed_from(asked.first, asked.second) == lists);
    for (const auto& [key, list] : lists) {
      CHECK(listed(table, asked.first, key) == list);
    }
    CHECK(listed(table, asked.first, "none").empty());
  }
  CHECK(before[{PostingKind::kTerm, "TAG:"}].size() > 10);
}

TEST_CASE("a table is frozen before anything is added") {
  Memtable table;
  table.freeze();
  CHECK(listed(table, PostingKind::kTerm, "heron").empty());
  CHECK(table.sorted(PostingKind::kHour).empty());
}

TEST_CASE("strings are numbered in the order they come, each once, however many there are") {
  StringTable table;
  CHECK(table.size() == 0);
  CHECK(table.find("") == StringTable::kNone);
  CHECK(table.add("") == 0);
  CHECK(table.find("") == 0);
  std::mt19937 random(13);
  std::vector<std::string> texts = {""};
  for (int i = 1; i < 20'000; ++i) {
    texts.push_back(std::to_string(i) + std::string(random() % 40, 'x'));
    CHECK(table.find(texts.back()) == StringTable::kNone);
    CHECK(table.add(texts.back()) == static_cast<std::uint32_t>(i));
  }
  CHECK(table.size() == texts.size());
  for (std::uint32_t i = 0; i < texts.size(); ++i) {
    CHECK(table.text(i) == texts[i]);
    CHECK(table.find(texts[i]) == i);
    CHECK(table.add(texts[i]) == i);
    const std::string padded = texts[i] + "12345678";
    CHECK(table.add_padded(std::string_view(padded).substr(0, texts[i].size())) == i);
  }
}

}  // namespace bmad_mem::test::memtable_test
