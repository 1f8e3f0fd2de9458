// checkpoint_damage_test.cpp - an index.json that is damaged in any way leads to the right answer
// or to an error, which the logs make good. Never to a wrong answer.
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "index/damaged_checkpoint.hpp"
#include "index/index_fixture.hpp"

namespace bmad_mem::test::checkpoint_damage_test {

TEST_CASE("an undamaged checkpoint is used, and says what the logs say") {
  Damaged damaged(3);
  CHECK(damaged.good.size() > 4'000);
  CHECK(damaged.problem().empty());
  // Proof that it is the checkpoint that answers: its rows are read when lines are.
  damaged.put(changed_at(damaged.good, damaged.good.find("\"rows\": \"") + 12, 1));
  CHECK(damaged.problem().empty());
  CHECK(damaged.errors == 1);
}

TEST_CASE("every truncation of a checkpoint leads to the right answer") {
  Damaged damaged(3);
  CHECK(damaged.problem_of_truncations() == "");
  CHECK(damaged.errors == 0);  // The length is known at once.
}

TEST_CASE("every changed byte of a checkpoint leads to the right answer or to an error") {
  Damaged damaged(3);
  CHECK(damaged.problem_of_changes(20261122) == "");
  CHECK(damaged.errors > damaged.good.size() / kByteStep / 4);
}

TEST_CASE("any change of some bytes of a checkpoint leads to the right answer or to an error") {
  Damaged damaged(4);
  std::mt19937 random(7);
  for (int sample = 0; sample < 12; ++sample) {
    const std::size_t at = random() % damaged.good.size();
    for (int change = 1; change < 256; ++change) {
      damaged.put(changed_at(damaged.good, at, change));
      const std::string problem = damaged.problem();
      REQUIRE_MESSAGE(problem.empty(), "byte " << at << " ^ " << change << ": " << problem);
    }
  }
}

TEST_CASE("a damaged checkpoint that is written anew by merging hands no damage on") {
  Damaged damaged(7);
  damaged.session.add(message("new", "postgres pools after the damage", "conv-a"));
  damaged.expected = told_from_logs(damaged.session);
  std::mt19937 random(9);
  for (std::size_t at = random() % 7; at < damaged.good.size(); at += 1 + random() % 13) {
    damaged.put(changed_at(damaged.good, at, static_cast<int>(1 + random() % 255)));
    const std::unique_ptr<SessionIndex> writer = damaged.session.index();
    REQUIRE(writer->refresh().has_value());
    const auto written = writer->write_checkpoint();
    REQUIRE_MESSAGE(written.has_value(), "byte " << at << ": " << written.error().to_string());
    const std::string problem = damaged.problem();
    REQUIRE_MESSAGE(problem.empty(), "byte " << at << ": " << problem);
  }
}

TEST_CASE("what is no checkpoint of this session and language falls back to the logs") {
  Damaged damaged(6);
  MemoryFileSystem& files = damaged.session.files;
  const std::string path = IndexedSession::index_file();
  const auto replaced = [&](std::string_view from, std::string_view to) {
    std::string text = damaged.good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  struct Row {
    const char* name;
    std::function<void()> damage;
  };
  const std::vector<Row> rows = {
      {"deleted", [&] { REQUIRE(files.remove(path).has_value()); }},
      {"empty", [&] { damaged.put(""); }},
      {"garbage", [&] { damaged.put(std::string(20'000, '\xA7')); }},
      {"zeros, as a power cut may leave it",
       [&] { damaged.put(std::string(damaged.good.size(), '\0')); }},
      {"zeros from its middle on",
       [&] {
         std::string text = damaged.good;
         std::fill(text.begin() + static_cast<std::ptrdiff_t>(text.size() / 2), text.end(), '\0');
         damaged.put(text);
       }},
      {"other JSON", [&] { damaged.put("{}\n"); }},
      {"twice the same", [&] { damaged.put(damaged.good + damaged.good); }},
      {"another version", [&] { damaged.put(replaced("\"version\": 2", "\"version\": 3")); }},
      {"the specification's version",
       [&] { damaged.put(replaced("\"version\": 2", "\"version\": 1")); }},
      {"a folder",
       [&] {
         static_cast<void>(files.remove(path));
         REQUIRE(files.make_directory(path).has_value());
       }},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    row.damage();
    CHECK(damaged.problem() == "");
    static_cast<void>(files.remove_directory(path));
  }
}

TEST_CASE("a symbolic link in the place of a checkpoint is not followed, and the logs answer") {
  Damaged damaged(6);
  REQUIRE(damaged.session.files.remove(IndexedSession::index_file()).has_value());
  damaged.session.files.make_other(IndexedSession::index_file());
  CHECK(damaged.problem() == "");
}

TEST_CASE("the checkpoint of another session is not believed") {
  Damaged damaged(6);
  damaged.session.files.make_folders("sessions/sess-2");
  for (const EntryType type : kEntryTypes) {
    const std::string log = entry_type_info(type).log_file.data();
    if (damaged.session.files.info(IndexedSession::log(type))) {
      damaged.session.files.write("sessions/sess-2/" + log,
                                  damaged.session.files.read(IndexedSession::log(type)));
    }
  }
  damaged.session.add(fact("only-1", "in the first session"));
  damaged.session.checkpoint();
  damaged.session.files.write("sessions/sess-2/index.json",
                              damaged.session.files.read(IndexedSession::index_file()));
  const std::unique_ptr<SessionIndex> index = damaged.session.index("sess-2");
  REQUIRE(index->refresh().has_value());
  CHECK(first_difference(told(*index).value(), damaged.expected) == "");
}

TEST_CASE("a checkpoint of another language is not believed: its stems are others") {
  IndexedSession session;
  session.add(fact("f", "running databases"));
  session.checkpoint();
  const std::unique_ptr<SessionIndex> german = session.index(kSession, "german");
  REQUIRE(german->refresh().has_value());
  CHECK(german->postings(PostingKind::kTerm, "run")->empty());
  const std::unique_ptr<SessionIndex> english = session.index();
  REQUIRE(english->refresh().has_value());
  CHECK(english->postings(PostingKind::kTerm, "run")->size() == 1);
  CHECK(checkpointed_bytes(session.files, std::string(kSession), "english") > 0);
  CHECK(checkpointed_bytes(session.files, std::string(kSession), "german") == 0);
}

}  // namespace bmad_mem::test::checkpoint_damage_test
