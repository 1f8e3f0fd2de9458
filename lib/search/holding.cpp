// holding.cpp - judges which of several statements about the same is in force.
#include "search/holding.hpp"

#include <cassert>
#include <map>
#include <utility>

#include "model/entry.hpp"
#include "model/statement.hpp"
#include "search/reads.hpp"
#include "store/entry_scanner.hpp"
#include "store/store.hpp"

namespace bmad_mem {

void judge(std::span<Rival> rivals) {
  std::map<const ProvenanceLog*, std::vector<OriginQuery>> asked;
  const auto provenance_of = [](const Rival& rival) {
    return rival.origins == nullptr ? nullptr : rival.origins->provenance();
  };
  for (const Rival& rival : rivals) {
    if (const ProvenanceLog* const provenance = provenance_of(rival)) {
      asked[provenance].push_back({.tag = rival.tag});
    }
  }
  std::map<const ProvenanceLog*, std::size_t> next;
  for (auto& [provenance, queries] : asked) {
    provenance->find(queries);
  }
  for (Rival& rival : rivals) {
    double trust = rival.claimed;
    if (const ProvenanceLog* const provenance = provenance_of(rival)) {
      trust = holding_reliability(asked[provenance][next[provenance]++].origin, trust);
    } else if (rival.origins != nullptr) {
      trust = holding_reliability(rival.origins->origin_without_provenance(), trust);
    }
    rival.rank.is_trusted = trust >= kLowReliability;
  }
}

std::optional<std::size_t> ValidStatements::hear(std::string_view session_id,
                                                 const TableEntry& entry) {
  const bool has_links = entry.text.find(link_member(LinkKind::kSupersedes)) != std::string::npos;
  if (!is_statement(entry.type) && !has_links) {
    return {};
  }
  const Result<JsonValue> value = parser_.parse(entry.text);
  if (has_links && value && is_superseded((*value)[kLinksField])) {
    hear_statement(session_id, entry, *value);  // What it has replaced stays replaced.
    return kSuperseded;
  }
  return value ? hear_statement(session_id, entry, *value) : std::nullopt;
}

std::optional<std::size_t> ValidStatements::hear_statement(std::string_view session_id,
                                                           const TableEntry& entry,
                                                           JsonValue value) {
  const StatementHead head = statement_head(entry.type, value);
  if (head.key.empty() || head.is_unreviewed()) {
    return {};
  }
  Rival rival{
      .rank = {.at = head.at, .session_id = session_id, .type = entry.type, .line = entry.line},
      .claimed = head.trust,
      .origins = origins_};
  if (origins_ != nullptr && origins_->provenance() != nullptr) {
    rival.tag = origins_->provenance()->line_tag(session_id, value, entry.text);
  }
  heard_.push_back(rival);
  subject_of_.push_back(subjects_.try_emplace(head.subject(), subjects_.size()).first->second);
  assert(subject_of_.size() == heard_.size());
  return heard_.size() - 1;
}

void ValidStatements::settle() {
  judge(heard_);
  best_of_.assign(subjects_.size(), kSuperseded);
  assert(subject_of_.size() == heard_.size());
  for (std::size_t i = 0; i < heard_.size(); ++i) {
    std::size_t& best = best_of_[subject_of_[i]];
    if (best == kSuperseded || heard_[best].rank < heard_[i].rank) {
      best = i;
    }
  }
}

namespace {

/// The newest of `versions` that has an author here; null when there is none.
const Entry* newest_authored(const ProvenanceLog& provenance, std::span<const Entry> versions,
                             const Entry& latest) {
  const Entry* newest = nullptr;
  for (const Entry& version : versions) {
    if (version.type == latest.type &&
        is_authored_here(provenance.origin_of(version.session_id, version.json))) {
      newest = &version;
    }
  }
  return newest;
}

}  // namespace

void show_valid_versions(const Store& store, std::span<Entry* const> entries) {
  for (Entry* const entry : entries) {
    if (!is_statement(entry->type) || entry->versions < 2) {
      continue;
    }
    const Store* const user = entry->of_user ? store.user_store() : nullptr;
    const Store& its = user != nullptr ? *user : store;
    const ProvenanceLog* const provenance = its.origins->provenance();
    if (provenance == nullptr ||
        is_authored_here(provenance->origin_of(entry->session_id, entry->json))) {
      continue;
    }
    const Result<std::vector<Entry>> versions =
        find_entries(its, {&entry->id, 1}, {&entry->session_id, 1}, /*all_versions=*/true);
    const Entry* const held = versions ? newest_authored(*provenance, *versions, *entry) : nullptr;
    if (held != nullptr) {
      entry->json = held->json;
      entry->newer = std::exchange(entry->headline, held->headline);
      entry->who = held->who;
      entry->line = held->line;
    }
  }
}

}  // namespace bmad_mem
