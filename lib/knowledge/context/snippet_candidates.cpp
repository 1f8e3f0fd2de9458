#include "snippet_candidates.hpp"

#include <utility>

#include <fmt/format.h>

#include "bmad_mem/rfc3339.hpp"
#include "entry_prose.hpp"
#include "fence.hpp"
#include "visible_text.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kNameSizeMax = 40;
/// Longer ones are shown as the part that matches.
constexpr std::size_t kProseSizeMax = 400;

SaidTexts::Key key_of(const Entry& entry) { return {entry.session_id, entry.type, entry.id}; }

/// What stands before the text, in both forms.
void set_labels(ContextCandidate& candidate, const std::string& speaker, const EntryTrust& trust) {
  const ContextItem& item = candidate.item;
  const std::string told =
      fmt::format("{}, {}", format_date(item.timestamp),
                  item.type == EntryType::kConversation ? "message" : entry_type_name(item.type));
  candidate.quoted_label = fmt::format("{} ({})", told, trust_text(trust));
  if (item.quoted) {
    candidate.label = speaker;  // It stands in the fence, too.
  } else {
    candidate.label = speaker.empty() ? told : fmt::format("{} by {}", told, speaker);
  }
}

}  // namespace

bool SnippetMaker::may_be_told(const Entry& entry, const Result<JsonValue>& value) const {
  return !entry.sensitive && value && is_of_workspace(rules_.workspace, *value);
}

/// Adds what may be told of neighbours to `lines`. True when one of them is to be quoted.
bool SnippetMaker::add_neighbours(const std::vector<Entry>& entries,
                                  std::vector<std::string>& lines) {
  bool quoted = false;
  for (const Entry& entry : entries) {
    const Result<JsonValue> value = parser_.parse(entry.json);
    if (!may_be_told(entry, value) || said_.has_entry(key_of(entry))) {
      continue;
    }
    const std::string speaker = visible_line(entry_speaker(entry.type, *value));
    const std::string text = visible_line(entry_prose(entry.type, *value));
    if (text.empty()) {
      continue;
    }
    quoted = quoted || must_be_quoted(entry_trust(entry.type, *value), rules_.quote_below_trust);
    lines.push_back(speaker.empty() ? text : fmt::format("{}: {}", speaker, text));
    said_.add_entry(key_of(entry));
  }
  return quoted;
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
  if (said_.covers(key_of(entry), said)) {
    omitted.push_back(
        {.section = section, .session_id = entry.session_id, .id = entry.id, .why = "said above"});
    return std::nullopt;
  }
  said_.add(key_of(entry), said);
  const EntryTrust trust = entry_trust(entry.type, *value);
  const std::string speaker = harmless_line(entry_speaker(entry.type, *value), kNameSizeMax);
  ContextCandidate candidate{
      .item = {.section = section,
               .session_id = entry.session_id,
               .type = entry.type,
               .id = entry.id,
               .timestamp = entry.timestamp,
               .text = {},
               .tokens = 0,
               .trust = trust.trust,
               .quoted = must_be_quoted(trust, rules_.quote_below_trust),
               .why = std::move(why)},
      .label = {},
      .quoted_label = {},
      .text = text.size() > kProseSizeMax && !hit.snippet.empty() ? hit.snippet : std::move(text),
      .before = {},
      .after = {}};
  // From here on `value` is no more: the parser goes on to the neighbours.
  candidate.item.quoted |= add_neighbours(hit.before, candidate.before);
  candidate.item.quoted |= add_neighbours(hit.after, candidate.after);
  set_labels(candidate, speaker, trust);
  return candidate;
}

}  // namespace bmad_mem
