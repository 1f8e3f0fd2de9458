#include "config_table.hpp"

namespace bmad_mem {
namespace {

constexpr Setting flag(std::string_view key, ConfigMember<bool> member) {
  return {.key = key, .member = member};
}

constexpr Setting whole(std::string_view key, ConfigMember<std::int64_t> member, double min,
                        double max) {
  return {.key = key, .member = member, .min = min, .max = max};
}

constexpr Setting number(std::string_view key, ConfigMember<double> member, double min,
                         double max) {
  return {.key = key, .member = member, .min = min, .max = max};
}

constexpr Setting text(std::string_view key, ConfigMember<std::string> member,
                       std::string_view first = {}, std::string_view second = {},
                       std::string_view third = {}) {
  return {.key = key, .member = member, .choices = {first, second, third}};
}

constexpr Setting text_or_nothing(std::string_view key, ConfigMember<std::string> member) {
  return {.key = key, .member = member, .may_be_empty = true};
}

constexpr Setting command(std::string_view key, ConfigMember<std::vector<std::string>> member) {
  return {.key = key, .member = member};
}

constexpr Setting no_effect(std::string_view key, std::string_view usual, std::string_view reason) {
  return {.key = key, .member = NoEffect{.usual = usual, .reason = reason}};
}

constexpr Setting personal(std::string_view key, ConfigMember<std::string> member) {
  return text(key, member, "redact", "mark", "keep");
}

// The ranges keep out what can only be a slip, and products with bytes and milliseconds in 64 bits.
constexpr double kMegabytesMin = 0.01;  // Tests fill a session quickly with it.
constexpr double kMegabytesMax = 4096;
constexpr double kMillisecondsMax = 3'600'000;
constexpr double kRateMax = 10;  // Per day: half of it is gone after 100 minutes.
constexpr double kDaysMax = 36'500;
constexpr double kTurnsMax = 10'000;
constexpr double kEventsMax = 1'000'000;
constexpr double kTokensMax = 10'000'000;
constexpr double kContextTokensMin = 50;  // Less holds no heading and a sentence.
constexpr double kContextTokensMax = 100'000;

using Whole = std::int64_t;
using Text = std::string;
using Texts = std::vector<std::string>;

constexpr Setting kSettings[] = {
    text(
        "version", [](Config& c) -> Text& { return c.version; }, "1.0"),
    text(
        "worktrees", [](Config& c) -> Text& { return c.worktrees; }, "share", "own"),

    no_effect("storage.root_path", R"(".bmad/memory")", "a memory is where it was found"),
    text(
        "storage.format", [](Config& c) -> Text& { return c.storage.format; }, "jsonl"),
    text(
        "storage.encoding", [](Config& c) -> Text& { return c.storage.encoding; }, "utf-8"),
    number(
        "storage.max_session_size_mb",
        [](Config& c) -> double& { return c.storage.max_session_size_mb; }, kMegabytesMin,
        kMegabytesMax),
    no_effect("storage.compression.enabled", "false",
              "logs stay readable, archives are always packed"),
    no_effect("storage.compression.algorithm", R"("gzip")", "archives are always packed with gzip"),

    whole(
        "concurrency.lock_timeout_ms",
        [](Config& c) -> Whole& { return c.concurrency.lock_timeout_ms; }, 0, kMillisecondsMax),
    no_effect("concurrency.lock_retry_interval_ms", "100",
              "the system wakes a writer that waits for a lock"),
    no_effect("concurrency.max_concurrent_writes", "10",
              "writes to one session take turns, sessions do not wait for each other"),

    flag("indexing.enabled", [](Config& c) -> bool& { return c.indexing.enabled; }),
    text(
        "indexing.update_strategy", [](Config& c) -> Text& { return c.indexing.update_strategy; },
        "incremental", "full"),
    whole(
        "indexing.rebuild_threshold_writes",
        [](Config& c) -> Whole& { return c.indexing.rebuild_threshold_writes; }, 1, 10'000'000),
    text("indexing.language", [](Config& c) -> Text& { return c.indexing.language; }),
    number(
        "indexing.cache_size_mb", [](Config& c) -> double& { return c.indexing.cache_size_mb; },
        kMegabytesMin, kMegabytesMax),

    text(
        "relevance.combine", [](Config& c) -> Text& { return c.relevance.combine; }, "factors",
        "sum"),
    number(
        "relevance.text", [](Config& c) -> double& { return c.relevance.text; }, 0, 1),
    number(
        "relevance.time", [](Config& c) -> double& { return c.relevance.time; }, 0, 1),
    number(
        "relevance.importance", [](Config& c) -> double& { return c.relevance.importance; }, 0, 1),
    number(
        "relevance.access", [](Config& c) -> double& { return c.relevance.access; }, 0, 1),

    flag("decay.enabled", [](Config& c) -> bool& { return c.decay.enabled; }),
    text(
        "decay.model", [](Config& c) -> Text& { return c.decay.model; }, "exponential", "priority"),
    whole(
        "decay.update_interval_hours",
        [](Config& c) -> Whole& { return c.decay.update_interval_hours; }, 1, 24 * kDaysMax),
    number(
        "decay.minimum_factor", [](Config& c) -> double& { return c.decay.minimum_factor; }, 0, 1),
    number(
        "decay.rates.conversation", [](Config& c) -> double& { return c.decay.rates.conversation; },
        0, kRateMax),
    number(
        "decay.rates.decision", [](Config& c) -> double& { return c.decay.rates.decision; }, 0,
        kRateMax),
    number(
        "decay.rates.finding", [](Config& c) -> double& { return c.decay.rates.finding; }, 0,
        kRateMax),
    number(
        "decay.rates.preference", [](Config& c) -> double& { return c.decay.rates.preference; }, 0,
        kRateMax),

    flag("compaction.enabled", [](Config& c) -> bool& { return c.compaction.enabled; }),
    number(
        "compaction.trigger_threshold_mb",
        [](Config& c) -> double& { return c.compaction.trigger_threshold_mb; }, kMegabytesMin / 2,
        kMegabytesMax),
    number(
        "compaction.warn_threshold",
        [](Config& c) -> double& { return c.compaction.warn_threshold; }, 0.01, 1),
    number(
        "compaction.force_threshold",
        [](Config& c) -> double& { return c.compaction.force_threshold; }, 0.01, 1),
    number(
        "compaction.keep_percentage",
        [](Config& c) -> double& { return c.compaction.keep_percentage; }, 0.01, 1),
    text(
        "compaction.strategy", [](Config& c) -> Text& { return c.compaction.strategy; },
        "relevance_based", "tiered"),

    whole(
        "lifecycle.idle_after_hours",
        [](Config& c) -> Whole& { return c.lifecycle.idle_after_hours; }, 1, 24 * kDaysMax),
    whole(
        "lifecycle.archive_after_idle_days",
        [](Config& c) -> Whole& { return c.lifecycle.archive_after_idle_days; }, 0, kDaysMax),

    flag("privacy.auto_redaction", [](Config& c) -> bool& { return c.privacy.auto_redaction; }),
    flag("privacy.index_outside_paths",
         [](Config& c) -> bool& { return c.privacy.index_outside_paths; }),
    text("privacy.redaction.replacement",
         [](Config& c) -> Text& { return c.privacy.redaction.replacement; }),
    flag("privacy.redaction.aggressive",
         [](Config& c) -> bool& { return c.privacy.redaction.aggressive; }),
    flag("privacy.redaction.linkable",
         [](Config& c) -> bool& { return c.privacy.redaction.linkable; }),
    personal("privacy.redaction.personal.email",
             [](Config& c) -> Text& { return c.privacy.redaction.personal.email; }),
    personal("privacy.redaction.personal.phone",
             [](Config& c) -> Text& { return c.privacy.redaction.personal.phone; }),
    personal("privacy.redaction.personal.iban",
             [](Config& c) -> Text& { return c.privacy.redaction.personal.iban; }),
    personal("privacy.redaction.personal.card",
             [](Config& c) -> Text& { return c.privacy.redaction.personal.card; }),
    personal("privacy.redaction.personal.ip",
             [](Config& c) -> Text& { return c.privacy.redaction.personal.ip; }),
    personal("privacy.redaction.personal.national_id",
             [](Config& c) -> Text& { return c.privacy.redaction.personal.national_id; }),
    {.key = "privacy.redaction.patterns",
     .member = [](Config& c) -> std::vector<RedactionPattern>& {
       return c.privacy.redaction.patterns;
     }},
    command("privacy.rules_files", [](Config& c) -> Texts& { return c.privacy.rules_files; }),
    command("privacy.allow", [](Config& c) -> Texts& { return c.privacy.allow; }),
    whole(
        "privacy.retention_days.conversation",
        [](Config& c) -> Whole& { return c.privacy.retention_days.conversation; }, 0, kDaysMax),
    whole(
        "privacy.retention_days.decision",
        [](Config& c) -> Whole& { return c.privacy.retention_days.decision; }, 0, kDaysMax),
    whole(
        "privacy.retention_days.finding",
        [](Config& c) -> Whole& { return c.privacy.retention_days.finding; }, 0, kDaysMax),
    whole(
        "privacy.retention_days.preference",
        [](Config& c) -> Whole& { return c.privacy.retention_days.preference; }, 0, kDaysMax),
    whole(
        "privacy.retention_days.fact",
        [](Config& c) -> Whole& { return c.privacy.retention_days.fact; }, 0, kDaysMax),
    whole(
        "privacy.retention_days.event",
        [](Config& c) -> Whole& { return c.privacy.retention_days.event; }, 0, kDaysMax),
    whole(
        "privacy.retention_days.agent_state",
        [](Config& c) -> Whole& { return c.privacy.retention_days.agent_state; }, 0, kDaysMax),
    whole(
        "privacy.retention_days.artifact",
        [](Config& c) -> Whole& { return c.privacy.retention_days.artifact; }, 0, kDaysMax),
    {.key = "privacy.project_retention_days",
     .member = [](Config& c) -> ProjectRetention& { return c.privacy.project_retention_days; },
     .max = kDaysMax},
    // Not 0, which elsewhere means for ever and here would mean at once.
    whole(
        "privacy.deleted_retention_days",
        [](Config& c) -> Whole& { return c.privacy.deleted_retention_days; }, 1, kDaysMax),
    flag("privacy.auto_purge", [](Config& c) -> bool& { return c.privacy.auto_purge; }),
    text("privacy.purge_schedule_cron",
         [](Config& c) -> Text& { return c.privacy.purge_schedule_cron; }),
    flag("privacy.audit_deletions", [](Config& c) -> bool& { return c.privacy.audit_deletions; }),

    no_effect("performance.batch_write_size", "100",
              "a batch is one write and one sync, whatever its size"),
    no_effect("performance.index_cache_ttl_seconds", "300",
              "indexing.cache_size_mb bounds what indexes keep in memory"),
    no_effect("performance.lazy_load", "true", "sessions are always opened when they are needed"),
    flag("performance.record_access",
         [](Config& c) -> bool& { return c.performance.record_access; }),

    flag("knowledge.detect_preferences",
         [](Config& c) -> bool& { return c.knowledge.detect_preferences; }),
    flag("knowledge.learn_at_session_end",
         [](Config& c) -> bool& { return c.knowledge.learn_at_session_end; }),
    {.key = "knowledge.learn_rules",
     .member = [](Config& c) -> std::vector<LearnRule>& { return c.knowledge.learn_rules; }},

    flag("context.inject", [](Config& c) -> bool& { return c.context.inject; }),
    flag("context.user_memory", [](Config& c) -> bool& { return c.context.user_memory; }),
    whole(
        "context.max_tokens", [](Config& c) -> Whole& { return c.context.max_tokens; },
        kContextTokensMin, kContextTokensMax),
    whole(
        "context.facts_max", [](Config& c) -> Whole& { return c.context.facts_max; }, 0, 100),
    whole(
        "context.snippets_max", [](Config& c) -> Whole& { return c.context.snippets_max; }, 0, 100),
    whole(
        "context.recency_days", [](Config& c) -> Whole& { return c.context.recency_days; }, 0,
        kDaysMax),
    number(
        "context.quote_below_trust",
        [](Config& c) -> double& { return c.context.quote_below_trust; }, 0, 1),

    flag("recording.enabled", [](Config& c) -> bool& { return c.recording.enabled; }),
    command("recording.skip_clients", [](Config& c) -> Texts& { return c.recording.skip_clients; }),
    command("recording.skip_tools", [](Config& c) -> Texts& { return c.recording.skip_tools; }),
    command("recording.skip_paths", [](Config& c) -> Texts& { return c.recording.skip_paths; }),

    flag("learning.ask_agent", [](Config& c) -> bool& { return c.learning.ask_agent; }),
    whole(
        "learning.ask_every_turns", [](Config& c) -> Whole& { return c.learning.ask_every_turns; },
        1, kTurnsMax),

    whole(
        "events.keep", [](Config& c) -> Whole& { return c.events.keep; }, 0, kEventsMax),

    flag("summarizer.enabled", [](Config& c) -> bool& { return c.summarizer.enabled; }),
    command("summarizer.command", [](Config& c) -> Texts& { return c.summarizer.command; }),
    whole(
        "summarizer.timeout_ms", [](Config& c) -> Whole& { return c.summarizer.timeout_ms; }, 1,
        kMillisecondsMax),
    whole(
        "summarizer.minimum_message_tokens_to_init",
        [](Config& c) -> Whole& { return c.summarizer.minimum_message_tokens_to_init; }, 0,
        kTokensMax),
    whole(
        "summarizer.minimum_tokens_between_update",
        [](Config& c) -> Whole& { return c.summarizer.minimum_tokens_between_update; }, 0,
        kTokensMax),
    whole(
        "summarizer.tool_calls_between_updates",
        [](Config& c) -> Whole& { return c.summarizer.tool_calls_between_updates; }, 0, kTokensMax),
    whole(
        "summarizer.stale_update_ms",
        [](Config& c) -> Whole& { return c.summarizer.stale_update_ms; }, 1, kMillisecondsMax),
    whole(
        "summarizer.wait_timeout_ms",
        [](Config& c) -> Whole& { return c.summarizer.wait_timeout_ms; }, 0, kMillisecondsMax),

    command("extractor.command", [](Config& c) -> Texts& { return c.extractor.command; }),
    whole(
        "extractor.timeout_ms", [](Config& c) -> Whole& { return c.extractor.timeout_ms; }, 1,
        kMillisecondsMax),

    flag("encoder.enabled", [](Config& c) -> bool& { return c.encoder.enabled; }),
    text_or_nothing("encoder.path", [](Config& c) -> Text& { return c.encoder.path; }),
    command("encoder.command", [](Config& c) -> Texts& { return c.encoder.command; }),
    text_or_nothing("encoder.url", [](Config& c) -> Text& { return c.encoder.url; }),
    text_or_nothing("encoder.model", [](Config& c) -> Text& { return c.encoder.model; }),
    whole(
        "encoder.timeout_ms", [](Config& c) -> Whole& { return c.encoder.timeout_ms; }, 1,
        kMillisecondsMax),
    flag("encoder.sensitive", [](Config& c) -> bool& { return c.encoder.sensitive; }),
    flag("encoder.remote", [](Config& c) -> bool& { return c.encoder.remote; }),

    text_or_nothing("hub.service", [](Config& c) -> Text& { return c.hub.service; }),
    text_or_nothing("hub.project", [](Config& c) -> Text& { return c.hub.project; }),
    text(
        "hub.auto", [](Config& c) -> Text& { return c.hub.automatic; }, "off", "session_end"),
    flag("hub.push_sensitive", [](Config& c) -> bool& { return c.hub.push_sensitive; }),
    whole(
        "hub.stale_days", [](Config& c) -> Whole& { return c.hub.stale_days; }, 1, kDaysMax),
};

}  // namespace

std::span<const Setting> config_settings() { return kSettings; }

}  // namespace bmad_mem
