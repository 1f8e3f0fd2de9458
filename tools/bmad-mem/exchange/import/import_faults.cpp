// import_faults.cpp - finds doubles and false lines of imports, session by session.
#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/tool.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/format_table.hpp"
#include "exchange/import/import_files.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kShownMax = 60;
/// How many messages in a row must agree with those of another session where ids differ.
constexpr std::size_t kCopiesMin = 2;

std::uint64_t hash_of_text(std::string_view role, std::string_view text) {
  return std::hash<std::string>()(fmt::format("{}\n{}", role, stripped(text)));
}

/// A message, without its text.
struct Trace {
  std::uint64_t text = 0;  ///< Hash of role and text.
  std::uint64_t id = 0;    ///< Its hash.
  std::uint64_t line = 0;  ///< Of its transcript.
  std::size_t index = 0;   ///< Of its entry in the session.
};

struct SessionTraces {
  std::string session_id;
  std::vector<Trace> messages;  ///< As they were said.
  std::set<std::uint64_t> event_ids;
};

/// Why a text is not the person's, and what is left of it.
struct Verdict {
  std::string_view reason;
  Speaker speaker = Speaker::kPerson;  ///< Whose `rest` is.
  std::string rest = {};               ///< Empty: nothing.
};

/// What agents told sub-agents to do, as the calls of their tools say. A person may have typed the
/// same before, so a call explains one message that follows it soon.
class Orders {
 public:
  void add(std::string_view call, Timestamp time) {
    static constexpr auto kKeys =
        std::to_array<std::string_view>({"prompt: ", "message: ", "task: ", "instructions: "});
    for (const std::string_view key : kKeys) {
      const std::size_t at = call.starts_with(key) ? 0 : call.find(fmt::format("\n{}", key));
      if (at != std::string_view::npos) {
        calls_.emplace(hash_of_beginning(call.substr(call.find(key, at) + key.size())), time);
      }
    }
  }

  bool take(std::string_view text, Timestamp time) {
    static constexpr std::chrono::minutes kSoon(10);
    const auto [begin, end] = calls_.equal_range(hash_of_beginning(text));
    const auto found = std::find_if(begin, end, [&](const auto& call) {
      return call.second <= time && time - call.second <= kSoon;
    });
    if (found == end) {
      return false;
    }
    calls_.erase(found);
    return true;
  }

 private:
  /// Of the first line: texts of calls are cut.
  static std::uint64_t hash_of_beginning(std::string_view text) {
    static constexpr std::size_t kComparedMax = 200;
    text = stripped(text);
    return std::hash<std::string_view>()(text.substr(0, text.find('\n')).substr(0, kComparedMax));
  }

  std::unordered_multimap<std::uint64_t, Timestamp> calls_;
};

bool is_tool_output(std::string_view text) {
  text = stripped(text);
  const ParsedJson value(text.starts_with('{') ? text : "");
  return value["output"].present() || value["functionResponse"].present() ||
         value["llmContent"].present();
}

/// Nothing for what may well be the person's.
std::optional<Verdict> judge(std::string_view text, Timestamp time, Orders& orders,
                             const CommandTexts& commands) {
  if (is_machine_text(text)) {
    return Verdict{.reason = "was written by a program"};
  }
  if (is_tool_output(text)) {
    return Verdict{.reason = "is what a tool printed"};
  }
  const std::string typed = without_injected(text);
  if (stripped(typed) != stripped(text)) {
    return Verdict{.reason = "has what a hook told", .rest = std::string(stripped(typed))};
  }
  static constexpr std::string_view kFiles = "\n--- Content from referenced files ---";
  if (const std::size_t files = text.find(kFiles); files != std::string_view::npos) {
    return Verdict{.reason = "has files that the client read",
                   .rest = std::string(stripped(text.substr(0, files)))};
  }
  if (std::optional<std::string> command = commands.typed(text)) {
    return Verdict{.reason = "is what a command became", .rest = std::move(*command)};
  }
  if (orders.take(text, time)) {
    return Verdict{.reason = "is an agent's order to its sub-agent",
                   .speaker = Speaker::kParentAgent,
                   .rest = std::string(stripped(text))};
  }
  return std::nullopt;
}

/// Of all clients: which one it was is not stored.
CommandTexts all_commands(const MemoryManager& memory) {
  std::vector<std::string_view> rows;
  for (const ImportRow& row : import_rows()) {
    rows.insert(rows.end(), row.commands.begin(), row.commands.end());
  }
  return CommandTexts(command_folders(rows, project_folder(memory.root())));
}

/// What takes the place of a message: `verdict.rest`, by its speaker.
std::string corrected(JsonValue message, const Entry& entry, const Verdict& verdict) {
  assert(!verdict.rest.empty());
  const SpeakerRow& speaker = speaker_row(verdict.speaker);
  const bool is_agents = verdict.speaker != Speaker::kPerson;
  return json_object(
      "id", content_id("msg-", fmt::format("{}\n{}\n{}", entry.session_id, entry.id, verdict.rest)),
      "timestamp", if_some(message["timestamp"].string()), "role", speaker.role, "content",
      verdict.rest, "agent_id", only_if(is_agents, std::string_view("subagent")), "metadata",
      only_if(is_agents, object_of("sidechain", true)), "source",
      object_of("kind", speaker.source));
}

class FaultSearch {
  /// Where messages are: session and message.
  using Places = std::vector<std::pair<std::size_t, std::size_t>>;

 public:
  explicit FaultSearch(const MemoryManager& memory)
      : memory_(memory), commands_(all_commands(memory)) {}

  Result<std::vector<ImportFault>> take_all() {
    BMAD_TRY_ASSIGN(std::vector<Session> sessions, memory_.list_sessions());
    std::erase_if(sessions, [](const Session& session) {
      return session.problem || find_import_format(session.session_type) == nullptr;
    });
    std::ranges::stable_sort(sessions, {}, &Session::created_at);
    for (const Session& session : sessions) {
      BMAD_TRY(take(session));
    }
    BMAD_TRY(take_facts());
    return std::move(faults_);
  }

 private:
  Status take(const Session& session) {
    BMAD_TRY_ASSIGN(std::vector<Entry> entries,
                    memory_.list({.sessions = {session.session_id},
                                  .types = {EntryType::kConversation, EntryType::kEvent},
                                  .limit = 0}));
    std::ranges::reverse(entries);  // The newest comes first.
    SessionTraces traces{.session_id = session.session_id};
    std::vector<Trace>& messages = traces.messages;
    JsonParser parser;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const Result<JsonValue> value = parser.parse(entries[i].json);
      const std::uint64_t id = std::hash<std::string>()(entries[i].id);
      if (entries[i].type == EntryType::kEvent) {
        traces.event_ids.insert(id);
      } else if (value) {
        messages.push_back(
            {.text = hash_of_text((*value)["role"].string(), (*value)["content"].string()),
             .id = id,
             .line = static_cast<std::uint64_t>((*value)["imported_from"]["line"].integer()),
             .index = i});
      }
    }
    // A fork's copies may all have the time of the fork; what hooks recorded has no line.
    if (std::ranges::find(messages, 0U, &Trace::line) == messages.end()) {
      std::ranges::stable_sort(messages, {}, &Trace::line);
    }
    const std::set<std::string_view> copies = take_copies(messages, entries);
    for (const Entry& entry : entries) {
      if (!copies.contains(entry.id)) {
        take_entry(entry);
      }
    }
    for (std::size_t i = 0; i < messages.size(); ++i) {
      firsts_[messages[i].text].emplace_back(sessions_.size(), i);
    }
    sessions_.push_back(std::move(traces));
    return {};
  }

  /// The ids of messages that another session had before, from the first on, and of its events.
  std::set<std::string_view> take_copies(std::span<const Trace> messages,
                                         const std::vector<Entry>& entries) {
    std::span<const Trace> longest;
    const SessionTraces* origin = nullptr;
    const auto begins = messages.empty() ? firsts_.end() : firsts_.find(messages.front().text);
    for (const auto& [at, from] : begins != firsts_.end() ? begins->second : Places()) {
      const auto others = std::span(sessions_[at].messages).subspan(from);
      const auto end = std::ranges::mismatch(messages, others, {}, &Trace::text, &Trace::text).in1;
      const std::span copied(messages.begin(), end);
      const bool has_ids = messages.front().id == others.front().id;
      if (copied.size() > longest.size() && (has_ids || copied.size() >= kCopiesMin)) {
        longest = copied;
        origin = &sessions_[at];
      }
    }
    std::set<std::string_view> copies;
    const auto take_copy = [&](const Entry& entry) {
      assert(origin != nullptr);
      add(entry, fmt::format("is a copy of one in {}", origin->session_id));
      copies.insert(entry.id);
    };
    for (const Trace& message : longest) {
      assert(message.index < entries.size());
      take_copy(entries[message.index]);
    }
    for (const Entry& entry : entries) {
      if (origin != nullptr && entry.type == EntryType::kEvent &&
          origin->event_ids.contains(std::hash<std::string>()(entry.id))) {
        take_copy(entry);
      }
    }
    return copies;
  }

  void take_entry(const Entry& entry) {
    const ParsedJson value(entry.json);
    const std::string_view text = value["content"].string();
    const Timestamp time =
        try_parse_rfc3339(value["timestamp"].string()).value_or(Timestamp::max());
    if (entry.type == EntryType::kEvent) {
      if (value["kind"].string() == "tool_use") {
        orders_.add(text, time);
      }
      return;
    }
    const std::string_view source = value["source"]["kind"].string();
    const bool is_persons = value["role"].string() == "user" &&
                            (source.empty() || source == "user") &&
                            !value["metadata"]["sidechain"].boolean();
    const auto verdict = is_persons ? judge(text, time, orders_, commands_) : std::nullopt;
    if (verdict) {
      add(entry, std::string(verdict->reason),
          verdict->rest.empty() ? "" : corrected(*value, entry, *verdict));
      false_.insert(entry.id);
    }
  }

  /// Facts that were learned from a false line as what the person said.
  Status take_facts() {
    if (false_.empty()) {
      return {};
    }
    BMAD_TRY_ASSIGN(const std::vector<Entry> facts,
                    memory_.list({.types = {EntryType::kFact, EntryType::kDecision}, .limit = 0}));
    JsonParser parser;
    for (const Entry& fact : facts) {
      const JsonValue value = parser.parse(fact.json).value_or(JsonValue());
      const auto is_false = [&](std::string_view id) { return false_.contains(id); };
      if (value["source"]["kind"].string() == "user" &&
          std::ranges::any_of(read_texts(value["references"]["messages"]), is_false)) {
        add(fact, "was learned from such a line");
      }
    }
    return {};
  }

  void add(const Entry& entry, std::string reason, std::string instead = {}) {
    const ParsedJson value(entry.json);
    std::string text(words_prefix(stripped(value["content"].string()), kShownMax));
    std::ranges::replace(text, '\n', ' ');
    faults_.push_back({.session_id = entry.session_id,
                       .id = entry.id,
                       .reason = std::move(reason),
                       .text = std::move(text),
                       .instead = std::move(instead)});
  }

  const MemoryManager& memory_;
  CommandTexts commands_;
  std::vector<SessionTraces> sessions_;               ///< Those before, the oldest first.
  std::unordered_map<std::uint64_t, Places> firsts_;  ///< By hash of role and text.
  Orders orders_;  ///< Of all sessions so far: a sub-agent has one of its own.
  std::set<std::string, std::less<>> false_;
  std::vector<ImportFault> faults_;
};

}  // namespace

Result<std::vector<ImportFault>> find_import_faults(const MemoryManager& memory) {
  return FaultSearch(memory).take_all();
}

Status mend_import_faults(MemoryManager& memory, const std::vector<ImportFault>& faults) {
  std::map<std::string, DeletionCriteria> by_session;
  std::map<std::string, std::vector<std::string_view>> instead;
  for (const ImportFault& fault : faults) {
    DeletionCriteria& criteria = by_session[fault.session_id];
    criteria.sessions = {fault.session_id};
    criteria.ids.push_back(fault.id);
    if (!fault.instead.empty()) {
      instead[fault.session_id].push_back(fault.instead);
    }
  }
  // First what takes their place: killed in between, nothing that was said is missing.
  for (const auto& [session_id, lines] : instead) {
    BMAD_TRY(memory.add_batch(session_id, EntryType::kConversation, lines,
                              {.keep_going = true, .known = KnownEntries::kSkipId}));
  }
  for (const auto& [session_id, criteria] : by_session) {
    BMAD_TRY(memory.delete_entries(criteria));
  }
  return {};
}

}  // namespace bmad_mem::cli
