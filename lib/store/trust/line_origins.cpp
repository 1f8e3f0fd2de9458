// line_origins.cpp - looks up the origins of many lines in one pass, and notes who acts.
#include <array>
#include <cassert>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "store/line_reader.hpp"
#include "store/root_trust.hpp"

namespace bmad_mem {

std::uint64_t ProvenanceLog::note_unknown(std::string_view session_id, EntryType type,
                                          std::span<const std::string_view> lines,
                                          Origin origin) const {
  JsonParser parser;
  std::vector<OriginQuery> queries;
  for (const std::string_view line : lines) {
    const Result<JsonValue> entry = parser.parse(line);
    queries.push_back({.tag = entry ? line_tag(session_id, *entry, line) : 0});
  }
  find(queries);
  std::vector<std::string_view> unknown;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const OriginQuery& known = queries[i];
    const bool is_weak = origin == Origin::kAccepted && known.origin == Origin::kElsewhere;
    if (known.tag != 0 && (!known.is_known || is_weak)) {
      unknown.push_back(lines[i]);
    }
  }
  note(session_id, type, unknown, origin);
  return unknown.size();
}

std::uint64_t ProvenanceLog::accept(std::string_view session_id, EntryType type,
                                    std::span<const std::string> lines) const {
  const std::vector<std::string_view> views(lines.begin(), lines.end());
  return note_unknown(session_id, type, views, Origin::kAccepted);
}

void ProvenanceLog::note_elsewhere(std::string_view session_id, EntryType type,
                                   std::string_view text) const {
  std::vector<std::string_view> lines;
  for_each_text_line(text, [&](std::string_view line) { lines.push_back(line); });
  note_unknown(session_id, type, lines, Origin::kElsewhere);
}

void CarriedLines::add(EntryType type, std::string_view old, std::string_view line) {
  thread_local JsonParser parser;
  if (provenance_ == nullptr || old == line) {
    return;
  }
  if (const Result<JsonValue> entry = parser.parse(old)) {
    old_.push_back({.tag = provenance_->line_tag(session_id_, *entry, old)});
    assert(old_.size() == lines_.size() + 1);
    lines_.push_back({.type = type, .text = std::string(line)});
  }
}

void CarriedLines::settle() {
  if (lines_.empty()) {
    return;
  }
  assert(provenance_ != nullptr && old_.size() == lines_.size());
  provenance_->find(old_);
  std::map<std::pair<Origin, EntryType>, std::vector<std::string_view>> alike;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (old_[i].is_known) {
      alike[{old_[i].origin, lines_[i].type}].push_back(lines_[i].text);
    }
  }
  for (const auto& [kind, lines] : alike) {
    provenance_->note(session_id_, kind.second, lines, kind.first);
  }
  old_.clear();
  lines_.clear();
}

void LineOrigins::want(std::string_view session_id, JsonValue entry, std::string_view line) {
  if (provenance_ != nullptr) {
    origins_.emplace(provenance_->line_tag(session_id, entry, line), Origin::kElsewhere);
  }
}

void LineOrigins::find() {
  assert(origins_.empty() || provenance_ != nullptr);
  std::vector<OriginQuery> queries =
      mapped(origins_, [](const auto& each) { return OriginQuery{.tag = each.first}; });
  if (provenance_ != nullptr) {
    provenance_->find(queries);
  }
  for (const OriginQuery& query : queries) {
    origins_[query.tag] = query.origin;
  }
}

Origin LineOrigins::of(std::string_view session_id, JsonValue entry, std::string_view line) const {
  if (provenance_ == nullptr) {
    return without_;
  }
  const auto found = origins_.find(provenance_->line_tag(session_id, entry, line));
  return found == origins_.end() ? Origin::kElsewhere : found->second;
}

std::string_view root_trust_name(RootTrust trust) {
  static constexpr std::array<std::string_view, 4> kNames = {"unchecked", "own", "trusted",
                                                             "foreign"};
  assert(static_cast<std::size_t>(trust) < kNames.size());
  return kNames[static_cast<std::size_t>(trust)];
}

std::string_view origin_name(Origin origin) {
  static constexpr std::array<std::string_view, 5> kNames = {"elsewhere", "agent", "person",
                                                             "accepted", "by_hand"};
  assert(static_cast<std::size_t>(origin) < kNames.size());
  return kNames[static_cast<std::size_t>(origin)];
}

namespace {

thread_local std::optional<Origin> acting_as;

}  // namespace

ActingAs::ActingAs(Origin origin) : before_(std::exchange(acting_as, origin)) {}
ActingAs::~ActingAs() { acting_as = before_; }

Origin ActingAs::current(Origin otherwise) { return acting_as.value_or(otherwise); }

}  // namespace bmad_mem
