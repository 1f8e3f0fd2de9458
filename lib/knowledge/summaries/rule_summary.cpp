// rule_summary.cpp - writes a summary of a session by rules, without a model.
//
//   prompts ──────────> Task, Current state        decisions, "we decided …" ──> Decisions
//   events with paths ─> Files and functions       failed tools, "never …" ────> Errors …
//   open findings ────> Open questions
//
// It is there so that a compaction always has something to hand over. It covers no message, so
// last_summarized_id stays empty; and it never takes the place of what somebody else wrote:
// `by_rules` in the front matter is a hash of the body, which an edit breaks.

#include <algorithm>
#include <cassert>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "bmad_mem/text.hpp"
#include "knowledge/prompt_text.hpp"
#include "knowledge/summary_file.hpp"
#include "model/entry.hpp"
#include "preference_detector.hpp"
#include "store/access.hpp"
#include "store/atomic_file.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"
#include "summaries/summary_session.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kByRules = "by_rules";
constexpr std::size_t kLineSizeShown = 280;  // Of a line of the summary, in bytes.
constexpr std::size_t kLinesMax = 8;         // Of a section; the newest of more.
/// The newest requests, in which wishes are looked for: 40 ms, and a client waits.
constexpr std::size_t kRequestsLookedAt = 1000;

/// The lines of each section, by its heading in the template.
class SummaryLines {
 public:
  void add(std::string_view section, std::string_view text) {
    assert(summary_template().contains(section) && "a section is one of the template");
    std::string line = harmless_line(text, kLineSizeShown);
    std::vector<std::string>& lines = lines_[std::string(section)];
    if (!line.empty() && !is_among(lines, line)) {
      lines.push_back(std::move(line));
    }
  }

  [[nodiscard]] bool empty() const {
    return std::ranges::all_of(lines_, [](const auto& each) { return each.second.empty(); });
  }

  /// The template with lines in the place of what it asks for.
  [[nodiscard]] std::string body() const {
    std::string out;
    std::string_view rest = summary_template();
    const std::vector<std::string>* lines = nullptr;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n') + 1);
      assert(!line.empty() && "the template ends with a newline");
      rest.remove_prefix(line.size());
      if (line.starts_with("## ")) {
        const auto found = lines_.find(line.substr(3, line.size() - 4));
        lines = found == lines_.end() || found->second.empty() ? nullptr : &found->second;
      } else if (line.starts_with('_') && lines != nullptr) {
        for (const std::string& each : std::span(*lines).last(std::min(lines->size(), kLinesMax))) {
          out += "- " + each + '\n';
        }
        continue;
      }
      out += line;
    }
    return out;
  }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> lines_;
};

void add_messages(const Conversation& talk, Timestamp now, SummaryLines& lines) {
  const DialogueMessage* first = nullptr;
  const DialogueMessage* last = nullptr;
  const DialogueMessage* answer = nullptr;
  std::vector<const DialogueMessage*> requests;
  for (const DialogueMessage& message : talk.messages) {
    if (message.is_sensitive || has_expired(message.expires_at, now) ||
        trimmed(message.content).empty()) {
      continue;
    }
    if (message.role == "assistant") {
      answer = &message;
    } else if (message.role == "user") {
      first = first == nullptr ? &message : first;
      last = &message;
      requests.push_back(&message);
    }
  }
  const std::size_t looked_at = std::min(requests.size(), kRequestsLookedAt);
  for (const DialogueMessage* const request : std::span(requests).last(looked_at)) {
    for (const PreferenceCandidate& found : detect_preferences(request->content)) {
      const bool is_decision = found.category == Category::kDecision;
      lines.add(is_decision ? "Decisions" : "Errors and corrections",
                "The user: " + found.sentence);
    }
  }
  if (first != nullptr) {
    lines.add("Task", first->content);
  }
  if (last != nullptr && last != first) {
    lines.add("Current state", "Last request: " + last->content);
  }
  if (answer != nullptr) {
    lines.add("Current state", "Last answer: " + answer->content);
  }
}

/// How often a file was worked on, and with what.
struct FileUse {
  std::string path;
  std::uint64_t calls = 0;
  std::map<std::string, std::uint64_t, std::less<>> tools = {};
};

class ToolUse {
 public:
  void add(JsonValue event) {
    const std::string_view kind = event["kind"].string();
    const std::string_view tool = event["tool"].string();
    const bool is_private =
        event[kSensitiveField].boolean() || event[kOutsideWorkspaceField].boolean();
    if (is_private) {
      return;
    }
    if (const std::string_view path = event["path"].string(); kind == "tool_use" && !path.empty()) {
      const auto place = places_.try_emplace(std::string(path), files_.size()).first->second;
      if (place == files_.size()) {
        files_.push_back({.path = std::string(path)});
      }
      assert(place < files_.size());
      ++files_[place].calls;
      ++files_[place].tools[std::string(tool)];
    }
    if (kind == "tool_result" && event["metadata"]["is_error"].boolean()) {
      const std::string_view path = event["path"].string();
      failures_.push_back(fmt::format("{}{}{} failed: {}", tool, path.empty() ? "" : " ", path,
                                      event["content"].string()));
    }
  }

  void tell(SummaryLines& lines) {
    std::ranges::stable_sort(files_, std::less<>(), &FileUse::calls);  // The most used stay.
    for (const FileUse& file : files_) {
      std::string tools;
      for (const auto& [tool, calls] : file.tools) {
        tools += fmt::format("{}{} {}", tools.empty() ? "" : ", ", tool, calls);
      }
      lines.add("Files and functions", fmt::format("{} ({})", file.path, tools));
    }
    for (const std::string& failure : failures_) {
      lines.add("Errors and corrections", failure);
    }
  }

 private:
  std::vector<FileUse> files_;
  std::map<std::string, std::size_t, std::less<>> places_;
  std::vector<std::string> failures_;
};

/// Calls `use` with the latest version of each entry of `type` that is no secret and has not
/// expired.
template <typename Use>
Status for_each_latest(const Store& store, const std::string& session_id, EntryType type,
                       const Use& use) {
  if (!check_read(store, type)) {
    return {};
  }
  BMAD_TRY_ASSIGN(const std::vector<TableEntry> entries,
                  load_entries(*store.files, session_id, {&type, 1}));
  JsonParser parser;
  for (const TableEntry& entry : entries) {
    if (entry.sensitive || has_expired(entry.expires_at, store.clock.now())) {
      continue;
    }
    if (const Result<JsonValue> value = parser.parse(entry.text)) {
      use(*value);
    }
  }
  return {};
}

Result<SummaryLines> found_lines(const Store& store, const std::string& session_id) {
  SummaryLines lines;
  BMAD_TRY_ASSIGN(const Conversation talk, read_conversation(store, session_id));
  BMAD_TRY(for_each_latest(store, session_id, EntryType::kDecision, [&](JsonValue entry) {
    const std::string_view why = entry["rationale"].string();
    lines.add("Decisions", fmt::format("{}{}{}", entry["decision"].string(),
                                       why.empty() ? "" : " - because: ", why));
  }));
  add_messages(talk, store.clock.now(), lines);
  ToolUse tools;
  BMAD_TRY(for_each_latest(store, session_id, EntryType::kEvent,
                           [&](JsonValue entry) { tools.add(entry); }));
  tools.tell(lines);
  BMAD_TRY(for_each_latest(store, session_id, EntryType::kFinding, [&](JsonValue entry) {
    const std::string_view status = entry["status"].string();
    if (status != "resolved" && status != "dismissed") {
      lines.add("Open questions", entry["description"].string());
    }
  }));
  return lines;
}

bool is_by_rules(const FrontMatter& summary) {
  return summary.value(kByRules) == hash_hex(xxh3(summary.body()));
}

std::string clean_body(const Store& store, const std::string& session_id, std::string body) {
  return store.redaction == nullptr ? body : store.redaction->redact_text(body, session_id);
}

void set_body(FrontMatter& summary, std::string body) {
  summary.set(kByRules, hash_hex(xxh3(body)));
  summary.set_body(std::move(body));
  assert(is_by_rules(summary));
}

/// Whether the summary is ours to replace: there is none, it says nothing, or rules wrote it.
bool is_of_rules(const SummaryFiles& files) {
  const FrontMatter summary = files.summary();
  return is_empty_summary(summary.body()) || is_by_rules(summary);
}

/// Puts what it finds in the place of a summary that is of rules. Whether that changed it. It reads
/// under the lock: what is deleted meanwhile must not come back.
Result<bool> write_found(Store& store, const std::string& session_id) {
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_session(session_id, "summary"));
  BMAD_TRY_ASSIGN(const SummaryLines lines, found_lines(store, session_id));
  if (lines.empty()) {
    return false;
  }
  std::string body = clean_body(store, session_id, lines.body());
  BMAD_TRY_ASSIGN(const SummaryFiles files, read_summary_files(store, session_id));
  FrontMatter summary = files.summary();
  if (is_live(store, files.state.pending) || !is_of_rules(files) || summary.body() == body) {
    return false;
  }
  set_body(summary, std::move(body));
  BMAD_TRY(replace_file(*store.files, session_file(session_id, kSummaryName), summary.to_text()));
  return true;
}

}  // namespace

Result<FrontMatter> readable_summary(const Store& store, const std::string& session_id,
                                     const SummaryFiles& files) {
  FrontMatter summary = files.summary();
  if (may_read_summaries(store) || !is_by_rules(summary)) {
    return summary;
  }
  BMAD_TRY_ASSIGN(const SummaryLines lines, found_lines(store, session_id));
  set_body(summary,
           clean_body(store, session_id,
                      lines.empty() ? FrontMatter(summary_template()).body() : lines.body()));
  return summary;
}

Result<bool> Summaries::write_by_rules(std::string_view session_id) {
  const std::string id(session_id);
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(*memory_, "summary update"));
  BMAD_TRY(check_write(*store, EntryType::kConversation));
  BMAD_TRY_ASSIGN(const SummaryFiles files, read_summary_files(*store, id));
  if (!store->config.summarizer.enabled || !is_of_rules(files)) {
    return false;
  }
  return write_found(*store, id);
}

void renew_rule_summary(Store& store, const std::string& session_id) {
  static_cast<void>(write_found(store, session_id));
}

bool is_summary_by_rules(std::string_view text) { return is_by_rules(FrontMatter(text)); }

Result<bool> drop_rule_summary(FileSystem& files, std::string_view session_id) {
  constexpr std::uint64_t kSizeMax = 1U << 20U;  // Ours are a few kilobytes.
  const std::string path = session_file(session_id, kSummaryName);
  const Result<std::string> text = read_file(files, path, kSizeMax);
  if (!text || !is_summary_by_rules(*text)) {
    return false;
  }
  BMAD_TRY(remove_durably(files, path));
  return true;
}

}  // namespace bmad_mem
