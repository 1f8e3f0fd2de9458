// config_table.cpp - the table of settings, former defaults, and settings of strangers.
#include "config_table.hpp"

#include <algorithm>
#include <cassert>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "bmad_mem/text.hpp"

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

constexpr Setting text_list(std::string_view key, decltype(Setting::member) member) {
  return {.key = key, .member = member};
}

constexpr Setting no_effect(std::string_view key, std::string_view usual, std::string_view reason) {
  return {.key = key, .member = NoEffect{.usual = usual, .reason = reason}};
}

constexpr Setting freely(Setting setting) {
  setting.strangers = FromStrangers::kFreely;
  return setting;
}

/// Of a flag: `strict_flag` protects more.
constexpr Setting stricter(Setting setting, bool strict_flag = false) {
  setting.strangers = FromStrangers::kStricter;
  setting.strict_flag = strict_flag;
  return setting;
}

constexpr Setting personal(std::string_view key, ConfigMember<std::string> member) {
  return stricter(text(key, member, "redact", "mark", "keep"));
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
constexpr double kVersionMax = 1'000'000;

/// The key of a setting that lies in Config where its key says, and where that is.
#define BMAD_KEY(path) #path, [](Config& c) -> auto& { return c.path; }

constexpr Setting kSettings[] = {
    freely(text(BMAD_KEY(version), "1.0")),
    freely(whole(BMAD_KEY(defaults_version), 1, kVersionMax)),
    freely(text_list(BMAD_KEY(set_on_purpose))),
    text(BMAD_KEY(worktrees), "share", "own"),

    no_effect("storage.root_path", R"(".bmad/memory")", "a memory is where it was found"),
    freely(text(BMAD_KEY(storage.format), "jsonl")),
    freely(text(BMAD_KEY(storage.encoding), "utf-8")),
    number(BMAD_KEY(storage.max_session_size_mb), kMegabytesMin, kMegabytesMax),
    no_effect("storage.compression.enabled", "false",
              "logs stay readable, archives are always packed"),
    no_effect("storage.compression.algorithm", R"("gzip")", "archives are always packed with gzip"),

    whole(BMAD_KEY(concurrency.lock_timeout_ms), 0, kMillisecondsMax),
    no_effect("concurrency.lock_retry_interval_ms", "100",
              "the system wakes a writer that waits for a lock"),
    no_effect("concurrency.max_concurrent_writes", "10",
              "writes to one session take turns, sessions do not wait for each other"),

    flag(BMAD_KEY(indexing.enabled)),
    text(BMAD_KEY(indexing.update_strategy), "incremental", "full"),
    whole(BMAD_KEY(indexing.rebuild_threshold_writes), 1, 10'000'000),
    text(BMAD_KEY(indexing.language)),
    number(BMAD_KEY(indexing.cache_size_mb), kMegabytesMin, kMegabytesMax),

    text(BMAD_KEY(relevance.combine), "factors", "sum"),
    number(BMAD_KEY(relevance.text), 0, 1),
    number(BMAD_KEY(relevance.time), 0, 1),
    number(BMAD_KEY(relevance.importance), 0, 1),
    number(BMAD_KEY(relevance.access), 0, 1),

    flag(BMAD_KEY(decay.enabled)),
    text(BMAD_KEY(decay.model), "exponential", "priority"),
    whole(BMAD_KEY(decay.update_interval_hours), 1, 24 * kDaysMax),
    number(BMAD_KEY(decay.minimum_factor), 0, 1),
    number(BMAD_KEY(decay.rates.conversation), 0, kRateMax),
    number(BMAD_KEY(decay.rates.decision), 0, kRateMax),
    number(BMAD_KEY(decay.rates.finding), 0, kRateMax),
    number(BMAD_KEY(decay.rates.preference), 0, kRateMax),

    flag(BMAD_KEY(compaction.enabled)),
    number(BMAD_KEY(compaction.trigger_threshold_mb), kMegabytesMin / 2, kMegabytesMax),
    number(BMAD_KEY(compaction.warn_threshold), 0.01, 1),
    number(BMAD_KEY(compaction.force_threshold), 0.01, 1),
    number(BMAD_KEY(compaction.keep_percentage), 0.01, 1),
    text(BMAD_KEY(compaction.strategy), "relevance_based", "tiered"),

    whole(BMAD_KEY(lifecycle.idle_after_hours), 1, 24 * kDaysMax),
    whole(BMAD_KEY(lifecycle.archive_after_idle_days), 0, kDaysMax),
    text(BMAD_KEY(lifecycle.archive), "untracked", "always", "never"),

    stricter(flag(BMAD_KEY(privacy.auto_redaction)), true),
    stricter(flag(BMAD_KEY(privacy.index_outside_paths))),
    text(BMAD_KEY(privacy.redaction.replacement)),
    flag(BMAD_KEY(privacy.redaction.aggressive)),
    flag(BMAD_KEY(privacy.redaction.linkable)),
    personal(BMAD_KEY(privacy.redaction.personal.email)),
    personal(BMAD_KEY(privacy.redaction.personal.phone)),
    personal(BMAD_KEY(privacy.redaction.personal.iban)),
    personal(BMAD_KEY(privacy.redaction.personal.card)),
    personal(BMAD_KEY(privacy.redaction.personal.ip)),
    personal(BMAD_KEY(privacy.redaction.personal.national_id)),
    text_list(BMAD_KEY(privacy.redaction.patterns)),
    text_list(BMAD_KEY(privacy.rules_files)),
    text_list(BMAD_KEY(privacy.allow)),
    whole(BMAD_KEY(privacy.retention_days.conversation), 0, kDaysMax),
    whole(BMAD_KEY(privacy.retention_days.decision), 0, kDaysMax),
    whole(BMAD_KEY(privacy.retention_days.finding), 0, kDaysMax),
    whole(BMAD_KEY(privacy.retention_days.preference), 0, kDaysMax),
    whole(BMAD_KEY(privacy.retention_days.fact), 0, kDaysMax),
    whole(BMAD_KEY(privacy.retention_days.event), 0, kDaysMax),
    whole(BMAD_KEY(privacy.retention_days.agent_state), 0, kDaysMax),
    whole(BMAD_KEY(privacy.retention_days.artifact), 0, kDaysMax),
    {.key = "privacy.project_retention_days",
     .member = [](Config& c) -> ProjectRetention& { return c.privacy.project_retention_days; },
     .max = kDaysMax},
    // Not 0, which elsewhere means for ever and here would mean at once.
    whole(BMAD_KEY(privacy.deleted_retention_days), 1, kDaysMax),
    flag(BMAD_KEY(privacy.auto_purge)),
    text(BMAD_KEY(privacy.purge_schedule_cron)),
    stricter(flag(BMAD_KEY(privacy.audit_deletions)), true),

    no_effect("performance.batch_write_size", "100",
              "a batch is one write and one sync, whatever its size"),
    no_effect("performance.index_cache_ttl_seconds", "300",
              "indexing.cache_size_mb bounds what indexes keep in memory"),
    no_effect("performance.lazy_load", "true", "sessions are always opened when they are needed"),
    flag(BMAD_KEY(performance.record_access)),

    flag(BMAD_KEY(knowledge.detect_preferences)),
    flag(BMAD_KEY(knowledge.learn_at_session_end)),
    flag(BMAD_KEY(knowledge.apply_stated_rules)),
    text_list(BMAD_KEY(knowledge.learn_rules)),

    flag(BMAD_KEY(context.inject)),
    flag(BMAD_KEY(context.user_memory)),
    number(BMAD_KEY(context.gate), 0, 1),
    whole(BMAD_KEY(context.max_tokens), kContextTokensMin, kContextTokensMax),
    whole(BMAD_KEY(context.facts_max), 0, 100),
    whole(BMAD_KEY(context.snippets_max), 0, 100),
    whole(BMAD_KEY(context.recency_days), 0, kDaysMax),
    number(BMAD_KEY(context.quote_below_trust), 0, 1),

    stricter(flag(BMAD_KEY(recording.enabled))),
    stricter(text_list(BMAD_KEY(recording.skip_clients))),
    stricter(text_list(BMAD_KEY(recording.skip_tools))),
    stricter(text_list(BMAD_KEY(recording.skip_paths))),

    flag(BMAD_KEY(learning.ask_agent)),
    whole(BMAD_KEY(learning.ask_every_turns), 1, kTurnsMax),

    whole(BMAD_KEY(events.keep), 0, kEventsMax),
    stricter(flag(BMAD_KEY(events.track))),

    flag(BMAD_KEY(summarizer.enabled)),
    text_list(BMAD_KEY(summarizer.command)),
    whole(BMAD_KEY(summarizer.timeout_ms), 1, kMillisecondsMax),
    whole(BMAD_KEY(summarizer.minimum_message_tokens_to_init), 0, kTokensMax),
    whole(BMAD_KEY(summarizer.minimum_tokens_between_update), 0, kTokensMax),
    whole(BMAD_KEY(summarizer.tool_calls_between_updates), 0, kTokensMax),
    whole(BMAD_KEY(summarizer.stale_update_ms), 1, kMillisecondsMax),
    whole(BMAD_KEY(summarizer.wait_timeout_ms), 0, kMillisecondsMax),

    text_list(BMAD_KEY(extractor.command)),
    whole(BMAD_KEY(extractor.timeout_ms), 1, kMillisecondsMax),

    flag(BMAD_KEY(encoder.enabled)),
    text_or_nothing(BMAD_KEY(encoder.path)),
    text_list(BMAD_KEY(encoder.command)),
    text_or_nothing(BMAD_KEY(encoder.url)),
    text_or_nothing(BMAD_KEY(encoder.model)),
    whole(BMAD_KEY(encoder.timeout_ms), 1, kMillisecondsMax),
    stricter(flag(BMAD_KEY(encoder.sensitive))),
    stricter(flag(BMAD_KEY(encoder.remote))),

    text_or_nothing(BMAD_KEY(hub.service)),
    text_or_nothing(BMAD_KEY(hub.project)),
    stricter(text(
        "hub.auto", [](Config& c) -> auto& { return c.hub.automatic; }, "off", "session_end")),
    stricter(flag(BMAD_KEY(hub.push_sensitive))),
    whole(BMAD_KEY(hub.stale_days), 1, kDaysMax),
};

// Makes `held` as strict as `written` is.

void take_stricter(const Setting& setting, bool& held, bool written) {
  held = written == setting.strict_flag ? written : held;
}

void take_stricter(const Setting& setting, std::string& held, const std::string& written) {
  const auto strict = [&](const std::string& choice) {
    return std::ranges::find(setting.choices, choice);
  };
  assert(strict(written) != setting.choices.end() && strict(held) != setting.choices.end());
  held = strict(written) < strict(held) ? written : held;
}

void take_stricter(const Setting& /*setting*/, std::vector<std::string>& held,
                   const std::vector<std::string>& written) {
  for (const std::string& each : written) {
    add_once(held, each);
  }
}

/// No other kind of value has an order.
template <typename T>
void take_stricter(const Setting& /*setting*/, T& /*held*/, const T& /*written*/) {}

}  // namespace

std::span<const Setting> config_settings() { return kSettings; }

namespace {

/// Defaults that are other ones today: `value`, as JSON, was that of `key` up to `version`. All
/// others are as in 0.1, whose file is tests/store/config-defaults-1.json.
constexpr struct {
  std::string_view key;
  std::int64_t version;
  std::string_view value;
} kFormerDefaults[] = {
    {"context.snippets_max", 1, "3"},
    {"context.recency_days", 1, "90"},
};

}  // namespace

std::string_view former_default(std::string_view key, std::int64_t version) {
  for (const auto& former : kFormerDefaults) {
    if (former.key == key && version <= former.version) {
      return former.value;
    }
  }
  return {};
}

// The settings in effect where strangers may have written config.json.

Config settled_config(Config trusted, Config written, std::vector<WaitingSetting>& waiting,
                      std::vector<std::string>& stricter) {
  for (const Setting& setting : config_settings()) {
    const std::string before = value_text(setting, trusted);
    std::visit(
        [&](auto member) {
          if constexpr (!std::is_same_v<decltype(member), NoEffect>) {
            if (setting.strangers == FromStrangers::kFreely) {
              member(trusted) = member(written);
            } else if (setting.strangers == FromStrangers::kStricter) {
              take_stricter(setting, member(trusted), member(written));
            }
          }
        },
        setting.member);
    const std::string now = value_text(setting, trusted);
    if (setting.strangers == FromStrangers::kStricter && now != before) {
      stricter.emplace_back(setting.key);
    }
    if (std::string value = value_text(setting, written); value != now) {
      waiting.push_back({.key = std::string(setting.key), .value = std::move(value)});
    }
  }
  return trusted;
}

}  // namespace bmad_mem
