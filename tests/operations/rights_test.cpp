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
#include "store/operation_rows.hpp"
#include "support/memory_fixture.hpp"
#include "support/memory_hub.hpp"

namespace bmad_mem::test::rights_test {
namespace {

using Files = std::map<std::string, std::string>;
using bmad_mem::Operation;

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

const std::multimap<Operation, Call>& calls() {
  static const std::vector<std::string> kIds = [] {
    std::vector<std::string> ids;
    std::ranges::transform(kEntryTypes, std::back_inserter(ids), id_of);
    return ids;
  }();
  static const std::vector<std::string> kFact = {"fact1"};
  static const std::vector<std::string> kDeleted = {"deleted"};
  static const std::vector<std::string> kSession = {"s1"};  // A write restores an archived one.
  using M = MemoryManager&;
  static const std::multimap<Operation, Call> kCalls = {
      {Operation::kSessionNew, [](M m) { return status_of(m.create_session({})); }},
      {Operation::kSessionNew, [](M m) { return status_of(m.usual_session()); }},
      {Operation::kSessionSet,
       [](M m) { return status_of(m.update_session("s1", {.title = "Night boats"})); }},
      {Operation::kSessionList, [](M m) { return status_of(m.list_sessions()); }},
      {Operation::kSessionList, [](M m) { return status_of(m.archived_sessions()); }},
      {Operation::kSessionShow, [](M m) { return status_of(m.load_session("s1")); }},
      {Operation::kSessionClose, [](M m) { return status_of(m.close_session("s1")); }},
      {Operation::kSessionArchive, [](M m) { return status_of(m.archive_session("s1")); }},
      {Operation::kSessionRestore, [](M m) { return status_of(m.restore_session("old")); }},
      {Operation::kSessionDelete, [](M m) { return status_of(m.delete_session("s1")); }},
      {Operation::kSessionAdopt, [](M m) { return m.adopt_session({.session_id = "s9"}); }},
      {Operation::kEdit,
       [](M m) { return status_of(m.update_entry("fact1", R"({"content":"y"})")); }},
      {Operation::kLink,
       [](M m) { return status_of(m.link({.from = "fact1", .to = "finding1"})); }},
      {Operation::kPin, [](M m) { return status_of(m.pin(kIds, true, kSession)); }},
      {Operation::kMove,
       [](M m) {
         MemoryFixture users;
         return status_of(m.move_entries(kIds, *users));
       }},
      {Operation::kUnpin, [](M m) { return status_of(m.pin(kIds, false, kSession)); }},
      {Operation::kArtifactAdd,
       [](M m) {
         return status_of(m.add_artifact_document("s1", {.path = "p", .title = "A"}, "text"));
       }},
      {Operation::kImport, [](M m) { return m.check_allowed("import"); }},
      {Operation::kMemoryTool, [](M m) { return m.check_allowed("memory-tool"); }},
      {Operation::kAdd, [](M m) { return status_of(m.write_waiting()); }},
      {Operation::kGet, [](M m) { return status_of(m.get(kIds)); }},
      {Operation::kGet, [](M m) { return status_of(m.document_text("s1", "text")); }},
      {Operation::kHistory, [](M m) { return status_of(m.history("fact1")); }},
      {Operation::kList, [](M m) { return status_of(m.list({})); }},
      {Operation::kList, [](M m) { return status_of(m.entries_by_agent("architect")); }},
      {Operation::kList,
       [](M m) { return status_of(m.entries_by_time_range(Timestamp::min(), Timestamp::max())); }},
      {Operation::kQuery, [](M m) { return status_of(m.entries_by_topic("storage")); }},
      {Operation::kQuery, [](M m) { return status_of(m.query({.text = "spaces"})); }},
      {Operation::kRelated, [](M m) { return status_of(m.related("finding1", {})); }},
      {Operation::kTopics, [](M m) { return status_of(m.topics({})); }},
      {Operation::kTimeline, [](M m) { return status_of(m.timeline({}, TimelineUnit::kDay)); }},
      {Operation::kWatch, [](M m) { return status_of(EntryWatch::open(m, {})); }},
      {Operation::kExport,
       [](M m) {
         NobodyCares visitor;
         return status_of(m.export_entries({}, visitor));
       }},
      {Operation::kAnonymize,
       [](M m) {
         NobodyCares visitor;
         return status_of(m.export_anonymized({}, visitor));
       }},
      {Operation::kAnonymize, [](M m) { return status_of(m.anonymize({})); }},
      {Operation::kStateGet, [](M m) { return status_of(m.agent_state("smith")); }},
      {Operation::kDelete, [](M m) { return status_of(m.delete_entries({.ids = kFact})); }},
      {Operation::kDelete,
       [](M m) { return status_of(m.delete_entries({.match = "spaces"}, {.purge = true})); }},
      {Operation::kUndelete, [](M m) { return status_of(m.undelete({.ids = kDeleted})); }},
      {Operation::kUndelete,
       [](M m) {
         const std::vector<std::string> gone = {"gone"};
         return status_of(m.undelete({.sessions = gone}));
       }},
      {Operation::kPurge, [](M m) { return status_of(m.purge_deleted(true)); }},
      {Operation::kFindText, [](M m) { return status_of(m.find_text("spaces")); }},
      {Operation::kSync,
       [](M m) {
         MemoryHub hub(std::make_shared<MemoryFeed>());
         return join_hub(m, hub, kJoin);
       }},
      {Operation::kSync, [](M m) { return exchange(m, {}); }},
      {Operation::kPush, [](M m) { return exchange(m, {.pulls = false}); }},
      {Operation::kPull, [](M m) { return exchange(m, {.pushes = false}); }},
      {Operation::kHubStatus,
       [](M m) { return with_hub(m, [&](Hub&) { return status_of(mirror_report(m)); }); }},
      {Operation::kHubLeave, [](M m) { return with_hub(m, [&](Hub&) { return leave_hub(m); }); }},
      {Operation::kHubReclone,
       [](M m) { return with_hub(m, [&](Hub& hub) { return reclone_from_hub(m, hub, {}); }); }},
      {Operation::kAudit, [](M m) { return status_of(m.audit()); }},
      {Operation::kCompact, [](M m) { return status_of(m.compact("s2", {.keep_share = 0.1})); }},
      {Operation::kRestore, [](M m) { return status_of(m.restore_evicted("s2")); }},
      {Operation::kDecay, [](M m) { return status_of(m.decay({}, {}, true)); }},
      {Operation::kMaintain, [](M m) { return status_of(m.maintain()); }},
      {Operation::kConfigSet,
       [](M m) {
         return edit_settings(m, {{"context.inject", "true"}},
                              [](auto, const auto&, const auto&) { return std::string("{}"); });
       }},
      {Operation::kVerify, [](M m) { return status_of(m.verify()); }},
      {Operation::kRebuildIndex, [](M m) { return status_of(m.rebuild_index()); }},
      {Operation::kEncode, [](M m) { return status_of(m.encode()); }},
      {Operation::kRepair, [](M m) { return status_of(m.repair()); }},
      {Operation::kRepair, [](M m) { return status_of(m.accept_changes()); }},
      {Operation::kRedact, [](M m) { return status_of(m.redact({}, false)); }},
      {Operation::kList, [](M m) { return status_of(m.closed_entries({})); }},
      {Operation::kList, [](M m) { return status_of(m.sealed_lines()); }},
      {Operation::kEncrypt, [](M m) { return status_of(m.seal({.step = SealStep::kOff})); }},
      {Operation::kPrivacy, [](M m) { return status_of(m.privacy_report()); }},
      {Operation::kStats, [](M m) { return status_of(m.global_statistics()); }},
      {Operation::kRecall, [](M m) { return status_of(Knowledge(m).recall()); }},
      {Operation::kContext, [](M m) { return status_of(Knowledge(m).context({.task = "tabs"})); }},
      {Operation::kRemember,
       [](M m) { return status_of(Knowledge(m).remember({.key = "k", .value = "v"})); }},
      {Operation::kTrust, [](M m) { return status_of(m.revoke_trust()); }},
      {Operation::kReview,
       [](M m) { return status_of(Knowledge(m).review(kFact, Review::kAccepted)); }},
      {Operation::kLearn,
       [](M m) {
         return status_of(Knowledge(m).learn({.agent_id = "smith",
                                              .task = "build",
                                              .outcome = TaskOutcome::kFailure,
                                              .text = "error: no tabs"}));
       }},
      {Operation::kExtract,
       [](M m) { return status_of(Knowledge(m).extract({.session_id = "s1"})); }},
      {Operation::kConsolidate,
       [](M m) { return status_of(Knowledge(m).consolidate({.dry_run = false})); }},
      {Operation::kSummaryDue, [](M m) { return status_of(Summaries(m).status("s1")); }},
      {Operation::kSummaryShow, [](M m) { return status_of(Summaries(m).show("s1")); }},
      {Operation::kSummaryPrompt, [](M m) { return status_of(Summaries(m).prompt("s1")); }},
      {Operation::kSummaryApply, [](M m) { return status_of(Summaries(m).apply("s1", "#", "t")); }},
      {Operation::kSummaryUpdate,
       [](M m) { return status_of(Summaries(m).update("s1", {.force = true})); }},
      {Operation::kSummaryCompact, [](M m) { return status_of(Summaries(m).compact("s1", {})); }},
      {Operation::kSummaryCompacting, [](M m) { return Summaries(m).set_compacting("s1", true); }},
      {Operation::kSummaryStats, [](M m) { return status_of(Summaries(m).stats("s1")); }},
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
  for (std::size_t i = 0; i < std::size(kOperations); ++i) {
    CAPTURE(kOperations[i].name);
    CHECK((calls().contains(static_cast<Operation>(i)) || works_through_others(kOperations[i])));
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
      const OperationRow& row = kOperations[static_cast<std::size_t>(operation)];
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
    CAPTURE(kOperations[static_cast<std::size_t>(operation)].name);
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
