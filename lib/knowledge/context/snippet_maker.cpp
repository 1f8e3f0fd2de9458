// snippet_maker.cpp - see snippet_maker.hpp.
#include "context/snippet_maker.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/text.hpp"
#include "context/context_builder.hpp"
#include "knowledge/prompt_text.hpp"
#include "model/entry.hpp"
#include "search/dialogue_act.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kNameSizeMax = 40;
/// Longer ones are shown as the part that matches.
constexpr std::size_t kProseSizeMax = 300;

/// "2026-01-11", and how long ago that was where it is more than a month.
std::string date_text(Timestamp time, Timestamp now) {
  constexpr std::chrono::days kLongAgo{30};
  return now - time > kLongAgo ? fmt::format("{} ({})", format_date(time), format_age(time, now))
                               : format_date(time);
}

/// What stands before the text, in both forms.
void set_labels(ContextCandidate& candidate, const std::string& speaker, const EntryTrust& trust,
                bool said_before, Timestamp now) {
  const ContextItem& item = candidate.item;
  const std::string told =
      fmt::format("{}, {}{}", date_text(item.timestamp, now), said_before ? "said before, " : "",
                  trust.source_kind == "tool"             ? "output of a tool on that day"
                  : item.type == EntryType::kConversation ? "message"
                                                          : entry_type_name(item.type));
  candidate.quoted_label = fmt::format("{} ({})", told, trust_text(trust));
  if (item.quoted) {
    candidate.label = speaker;  // It is in the fence, too.
  } else {
    candidate.label = speaker.empty() ? told : fmt::format("{} by {}", told, speaker);
  }
}

/// Shorter texts stand in others by chance.
constexpr std::size_t kCoveringSizeMin = 20;

}  // namespace

bool SnippetMaker::may_be_told(const Entry& entry, const Result<JsonValue>& value) const {
  return !entry.sensitive && value && !is_superseded((*value)[kLinksField]) &&
         (entry.of_user || is_of_workspace(rules_.workspace, *value));
}

bool SnippetMaker::was_told(const Entry& entry) const {
  return rules_.told.contains(told_hash(entry.session_id, entry.type, entry.id));
}

/// The request that the hit answers, if it may be told. True when it is to be quoted.
bool SnippetMaker::add_request(const Entry& before, ContextCandidate& candidate) {
  const Result<JsonValue> value = parser_.parse(before.json);
  if (!may_be_told(before, value) || (*value)["role"].string() != "user") {
    return false;
  }
  std::string text = entry_prose(before.type, *value);
  if (!trimmed(text).ends_with('?') && !states_nothing(text, EntryRole::kUser)) {
    return false;
  }
  candidate.asked = visible_line(text);
  candidate.item.beside.push_back(before.id);
  said_.add_entry(SaidTexts::key_of(before));
  return must_be_quoted(trust_of(before, *value), rules_.quote_below_trust);
}

/// The neighbour, if it may be told and was not. True when it is to be quoted.
bool SnippetMaker::add_beside(std::string_view where, const Entry& entry,
                              ContextCandidate& candidate) {
  const Result<JsonValue> value = parser_.parse(entry.json);
  if (!may_be_told(entry, value) || was_told(entry) || !said_.add_entry(SaidTexts::key_of(entry))) {
    return false;
  }
  const std::string speaker = harmless_line(entry_speaker(entry.type, *value), kNameSizeMax);
  candidate.item.beside.push_back(entry.id);
  candidate.beside.push_back(fmt::format("{}: {}{}{}", where, speaker, speaker.empty() ? "" : ": ",
                                         entry_prose(entry.type, *value)));
  return must_be_quoted(trust_of(entry, *value), rules_.quote_below_trust);
}

std::optional<ContextCandidate> SnippetMaker::make(ContextSection section, const Hit& hit,
                                                   std::string why,
                                                   std::vector<ContextOmission>& omitted) {
  const Entry& entry = hit.entry;
  const Result<JsonValue> value = parser_.parse(entry.json);
  if (!may_be_told(entry, value) || entry.type == EntryType::kFact ||
      entry.type == EntryType::kPreference) {
    return std::nullopt;
  }
  std::string text = entry_prose(entry.type, *value);
  const std::string said = comparable_text(text);
  if (said.empty()) {
    return std::nullopt;
  }
  const EntryTrust trust = trust_of(entry, *value);
  if (section == ContextSection::kConstraints && trust.origin == Origin::kElsewhere) {
    return std::nullopt;  // Its pin may be from elsewhere as well.
  }
  const bool is_told = was_told(entry);
  if (is_told || said_.covers(SaidTexts::key_of(entry), said)) {
    omitted.push_back({.section = section,
                       .session_id = entry.session_id,
                       .id = entry.id,
                       .why = is_told ? std::string(kToldBefore) : "said above"});
    return std::nullopt;
  }
  said_.add(SaidTexts::key_of(entry), said);
  const bool asks = trimmed(text).ends_with('?');
  const bool is_short = text.size() <= kProseSizeMax;
  const std::string speaker = harmless_line(entry_speaker(entry.type, *value), kNameSizeMax);
  ContextCandidate candidate{
      .item = {.section = section,
               .session_id = entry.session_id,
               .type = entry.type,
               .id = entry.id,
               .timestamp = entry.timestamp,
               .trust = trust.trust,
               .quoted = must_be_quoted(trust, rules_.quote_below_trust),
               .origin = trust.origin,
               .of_user = entry.of_user,
               .why = std::move(why)},
      .text = text.size() > kProseSizeMax && !hit.snippet.empty() ? hit.snippet : text,
  };
  // From here on `value` is no more: the parser goes on to the neighbours.
  if (entry.type == EntryType::kConversation) {
    if (!hit.before.empty()) {
      candidate.item.quoted |= add_request(hit.before.back(), candidate);
    }
    if (!hit.before.empty() && candidate.asked.empty() && is_short && hit.nearness.before_adds) {
      candidate.item.quoted |= add_beside("before", hit.before.back(), candidate);
    }
    if (!hit.after.empty() && (asks || (is_short && hit.nearness.after_adds))) {
      candidate.item.quoted |= add_beside("after", hit.after.front(), candidate);
    }
  }
  set_labels(candidate, speaker, trust, hit.said_before, rules_.now);
  return candidate;
}

bool SaidTexts::add(const Key& key, const std::string& text) {
  return entries_.insert(key).second && texts_.insert(text).second;
}

bool SaidTexts::covers(const Key& key, std::string_view text) const {
  if (entries_.contains(key) || sources_.contains(std::get<2>(key))) {
    return true;
  }
  return std::ranges::any_of(texts_, [&](const std::string& said) {
    return text == said || (said.size() >= kCoveringSizeMin && text.size() < 2 * said.size() &&
                            text.find(said) != std::string_view::npos);
  });
}

}  // namespace bmad_mem
