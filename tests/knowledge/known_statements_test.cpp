// known_statements_test.cpp - what is known by the index is what all lines of all logs say, for
// whatever mix of segments, logs that grew, edits, archives and damage.
#include "knowledge/known_statements.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bmad_mem/clock.hpp"
#include "knowledge/knowledge_store.hpp"
#include "lifecycle/maintenance.hpp"
#include "operations/rooms.hpp"
#include "search/cached_indexes.hpp"
#include "search/reads.hpp"
#include "store/access.hpp"
#include "store/layout.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"
#include "support/faulty_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::known_statements_test {
namespace {

using Lines = std::vector<std::string>;

/// "" when they are the same.
std::string first_difference(const Lines& got, const Lines& right) {
  for (std::size_t i = 0; i < std::max(got.size(), right.size()); ++i) {
    const std::string one = i < got.size() ? got[i] : "nothing";
    const std::string other = i < right.size() ? right[i] : "nothing";
    if (one != other) {
      return one + "\n  should be\n" + other;
    }
  }
  return "";
}

std::string time_text(Timestamp time) { return format_rfc3339(time); }

std::string told_of(const KnowledgeVersion& version) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {}", version.session_id,
                     static_cast<int>(version.type), version.id, version.value, version.agent_id,
                     version.confidence, version.trust, version.source_kind, time_text(version.at),
                     static_cast<int>(version.review), version.holds);
}

std::string told_of(const KnowledgeItem& item) {
  std::string told = fmt::format(
      "{}/{} = {} by {} {} {} {} {} {} {}x {:.12f} {} {} {} {} {} {} {} {} {} {}",
      category_name(item.category), item.key, item.value, item.agent_id, item.confidence,
      item.trust, item.source_kind, time_text(item.created_at), time_text(item.updated_at),
      item.access_count, item.score, item.session_id, static_cast<int>(item.type), item.id,
      fmt::join(item.tags, "|"), fmt::join(item.learned_from, "|"), item.pinned, item.sensitive,
      static_cast<int>(item.review), item.contradicted, item.json);
  for (const KnowledgeVersion& version : item.chain) {
    told += "\n  " + told_of(version);
  }
  return told;
}

Lines told_of(const std::vector<KnowledgeItem>& items) {
  Lines lines;
  for (const KnowledgeItem& item : items) {
    lines.push_back(told_of(item));
  }
  return lines;
}

Lines told_of(const Context& context) {
  Lines lines{context.markdown};
  for (const ContextOmission& each : context.omitted) {
    lines.push_back(fmt::format("{} {} {}", each.session_id, each.id, each.why));
  }
  return lines;
}

/// A memory that states things at random.
class Memory : public MemoryFixture {
 public:
  explicit Memory(std::uint32_t seed) : random_(seed) {
    reopen_as_always();
    clock.advance(std::chrono::days(30));  // What is stated below is of the past.
    for (const char* id : {"s1", "s2", "s3"}) {
      session(id);
    }
  }

  std::uint32_t below(std::uint32_t limit) {
    return std::uniform_int_distribution<std::uint32_t>(0, limit - 1)(random_);
  }

  /// Every question encrypts what is new.
  void reopen_as_always() { REQUIRE(reopen(OpenOptions{})); }
  Store& store() { return *MemoryInside::enter(**this, "recall").value(); }
  void encrypt() {
    clock.advance(std::chrono::hours(1));
    flush_index(store(), FlushWhen::kAny);
  }

  std::string pick(std::initializer_list<const char*> texts) {
    return texts.begin()[below(static_cast<std::uint32_t>(texts.size()))];
  }

  void state(const std::string& session_id) {
    const bool is_wish = below(4) == 0;
    std::string line = fmt::format(R"({{"id":"k{}","timestamp":"2026-01-{:02}T10:00:0{}Z")",
                                   below(40), 1 + below(9), below(3));
    const auto maybe = [&](std::uint32_t one_in, const std::string& member) {
      line += below(one_in) == 0 ? "," + member : "";
    };
    maybe(3, fmt::format(R"("updated_at":"2026-01-1{}T10:00:00Z")", below(3)));
    maybe(2, fmt::format(R"("category":"{}")", pick({"constraint", "architecture", "style",
                                                     "user_preference", "pattern", "odd"})));
    maybe(2, fmt::format(R"("agent_id":"{}")", pick({"MARS", "VENUS"})));
    maybe(2, fmt::format(R"("confidence":0.{})", 5 + below(5)));
    maybe(4, fmt::format(R"("source":{{"kind":"web","trust":0.{}}})", below(9)));
    maybe(5, fmt::format(R"("review":"{}")", pick({"candidate", "accepted", "dropped"})));
    maybe(6, R"("pinned":true)");
    maybe(8, R"("sensitive":true)");
    maybe(5, R"("tags":["money"])");
    const std::string value = fmt::format("rule {} holds", below(5));
    if (is_wish) {
      line += fmt::format(R"(,"key":"k{}","value":{})", below(5),
                          below(3) == 0 ? R"({"a": 1})" : "\"" + value + "\"");
    } else {
      maybe(2, fmt::format(R"("key":"k{}")", below(5)));
      line += fmt::format(R"(,"content":"{}")", value);
    }
    add_raw(is_wish ? EntryType::kPreference : EntryType::kFact, line + "}", session_id);
  }

  void add_raw(EntryType type, const std::string& line, const std::string& session_id) {
    const std::string_view view = line;
    const Result<BatchReport> added = add_lines(store(), session_id, type, {&view, 1}, {});
    REQUIRE_MESSAGE(added, added.error().to_string());
  }

  /// Something that may happen to a memory.
  void happen(bool compacts = true) {
    const std::string id = fmt::format("s{}", 1 + below(3));
    switch (below(compacts ? 9 : 8)) {
      case 0:
        encrypt();
        break;
      case 1:
        reopen_as_always();
        break;
      case 2:
        (void)manager().archive_session(id);
        break;
      case 3:
        (void)manager().restore_session(id);
        break;
      case 4:
        clock.advance(std::chrono::hours(1));
        break;
      case 5: {  // A hand edit of the same size.
        std::string log = read(EntryType::kFact, id);
        if (const std::size_t at = log.find("rule 1"); at != std::string::npos) {
          log[at + 5] = '4';
          write(EntryType::kFact, log, id);
        }
        break;
      }
      case 8:
        (void)compact_session(store(), id, {});
        break;
      default:
        for (std::uint32_t i = below(12); i > 0; --i) {
          if (store().files->info(session_folder(id))) {
            state(id);
          }
        }
    }
  }

  MemoryManager& manager() { return **this; }

  /// As items() with all of them.
  std::vector<KnowledgeItem> by_index(std::vector<std::string> sessions = {},
                                      const ChosenIndexes* chosen = nullptr) {
    KnownStatements known(store(), sessions);
    REQUIRE((chosen == nullptr || known.gather(chosen)));
    Result<std::vector<KnowledgeItem>> items = known.items([&] {
      std::vector<std::size_t> all(known.outlines().size());
      std::iota(all.begin(), all.end(), std::size_t{0});
      return all;
    });
    REQUIRE_MESSAGE(items, items.error().to_string());
    return *std::move(items);
  }
  std::vector<KnowledgeItem> by_logs(std::vector<std::string> sessions = {}) {
    return all_knowledge(store(), sessions).value();
  }

  /// Each outline says what its item says.
  void check_outlines() {
    KnownStatements known(store(), {});
    REQUIRE(known.gather());
    for (std::size_t i = 0; i < known.outlines().size(); ++i) {
      const std::vector<KnowledgeItem> items =
          known.items([&] { return std::vector<std::size_t>{i}; }).value();
      REQUIRE(items.size() == 1);
      const KnowledgeItem& item = items.front();
      const ItemOutline& outline = known.outlines()[i];
      CAPTURE(told_of(item));
      CHECK(outline.category == item.category);
      CHECK(outline.type == item.type);
      CHECK(known.session_id(outline.session) == item.session_id);
      CHECK(outline.review == item.review);
      CHECK(outline.pinned == item.pinned);
      CHECK(outline.sensitive == item.sensitive);
      CHECK(outline.contradicted == item.contradicted);
      CHECK(outline.confidence == item.confidence);
      CHECK(outline.trust == item.trust);
      CHECK(outline.updated_at == item.updated_at);
      CHECK(outline.key_hash == outline_hash(item.key));
      CHECK(outline.agent_hash == outline_hash(item.agent_id));
      CHECK(outline.value_hash == outline_hash(item.value));
      CHECK(outline.chain.size() == item.chain.size());
    }
  }

 private:
  std::mt19937 random_;
};

/// The answer of those who read all lines: what was known just now.
RecallOptions by_logs(RecallOptions options, const Memory& memory) {
  options.as_of = memory.clock.now();
  return options;
}

}  // namespace

TEST_CASE("what is known by the index is what the lines of all logs say, whatever happens") {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    Memory memory(seed);
    for (int i = 0; i < 40; ++i) {
      CAPTURE(i);
      memory.happen();
      const Lines right = told_of(memory.by_logs());
      const Result<ChosenIndexes> chosen =
          chosen_indexes(memory.store(), {}, EvictedEntries::kWithout);
      REQUIRE(chosen);
      REQUIRE(first_difference(told_of(memory.by_index({}, &*chosen)), right) == "");
      REQUIRE(first_difference(told_of(memory.by_index()), right) == "");
    }
    memory.check_outlines();
    CHECK(first_difference(told_of(memory.by_index({"s1"})), told_of(memory.by_logs({"s1"}))) ==
          "");
    CHECK(first_difference(told_of(memory.by_index({"s3", "s2", "s3"})),
                           told_of(memory.by_logs({"s2", "s3"}))) == "");
  }
}

TEST_CASE("what is recalled and told is the same as from all lines") {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    Memory memory(100 + seed);
    for (int i = 0; i < 60; ++i) {
      memory.happen(/*compacts=*/false);  // What was evicted counted then.
    }
    memory.encrypt();
    Knowledge knowledge(memory.manager());
    (void)knowledge.recall({.limit = 3}).value();  // Accesses.
    memory.reopen_as_always();
    knowledge = Knowledge(memory.manager());
    for (const std::size_t limit : {0U, 1U, 4U, 20U}) {
      for (const RecallOptions& each :
           {RecallOptions{}, RecallOptions{.category = Category::kConstraint},
            RecallOptions{.agent_id = "MARS"}, RecallOptions{.key = "k2"},
            RecallOptions{.min_confidence = 0.9}, RecallOptions{.contradicted_only = true},
            RecallOptions{.without_sensitive = true}, RecallOptions{.sessions = {"s1", "s2"}}}) {
        RecallOptions options = each;
        options.limit = limit;
        options.note_accesses = false;
        CHECK(first_difference(told_of(knowledge.recall(options).value()),
                               told_of(knowledge.recall(by_logs(options, memory)).value())) == "");
      }
    }
    for (const ContextOptions& each :
         {ContextOptions{}, ContextOptions{.agent_id = "MARS", .task = "rule 3"},
          ContextOptions{.task = "holds", .max_tokens = 60}, ContextOptions{.sessions = {"s2"}}}) {
      ContextOptions then = each;
      then.as_of = memory.clock.now();
      CHECK(first_difference(told_of(knowledge.context(each).value()),
                             told_of(knowledge.context(then).value())) == "");
    }
  }
}

TEST_CASE("a context that finds the same thing said often reads on until it has enough") {
  Memory memory(7);
  const auto many = [&](const char* name, const char* member, int count, EntryType type) {
    for (int i = 0; i < count; ++i) {
      memory.add_raw(
          type,
          fmt::format(R"({{"id":"{0}{1}","timestamp":"2026-01-02T10:00:00Z","key":"{0}{1}",)"
                      R"("{2}":"the same {0} {3}","confidence":{4},"agent_id":"MARS",{5}}})",
                      name, i, type == EntryType::kFact ? "content" : "value",
                      i < count - 3 ? 0 : i, i < count - 3 ? 0.9 : 0.85, member),
          "s1");
    }
  };
  many("pin", R"("pinned":true)", 70, EntryType::kFact);
  many("rule", R"("category":"constraint")", 90, EntryType::kFact);
  many("wish", R"("category":"style")", 200, EntryType::kPreference);
  many("way", R"("category":"pattern")", 50, EntryType::kFact);
  for (int i = 0; i < 2; ++i) {
    for (const char* agent : {"", "MARS"}) {
      const ContextOptions options{.agent_id = agent, .max_tokens = 2000};
      ContextOptions then = options;
      then.as_of = memory.clock.now();
      const Context context = Knowledge(memory.manager()).context(options).value();
      CHECK_FALSE(context.items.empty());
      CHECK(first_difference(told_of(context),
                             told_of(Knowledge(memory.manager()).context(then).value())) == "");
    }
    memory.encrypt();
  }
}

namespace {

/// A store on a disk in memory, whose calls are noted.
struct Process {
  std::unique_ptr<Store> store;
  FaultyFileSystem* files = nullptr;
};

struct Disk {
  Disk() { disk.make_folders(kSessionsFolder); }

  Process open() {
    auto files = std::make_unique<FaultyFileSystem>(disk);
    Process process{.store = std::make_unique<Store>(clock, all_rooms()), .files = files.get()};
    process.store->files = std::move(files);
    process.store->lock_timeout = std::chrono::milliseconds(1000);
    process.store->notes_accesses = false;
    return process;
  }
  void state(Store& store, const std::string& session, int number, const std::string& more = {}) {
    const std::string line = fmt::format(
        R"({{"id":"{}-{}","timestamp":"2026-01-{:02}T10:00:00Z","category":"constraint",)"
        R"("key":"{}{}","content":"rule {}{}","confidence":0.9}})",
        session, number, 1 + number, session, number, number, more);
    const std::string_view view = line;
    REQUIRE(add_lines(store, session, EntryType::kFact, {&view, 1}, {}));
  }
  void encrypt(Store& store) {
    clock.advance(std::chrono::hours(1));
    flush_index(store, FlushWhen::kAny);
    REQUIRE(disk.info(kIndexCurrentFile));
  }
  /// Opens of logs of facts and preferences, and reads of them.
  static Lines calls_on_logs(const Process& process) {
    Lines calls = process.files->log();
    std::erase_if(calls, [](const std::string& call) {
      return (!call.starts_with("open ") && !call.starts_with("read_at ")) ||
             (!call.contains("facts.jsonl") && !call.contains("preferences.jsonl"));
    });
    return calls;
  }

  MemoryFileSystem disk;
  ManualClock clock;
};

/// Whether a call read of a log, and from where on.
bool is_read(const std::string& call) { return call.starts_with("read_at "); }
std::uint64_t offset_of(const std::string& call) {
  return std::stoull(call.substr(call.rfind(' ') + 1));
}

}  // namespace

TEST_CASE("the sessions that somebody has chosen are not looked at again") {
  Disk disk;
  for (const std::string id : {"s1", "s2", "s3"}) {
    const Process process = disk.open();
    REQUIRE(create_session(*process.store, {.session_id = id}));
    disk.state(*process.store, id, 1);
    disk.encrypt(*process.store);
  }
  const Process process = disk.open();
  const Result<ChosenIndexes> chosen = chosen_indexes(*process.store, {});
  REQUIRE(chosen);
  process.files->clear_log();
  KnownStatements known(*process.store, {});
  REQUIRE(known.gather(&*chosen));
  CHECK(known.outlines().size() == 3);
  for (const std::string& call : process.files->log()) {
    CHECK_MESSAGE(call.starts_with("read_at index/"), call);
  }
  REQUIRE(known.gather());
  CHECK(known.outlines().size() == 3);
}

TEST_CASE("of what is encrypted only the lines that somebody wants are read") {
  Disk disk;
  {
    const Process process = disk.open();
    for (const std::string id : {"s1", "s2", "s3"}) {
      REQUIRE(create_session(*process.store, {.session_id = id}));
      for (int i = 0; i < 5; ++i) {
        disk.state(*process.store, id, i);
      }
    }
    disk.encrypt(*process.store);
    REQUIRE(archive_session(*process.store, "s3"));
  }
  const Process process = disk.open();
  KnownStatements known(*process.store, {});
  REQUIRE(known.gather());
  CHECK(known.outlines().size() == 15);
  CHECK(Disk::calls_on_logs(process).empty());
  const auto items = known.items([&] {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < known.outlines().size(); ++i) {
      if (known.outlines()[i].key_hash == outline_hash("s24")) {
        chosen.push_back(i);
      }
    }
    return chosen;
  });
  REQUIRE(items);
  REQUIRE(items->size() == 1);
  CHECK(items->front().value == "rule 4");
  CHECK(Disk::calls_on_logs(process).size() == 2);  // One open, one read.
}

TEST_CASE("of a log that grew only what is new is read") {
  Disk disk;
  disk.disk.let_times_be_set();
  const Process writer = disk.open();
  REQUIRE(create_session(*writer.store, {.session_id = "s1"}));
  for (int i = 0; i < 20; ++i) {  // Below 16 KiB a log is hashed as quickly as a stamp is read.
    disk.state(*writer.store, "s1", i, std::string(1024, 'x'));
  }
  disk.encrypt(*writer.store);
  const std::uint64_t covered =
      disk.disk.info(session_file("s1", entry_type_info(EntryType::kFact).log_file)).value().size;
  disk.state(*writer.store, "s1", 20);
  const Process process = disk.open();
  KnownStatements known(*process.store, {});
  REQUIRE(known.gather());
  CHECK(known.outlines().size() == 21);
  const Lines calls = Disk::calls_on_logs(process);
  CHECK(std::ranges::any_of(calls, is_read));
  for (const std::string& call : calls) {
    CAPTURE(call);
    CHECK((!is_read(call) || offset_of(call) >= covered));
  }
}

TEST_CASE("entries that a segment has are counted without a look into their logs") {
  Disk disk;
  const Process writer = disk.open();
  REQUIRE(create_session(*writer.store, {.session_id = "s1"}));
  for (int i = 0; i < 5; ++i) {
    disk.state(*writer.store, "s1", i);
  }
  disk.encrypt(*writer.store);
  const Process process = disk.open();
  CHECK(count_session(*process.store, "s1").value().entries() == 5);
  CHECK(Disk::calls_on_logs(process).empty());
}

TEST_CASE("statements that changed in a segment, or lines that are not there, cost no answer") {
  Disk disk;
  const Process writer = disk.open();
  REQUIRE(create_session(*writer.store, {.session_id = "s1"}));
  for (int i = 0; i < 5; ++i) {
    disk.state(*writer.store, "s1", i);
  }
  disk.encrypt(*writer.store);
  const auto ask = [&](const Process& process) {
    KnownStatements known(*process.store, {});
    REQUIRE(known.gather());
    return told_of(known
                       .items([&] {
                         std::vector<std::size_t> all(known.outlines().size());
                         std::iota(all.begin(), all.end(), std::size_t{0});
                         return all;
                       })
                       .value());
  };
  const Lines right = told_of(all_knowledge(*writer.store, {}).value());
  REQUIRE(right.size() == 5);
  SUBCASE("a byte changed") {
    const std::string path = "index/1.seg";
    const std::string bytes = disk.disk.read(path);
    for (std::size_t i = 0; i < bytes.size(); i += 7) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ 4);
      disk.disk.write(path, changed);
      REQUIRE_MESSAGE(first_difference(ask(disk.open()), right) == "", i);
    }
  }
  SUBCASE("the log is another one between the look and the lines") {
    const Process process = disk.open();
    KnownStatements known(*process.store, {});
    REQUIRE(known.gather());
    const std::string path = session_file("s1", "facts.jsonl");
    std::string log = disk.disk.read(path);
    log[log.find("rule 3") + 5] = '9';
    disk.disk.write(path, log.substr(0, log.find("s1-4") - 7));
    const auto items = known.items([&] {
      std::vector<std::size_t> all(known.outlines().size());
      std::iota(all.begin(), all.end(), std::size_t{0});
      return all;
    });
    REQUIRE(items);
    CHECK(items->size() == 4);
    CHECK(items->back().value == "rule 9");
  }
}

}  // namespace bmad_mem::test::known_statements_test
