// event_folding.cpp - old calls of tools become lines that count them, one a day.
//
//   tool_use Bash, tool_result Bash, tool_use Edit src/a.cpp, …      hundreds, half a kilobyte each
//   ──> tool_summary "57 calls, 3 failed: Bash 30, Edit 27; files: src/a.cpp 12"
//
// An agent calls tools some ten times as often as somebody says something. In a session that is
// full, they would push the conversation out.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "lifecycle/compaction_plan.hpp"
#include "model/entry.hpp"

namespace bmad_mem {
namespace {

/// Files that a line names; it says how many more there were.
constexpr std::size_t kFilesNamedMax = 20;
constexpr std::size_t kFilesToldMax = 8;

using Counts = std::map<std::string, std::uint64_t, std::less<>>;
using Count = std::pair<std::string, std::uint64_t>;

std::vector<Count> most_first(const Counts& counts) {
  std::vector<Count> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::greater<>(), &Count::second);
  return sorted;
}

std::string told(const std::vector<Count>& counts, std::size_t told_max) {
  std::string text;
  for (std::size_t i = 0; i < std::min(counts.size(), told_max); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", counts[i].first, counts[i].second);
  }
  return counts.size() > told_max ? text + fmt::format(" and {} more", counts.size() - told_max)
                                  : text;
}

void add_counts(JsonWriter& json, std::string_view name, const std::vector<Count>& counts) {
  json.key(name).begin_object();
  for (std::size_t i = 0; i < std::min(counts.size(), kFilesNamedMax); ++i) {
    json.member(counts[i].first, counts[i].second);
  }
  json.end_object();
}

/// What was done on one day.
struct DayOfTools {
  std::uint64_t lines = 0;
  std::uint64_t calls = 0;
  std::uint64_t failed = 0;
  Timestamp last{};
  Counts tools;
  Counts files;
  std::string ids;
  std::vector<std::size_t> members;

  void add(const CompactionEntry& entry, std::size_t index) {
    const ToolEvent& event = entry.tool;
    assert(event.kind != ToolEvent::Kind::kNone);
    ++lines;
    last = std::max(last, entry.timestamp);
    ids += entry.id + '\n';
    members.push_back(index);
    failed += event.failed ? 1 : 0;
    if (event.kind != ToolEvent::Kind::kCall) {
      return;
    }
    ++calls;
    ++tools[event.tool.empty() ? "a tool" : event.tool];
    if (!event.path.empty()) {
      ++files[event.path];
    }
  }

  [[nodiscard]] std::string id(std::string_view session_id) const {
    return fmt::format("evt-tools-{}", hash_hex(xxh3(fmt::format("{}\n{}", session_id, ids))));
  }

  [[nodiscard]] std::string line(std::string_view session_id) const {
    assert(lines == members.size() && calls + failed <= lines && "only results fail");
    const std::vector<Count> by_tool = most_first(tools);
    const std::vector<Count> by_file = most_first(files);
    std::string content = fmt::format("{} call{}", calls, calls == 1 ? "" : "s");
    content += failed == 0 ? "" : fmt::format(", {} failed", failed);
    content += by_tool.empty() ? "" : ": " + told(by_tool, kFilesToldMax);
    content += by_file.empty() ? "" : "; files: " + told(by_file, kFilesToldMax);
    JsonWriter json;
    json.begin_object().member("id", id(session_id)).member("timestamp", format_rfc3339(last));
    json.member("kind", "tool_summary").member("content", content);
    json.key("metadata").begin_object().member("folded", lines).member("calls", calls);
    json.member("failed", failed);
    add_counts(json, "tools", by_tool);
    add_counts(json, "files", by_file);
    json.end_object().key("source").raw(R"({"kind":"tool"})").end_object();
    return json.take() + '\n';
  }
};

/// Which of the older tool events can go: nothing that stays refers to them.
std::vector<bool> foldable(const std::vector<CompactionEntry>& entries,
                           const std::vector<std::size_t>& older) {
  std::vector<bool> goes(entries.size(), false);
  for (const std::size_t index : older) {
    goes[index] = !entries[index].must_stay;
  }
  std::unordered_multimap<std::string_view, std::size_t> by_id;
  std::vector<std::size_t> staying;  // Whose references are still to be followed.
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (goes[i]) {
      by_id.emplace(entries[i].id, i);
    } else if (!entries[i].removal) {
      staying.push_back(i);
    }
  }
  while (!staying.empty()) {
    const CompactionEntry& entry = entries[staying.back()];
    staying.pop_back();
    for (const std::string& id : entry.references) {
      const auto [begin, end] = by_id.equal_range(id);
      for (auto it = begin; it != end; ++it) {
        if (goes[it->second]) {
          goes[it->second] = false;
          staying.push_back(it->second);
        }
      }
    }
  }
  return goes;
}

}  // namespace

bool is_tool_event(std::string_view kind) { return kind == "tool_use" || kind == "tool_result"; }

ToolEvent to_tool_event(const ScannedEntry& scanned) {
  const std::string_view kind = scanned.value["kind"].string();
  const bool is_kept =
      scanned.value[kSensitiveField].boolean() || scanned.value[kExpiresField].present();
  if (scanned.type != EntryType::kEvent || !is_tool_event(kind) || is_kept) {
    return {};
  }
  const bool is_call = kind == "tool_use";
  const bool is_outside = scanned.value[kOutsideWorkspaceField].boolean();
  return {.kind = is_call ? ToolEvent::Kind::kCall : ToolEvent::Kind::kResult,
          .failed = !is_call && scanned.value["metadata"]["is_error"].boolean(),
          .tool = std::string(scanned.value["tool"].string()),
          .path = is_outside ? std::string() : std::string(scanned.value["path"].string())};
}

void fold_tool_events(std::vector<CompactionEntry>& entries, std::string_view session_id,
                      std::uint64_t kept, CompactionPlan& plan) {
  std::vector<std::size_t> events;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].removal && entries[i].tool.kind != ToolEvent::Kind::kNone) {
      events.push_back(i);
    }
  }
  if (kept == 0 || events.size() <= kept) {
    return;
  }
  events.resize(events.size() - kept);
  const std::vector<bool> goes = foldable(entries, events);
  std::map<std::chrono::sys_days, DayOfTools> days;
  for (const std::size_t index : events) {
    if (goes[index]) {
      const auto day = std::chrono::floor<std::chrono::days>(entries[index].timestamp);
      days[day].add(entries[index], index);
    }
  }
  for (const auto& [day, done] : days) {
    if (done.lines < 2) {
      continue;  // Nothing would be gained.
    }
    for (const std::size_t index : done.members) {
      assert(!entries[index].removal && !entries[index].must_stay);
      entries[index].remove(RemovalKind::kFolded,
                            fmt::format("{}{}", kCountedIn, done.id(session_id)));
    }
    plan.added_events += done.line(session_id);
    ++plan.added_count;
  }
}

}  // namespace bmad_mem
