#include "knowledge/summary_state.hpp"

#include <array>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "store/line_reader.hpp"

namespace bmad_mem {
SummaryDue summary_due(const SummaryDueInput& input) {
  const SummaryThresholds& least = input.thresholds;
  if (!input.enabled) {
    return SummaryDue::kDisabled;
  }
  if (input.newest_is_sidechain) {
    return SummaryDue::kSidechain;
  }
  if (!input.has_new_messages) {
    return SummaryDue::kNoMessages;
  }
  if (input.is_pending) {
    return SummaryDue::kPending;
  }
  if (input.tokens < least.minimum_message_tokens_to_init) {
    return SummaryDue::kTooShort;
  }
  if (input.was_summarized && input.tokens_since < least.minimum_tokens_between_update) {
    return SummaryDue::kTooFewTokens;
  }
  const bool enough_calls = input.tool_calls_since >= least.tool_calls_between_updates;
  if (input.compacting && !enough_calls) {
    return SummaryDue::kTooFewToolCalls;
  }
  if (!input.was_summarized) {
    return SummaryDue::kDueFirst;
  }
  return enough_calls ? SummaryDue::kDueToolCalls : SummaryDue::kDueTokens;
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
  return kNames[static_cast<std::size_t>(decline)];
}

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

void add_record(JsonValue record, SummaryStats& stats) {
  const std::string_view kind = record["kind"].string();
  const bool is_update = kind == "update";
  const bool is_total = kind == "totals";
  if (is_update || is_total) {
    stats.updates += is_total ? record["updates"].natural() : 1;
    stats.tokens_in += record["tokens_in"].natural();
    stats.tokens_out += record["tokens_out"].natural();
    stats.cache_read_tokens += record["cache_read_tokens"].natural();
    stats.cache_written_tokens += record["cache_written_tokens"].natural();
  }
  if (is_total) {
    stats.failures += record["failures"].natural();
    stats.compactions += record["compactions"].natural();
    stats.resumed += record["resumed"].natural();
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

}  // namespace

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
  json.end_object();
  return json.take() + '\n';
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

std::string update_record(const SummaryUpdate& update, const SummaryThresholds& thresholds,
                          Timestamp at) {
  JsonWriter json = begin_record("update", at);
  write_members(update, json);
  json.member("minimum_message_tokens_to_init", thresholds.minimum_message_tokens_to_init);
  json.member("minimum_tokens_between_update", thresholds.minimum_tokens_between_update);
  json.member("tool_calls_between_updates", thresholds.tool_calls_between_updates);
  json.end_object();
  return json.take();
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
  json.end_object();
  return json.take();
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
  json.end_object();
  return json.take();
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

}  // namespace bmad_mem
