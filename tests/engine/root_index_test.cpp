// root_index_test.cpp - the index of the whole memory costs time at most, whatever becomes of it:
// every question is answered as without one, and what was purged is in no byte of it.
#include "engine/root_index.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bmad_mem/entry_type.hpp"
#include "core/hash.hpp"
#include "engine/memory_fixture.hpp"
#include "engine/store.hpp"
#include "storage/file_lock.hpp"
#include "storage/layout.hpp"
#include "support/faulty_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::root_index_test {
namespace {

using Lines = std::vector<std::string>;

/// Stands first of its letter in a dictionary, so that it is there as a whole.
constexpr const char* kDoomed = "qxvunspoken";

/// A root that was opened, and its disk.
struct Process {
  std::unique_ptr<Store> store;
  FaultyFileSystem* files = nullptr;

  Store& operator*() const { return *store; }
};

template <typename T>
void expect(const T& result) {
  if (!result) {
    FAIL(result.error().to_string());
  }
}

/// What a store answers to many questions.
Lines answers(const Store& store) {
  Lines lines;
  const auto note = [&](const std::string& question, const Hit& hit) {
    lines.push_back(fmt::format("{}: {} {} {:.6f} {} {}", question, hit.entry.session_id,
                                hit.entry.id, hit.relevance, hit.entry.archived, hit.entry.json));
  };
  for (const char* text :
       {"common", "alpha", "be*", "+common -alpha", "type:fact gamma", "\"common alpha\"",
        "session:s1 common", "gamna~", "is:pinned", "archived:only common", kDoomed, "tail"}) {
    const Result<QueryAnswer> answer = answer_query(store, {.text = text, .filter = {.limit = 0}});
    if (!answer) {
      lines.push_back(fmt::format("{}: {}", text, error_code_name(answer.error().code)));
      continue;
    }
    for (const Hit& hit : answer->hits) {
      note(text, hit);
    }
  }
  for (const TopicCount& each : list_topics(store, {}).value()) {
    lines.push_back(fmt::format("topic {} {}", each.topic, each.entries));
  }
  for (const TimelineBucket& each : list_times(store, {}, TimelineUnit::kMonth).value()) {
    lines.push_back(fmt::format("time {}", each.total()));
  }
  return lines;
}

/// The answers of only one of two.
std::string difference(const Lines& got, const Lines& right) {
  std::string lines;
  for (const std::string& line : got) {
    lines += std::ranges::find(right, line) == right.end() ? "\n+ " + line : "";
  }
  for (const std::string& line : right) {
    lines += std::ranges::find(got, line) == got.end() ? "\n- " + line : "";
  }
  return lines.empty() && got != right ? "another order" : lines;
}

/// Some sessions on a disk in memory. Every query takes what is new into the index.
class Memory {
 public:
  Memory() {
    disk.make_folders(kSessionsFolder);
    Process process = open();
    for (const std::string id : {"s1", "s2", "s3"}) {
      expect(create_session(*process, {.session_id = id}));
      for (int i = 0; i < 4; ++i) {
        add(*process, id, fmt::format("{}-{}", id, i), i % 2 == 0 ? "alpha" : "beta gamma");
      }
    }
    settle();
  }

  /// As another process would.
  Process open(bool with_index = true) {
    auto files = std::make_unique<FaultyFileSystem>(disk);
    Process process{.store = std::make_unique<Store>(clock), .files = files.get()};
    process.store->files = std::move(files);
    process.store->lock_timeout = std::chrono::milliseconds(1000);
    process.store->notes_accesses = false;
    process.store->config.privacy.deleted_retention_days = 30;
    process.store->config.indexing.enabled = with_index;
    process.store->config.indexing.rebuild_threshold_writes = 1;
    return process;
  }

  void add(Store& store, const std::string& session, const std::string& id,
           const std::string& text) {
    const std::string line = fmt::format(
        R"({{"id":"{}","timestamp":"2026-01-11T10:00:00Z","role":"user","agent_id":"Ann",)"
        R"("content":"common {}","context":{{"topic":"t{}","conversation_id":"c1"}},)"
        R"("decay_factor":1.0}})",
        id, text, text.size() % 2);
    const std::string_view view = line;
    expect(add_lines(store, session, EntryType::kConversation, {&view, 1}, {}));
  }

  /// Time passes: what was written can tell by its mtime that it is the same.
  void settle() { clock.advance(std::chrono::hours(1)); }

  Lines right_answers() { return answers(*open(false)); }

  /// A process that comes now, and one that was there before, answer as the logs do.
  void check(const Process* other = nullptr) {
    settle();
    const Lines right = right_answers();
    CHECK(difference(answers(*open()), right) == "");
    if (other != nullptr) {
      CHECK(difference(answers(**other), right) == "");
    }
    settle();
    CHECK(difference(answers(*open()), right_answers()) == "");
  }

  void seal() {
    settle();
    expect(answer_query(*open(), {.text = "common"}));
    REQUIRE(disk.info(kIndexCurrentFile));
  }

  nlohmann::json current() { return nlohmann::json::parse(disk.read(kIndexCurrentFile)); }
  /// Puts `rest` in its place, with the hash that it needs.
  void write_current(nlohmann::json rest) {
    rest.erase("version");
    rest.erase("xxh3");
    const std::string text = rest.dump().substr(1);
    disk.write(kIndexCurrentFile,
               fmt::format("{{\"version\": 1, \"xxh3\": \"{}\",\n{}", hash_hex(xxh3(text)), text));
  }

  Lines segment_files() {
    Lines names = disk.list(kIndexFolder).value();
    std::erase_if(names, [&](const std::string& name) {
      return !name.ends_with(".seg") ||
             disk.info(fmt::format("index/{}", name))->kind == FileKind::kDirectory;
    });
    std::ranges::sort(names);
    return names;
  }
  Lines named_segments() {
    Lines names;
    const nlohmann::json all = current();
    for (const auto& each : all["segments"].items()) {
      names.push_back(each.key());
    }
    std::ranges::sort(names);
    return names;
  }
  void check_tidy() {
    CHECK(segment_files() == named_segments());
    CHECK(named_segments().size() <= 8);
  }

  std::string log(const std::string& session) {
    return session_file(session, entry_type_info(EntryType::kConversation).log_file);
  }

  /// Files below `folder` with their bytes.
  std::vector<std::pair<std::string, std::string>> files(const std::string& folder) {
    std::vector<std::pair<std::string, std::string>> all;
    for (const std::string& name : disk.list(folder).value()) {
      const std::string path = folder.empty() ? name : folder + "/" + name;
      const FileKind kind = disk.info(path).value().kind;
      if (kind == FileKind::kDirectory) {
        std::ranges::move(files(path), std::back_inserter(all));
      } else if (kind == FileKind::kRegular) {
        all.emplace_back(path, disk.read(path));
      }
    }
    return all;
  }
  void remove_folder(const std::string& folder) {
    for (const std::string& name : disk.list(folder).value()) {
      const std::string path = folder + "/" + name;
      if (disk.info(path).value().kind == FileKind::kDirectory) {
        remove_folder(path);
      } else {
        expect(disk.remove(path));
      }
    }
    expect(disk.remove_directory(folder));
  }
  void put_back(const std::vector<std::pair<std::string, std::string>>& files,
                const std::string& folder) {
    if (disk.info(folder)) {
      remove_folder(folder);
    }
    disk.make_folders(folder);
    for (const auto& [path, bytes] : files) {
      disk.make_folders(path.substr(0, path.rfind('/')));
      disk.write(path, bytes);
    }
  }

  /// Files of the index that hold `word`.
  Lines index_files_with(const std::string& word) {
    Lines found;
    for (const auto& [path, bytes] : files(kIndexFolder)) {
      if (bytes.contains(word)) {
        found.push_back(path);
      }
    }
    return found;
  }

  /// The logs that a question, which no entry answers, makes a process open.
  static Lines logs_opened(const Process& process) {
    process.files->clear_log();
    expect(answer_query(*process, {.text = "nosuchword"}));
    Lines opened = process.files->log();
    std::erase_if(opened, [](const std::string& call) {
      return !call.starts_with("open ") || !call.contains(".jsonl");
    });
    return opened;
  }

  MemoryFileSystem disk;
  ManualClock clock;
};

}  // namespace

TEST_CASE("what is sealed answers as the logs do, and no log is opened for it") {
  Memory memory;
  const Lines right = memory.right_answers();
  REQUIRE(right.size() > 20);
  const Process first = memory.open();
  CHECK(difference(answers(*first), right) == "");
  memory.check_tidy();
  CHECK(memory.current()["sessions"].size() == 3);
  CHECK(difference(answers(*first), right) == "");
  const Process second = memory.open();
  CHECK(Memory::logs_opened(second).empty());
  CHECK(difference(answers(*second), right) == "");
  memory.remove_folder(kIndexFolder);
  CHECK(difference(answers(*first), right) == "");
  CHECK(difference(answers(*memory.open()), right) == "");
}

TEST_CASE("whatever becomes of logs and sessions is seen by the next question") {
  Memory memory;
  memory.seal();
  const Process held = memory.open();
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  const std::string log = memory.log("s2");
  const std::string before = memory.disk.read(log);
  SUBCASE("an append") { memory.add(*memory.open(), "s2", "new", "alpha tail"); }
  SUBCASE("a hand edit of the same size") {
    std::string bytes = before;
    bytes.replace(bytes.find("alpha"), 5, "gamma");
    memory.disk.write(log, bytes);
  }
  SUBCASE("a truncation") { memory.disk.write(log, before.substr(0, before.find('\n') + 1)); }
  SUBCASE("a truncation within a line") { memory.disk.write(log, before.substr(0, 250)); }
  SUBCASE("a log that is emptied") { memory.disk.write(log, ""); }
  SUBCASE("a log that is removed") { expect(memory.disk.remove(log)); }
  SUBCASE("a log of another type") {
    memory.disk.write(session_file("s2", "facts.jsonl"),
                      MemoryFixture::fact("f1", "common gamma") + "\n");
  }
  SUBCASE("the first line of a log that was empty") {
    REQUIRE(memory.disk.info(session_file("s2", "decisions.jsonl"))->size == 0);
    memory.disk.write(session_file("s2", "decisions.jsonl"),
                      R"({"id":"d1","timestamp":"2026-01-11T10:00:00Z","decision":"common gamma",)"
                      R"("made_by":"Ann"})"
                      "\n");
  }
  SUBCASE("a log in place of another") {
    memory.disk.write(log + ".other", memory.disk.read(memory.log("s1")));
    expect(memory.disk.rename(log + ".other", log));
  }
  SUBCASE("a session that is removed") { memory.remove_folder(session_folder("s2")); }
  SUBCASE("a session that is something else") {
    memory.remove_folder(session_folder("s2"));
    memory.disk.make_other(session_folder("s2"));
  }
  SUBCASE("sessions that change places") {
    expect(memory.disk.rename(session_folder("s1"), session_folder("s4")));
    expect(memory.disk.rename(session_folder("s2"), session_folder("s1")));
    expect(memory.disk.rename(session_folder("s4"), session_folder("s2")));
  }
  SUBCASE("a session that comes") {
    expect(create_session(*memory.open(), {.session_id = "s0"}));
    memory.add(*memory.open(), "s0", "new", "alpha tail");
  }
  memory.check(&held);
  memory.check_tidy();
  if (memory.disk.info(log)) {
    memory.disk.write(log, before);  // And back.
    memory.check(&held);
  }
}

TEST_CASE("a torn end that becomes a line of the same size is found") {
  Memory memory;
  const std::string log = memory.log("s1");
  const std::string before = memory.disk.read(log);
  std::string line = before.substr(0, before.find('\n') + 1);
  line.replace(line.find("s1-0"), 4, "tail");
  memory.disk.write(log, before + std::string(line.size(), '{'));
  memory.seal();
  const Process held = memory.open();
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  memory.disk.write(log, before + line);
  memory.check(&held);
}

TEST_CASE("sessions that change size back and forth are as they are now") {
  Memory memory;
  const Process held = memory.open();
  const std::string log = memory.log("s1");
  const std::string before = memory.disk.read(log);
  std::string other = before;
  other.replace(other.find("alpha"), 5, "gamma");
  for (int i = 0; i < 6; ++i) {
    memory.disk.write(log, i % 2 == 0 ? before : other);
    memory.add(*memory.open(), "s2", fmt::format("n{}", i), "tail");
    memory.check(&held);
  }
  memory.check_tidy();
}

TEST_CASE("a copy is hashed once") {
  Memory memory;
  memory.seal();
  memory.seal();
  Memory copy;
  for (const char* folder : {kSessionsFolder, kIndexFolder}) {
    copy.put_back(memory.files(folder), folder);
  }
  copy.settle();
  const Process first = copy.open();
  const Lines opened = Memory::logs_opened(first);
  CHECK(opened.size() == 3);
  CHECK(Memory::logs_opened(first).empty());
  CHECK(Memory::logs_opened(copy.open()).empty());
  copy.check(&first);
  copy.check_tidy();
}

namespace {

/// A memory with a session that has grown since a segment knew of it.
class GrownMemory : public Memory {
 public:
  explicit GrownMemory(bool with_stamps) {
    if (with_stamps) {
      disk.let_times_be_set();
    }
    const Process process = open();
    for (int i = 0; i < 60; ++i) {
      add(*process, "s2", fmt::format("long-{}", i), "alpha " + std::string(300, 'x'));
    }
    seal();
    REQUIRE(disk.info(log("s2"))->size > 16U << 10U);
    grow();
  }

  void grow() { add(*open(), "s2", fmt::format("grown-{}", ++grown_), "alpha tail"); }

  /// A process that takes nothing into the segments.
  Process reader() {
    Process process = open();
    process.store->config.indexing.rebuild_threshold_writes = 1000;
    return process;
  }

  /// Whether a question, which no entry answers, makes it hash what a segment knows, from its first
  /// byte on. The last line of each conversation is read to go on with it.
  bool hashes_what_is_known(const Process& process) {
    process.files->clear_log();
    expect(answer_query(*process, {.text = "nosuchword"}));
    const Lines calls = process.files->log();
    return std::ranges::find(calls, fmt::format("read_at {} 0", log("s2"))) != calls.end();
  }

 private:
  int grown_ = 0;
};

}  // namespace

TEST_CASE("a process that comes hashes nothing of a log to which our writers appended") {
  GrownMemory memory(true);
  const Process held = memory.reader();
  CHECK_FALSE(memory.hashes_what_is_known(held));
  memory.grow();
  CHECK_FALSE(memory.hashes_what_is_known(held));
  CHECK_FALSE(memory.hashes_what_is_known(memory.reader()));
  memory.check(&held);  // Takes it into a segment.
  memory.grow();
  CHECK_FALSE(memory.hashes_what_is_known(memory.reader()));
  std::string bytes = memory.disk.read(memory.log("s2"));
  bytes.replace(bytes.find("alpha"), 5, "gamma");
  memory.disk.write(memory.log("s2"), bytes);
  CHECK(memory.hashes_what_is_known(memory.reader()));
  memory.check(&held);
}

TEST_CASE("what is sealed right after an append is not hashed by those who come") {
  GrownMemory memory(true);
  expect(answer_query(*memory.open(), {.text = "common"}));
  const std::string chain = memory.current()["sessions"]["s2"]["logs"]["conversation"]["chain"];
  CHECK(chain.size() == 16);
  CHECK_FALSE(memory.hashes_what_is_known(memory.reader()));
}

TEST_CASE("a session that has grown is hashed once in a copy, stamped or not") {
  for (const bool with_stamps : {false, true}) {
    CAPTURE(with_stamps);
    GrownMemory memory(with_stamps);
    GrownMemory copy(with_stamps);
    for (const char* folder : {kSessionsFolder, kIndexFolder}) {
      copy.put_back(memory.files(folder), folder);
    }
    copy.settle();
    const Process first = copy.reader();
    CHECK(copy.hashes_what_is_known(first));
    CHECK_FALSE(copy.hashes_what_is_known(first));
    CHECK_FALSE(copy.hashes_what_is_known(copy.reader()));
    copy.grow();
    copy.settle();
    CHECK(copy.hashes_what_is_known(copy.reader()));  // Its first stamp, or none.
    CHECK_FALSE(copy.hashes_what_is_known(copy.reader()));
    copy.grow();
    copy.settle();
    CHECK(copy.hashes_what_is_known(copy.reader()) == !with_stamps);
    std::string bytes = copy.disk.read(copy.log("s2"));
    bytes.replace(bytes.find("alpha"), 5, "gamma");
    copy.disk.write(copy.log("s2"), bytes);
    copy.check(&first);
    copy.check_tidy();
  }
}

TEST_CASE("a session that is asked alone in a copy is hashed once") {
  GrownMemory memory(false);
  memory.seal();
  for (int i = 0; i < 12; ++i) {
    const std::string id = fmt::format("other-{}", i);
    expect(create_session(*memory.open(), {.session_id = id}));
    memory.add(*memory.open(), id, "one", "alpha");
  }
  memory.seal();
  memory.disk.write(memory.log("s2"), memory.disk.read(memory.log("s2")));
  memory.settle();
  const Query query = {.text = "nosuchword", .filter = {.sessions = {"s2"}}};
  for (const bool expected : {true, false}) {
    const Process process = memory.reader();
    expect(answer_query(*process, query));
    const Lines calls = process.files->log();
    const std::string call = fmt::format("read_at {} ", memory.log("s2"));
    CHECK(std::ranges::any_of(
              calls, [&](const std::string& each) { return each.starts_with(call); }) == expected);
  }
}

TEST_CASE("a CURRENT of a version without hashes of lines and chains still serves") {
  Memory memory;
  memory.seal();
  nlohmann::json all = memory.current();
  for (auto& session : all["sessions"]) {
    for (auto& log : session["logs"]) {
      log.erase("lines_xxh3");
      log.erase("chain");
      log["xxh3"] = "0123456789abcdef";
    }
  }
  memory.write_current(all);
  CHECK(Memory::logs_opened(memory.open()).empty());
  memory.add(*memory.open(), "s2", "new", "alpha tail");
  memory.check();
}

TEST_CASE("a CURRENT that was cut or changed costs no answer") {
  Memory memory;
  memory.seal();
  const auto index = memory.files(kIndexFolder);
  const std::string current = memory.disk.read(kIndexCurrentFile);
  const Lines right = memory.right_answers();
  const Process held = memory.open();
  CHECK(difference(answers(*held), right) == "");
  for (std::size_t at = 0; at < current.size(); at += 29) {
    CAPTURE(at);
    memory.put_back(index, kIndexFolder);
    memory.disk.write(kIndexCurrentFile, current.substr(0, at));
    REQUIRE(difference(answers(*memory.open()), right) == "");
    for (const char with : {'\n', '"', '9', '}', '\0'}) {
      memory.put_back(index, kIndexFolder);
      std::string changed = current;
      changed[at] = with;
      memory.disk.write(kIndexCurrentFile, changed);
      REQUIRE(difference(answers(*memory.open()), right) == "");
    }
    REQUIRE(difference(answers(*held), right) == "");
  }
  memory.check_tidy();
}

TEST_CASE("a CURRENT that says what is not so costs no answer") {
  Memory memory;
  memory.seal();
  const Process held = memory.open();
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  nlohmann::json current = memory.current();
  SUBCASE("as it is") {
    memory.write_current(current);
    CHECK(Memory::logs_opened(memory.open()).empty());
  }
  SUBCASE("of another version") {
    std::string text = memory.disk.read(kIndexCurrentFile);
    text.replace(text.find("\"version\": 1"), 12, "\"version\": 2");
    memory.disk.write(kIndexCurrentFile, text);
  }
  SUBCASE("of another language") {
    current["language"] = "german";
    memory.write_current(current);
  }
  SUBCASE("segments that are not there") {
    nlohmann::json other = nlohmann::json::object();
    for (const auto& each : current["segments"].items()) {
      other["9" + each.key()] = each.value();
    }
    current["segments"] = other;
    memory.write_current(current);
  }
  SUBCASE("the segment is not there") {
    expect(memory.disk.remove(fmt::format("index/{}", memory.segment_files().at(0))));
  }
  SUBCASE("the segment is a folder") {
    const std::string path = fmt::format("index/{}", memory.segment_files().at(0));
    expect(memory.disk.remove(path));
    memory.disk.make_folders(path);
  }
  SUBCASE("names that lead elsewhere") {
    for (const char* name : {"", "..", "../1.seg", ".", "a\"b.seg", "1.seg\n", "CURRENT"}) {
      current["segments"] = {{name, std::string(16, '0')}};
      memory.write_current(current);
      memory.check(&held);
    }
  }
  SUBCASE("numbers that are none") {
    for (const nlohmann::json& number : {nlohmann::json(-1), nlohmann::json(1ULL << 40U),
                                         nlohmann::json("x"), nlohmann::json(nullptr)}) {
      current = memory.current();
      current["next"] = number;
      current["sessions"]["s1"]["segment"] = number;
      current["sessions"]["s2"]["folder"] = number;
      current["sessions"]["s3"]["logs"] = number;
      memory.write_current(current);
      memory.check(&held);
      memory.check_tidy();
    }
  }
  SUBCASE("a session twice") {
    std::string text = current.dump();
    const std::string s1 = "\"s1\":" + current["sessions"]["s1"].dump();
    text.insert(text.find("\"s1\":"), s1 + ",");
    text = text.substr(text.find("\"language\""));
    const std::string rest =
        fmt::format("\"analyzer\": {},", current["analyzer"].get<int>()) + text;
    memory.disk.write(kIndexCurrentFile, fmt::format("{{\"version\": 1, \"xxh3\": \"{}\",\n{}",
                                                     hash_hex(xxh3(rest)), rest));
  }
  memory.check(&held);
  memory.check_tidy();
}

TEST_CASE("a segment of another memory is not believed") {
  Memory memory;
  memory.seal();
  Memory other;
  std::string log = other.disk.read(other.log("s1"));
  log.replace(log.find("alpha"), 5, "gamma");
  other.disk.write(other.log("s1"), log);
  other.seal();
  REQUIRE(memory.segment_files() == other.segment_files());
  const Process held = memory.open();
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  const std::string path = fmt::format("index/{}", memory.segment_files().at(0));
  REQUIRE(memory.disk.read(path) != other.disk.read(path));
  memory.disk.write(path, other.disk.read(path));
  CHECK(answer_query(*memory.open(), {.text = "+alpha"})->hits.size() == 6);
  memory.check(&held);
}

TEST_CASE("a folder that was removed and made anew is known as another one") {
  Memory memory;
  memory.seal();
  const Process held = memory.open();
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  memory.remove_folder(kIndexFolder);
  std::string log = memory.disk.read(memory.log("s1"));
  log.replace(log.find("alpha"), 5, "gamma");
  memory.disk.write(memory.log("s1"), log);
  memory.seal();
  memory.check(&held);
}

TEST_CASE("a segment that changes under an open store costs no answer, and is replaced") {
  Memory memory;
  memory.seal();
  const auto index = memory.files(kIndexFolder);
  const std::string path = fmt::format("index/{}", memory.segment_files().at(0));
  const std::string segment = memory.disk.read(path);
  const Lines right = memory.right_answers();
  for (std::size_t at = 0; at < segment.size(); at += 27) {
    CAPTURE(at);
    const Process held = memory.open();
    expect(answer_query(*held, {.text = at % 2 == 0 ? "alpha" : "nosuchword"}));
    std::string changed = segment;
    if (at % 4 < 2) {
      changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
    } else {
      changed.resize(at);
    }
    memory.disk.write(path, changed);
    REQUIRE(difference(answers(*held), right) == "");
    REQUIRE(difference(answers(*memory.open()), right) == "");
    REQUIRE(Memory::logs_opened(memory.open()).empty());
    memory.check_tidy();
    memory.put_back(index, kIndexFolder);
  }
}

TEST_CASE("an index that can't be written costs no answer") {
  Memory memory;
  bool is_sealed = false;
  SUBCASE("before anything is sealed") {}
  SUBCASE("with segments") {
    is_sealed = true;
    memory.seal();
    memory.add(*memory.open(), "s2", "new", "alpha tail");
  }
  memory.settle();
  const Lines right = memory.right_answers();
  const auto before = memory.files("");
  const Timestamp start = memory.clock.now();
  for (const Operation operation :
       {Operation::kOpen, Operation::kWrite, Operation::kTruncate, Operation::kRename,
        Operation::kMakeDirectory, Operation::kRemove, Operation::kReadAt, Operation::kInfo,
        Operation::kFileInfo, Operation::kList}) {
    for (const std::size_t nth : {1U, 2U, 5U, 10U}) {
      for (const bool from_then_on : {false, true}) {
        CAPTURE(operation_name(operation));
        CAPTURE(nth);
        CAPTURE(from_then_on);
        for (const char* folder : {kSessionsFolder, kIndexFolder}) {
          std::vector<std::pair<std::string, std::string>> files = before;
          std::erase_if(files, [&](const auto& file) { return !file.first.starts_with(folder); });
          memory.put_back(files, folder);
        }
        if (!is_sealed && nth % 2 == 0) {
          memory.remove_folder(kIndexFolder);
        }
        const Process process = memory.open();
        process.files->fail({.operation = operation,
                             .nth = nth,
                             .error_number = operation == Operation::kWrite ? 28 : 5,
                             .from_then_on = from_then_on,
                             .path_part = "index/"});
        REQUIRE(difference(answers(*process), right) == "");
        process.files->heal();
        REQUIRE(difference(answers(*process), right) == "");
        REQUIRE(difference(answers(*memory.open()), right) == "");
        memory.settle();
        REQUIRE(difference(answers(*memory.open()), memory.right_answers()) == "");
        memory.clock.set(start);
      }
    }
  }
  memory.add(*memory.open(), "s3", "last", "tail");
  memory.check();
  memory.check_tidy();
}

TEST_CASE("a merge that fails leaves the segments there are, and no file besides") {
  Memory memory;
  memory.seal();
  const Process process = memory.open();
  for (int i = 0; i < 30; ++i) {
    CAPTURE(i);
    memory.add(*memory.open(), i % 2 == 0 ? "s1" : "s2", fmt::format("n{}", i), "alpha tail");
    memory.settle();
    process.files->fail({.operation = Operation::kWrite,
                         .nth = 2,
                         .error_number = 28,
                         .from_then_on = true,
                         .path_part = ".seg"});
    const Lines right = memory.right_answers();
    REQUIRE(difference(answers(*process), right) == "");
    process.files->heal();
    memory.check_tidy();
    REQUIRE(difference(answers(*memory.open()), right) == "");
  }
}

TEST_CASE("something else in the place of the folder costs no answer") {
  Memory memory;
  SUBCASE("a file") { memory.disk.write(kIndexFolder, "not a folder"); }
  SUBCASE("a symbolic link, say") { memory.disk.make_other(kIndexFolder); }
  SUBCASE("CURRENT is a folder") {
    memory.disk.make_folders(std::string(kIndexCurrentFile) + "/x");
  }
  SUBCASE("the lock is a folder") { memory.disk.make_folders("index/.lock"); }
  const Process held = memory.open();
  memory.check(&held);
  // It holds no word of an entry, and a purge goes on.
  memory.add(*memory.open(), "s1", "doomed", kDoomed);
  if (!memory.disk.info("index/.lock") ||
      memory.disk.info("index/.lock")->kind != FileKind::kDirectory) {
    expect(delete_entries(*memory.open(), {.match = kDoomed}, {.purge = true}));
  }
  memory.check(&held);
}

TEST_CASE("many seals leave few segments, whoever holds which open") {
  Memory memory;
  const Process held = memory.open();
  const Process now_and_then = memory.open();
  for (int i = 0; i < 40; ++i) {
    CAPTURE(i);
    const std::string id = fmt::format("m{}", i % 13);
    if (i < 13) {
      expect(create_session(*memory.open(), {.session_id = id}));
    }
    for (int k = 0; k <= i % 5; ++k) {
      memory.add(*memory.open(), id, fmt::format("{}-{}-{}", id, i, k), "alpha tail");
    }
    memory.settle();
    const Lines right = memory.right_answers();
    REQUIRE(difference(answers(*memory.open()), right) == "");
    REQUIRE(difference(answers(*held), right) == "");
    if (i % 9 == 0) {
      REQUIRE(difference(answers(*now_and_then), right) == "");
    }
    memory.check_tidy();
  }
  CHECK(memory.current()["sessions"].size() == 16);
  CHECK(Memory::logs_opened(memory.open()).empty());
}

TEST_CASE("archived sessions are in the segments, and come out when they are restored") {
  Memory memory;
  memory.seal();
  const Process held = memory.open();
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  expect(archive_session(*memory.open(), "s2"));
  memory.check(&held);
  CHECK(memory.current()["sessions"]["s2"].contains("package"));
  memory.check_tidy();
  const Process reader = memory.open();
  reader.files->clear_log();
  expect(answer_query(*reader, {.text = "nosuchword"}));
  for (const std::string& call : reader.files->log()) {
    CHECK_FALSE(call.starts_with("open archive/s2"));
  }
  expect(restore_session(*memory.open(), "s2"));
  memory.check(&held);
  CHECK_FALSE(memory.current()["sessions"]["s2"].contains("package"));
  expect(archive_session(*memory.open(), "s2"));
  expect(archive_session(*memory.open(), "s3"));
  memory.check(&held);
  memory.check_tidy();
}

TEST_CASE("what was evicted and is pinned again counts once") {
  Memory memory;
  for (int i = 0; i < 8; ++i) {
    memory.add(*memory.open(), "s1", fmt::format("e{}", i), "alpha tail");
  }
  memory.seal();
  const Process held = memory.open();
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  expect(compact_session(*memory.open(), "s1", {.keep_share = 0.3}));
  memory.check(&held);
  const std::string pinned[] = {"s1-0", "e0"};
  expect(pin_entries(*memory.open(), pinned, true, {}));
  memory.check(&held);
  expect(restore_evicted_entries(*memory.open(), "s1", {}));
  memory.check(&held);
  memory.check_tidy();
}

TEST_CASE("entries that are evicted while a question is answered are found") {
  Memory memory;
  for (int i = 0; i < 8; ++i) {
    memory.add(*memory.open(), "s1", fmt::format("e{}", i), "alpha tail");
  }
  memory.seal();
  const Process process = memory.open();
  // Between the look at the sessions and the first line of a hit.
  process.files->meanwhile({.operation = Operation::kOpen, .path_part = memory.log("s1")}, [&] {
    expect(compact_session(*memory.open(), "s1", {.keep_share = 0.3}));
  });
  const QueryAnswer answer =
      answer_query(*process, {.text = "+alpha", .filter = {.limit = 0}}).value();
  CHECK(answer.hits.size() == 14);
}

TEST_CASE("what was purged is in no byte of the index") {
  Memory memory;
  const std::string dropped[] = {"doomed"};
  memory.add(*memory.open(), "s2", "doomed", fmt::format("alpha {} said", kDoomed));
  memory.seal();
  for (int i = 0; i < 3; ++i) {  // In some segments.
    memory.add(*memory.open(), "s2", fmt::format("n{}", i), "alpha tail");
    memory.seal();
  }
  REQUIRE_FALSE(memory.index_files_with(kDoomed).empty());
  const Process held = memory.open();
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  using Way = std::function<void(Store&)>;
  std::vector<std::pair<std::string, Way>> ways = {
      {"purge",
       [&](Store& store) { expect(delete_entries(store, {.ids = {"doomed"}}, {.purge = true})); }},
      {"forget --match",
       [&](Store& store) { expect(delete_entries(store, {.match = kDoomed}, {.purge = true})); }},
      {"session delete --purge",
       [&](Store& store) { expect(delete_session(store, "s2", {.purge = true})); }},
      {"deletions that end",
       [&](Store& store) {
         expect(delete_entries(store, {.ids = {"doomed"}}, {}));
         expect(purge_deleted(store, {.now = Timestamp::max()}));
       }},
      {"a deletion of a session that ends",
       [&](Store& store) {
         expect(delete_session(store, "s2", {}));
         expect(purge_deleted(store, {.now = Timestamp::max()}));
       }},
      {"a purge of what is archived",
       [&](Store& store) {
         expect(archive_session(store, "s2"));
         expect(answer_query(*memory.open(), {.text = "common"}));
         expect(delete_entries(store, {.match = kDoomed}, {.purge = true}));
       }},
      {"a purge of what was deleted before",
       [&](Store& store) {
         expect(delete_entries(store, {.ids = {"doomed"}}, {}));
         expect(delete_entries(store, {.match = kDoomed}, {.purge = true}));
       }},
  };
  const auto before = memory.files("");
  const auto reset = [&] {
    for (const std::string& name : memory.disk.list("").value()) {
      if (memory.disk.info(name)->kind == FileKind::kDirectory) {
        memory.remove_folder(name);
      }
    }
    memory.disk.make_folders(kIndexFolder);
    for (const auto& [path, bytes] : before) {
      if (path.find('/') != std::string::npos) {
        memory.disk.make_folders(path.substr(0, path.rfind('/')));
      }
      memory.disk.write(path, bytes);
    }
    memory.settle();
  };
  for (const auto& [name, way] : ways) {
    CAPTURE(name);
    {
      reset();
      way(*memory.open());
      CHECK(memory.index_files_with(kDoomed) == Lines{});
      memory.check(&held);
      CHECK(memory.index_files_with(kDoomed) == Lines{});
      memory.check_tidy();
    }
    {
      INFO("on a full disk");
      reset();
      const Process process = memory.open();
      process.files->fail({.operation = Operation::kWrite,
                           .error_number = 28,
                           .from_then_on = true,
                           .path_part = "index/"});
      way(*process);
      CHECK(memory.index_files_with(kDoomed) == Lines{});
      memory.check(&held);
    }
    for (const std::size_t at : {10U, 300U, 1500U}) {
      INFO("with a damaged segment");
      reset();
      for (const std::string& each : memory.segment_files()) {
        const std::string path = fmt::format("index/{}", each);
        std::string bytes = memory.disk.read(path);
        bytes[std::min<std::size_t>(at, bytes.size() - 1)] ^= 1;
        memory.disk.write(path, bytes);
      }
      way(*memory.open());
      CHECK(memory.index_files_with(kDoomed) == Lines{});
      memory.check(&held);
    }
    {
      INFO("with what a process left that died");
      reset();
      const std::string segment = memory.disk.read(memory.index_files_with(kDoomed).at(0));
      memory.disk.write("index/77.seg", segment);
      memory.disk.write("index/78.seg", segment.substr(0, segment.size() / 2));
      memory.disk.write("index/CURRENT.tmp", segment);
      expect(memory.disk.remove(kIndexCurrentFile));
      way(*memory.open());
      CHECK(memory.index_files_with(kDoomed) == Lines{});
      memory.check(&held);
      memory.check_tidy();
    }
    {
      INFO("with another process that asks meanwhile");
      reset();
      const Process process = memory.open();
      for (const std::size_t nth : {1U, 3U, 5U}) {
        process.files->meanwhile(
            {.operation = Operation::kOpen, .nth = nth, .path_part = "sessions/s2"},
            [&] { expect(answer_query(*memory.open(), {.text = "common"})); });
      }
      way(*process);
      CHECK(memory.index_files_with(kDoomed) == Lines{});
      memory.check(&held);
    }
  }
}

TEST_CASE("nobody seals while words are taken out of the index") {
  Memory memory;
  memory.add(*memory.open(), "s2", "doomed", kDoomed);
  memory.seal();
  const Process process = memory.open();
  int looks = 0;
  const auto is_free = [&] {
    ++looks;
    FileLock lock(memory.disk, memory.clock, "index/.lock", "index/.lock.json");
    CHECK_FALSE(lock.acquire({.operation = "test", .timeout = std::chrono::milliseconds(0)}));
  };
  process.files->meanwhile({.operation = Operation::kOpen, .path_part = "index/2.seg"}, is_free);
  process.files->meanwhile({.operation = Operation::kRemove, .path_part = "index/1.seg"}, is_free);
  expect(delete_entries(*process, {.match = kDoomed}, {.purge = true}));
  CHECK(looks == 2);
  expect(process.store->root_index->clear());
  CHECK(memory.segment_files().empty());
  memory.check(&process);
}

TEST_CASE("a purge that can't take words out of the index says so") {
  Memory memory;
  memory.add(*memory.open(), "s2", "doomed", kDoomed);
  memory.seal();
  const Process process = memory.open();
  process.files->fail({.operation = Operation::kRemove, .from_then_on = true, .path_part = ".seg"});
  CHECK_FALSE(delete_entries(*process, {.match = kDoomed}, {.purge = true}));
  process.files->heal();
  expect(delete_entries(*process, {.match = kDoomed}, {.purge = true}));
  CHECK(memory.index_files_with(kDoomed) == Lines{});
}

namespace {

/// A memory on a real disk, whose clock is far behind all mtimes' backs.
class PosixMemory : public MemoryFixture {
 public:
  PosixMemory() {
    folder.write("memory/config.json",
                 R"({"memory_config":{"indexing":{"rebuild_threshold_writes":1},)"
                 R"("privacy":{"auto_redaction":false}}})");
    clock.set("2099-01-01T00:00:00Z");
    reopen();
    for (const std::string id : {"s1", "s2"}) {
      session(id);
      add_fact(id + "-a", "common alpha", id);
      add_fact(id + "-b", "common gamma", id);
    }
  }

  Lines right(const std::string& text) {
    MemoryFixture* const self = this;
    const std::string index = root() + "/index";
    const std::string aside = root() + ".index";
    std::filesystem::rename(index, aside);
    self->reopen();
    const Lines ids = found(text);
    std::filesystem::remove_all(index);
    std::filesystem::rename(aside, index);
    self->reopen();
    return ids;
  }
};

}  // namespace

TEST_CASE("a log in place of another of the same size and mtime is seen") {
  PosixMemory memory;
  CHECK(memory.found("alpha") == Lines{"s1-a", "s2-a"});
  CHECK(memory.found("alpha") == Lines{"s1-a", "s2-a"});
  const std::string path = memory.path(EntryType::kFact, "s2");
  const auto mtime = std::filesystem::last_write_time(path);
  std::string bytes = memory.read(EntryType::kFact, "s2");
  bytes.replace(bytes.find("alpha"), 5, "delta");
  memory.folder.write("memory/other", bytes);
  std::filesystem::last_write_time(memory.root() + "/other", mtime);
  std::filesystem::rename(memory.root() + "/other", path);
  CHECK(memory.found("alpha") == Lines{"s1-a"});
  CHECK(memory.found("delta") == Lines{"s2-a"});
  memory.reopen();
  CHECK(memory.found("alpha") == Lines{"s1-a"});
  CHECK(memory.found("delta") == Lines{"s2-a"});
}

TEST_CASE("a link in the place of the folder is not followed") {
  PosixMemory memory;
  const std::string outside = memory.folder.path("outside");
  std::filesystem::create_directory(outside);
  std::filesystem::create_directory_symlink(outside, memory.root() + "/index");
  CHECK(memory.found("alpha") == Lines{"s1-a", "s2-a"});
  CHECK(memory.found("alpha") == Lines{"s1-a", "s2-a"});
  CHECK(std::filesystem::is_empty(outside));
  std::filesystem::remove(memory.root() + "/index");
  CHECK(memory.found("alpha") == Lines{"s1-a", "s2-a"});
  REQUIRE(std::filesystem::exists(memory.root() + "/index/CURRENT"));
  // Back to what lies elsewhere.
  std::filesystem::rename(memory.root() + "/index", outside + "/index");
  std::filesystem::create_directory_symlink(outside + "/index", memory.root() + "/index");
  memory.add_fact("s1-c", "common alpha");
  CHECK(memory.found("alpha") == Lines{"s1-a", "s1-c", "s2-a"});
  memory.reopen();
  CHECK(memory.found("alpha") == Lines{"s1-a", "s1-c", "s2-a"});
}

TEST_CASE("rules that redact, and pseudonyms, leave no word behind in the index") {
  PosixMemory memory;
  const std::string secret = std::string("gh") + "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5";
  memory.add_fact("secret", "the key is " + secret);
  memory.add_fact("mail", "write to qxvjohn.doe@qxvexample.org");
  CHECK(memory.found("alpha") == Lines{"s1-a", "s2-a"});
  const auto index_holds = [&](const std::string& word) {
    return std::ranges::any_of(memory.files(), [&](const auto& file) {
      return file.first.contains("index/") && file.second.contains(word);
    });
  };
  std::string lower = secret;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  REQUIRE(index_holds(lower.substr(4)));
  REQUIRE(index_holds("qxvexample"));
  expect(memory->redact({}, false));
  CHECK_FALSE(index_holds(lower.substr(4)));
  REQUIRE(memory.found("alpha") == Lines{"s1-a", "s2-a"});
  CHECK_FALSE(index_holds(lower.substr(4)));
  expect(memory->anonymize({}, [](const Error&) {}));
  CHECK_FALSE(index_holds("qxvexample"));
  CHECK(memory.found("alpha") == Lines{"s1-a", "s2-a"});
  CHECK_FALSE(index_holds("qxvexample"));
}

}  // namespace bmad_mem::test::root_index_test
