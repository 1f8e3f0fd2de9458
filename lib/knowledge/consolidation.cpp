// consolidation.cpp - merges items of knowledge that say nearly the same.
//
//   first   the ones that stay: a version each with the trust, the confidence and the marks of all
//   then    the parts: a version each with review "dropped" and who they went into
//
// Nothing leaves a log, so history shows what was merged. A crash in between leaves more than is
// needed and nothing less: the same plan comes out again, and what is done already isn't written
// twice.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/object_text.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "encoder/encoder_choice.hpp"
#include "knowledge/knowledge_item.hpp"
#include "knowledge/knowledge_store.hpp"
#include "knowledge/merge_plan.hpp"
#include "model/entry.hpp"
#include "search/reads.hpp"
#include "store/access.hpp"
#include "store/sessions.hpp"

namespace bmad_mem {
namespace {

/// Where an entry is.
using StatementPlace = std::tuple<std::string, EntryType, std::string>;

/// Adds `ids` to the references of kind `kind`, and leaves the others.
void add_references(ObjectText& object, JsonValue entry, std::string_view kind,
                    const std::vector<std::string>& ids) {
  ObjectText references(object.raw("references"));
  references.set(kind, joined_list(entry["references"][kind], ids));
  object.set("references", references.to_line());
}

/// `object`, which was made of `line`, as a version of `now`; empty when it says the same.
std::string changed_version(ObjectText& object, JsonValue entry, std::string_view line,
                            Timestamp now) {
  if (object.to_line() == ObjectText(entry, line).to_line()) {
    return {};
  }
  object.set_string("updated_at", format_rfc3339(next_version_time(entry, now)));
  return object.to_line();
}

/// The latest versions of the entries that items are made of.
using LatestLines = std::map<StatementPlace, std::string>;

Result<LatestLines> read_latest(const Store& store, std::span<const MergeProposal> merged) {
  LatestLines latest;
  std::set<std::string, std::less<>> names;
  const auto add = [&](const KnowledgeItem& item) {
    for (const KnowledgeVersion& version : item.chain) {
      names.insert(version.session_id);
    }
  };
  for (const MergeProposal& proposal : merged) {
    add(proposal.into);
    std::ranges::for_each(proposal.parts, add);
  }
  if (names.empty()) {
    return latest;
  }
  const std::vector<std::string> sessions(names.begin(), names.end());
  static constexpr EntryType kTypes[] = {EntryType::kFact, EntryType::kPreference};
  BMAD_TRY_ASSIGN(
      std::vector<Entry> entries,
      read_entries(store, sessions, kTypes, /*all_versions=*/false, ArchivedSessions::kWithout));
  for (Entry& entry : entries) {
    latest.insert_or_assign(StatementPlace(entry.session_id, entry.type, entry.id),
                            std::move(entry.json));
  }
  return latest;
}

/// Lines to be written, a batch for each log.
using Batches = std::map<std::pair<std::string, EntryType>, std::vector<std::string>>;

Status write_batches(Store& store, const Batches& batches) {
  for (const auto& [log, lines] : batches) {
    assert(!lines.empty());
    const std::vector<std::string_view> views(lines.begin(), lines.end());
    BMAD_TRY(add_lines(store, log.first, log.second, views, {}));
  }
  return {};
}

/// The version of the entry that stays which takes in the parts; empty when it has them. Made from
/// the line that holds: its latest version may be one that is not trusted.
Result<std::string> merged_line(const MergeProposal& proposal, Timestamp now) {
  const std::string& line = proposal.into.json;
  BMAD_TRY_ASSIGN(const ParsedJson entry, parse_json(line));
  ObjectText object(*entry, line);
  assert(!proposal.parts.empty());
  double confidence = proposal.into.confidence;
  std::vector<std::string> ids;
  std::vector<std::string> tags;
  std::vector<std::string> learned_from;
  bool pinned = proposal.into.pinned;
  bool sensitive = proposal.into.sensitive;
  for (const KnowledgeItem& part : proposal.parts) {
    confidence = std::max(confidence, part.confidence);
    pinned = pinned || part.pinned;
    sensitive = sensitive || part.sensitive;
    ids.push_back(part.id);
    tags.insert(tags.end(), part.tags.begin(), part.tags.end());
    learned_from.insert(learned_from.end(), part.learned_from.begin(), part.learned_from.end());
  }
  add_references(object, *entry, "merged", ids);
  add_to_list(object, *entry, "tags", tags);
  add_to_list(object, *entry, "learned_from", learned_from);
  if (entry["confidence"].number(-1) != confidence) {
    object.set("confidence", json_number(confidence));
  }
  if (entry["source"]["trust"].number(1) != proposal.trust) {
    ObjectText source(object.raw("source"));
    source.set("trust", json_number(proposal.trust));
    object.set("source", source.to_line());
  }
  if (pinned && !entry["pinned"].boolean()) {
    object.set("pinned", "true");
  }
  if (sensitive && !entry["sensitive"].boolean()) {
    object.set("sensitive", "true");
  }
  return changed_version(object, *entry, line, now);
}

/// The version of a part that says where it went; empty when it says so.
Result<std::string> dropped_line(const std::string& line, const std::string& into, Timestamp now) {
  BMAD_TRY_ASSIGN(const ParsedJson entry, parse_json(line));
  ObjectText object(*entry, line);
  object.set_string("review", review_name(Review::kDropped));
  add_references(object, *entry, "merged_into", {into});
  return changed_version(object, *entry, line, now);
}

Status add_dropped(const KnowledgeItem& part, const std::string& into, const LatestLines& latest,
                   Timestamp now, Batches& batches) {
  std::set<StatementPlace> places;  // All entries of the item, else an older one would hold again.
  for (const KnowledgeVersion& version : part.chain) {
    places.emplace(version.session_id, version.type, version.id);
  }
  for (const StatementPlace& place : places) {
    const auto line = latest.find(place);
    if (line == latest.end()) {
      continue;  // It has gone meanwhile.
    }
    BMAD_TRY_ASSIGN(std::string dropped, dropped_line(line->second, into, now));
    if (!dropped.empty()) {
      batches[{std::get<0>(place), std::get<1>(place)}].push_back(std::move(dropped));
    }
  }
  return {};
}

Status write_merged(Store& store, std::span<const MergeProposal> merged) {
  BMAD_TRY_ASSIGN(const LatestLines latest, read_latest(store, merged));
  const Timestamp now = store.clock.now();
  Batches staying;
  Batches parts;
  for (const MergeProposal& proposal : merged) {
    const KnowledgeItem& into = proposal.into;
    if (!latest.contains({into.session_id, into.type, into.id})) {
      continue;  // It has gone meanwhile; its parts stay.
    }
    BMAD_TRY_ASSIGN(std::string version, merged_line(proposal, now));
    if (!version.empty()) {
      CarriedLines carried(store.origins->provenance(), into.session_id);
      carried.add(into.type, into.json, version);
      carried.settle();
      staying[{into.session_id, into.type}].push_back(std::move(version));
    }
    for (const KnowledgeItem& part : proposal.parts) {
      BMAD_TRY(add_dropped(part, into.id, latest, now, parts));
    }
  }
  BMAD_TRY(write_batches(store, staying));
  BMAD_TRY(write_batches(store, parts));
  (void)write_knowledge_views(store);  // Derived: what fails here fails nothing.
  return {};
}

constexpr double kSimilarityMin = 0.3;  // Below, texts share no more than their grammar.

/// Adds what `items` say alike in other words, as far as there is an encoder. No vector of an index
/// is asked: those wait for their segments, and statements are few and short.
void add_near(const Store& store, std::vector<KnowledgeItem> items, double min_similarity,
              ConsolidateReport& report) {
  constexpr std::size_t kComparedMax = 1000;  // The newest.
  constexpr std::chrono::seconds kTimeMax{10};
  std::set<StatementPlace> merged;
  for (const MergeProposal& proposal : report.merged) {
    for (const KnowledgeItem& part : proposal.parts) {
      merged.emplace(part.session_id, part.type, part.id);
    }
  }
  std::erase_if(items, [&](const KnowledgeItem& item) {
    return !is_in_force(item.review) || (item.sensitive && !store.config.encoder.sensitive) ||
           !is_sentence(item) || merged.contains({item.session_id, item.type, item.id});
  });
  if (items.size() < 2) {
    return;
  }
  std::ranges::sort(items, {}, [](const KnowledgeItem& item) {
    return std::tuple(-item.updated_at.time_since_epoch().count(),
                      std::tie(item.key, item.id, item.session_id));
  });
  report.encoder.entries = items.size();
  items.resize(std::min(items.size(), kComparedMax));
  const std::vector<std::string> texts = mapped(items, [](const KnowledgeItem& item) {
    return std::string(utf8_prefix(item.value, kEncodedSizeMax));
  });
  const auto deadline = std::chrono::steady_clock::now() + kTimeMax;
  const Result<std::shared_ptr<TextEncoder>> encoder = encoder_of(store, deadline);
  const bool is_there = encoder && *encoder != nullptr;
  const Result<std::vector<float>> vectors = is_there ? (*encoder)->encode(texts, deadline)
                                             : encoder
                                                 ? Result<std::vector<float>>(std::vector<float>())
                                                 : encoder.error();
  report.encoder.took_part = is_there && vectors;
  if (!vectors) {
    report.encoder.failed = true;
    report.encoder.late = vectors.error().code == ErrorCode::E_QUERY_TIMEOUT;
    report.encoder.reason = vectors.error().message;
  } else if (!is_there) {
    report.encoder.reason = "there is no encoder";
  } else {
    report.encoder.name = (*encoder)->name();
    assert(items.size() <= report.encoder.entries);
    report.encoder.encoded = items.size();
    report.near = near_statements(items, *vectors, min_similarity);
  }
}

}  // namespace

Result<ConsolidateReport> Knowledge::consolidate(const ConsolidateOptions& options) {
  BMAD_TRY_ASSIGN(Store* const store,
                  MemoryInside::enter(*memory_, "consolidate", !options.dry_run));
  if (!(options.min_similarity >= kSimilarityMin && options.min_similarity <= 1)) {
    return invalid_query("min_similarity", fmt::format("must be a number from {} to 1, not {}",
                                                       kSimilarityMin, options.min_similarity));
  }
  if (!options.sessions.empty()) {
    BMAD_TRY(store->selected_sessions(options.sessions));
  }
  BMAD_TRY_ASSIGN(std::vector<KnowledgeItem> items, all_knowledge(*store, {}));
  BMAD_TRY_ASSIGN(const std::vector<std::string> live, store->session_ids());
  const auto is_chosen = [&](const KnowledgeItem& item) {
    return (!options.category || item.category == *options.category) &&
           (options.sessions.empty() || is_among(options.sessions, item.session_id));
  };
  // What is in an archived session stays as it is: writing to it would bring that back.
  const auto is_live = [&](const KnowledgeItem& item) {
    return std::ranges::all_of(item.chain, [&](const KnowledgeVersion& version) {
      return std::ranges::binary_search(live, version.session_id);
    });
  };
  std::erase_if(items,
                [&](const KnowledgeItem& item) { return !is_chosen(item) || !is_live(item); });
  BMAD_TRY(drop_unreadable_items(*store, items));
  ConsolidateReport report;
  report.merged = plan_merges(items, options.min_similarity);
  add_near(*store, std::move(items), options.min_similarity, report);
  if (!options.dry_run && !report.merged.empty()) {
    BMAD_TRY(write_merged(*store, report.merged));
  }
  return report;
}

}  // namespace bmad_mem
