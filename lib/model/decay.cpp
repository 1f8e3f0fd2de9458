// decay.cpp - the two models of decay, and the factor of now written into a line.
#include "model/decay.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "base/object_text.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "model/entry.hpp"

namespace bmad_mem {
namespace {

double exponential_decay(const DecaySettings& settings, const DecayInput& input, Timestamp now) {
  constexpr double kAccessBoost = 0.1;
  constexpr double kImportanceBoost = 0.2;
  const double rate = settings.rates_per_day[static_cast<std::size_t>(input.type)];
  const auto accesses = static_cast<double>(std::min(input.access_count, kCountedAccessesMax));
  // The sums of 6.1, not the products of 6.3: with none of them the two are the same.
  const double boost = 1 + kAccessBoost * accesses + kImportanceBoost * input.importance;
  const double factor =
      input.initial_factor * std::exp(-rate * days_between(input.timestamp, now)) * boost;
  return std::clamp(factor, settings.minimum_factor, 1.0);
}

double priority_decay(const DecaySettings& settings, const DecayInput& input, Timestamp now) {
  constexpr double kAgeRatePerDay = 0.01;
  constexpr double kAccessBoost = 0.01;
  constexpr double kAccessBoostMax = 0.2;
  const PriorityRule& rule = priority_rule(input.type);
  const Timestamp accessed =
      std::max(input.last_accessed.value_or(input.timestamp), input.timestamp);
  const double boost =
      std::min(kAccessBoostMax, kAccessBoost * static_cast<double>(input.access_count));
  const double factor = input.initial_factor * rule.base *
                            std::exp(-rule.rate_per_day * days_between(accessed, now)) *
                            std::exp(-kAgeRatePerDay * days_between(input.timestamp, now)) +
                        boost;
  return std::clamp(factor, std::max(rule.floor, settings.minimum_factor), 1.0);
}

constexpr std::string_view kFactorField = "decay_factor";
constexpr std::string_view kInitialField = "initial_decay_factor";
constexpr std::string_view kUpdateField = "last_decay_update";

/// Four decimals say all that a person wants to know, and keep the lines of a diff short.
std::string factor_text(double factor) {
  constexpr double kScale = 10'000;
  return json_number(std::round(factor * kScale) / kScale);
}

}  // namespace

double days_between(Timestamp from, Timestamp to) {
  using Days = std::chrono::duration<double, std::ratio<86400>>;
  return std::max(0.0, Days(to - from).count());
}

std::string_view decay_model_name(DecayModel model) {
  return model == DecayModel::kPriority ? "priority" : "exponential";
}

const PriorityRule& priority_rule(EntryType type) {
  // The specification has the first four rows, and of the seventh the rate. What it doesn't have
  // follows the type that it resembles; docs/decisions/0025 says which and why.
  static constexpr std::array<PriorityRule, kEntryTypeCount> kRules = {{
      {.base = 1.00, .rate_per_day = 0.05, .floor = 0.1},  // conversation
      {.base = 0.95, .rate_per_day = 0.03, .floor = 0.4},  // decision
      {.base = 0.90, .rate_per_day = 0.04, .floor = 0.3},  // finding
      {.base = 0.85, .rate_per_day = 0.02, .floor = 0.6},  // preference
      {.base = 0.85, .rate_per_day = 0.02, .floor = 0.6},  // fact: as a preference
      {.base = 1.00, .rate_per_day = 0.05, .floor = 0.1},  // event: as a message
      {.base = 0.80, .rate_per_day = 0.06, .floor = 0.1},  // agent_state
      {.base = 0.90, .rate_per_day = 0.04, .floor = 0.3},  // artifact: as a finding
  }};
  return kRules[static_cast<std::size_t>(type)];
}

DecaySettings DecaySettings::defaults() {
  DecaySettings settings;
  for (const EntryType type : kEntryTypes) {
    settings.rates_per_day[static_cast<std::size_t>(type)] =
        entry_type_info(type).decay_rate_per_day;
  }
  return settings;
}

double effective_decay(const DecaySettings& settings, const DecayInput& input, Timestamp now) {
  if (!settings.enabled || input.pinned) {
    return 1;
  }
  assert(settings.minimum_factor >= 0 && settings.minimum_factor <= 1);
  return settings.model == DecayModel::kPriority ? priority_decay(settings, input, now)
                                                 : exponential_decay(settings, input, now);
}

std::vector<DecayTableLine> decay_table(const DecaySettings& settings) {
  std::vector<DecayTableLine> lines;
  DecaySettings each = settings;
  for (const DecayModel model : {DecayModel::kExponential, DecayModel::kPriority}) {
    each.model = model;
    for (const EntryType type : kEntryTypes) {
      const DecayInput input{.type = type, .importance = entry_type_info(type).importance};
      DecayTableLine& line =
          lines.emplace_back(DecayTableLine{.model = std::string(decay_model_name(model)),
                                            .is_used = model == settings.model,
                                            .type = type});
      std::ranges::transform(kDecayTableAges, line.factors.begin(), [&](int days) {
        return effective_decay(each, input, input.timestamp + std::chrono::days(days));
      });
    }
  }
  return lines;
}

Result<std::string> with_decay_snapshot(JsonValue entry, std::string_view text, double factor,
                                        Timestamp now) {
  assert(factor >= 0 && factor <= 1);
  if (!entry.is_object()) {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = "is not a JSON object, so it has no decay factor"};
  }
  ObjectText line(entry, text);
  const bool is_first = !line.has(kInitialField) && !line.has(kUpdateField);
  if (is_first && entry[kFactorField].number(1.0) != 1.0) {
    line.set(kInitialField, std::string(line.raw(kFactorField)));
  }
  line.set(kFactorField, factor_text(factor));
  line.set_string(kUpdateField, format_rfc3339(now));
  std::string updated = line.to_line();
  if (updated.size() > kEntrySizeMax) {
    return Error{.code = ErrorCode::E_SIZE_LIMIT,
                 .message = fmt::format("{} bytes with its decay factor; an entry may have {}",
                                        updated.size(), kEntrySizeMax)};
  }
  return updated;
}

}  // namespace bmad_mem
