// summary_file.cpp - reads and writes the text and the state of summary.md.
#include "knowledge/summary_file.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "knowledge/prompt_text.hpp"
#include "knowledge_prompts.hpp"
#include "store/layout.hpp"
#include "store/line_reader.hpp"

namespace bmad_mem {
namespace {

std::optional<PendingSummary> parse_pending(JsonValue value) {
  const std::optional<Timestamp> started = try_parse_rfc3339(value["started_at"].string());
  if (!started) {
    return std::nullopt;
  }
  return PendingSummary{.pid = value["pid"].integer(),
                        .host = std::string(value["host"].string()),
                        .agent_id = std::string(value["agent_id"].string()),
                        .started_at = *started,
                        .up_to_id = std::string(value["up_to_id"].string()),
                        .base_hash = std::string(value["base_hash"].string()),
                        .ticket = std::string(value["ticket"].string()),
                        .took_over = value["took_over"].boolean(),
                        .messages = value["messages"].natural(),
                        .tokens = value["tokens"].natural()};
}

void write_pending(JsonWriter& json, const PendingSummary& pending) {
  json.key("pending").begin_object().member("pid", pending.pid).member("host", pending.host);
  json.member("agent_id", pending.agent_id);
  json.member("started_at", format_rfc3339(pending.started_at));
  json.member("up_to_id", pending.up_to_id).member("base_hash", pending.base_hash);
  json.member("ticket", pending.ticket).member("took_over", pending.took_over);
  json.member("messages", pending.messages).member("tokens", pending.tokens).end_object();
}

JsonWriter begin_record(std::string_view kind, Timestamp at) {
  JsonWriter json;
  json.begin_object().member("at", format_rfc3339(at)).member("kind", kind);
  return json;
}

/// The counts of a record of totals; of one of an update those that it has.
constexpr std::pair<std::string_view, std::uint64_t SummaryStats::*> kCounts[] = {
    {"updates", &SummaryStats::updates},
    {"failures", &SummaryStats::failures},
    {"compactions", &SummaryStats::compactions},
    {"resumed", &SummaryStats::resumed},
    {"tokens_in", &SummaryStats::tokens_in},
    {"tokens_out", &SummaryStats::tokens_out},
    {"cache_read_tokens", &SummaryStats::cache_read_tokens},
    {"cache_written_tokens", &SummaryStats::cache_written_tokens}};

void add_record(JsonValue record, SummaryStats& stats) {
  const std::string_view kind = record["kind"].string();
  const bool is_update = kind == "update";
  const bool is_total = kind == "totals";
  if (is_update || is_total) {
    stats.updates += is_update ? 1 : 0;
    for (const auto& [name, count] : kCounts) {
      stats.*count += record[name].natural();
    }
  }
  if (is_total) {
    for (const JsonMember& member : record["declined"].members()) {
      stats.declined[std::string(member.key)] += member.value.natural();
    }
  } else if (kind == "failure") {
    ++stats.failures;
  } else if (kind == "compaction" && !record["declined"].string().empty()) {
    ++stats.declined[std::string(record["declined"].string())];
  } else if (kind == "compaction") {
    ++stats.compactions;
    stats.resumed += record["resumed_session"].boolean() ? 1 : 0;
  }
}

bool is_heading(std::string_view line) {
  const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
  return level >= 1 && level <= 6 && (level == line.size() || line[level] == ' ');
}

bool is_of_template(std::string_view line) {
  bool found = false;
  for_each_text_line(kTemplateText, [&](std::string_view own) { found = found || own == line; });
  return found;
}

bool steers(char32_t code) {
  const auto is_in = [code](char32_t first, char32_t last) {
    return code >= first && code <= last;
  };
  return (code < 0x20 && code != '\n' && code != '\t') || is_in(0x7F, 0x9F) ||
         is_in(0x200E, 0x200F) ||             // Marks of direction.
         is_in(0x202A, 0x202E) ||             // Embeddings and overrides.
         is_in(0x2066, 0x2069) ||             // Isolates.
         code == 0xFEFF || code == 0x200B ||  // Nothing to see.
         is_in(0xE0000, 0xE007F);             // Tags.
}

constexpr std::string_view kFence = "---";

bool is_line_of(std::string_view line, std::string_view key) {
  return line.starts_with(key) && line.substr(key.size()).starts_with(':');
}

/// A value that would not come back as it is stands in JSON's quotes.
std::string written(std::string_view value) {
  const bool is_plain = std::ranges::all_of(
      value, [](unsigned char byte) { return byte >= 0x20 && byte != 0x7F && byte != '"'; });
  return is_plain && value == trimmed(value, " \t\r\"'") ? std::string(value) : json_quoted(value);
}

}  // namespace

SummaryDue summary_due(const SummaryStatus& status, const SummarizerConfig& config,
                       bool newest_is_sidechain, bool was_summarized) {
  const bool enough_calls =
      std::cmp_greater_equal(status.tool_calls_since, config.tool_calls_between_updates);
  // Each is asked only when those before it have nothing to say.
  const std::pair<bool, SummaryDue> answers[] = {
      {!config.enabled, SummaryDue::kDisabled},
      {newest_is_sidechain, SummaryDue::kSidechain},
      {status.messages_since == 0, SummaryDue::kNoMessages},
      {status.pending_since && !status.pending_is_stale, SummaryDue::kPending},
      {std::cmp_less(status.tokens, config.minimum_message_tokens_to_init), SummaryDue::kTooShort},
      {was_summarized && std::cmp_less(status.tokens_since, config.minimum_tokens_between_update),
       SummaryDue::kTooFewTokens},
      {status.compacting && !enough_calls, SummaryDue::kTooFewToolCalls},
      {!was_summarized, SummaryDue::kDueFirst},
      {enough_calls, SummaryDue::kDueToolCalls},
      {true, SummaryDue::kDueTokens}};
  return std::ranges::find(answers, true, &std::pair<bool, SummaryDue>::first)->second;
}

bool is_stale(Timestamp since, Timestamp now, std::chrono::milliseconds age_max) {
  return now - since > age_max || since - now > age_max;
}

bool is_compacting(std::optional<Timestamp> since, Timestamp now) {
  return since && !is_stale(*since, now, kCompactingMax);
}

std::string_view summary_due_name(SummaryDue due) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "due_first", "due_tool_calls", "due_tokens",         "disabled", "no_messages",
      "too_short", "too_few_tokens", "too_few_tool_calls", "pending",  "sidechain"};
  assert(static_cast<std::size_t>(due) < kNames.size());
  return kNames[static_cast<std::size_t>(due)];
}

bool is_due(SummaryDue due) {
  return due == SummaryDue::kDueFirst || due == SummaryDue::kDueToolCalls ||
         due == SummaryDue::kDueTokens;
}

std::string_view compaction_decline_name(CompactionDecline decline) {
  static constexpr std::array<std::string_view, 6> kNames = {"none",
                                                             "disabled",
                                                             "no_summary",
                                                             "empty_template",
                                                             "summarized_id_not_found",
                                                             "threshold_exceeded"};
  assert(static_cast<std::size_t>(decline) < kNames.size());
  return kNames[static_cast<std::size_t>(decline)];
}

std::string PendingSummary::who() const {
  return fmt::format("process {}{} on {}", pid,
                     agent_id.empty() ? "" : fmt::format(" (agent \"{}\")", agent_id), host);
}

std::string SummaryState::to_text() const {
  JsonWriter json;
  json.begin_object();
  if (pending) {
    write_pending(json, *pending);
  }
  json.member("counted_id", counted_id).member("tried_id", tried_id);
  if (counted_at) {
    json.member("counted_at", format_rfc3339(*counted_at));
  }
  if (compacting_since) {
    json.member("compacting_since", format_rfc3339(*compacting_since));
  }
  return json.end_object().take() + '\n';
}

SummaryState parse_summary_state(std::string_view text) {
  const ParsedJson root(text);
  if (!root) {
    return {};
  }
  return {.pending = parse_pending((*root)["pending"]),
          .counted_id = std::string((*root)["counted_id"].string()),
          .counted_at = try_parse_rfc3339((*root)["counted_at"].string()),
          .tried_id = std::string((*root)["tried_id"].string()),
          .compacting_since = try_parse_rfc3339((*root)["compacting_since"].string())};
}

void write_members(const SummaryUpdate& update, JsonWriter& json) {
  json.member("last_summarized_id", update.last_summarized_id);
  json.member("id_was_moved", update.id_was_moved).member("messages", update.messages);
  json.member("tokens_in", std::uint64_t{update.tokens_in});
  json.member("tokens_out", std::uint64_t{update.tokens_out});
  if (update.cache_read_tokens) {
    json.member("cache_read_tokens", *update.cache_read_tokens);
  }
  if (update.cache_written_tokens) {
    json.member("cache_written_tokens", *update.cache_written_tokens);
  }
}

std::string update_record(const SummaryUpdate& update, const SummarizerConfig& config,
                          Timestamp at) {
  JsonWriter json = begin_record("update", at);
  write_members(update, json);
  json.member("minimum_message_tokens_to_init", config.minimum_message_tokens_to_init);
  json.member("minimum_tokens_between_update", config.minimum_tokens_between_update);
  json.member("tool_calls_between_updates", config.tool_calls_between_updates);
  return json.end_object().take();
}

std::string failure_record(std::string_view code, Timestamp at) {
  JsonWriter json = begin_record("failure", at);
  json.member("code", code).end_object();
  return json.take();
}

std::string compaction_record(const CompactedConversation& result, Timestamp at) {
  JsonWriter json = begin_record("compaction", at);
  if (result.declined != CompactionDecline::kNone) {
    json.member("declined", compaction_decline_name(result.declined));
  } else {
    json.member("resumed_session", result.resumed_session);
    json.member("messages", std::uint64_t{result.messages.size()});
    json.member("tokens", std::uint64_t{result.tokens});
  }
  return json.end_object().take();
}

void write_members(const SummaryStats& stats, JsonWriter& json) {
  json.member("updates", stats.updates).member("failures", stats.failures);
  json.member("compactions", stats.compactions).member("resumed", stats.resumed);
  json.key("declined").begin_object();
  for (const auto& [reason, count] : stats.declined) {
    json.member(reason, count);
  }
  json.end_object();
  json.member("tokens_in", stats.tokens_in).member("tokens_out", stats.tokens_out);
  json.member("cache_read_tokens", stats.cache_read_tokens);
  json.member("cache_written_tokens", stats.cache_written_tokens);
}

std::string totals_record(const SummaryStats& stats, Timestamp at) {
  JsonWriter json = begin_record("totals", at);
  write_members(stats, json);
  return json.end_object().take();
}

SummaryStats count_summary_records(std::string_view text) {
  SummaryStats stats;
  JsonParser parser;
  for_each_text_line(text, [&](std::string_view line) {
    const Result<JsonValue> record = parser.parse(line);
    if (record && record->is_object()) {
      add_record(*record, stats);
      stats.records.emplace_back(line);
    }
  });
  return stats;
}

std::string_view summary_template() { return kTemplateText; }

bool is_empty_summary(std::string_view body) {
  bool is_empty = true;
  for_each_text_line(body, [&](std::string_view line) {
    line = trimmed(line);
    is_empty = is_empty && (line.empty() || is_heading(line) || is_of_template(line));
  });
  return is_empty;
}

std::vector<std::string_view> summary_headings(std::string_view body) {
  std::vector<std::string_view> headings;
  bool in_fence = false;
  for_each_text_line(body, [&](std::string_view line) {
    line = trimmed(line);
    if (line.starts_with("```") || line.starts_with("~~~")) {
      in_fence = !in_fence;
    } else if (!in_fence && is_heading(line)) {
      headings.push_back(line);
    }
  });
  return headings;
}

std::string without_controls(std::string_view text) {
  const std::string valid = utf8_repaired(text);
  std::string clean;
  clean.reserve(valid.size());
  for (std::string_view rest = valid; !rest.empty();) {
    const CodePoint first = first_code_point(rest);
    if (!steers(first.value)) {
      clean += rest.substr(0, first.size);
    } else if (first.value == '\r' && !rest.substr(1).starts_with('\n')) {
      clean += '\n';
    }
    rest.remove_prefix(first.size);
  }
  return clean;
}

FrontMatter::FrontMatter(std::string_view text) {
  std::string_view rest = text;
  if (trimmed(take_line(rest)) == kFence) {
    std::vector<std::string> lines;
    while (!rest.empty()) {
      const std::string_view line = take_line(rest);
      if (trimmed(line) == kFence) {
        lines_ = std::move(lines);
        body_ = rest;
        return;
      }
      lines.emplace_back(line);
    }
  }
  body_ = text;
}

std::string FrontMatter::value(std::string_view key) const {
  assert(!key.empty() && !key.contains(':'));
  for (const std::string& line : lines_) {
    if (!is_line_of(line, key)) {
      continue;
    }
    const std::string_view raw = trimmed(std::string_view(line).substr(key.size() + 1));
    if (raw.starts_with('"')) {
      const ParsedJson text(raw);
      if (text && text->is_string()) {
        return std::string(text->string());
      }
    }
    return std::string(trimmed(raw, " \t\r\"'"));
  }
  return {};
}

void FrontMatter::set(std::string_view key, std::string_view value) {
  std::string line = std::string(key) + ": " + written(value);
  assert(!line.contains('\n') && "else the value could end the front matter");
  const auto found = std::ranges::find_if(
      lines_, [&](const std::string& candidate) { return is_line_of(candidate, key); });
  if (found != lines_.end()) {
    *found = std::move(line);
  } else {
    lines_.push_back(std::move(line));
  }
}

std::string FrontMatter::to_text() const {
  if (lines_.empty()) {
    return body_;
  }
  std::string text = std::string(kFence) + '\n';
  for (const std::string& line : lines_) {
    text += line + '\n';
  }
  return text + std::string(kFence) + '\n' + body_;
}

std::string last_summarized_id(FileSystem& files, std::string_view session_id) {
  constexpr std::uint64_t kMarkedSizeMax = 16U << 20U;
  const Result<std::string> text =
      read_file(files, session_file(session_id, kSummaryName), kMarkedSizeMax);
  return text ? FrontMatter(*text).value(kLastSummarizedId) : std::string();
}

}  // namespace bmad_mem
