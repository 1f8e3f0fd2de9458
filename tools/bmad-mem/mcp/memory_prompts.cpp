// memory_prompts.cpp - prompts that a person picks in the host, and what completes their arguments
// and those of resource templates.

#include <algorithm>
#include <array>
#include <iterator>
#include <ranges>
#include <set>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/text.hpp"
#include "cli/filters.hpp"
#include "cli/text.hpp"
#include "mcp/memory_service.hpp"
#include "mcp/memory_text.hpp"
#include "mcp/memory_tools.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::array<std::string_view, 3> kPrompts = {"load_context", "record_decision", "review"};

/// Bytes of a candidate that are shown, and accepted, as a whole.
constexpr std::size_t kShownWholeMax = 2000;

/// Candidates that are shown at once.
constexpr std::size_t kReviewedMax = 50;

/// Entries that are looked at for their tags: the newest ones.
constexpr std::size_t kTaggedMax = 2000;

McpAnswer<McpPromptResult> load_context(LazyMemory& memory, LazyMemory& users,
                                        JsonValue arguments) {
  ContextOptions options{.agent_id = std::string(arguments["agent"].string()),
                         .task = std::string(arguments["task"].string())};
  if (options.task.empty()) {
    return invalid_params("argument \"task\" is required");
  }
  if (const std::string_view session = arguments["session_id"].string(); !session.empty()) {
    options.sessions = {std::string(session)};
  }
  BMAD_TRY_ASSIGN(const Readable opened, to_read_either(memory, users));
  std::string known = "The project's memory holds nothing about it yet.";
  if (opened.memory != nullptr) {
    BMAD_TRY_ASSIGN(const Context context, Knowledge(*opened.memory).context(options));
    if (!context.markdown.empty()) {
      known = std::string(utf8_prefix(context.markdown, kAnswerSizeMax));
    }
  }
  return McpPromptResult{.description = "What the memory knows, and the task",
                         .messages = {std::move(known), fmt::format("My task: {}", options.task)}};
}

McpAnswer<McpPromptResult> record_decision(JsonValue arguments) {
  const auto given = [&](std::string_view name) { return arguments[name].string(); };
  return McpPromptResult{
      .description = "Record a decision",
      .messages = {
          view_line("mcp_record_decision",
                    json_object("decision", given("decision"), "rationale", given("rationale"),
                                "impact", given("impact"), "tags", given("tags")))}};
}

/// How many statements wait in the user's own memory.
std::size_t waiting_for_user(LazyMemory& users) {
  MemoryManager* const opened =
      users.place().explicit_root.empty() ? nullptr : users.to_read().value_or(nullptr);
  const Result<std::vector<KnowledgeItem>> waiting =
      opened == nullptr
          ? std::vector<KnowledgeItem>()
          : Knowledge(*opened).recall({.candidates = true, .note_accesses = false, .limit = 0});
  return waiting ? waiting->size() : 0;
}

McpAnswer<McpPromptResult> review_candidates(LazyMemory& memory, LazyMemory& users,
                                             OfferedReviews& offered) {
  BMAD_TRY_ASSIGN(MemoryManager* const opened, memory.to_read());
  std::string shown;
  if (opened != nullptr) {
    BMAD_TRY_ASSIGN(const std::vector<KnowledgeItem> waiting,
                    Knowledge(*opened).recall(
                        {.candidates = true, .note_accesses = false, .limit = kReviewedMax}));
    for (const KnowledgeItem& item : waiting) {
      const bool is_whole = item.value.size() + item.key.size() <= kShownWholeMax;
      const std::string line =
          view_line("mcp_candidate",
                    json_object("id", item.id, "category", category_name(item.category), "key",
                                item.key, "value", item.value, "replaces_id", item.replaces_id,
                                "replaces", item.replaces_value, "is_whole", is_whole)) +
          "\n";
      if (shown.size() + line.size() > kAnswerSizeMax / 2) {
        break;
      }
      shown += line;
      if (is_whole) {  // Nobody accepts what they have not seen.
        offered.offer(item.id, offered_text(item));
      }
    }
  }
  return McpPromptResult{
      .description = shown.empty() ? "Nothing waits for a decision" : "What waits for a decision",
      .messages = {view_line("mcp_review_prompt",
                             json_object("list", shown.empty() ? "" : fenced_text(shown), "of_user",
                                         waiting_for_user(users)))}};
}

/// Those that begin like `value`, in order.
std::vector<std::string> beginning_like(std::string_view value, std::vector<std::string> all) {
  std::erase_if(all, [&](const std::string& each) { return !each.starts_with(value); });
  return all;
}

std::vector<std::string> session_ids(const MemoryManager& memory) {
  const auto sessions = memory.list_sessions().value_or(std::vector<Session>());
  return mapped(sessions | std::views::reverse, &Session::session_id);
}

std::vector<Entry> newest_entries(const MemoryManager& memory) {
  return memory.list({.without_sensitive = true, .limit = kTaggedMax})
      .value_or(std::vector<Entry>());
}

std::vector<std::string> entry_ids(const MemoryManager& memory) {
  return mapped(newest_entries(memory), &Entry::id);
}

std::vector<std::string> tags_in_use(const MemoryManager& memory) {
  std::set<std::string> tags;
  for (const Entry& entry : newest_entries(memory)) {
    std::ranges::move(json_strings(ParsedJson(entry.json)["tags"]),
                      std::inserter(tags, tags.end()));
  }
  tags.erase("");
  return {tags.begin(), tags.end()};
}

/// Several tags with commas between them: the last one is completed.
std::vector<std::string> complete_tags(std::string_view value, std::vector<std::string> tags) {
  const std::size_t start =  // npos + 1 is 0.
      std::min(value.find_first_not_of(' ', value.rfind(',') + 1), value.size());
  std::vector<std::string> out = beginning_like(value.substr(start), std::move(tags));
  for (std::string& each : out) {
    each.insert(0, value.substr(0, start));
  }
  return out;
}

}  // namespace

McpAnswer<McpPromptResult> MemoryService::get_prompt(std::string_view name, JsonValue arguments,
                                                     McpCall& /*call*/) {
  if (name == "load_context") {
    return load_context(memory_, users_, arguments);
  }
  if (name == "record_decision") {
    return record_decision(arguments);
  }
  if (name == "review") {
    return review_candidates(memory_, users_, offered_);
  }
  return invalid_params(
      fmt::format("unknown prompt {}; there are {}", utf8_prefix(name, 200), joined(kPrompts)));
}

McpAnswer<std::vector<std::string>> MemoryService::complete(const McpCompletionQuery& query) {
  if (query.is_prompt && !is_among(kPrompts, query.ref)) {
    return invalid_params(fmt::format("unknown prompt {}", utf8_prefix(query.ref, 200)));
  }
  const auto impact = std::ranges::find(entry_fields(EntryType::kDecision), "impact", &Field::name);
  using Names = std::span<const std::string_view>;
  if (const Names fixed = query.argument == "impact"     ? impact->choices
                          : query.argument == "type"     ? Names(kTypeNames)
                          : query.argument == "category" ? Names(kCategoryNames)
                                                         : Names();
      !fixed.empty()) {
    return beginning_like(query.value, {fixed.begin(), fixed.end()});
  }
  BMAD_TRY_ASSIGN(const MemoryManager* const opened, memory_.to_read());
  if (opened == nullptr) {
    return std::vector<std::string>();
  }
  if (query.argument == "session_id") {
    return beginning_like(query.value, session_ids(*opened));
  }
  if (query.argument == "id") {
    return beginning_like(query.value, entry_ids(*opened));
  }
  if (query.argument == "tags" || query.argument == "tag") {
    return complete_tags(query.value, tags_in_use(*opened));
  }
  return std::vector<std::string>();
}

}  // namespace bmad_mem::cli
