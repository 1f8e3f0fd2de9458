#include "knowledge/summary_rules.hpp"

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
  switch (due) {
    case SummaryDue::kDueFirst:
      return "due_first";
    case SummaryDue::kDueToolCalls:
      return "due_tool_calls";
    case SummaryDue::kDueTokens:
      return "due_tokens";
    case SummaryDue::kDisabled:
      return "disabled";
    case SummaryDue::kNoMessages:
      return "no_messages";
    case SummaryDue::kTooShort:
      return "too_short";
    case SummaryDue::kTooFewTokens:
      return "too_few_tokens";
    case SummaryDue::kTooFewToolCalls:
      return "too_few_tool_calls";
    case SummaryDue::kPending:
      return "pending";
    case SummaryDue::kSidechain:
      return "sidechain";
  }
  return {};
}

bool is_due(SummaryDue due) {
  return due == SummaryDue::kDueFirst || due == SummaryDue::kDueToolCalls ||
         due == SummaryDue::kDueTokens;
}

std::string_view compaction_decline_name(CompactionDecline decline) {
  switch (decline) {
    case CompactionDecline::kNone:
      return "none";
    case CompactionDecline::kDisabled:
      return "disabled";
    case CompactionDecline::kNoSummary:
      return "no_summary";
    case CompactionDecline::kEmptyTemplate:
      return "empty_template";
    case CompactionDecline::kSummarizedIdNotFound:
      return "summarized_id_not_found";
    case CompactionDecline::kThresholdExceeded:
      return "threshold_exceeded";
  }
  return {};
}

}  // namespace bmad_mem
