// All rows of the operation table with all rights: what a workflow does not allow changes nothing.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/entry_watch.hpp"
#include "bmad_mem/exports.hpp"
#include "bmad_mem/hub.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/settings.hpp"
#include "bmad_mem/summary.hpp"
#include "store/access.hpp"
#include "support/memory_fixture.hpp"
#include "support/memory_hub.hpp"

namespace bmad_mem::test::rights_test {
namespace {

using Files = std::map<std::string, std::string>;
using bmad_mem::all_operations;

class NobodyCares : public ExportVisitor {
 public:
  Status on_session(const Session& /*session*/) override { return {}; }
  Status on_entry(const Entry& /*entry*/) override { return {}; }
  void on_problem(const Error& /*problem*/) override {}
};

/// An entry of each type, as short as it may be.
constexpr std::array<std::string_view, kEntryTypeCount> kLines = {
    R"({"id":"conversation1","role":"user","content":"we never use tabs, always use spaces"})",
    R"({"id":"decision1","decision":"use spaces"})",
    R"({"id":"finding1","description":"tabs were used"})",
    R"({"id":"preference1","key":"indent","value":"spaces"})",
    R"({"id":"fact1","content":"the linter knows","key":"linter"})",
    R"({"id":"event1","kind":"tool_use"})",
    R"({"id":"agent_state1","agent_id":"smith","state":{"step":1}})",
    R"({"id":"artifact1","path":"doc.md","title":"A"})",
};

std::string id_of(EntryType type) { return std::string(entry_type_name(type)) + "1"; }

/// A memory in which every operation has something to do: sessions that are open, closed, archived
/// and deleted, a deleted entry, a damaged line.
class Prepared : public MemoryFixture {
 public:
  Prepared() {
    for (const char* id : {"s1", "old", "gone"}) {
      session(id);
      for (const EntryType type : kEntryTypes) {
        add(type, kLines[static_cast<std::size_t>(type)], id);
      }
    }
    session("s2");
    add_fact("deleted", "x", "s2");
    add_fact("again", "x", "s2");
    add_fact("again", "y", "s2");
    const std::vector<std::string> ids = {"deleted"};
    REQUIRE((**this).delete_entries({.ids = ids}));
    REQUIRE((**this).archive_session("old"));
    REQUIRE((**this).delete_session("gone"));
    write(EntryType::kEvent, read(EntryType::kEvent, "s2") + "{\"damaged\n", "s2");
  }
};

/// A copy of the prepared memory, opened with some rights.
class Restricted {
 public:
  Restricted(const Prepared& prepared, MemoryAccess access)
      : clock_(prepared.clock.now() + std::chrono::hours(48)) {
    access.given_by = "flow.yaml";
    root_ = folder_.path() + "/memory";
    std::filesystem::copy(prepared.root(), root_, std::filesystem::copy_options::recursive);
    memory_ = MemoryManager::open({.root = root_, .clock = &clock_, .access = access}).value();
  }
  MemoryManager& operator*() { return *memory_; }

  /// What entries, sessions and documents are made of; what is derived and counted does not count.
  [[nodiscard]] Files files() const {
    static const std::set<std::string> kDerived = {"index.json", "access.jsonl", "maintenance.json",
                                                   "manifest.json"};
    Files found;
    for (const auto& file : std::filesystem::recursive_directory_iterator(root_)) {
      const std::string name = file.path().filename().string();
      const std::string path = file.path().string().substr(root_.size() + 1);
      if (file.is_regular_file() && !name.starts_with(".") && !kDerived.contains(name) &&
          !name.ends_with(".known.jsonl") && !path.starts_with("index/") &&
          !path.starts_with("shared/")) {
        found[path] = folder_.read("memory/" + path);
      }
    }
    return found;
  }

 private:
  TemporaryDirectory folder_;
  ManualClock clock_;
  std::string root_;
  std::optional<MemoryManager> memory_;
};

using Call = std::function<Status(MemoryManager&)>;

template <typename T>
Status status_of(const Result<T>& result) {
  return result ? Status() : Status(result.error());
}

/// Calls of the C++ interface by the row that they enter through. What an operation is asked for
/// reaches every type.
const JoinOptions kJoin = {.service = "team", .project = "p", .host = "here"};

/// Does it once more in a memory that has joined a hub, where it wants one.
template <typename Work>
Status with_hub(MemoryManager& memory, const Work& work) {
  MemoryHub hub(std::make_shared<MemoryFeed>());
  Status done = work(hub);
  if (!done && done.error().code == ErrorCode::E_SESSION_NOT_FOUND) {
    BMAD_TRY(join_hub(memory, hub, kJoin));
    done = work(hub);
  }
  return done;
}

Status exchange(MemoryManager& memory, const SyncOptions& options) {
  return with_hub(memory, [&](Hub& hub) { return status_of(sync_with_hub(memory, hub, options)); });
}

const std::multimap<std::string_view, Call>& calls() {
  static const std::vector<std::string> kIds = [] {
    std::vector<std::string> ids;
    std::ranges::transform(kEntryTypes, std::back_inserter(ids), id_of);
    return ids;
  }();
  static const std::vector<std::string> kFact = {"fact1"};
  static const std::vector<std::string> kDeleted = {"deleted"};
  static const std::vector<std::string> kSession = {"s1"};  // A write restores an archived one.
  using M = MemoryManager&;
  static const std::multimap<std::string_view, Call> kCalls = {
      {"session new", [](M m) { return status_of(m.create_session({})); }},
      {"session new", [](M m) { return status_of(m.usual_session()); }},
      {"session set",
       [](M m) { return status_of(m.update_session("s1", {.title = "Night boats"})); }},
      {"session list", [](M m) { return status_of(m.list_sessions()); }},
      {"session list", [](M m) { return status_of(m.archived_sessions()); }},
      {"session show", [](M m) { return status_of(m.load_session("s1")); }},
      {"session close", [](M m) { return status_of(m.close_session("s1")); }},
      {"session archive", [](M m) { return status_of(m.archive_session("s1")); }},
      {"session restore", [](M m) { return status_of(m.restore_session("old")); }},
      {"session delete", [](M m) { return status_of(m.delete_session("s1")); }},
      {"session adopt", [](M m) { return m.adopt_session({.session_id = "s9"}); }},
      {"edit", [](M m) { return status_of(m.update_entry("fact1", R"({"content":"y"})")); }},
      {"link", [](M m) { return status_of(m.link({.from = "fact1", .to = "finding1"})); }},
      {"pin", [](M m) { return status_of(m.pin(kIds, true, kSession)); }},
      {"move",
       [](M m) {
         MemoryFixture users;
         return status_of(m.move_entries(kIds, *users));
       }},
      {"unpin", [](M m) { return status_of(m.pin(kIds, false, kSession)); }},
      {"artifact add",
       [](M m) {
         return status_of(m.add_artifact_document("s1", {.path = "p", .title = "A"}, "text"));
       }},
      {"import", [](M m) { return m.check_allowed("import"); }},
      {"memory-tool", [](M m) { return m.check_allowed("memory-tool"); }},
      {"add", [](M m) { return status_of(m.write_waiting()); }},
      {"get", [](M m) { return status_of(m.get(kIds)); }},
      {"get", [](M m) { return status_of(m.document_text("s1", "text")); }},
      {"history", [](M m) { return status_of(m.history("fact1")); }},
      {"list", [](M m) { return status_of(m.list({})); }},
      {"list", [](M m) { return status_of(m.entries_by_agent("architect")); }},
      {"list",
       [](M m) { return status_of(m.entries_by_time_range(Timestamp::min(), Timestamp::max())); }},
      {"query", [](M m) { return status_of(m.entries_by_topic("storage")); }},
      {"query", [](M m) { return status_of(m.query({.text = "spaces"})); }},
      {"related", [](M m) { return status_of(m.related("finding1", {})); }},
      {"topics", [](M m) { return status_of(m.topics({})); }},
      {"timeline", [](M m) { return status_of(m.timeline({}, TimelineUnit::kDay)); }},
      {"watch", [](M m) { return status_of(EntryWatch::open(m, {})); }},
      {"export",
       [](M m) {
         NobodyCares visitor;
         return status_of(m.export_entries({}, visitor));
       }},
      {"anonymize",
       [](M m) {
         NobodyCares visitor;
         return status_of(m.export_anonymized({}, visitor));
       }},
      {"anonymize", [](M m) { return status_of(m.anonymize({})); }},
      {"state get", [](M m) { return status_of(m.agent_state("smith")); }},
      {"delete", [](M m) { return status_of(m.delete_entries({.ids = kFact})); }},
      {"delete",
       [](M m) { return status_of(m.delete_entries({.match = "spaces"}, {.purge = true})); }},
      {"undelete", [](M m) { return status_of(m.undelete({.ids = kDeleted})); }},
      {"undelete",
       [](M m) {
         const std::vector<std::string> gone = {"gone"};
         return status_of(m.undelete({.sessions = gone}));
       }},
      {"purge", [](M m) { return status_of(m.purge_deleted(true)); }},
      {"find text", [](M m) { return status_of(m.find_text("spaces")); }},
      {"sync",
       [](M m) {
         MemoryHub hub(std::make_shared<MemoryFeed>());
         return join_hub(m, hub, kJoin);
       }},
      {"sync", [](M m) { return exchange(m, {}); }},
      {"push", [](M m) { return exchange(m, {.pulls = false}); }},
      {"pull", [](M m) { return exchange(m, {.pushes = false}); }},
      {"hub status",
       [](M m) { return with_hub(m, [&](Hub&) { return status_of(mirror_report(m)); }); }},
      {"hub leave", [](M m) { return with_hub(m, [&](Hub&) { return leave_hub(m); }); }},
      {"hub reclone",
       [](M m) { return with_hub(m, [&](Hub& hub) { return reclone_from_hub(m, hub, {}); }); }},
      {"audit", [](M m) { return status_of(m.audit()); }},
      {"compact", [](M m) { return status_of(m.compact("s2", {.keep_share = 0.1})); }},
      {"restore", [](M m) { return status_of(m.restore_evicted("s2")); }},
      {"decay", [](M m) { return status_of(m.decay({}, {}, true)); }},
      {"maintain", [](M m) { return status_of(m.maintain()); }},
      {"config set",
       [](M m) {
         return edit_settings(m, {{"context.inject", "true"}},
                              [](auto, const auto&, const auto&) { return std::string("{}"); });
       }},
      {"verify", [](M m) { return status_of(m.verify()); }},
      {"rebuild-index", [](M m) { return status_of(m.rebuild_index()); }},
      {"encode", [](M m) { return status_of(m.encode()); }},
      {"repair", [](M m) { return status_of(m.repair()); }},
      {"repair", [](M m) { return status_of(m.accept_changes()); }},
      {"redact", [](M m) { return status_of(m.redact({}, false)); }},
      {"list", [](M m) { return status_of(m.closed_entries({})); }},
      {"list", [](M m) { return status_of(m.encrypted_lines()); }},
      {"encrypt", [](M m) { return status_of(m.encrypt({.step = EncryptStep::kOff})); }},
      {"privacy", [](M m) { return status_of(m.privacy_report()); }},
      {"stats", [](M m) { return status_of(m.global_statistics()); }},
      {"recall", [](M m) { return status_of(Knowledge(m).recall()); }},
      {"context", [](M m) { return status_of(Knowledge(m).context({.task = "tabs"})); }},
      {"remember",
       [](M m) { return status_of(Knowledge(m).remember({.key = "k", .value = "v"})); }},
      {"trust", [](M m) { return status_of(m.revoke_trust()); }},
      {"review", [](M m) { return status_of(Knowledge(m).review(kFact, Review::kAccepted)); }},
      {"learn",
       [](M m) {
         return status_of(Knowledge(m).learn({.agent_id = "smith",
                                              .task = "build",
                                              .outcome = TaskOutcome::kFailure,
                                              .text = "error: no tabs"}));
       }},
      {"extract", [](M m) { return status_of(Knowledge(m).extract({.session_id = "s1"})); }},
      {"consolidate", [](M m) { return status_of(Knowledge(m).consolidate({.dry_run = false})); }},
      {"summary due", [](M m) { return status_of(Summaries(m).status("s1")); }},
      {"summary show", [](M m) { return status_of(Summaries(m).show("s1")); }},
      {"summary prompt", [](M m) { return status_of(Summaries(m).prompt("s1")); }},
      {"summary apply", [](M m) { return status_of(Summaries(m).apply("s1", "#", "t")); }},
      {"summary update", [](M m) { return status_of(Summaries(m).update("s1", {.force = true})); }},
      {"summary compact", [](M m) { return status_of(Summaries(m).compact("s1", {})); }},
      {"summary compacting", [](M m) { return Summaries(m).set_compacting("s1", true); }},
      {"summary stats", [](M m) { return status_of(Summaries(m).stats("s1")); }},
  };
  return kCalls;
}

/// Rows that have no call of their own: each works by means of other rows.
bool works_through_others(const OperationRow& row) {
  static const std::set<std::string_view> kOthers = {
      "add",     "add batch",    "forget own",       "state set",
      "similar", "hub member",   "hub replica",      "hub rows",
      "graph",   "artifact get", "session timeline", "session undelete",
      "forget"};
  return kOthers.contains(row.name) || row.right == Right::kNone;
}

std::vector<MemoryAccess> all_rights() {
  std::vector<MemoryAccess> all(2);
  all[1].read.fill(true);
  for (const EntryType type : kEntryTypes) {
    MemoryAccess one;
    one.read[static_cast<std::size_t>(type)] = true;
    all.push_back(one);
    one.write[static_cast<std::size_t>(type)] = true;
    all.push_back(one);
    one.read.fill(true);
    all.push_back(one);
  }
  return all;
}

/// Whether rights that name so few types allow the row, as far as its own words say.
bool is_allowed(const OperationRow& row, const MemoryAccess& access) {
  const auto any = [](const auto& types) { return std::ranges::find(types, true) != types.end(); };
  const auto type = try_parse_entry_type(row.type);
  switch (row.right) {
    case Right::kNone:
      return true;
    case Right::kRead:
      return type ? access.may_read(*type) : any(access.read);
    case Right::kWrite:
      return type ? access.may_write(*type) : any(access.write);
    case Right::kChange:
    case Right::kManage:
      break;
  }
  return false;
}

/// The types of entries of which a file changed that holds them; else the file.
std::set<std::string> changed(const Files& before, const Files& after) {
  std::set<std::string> found;
  const auto compare = [&](const Files& one, const Files& other) {
    for (const auto& [path, bytes] : one) {
      const auto same = other.find(path);
      if (same != other.end() && same->second == bytes) {
        continue;
      }
      const std::string name = path.substr(path.rfind('/') + 1);
      const auto type = std::ranges::find_if(
          kEntryTypes, [&](EntryType each) { return name == entry_type_info(each).log_file; });
      if (bytes.empty() && same == other.end()) {
        continue;  // A session is made with empty logs.
      }
      const bool is_document = path.find("/artifacts/") != std::string::npos;
      const bool is_summary = name.starts_with("summary");
      const bool is_log = type != kEntryTypes.end() && path.starts_with("sessions/");
      found.insert(is_log        ? std::string(entry_type_name(*type))
                   : is_document ? "artifact"
                   : is_summary  ? "conversation"
                                 : path);
    }
  };
  compare(before, after);
  compare(after, before);
  return found;
}

}  // namespace

TEST_CASE("every row of the operation table that needs a right is tried here") {
  for (const OperationRow& row : all_operations()) {
    CAPTURE(row.name);
    CHECK((calls().contains(row.name) || works_through_others(row)));
  }
}

TEST_CASE("with any rights, no operation changes a type that may not be written") {
  const Prepared prepared;
  for (const MemoryAccess& access : all_rights()) {
    std::string rights = "write:";
    for (const EntryType type : kEntryTypes) {
      rights += access.may_write(type) ? " " + std::string(entry_type_name(type)) : "";
    }
    CAPTURE(rights);
    std::optional<Restricted> memory;
    Files before;
    for (const auto& [operation, call] : calls()) {
      const OperationRow& row =
          *std::ranges::find(all_operations(), operation, &OperationRow::name);
      CAPTURE(row.name);
      if (!memory) {
        memory.emplace(prepared, access);
        before = memory->files();
      }
      const Status done = call(**memory);
      const Files after = memory->files();
      if (!is_allowed(row, access)) {
        REQUIRE_FALSE(done);
        CHECK(done.error().code == ErrorCode::E_ACCESS_DENIED);
        CHECK(done.error().path == "flow.yaml");
        CHECK(before == after);
      }
      for (const std::string& type : changed(before, after)) {
        CAPTURE(type);
        const auto known = try_parse_entry_type(type);
        CHECK((known && access.may_write(*known)));
      }
      if (before != after) {
        memory.reset();
      }
    }
  }
}

TEST_CASE("with all rights, every operation does its work") {
  const Prepared prepared;
  MemoryAccess all;
  all.read.fill(true);
  all.write.fill(true);
  for (const auto& [operation, call] : calls()) {
    CAPTURE(operation);
    Restricted memory(prepared, all);
    const Status done = call(*memory);
    CHECK((done || done.error().code != ErrorCode::E_ACCESS_DENIED));
  }
}

TEST_CASE("a pin that is refused for one type pins nothing, and says nothing of it") {
  const Prepared prepared;
  MemoryAccess access;
  access.write[static_cast<std::size_t>(EntryType::kConversation)] = true;
  Restricted memory(prepared, access);
  const Files before = memory.files();
  const std::vector<std::string> sessions = {"s1"};
  const std::vector<std::string> ids = {"conversation1", "fact1"};
  for (const bool pinned : {true, false}) {
    const Result<PinReport> done = (*memory).pin(ids, pinned, sessions);
    CHECK(code_of(done) == ErrorCode::E_ACCESS_DENIED);
  }
  CHECK(memory.files() == before);
}

TEST_CASE("maintenance by the way is done for those who may maintain") {
  Prepared prepared;
  for (int days = 0; days < 60; days += 20) {  // The clock is believed step by step.
    REQUIRE((*prepared).maintain());
    prepared.clock.advance(std::chrono::hours(24 * 20));
  }
  for (const bool may_manage : {true, false}) {
    MemoryAccess access;
    access.write.fill(may_manage);
    access.write[static_cast<std::size_t>(EntryType::kFinding)] = true;
    Restricted memory(prepared, access);
    REQUIRE((*memory).create_session({}));
    CHECK((*memory).maintained_by_the_way().empty() != may_manage);
  }
}

}  // namespace bmad_mem::test::rights_test
