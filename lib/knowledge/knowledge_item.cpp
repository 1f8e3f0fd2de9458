// knowledge_item.cpp - makes items of knowledge from the lines that state them.
#include "knowledge/knowledge_item.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/hash.hpp"
#include "base/object_text.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "model/entry.hpp"
#include "model/statement.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// One line: the item that it would be alone.
struct KnowledgeStatement {
  KnowledgeItem item;
  double holding = 1;     ///< As holding_reliability() has it.
  std::uint64_t tag = 0;  ///< Of the line, in the provenance log.
  bool superseded = false;
  std::optional<Timestamp> expires_at;
};

/// An entry of a session: its statements, of which the last says what it is about.
struct KnowledgeSource {
  std::string session_id;
  EntryType type = EntryType::kFact;
  std::string id;
  bool sensitive = false;
  std::vector<KnowledgeStatement> statements = {};

  [[nodiscard]] const KnowledgeItem& latest() const {
    assert(!statements.empty());
    return statements.back().item;
  }
};

KnowledgeCollector::KnowledgeCollector(std::optional<Timestamp> as_of, Timestamp now,
                                       const Store* store)
    : as_of_(as_of),
      now_(as_of.value_or(now)),
      store_(store),
      origins_(store == nullptr ? nullptr : store->origins.get()) {}

KnowledgeSource& KnowledgeCollector::source_of(const KnowledgeLine& line, std::string_view id) {
  for (std::uint64_t place = xxh3(id) ^ xxh3(line.session_id);; ++place) {
    const auto [at, is_new] = numbers_.try_emplace(place, sources_.size());
    if (is_new) {
      KnowledgeSource& source = *sources_.emplace_back(std::make_shared<KnowledgeSource>());
      source.session_id = line.session_id;
      source.type = line.type;
      source.id = id;
      return source;
    }
    KnowledgeSource& source = *sources_[at->second];
    if (source.id == id && source.type == line.type && source.session_id == line.session_id) {
      return source;
    }
  }
}

void KnowledgeCollector::add(const KnowledgeLine& line, JsonValue entry) {
  if (!is_statement(line.type)) {
    return;
  }
  const StatementMembers members = statement_members(line.type, entry);
  if (as_of_ && entry_written_time(entry) > *as_of_) {
    return;
  }
  KnowledgeSource& source = source_of(line, members.id);
  source.sensitive = source.sensitive || members.sensitive;
  KnowledgeStatement statement{.item = {.category = category_of(line.type, members.category),
                                        .key = std::string(members.key),
                                        .value = members.value_text(entry, line.text),
                                        .agent_id = std::string(members.agent_id),
                                        .confidence = members.confidence,
                                        .trust = members.trust(),
                                        .source_kind = std::string(members.source["kind"].string()),
                                        .created_at = members.created_at(),
                                        .updated_at = members.at(),
                                        .session_id = source.session_id,
                                        .type = source.type,
                                        .id = source.id,
                                        .tags = json_strings(members.tags),
                                        .learned_from = json_strings(members.learned_from),
                                        .pinned = members.pinned,
                                        .review = review_of(members.review),
                                        .json = std::string(line.text)},
                               .holding = members.trust(),
                               .superseded = members.superseded,
                               .expires_at = members.expires_at};
  if (const ProvenanceLog* const provenance =
          origins_ == nullptr ? nullptr : origins_->provenance()) {
    statement.tag = provenance->line_tag(line.session_id, entry, line.text);
  }
  source.statements.push_back(std::move(statement));
}

namespace {

/// A statement and the entry that it is a version of.
struct StatedVersion {
  KnowledgeSource* source = nullptr;
  KnowledgeStatement* statement = nullptr;
};

/// One item from the entries that are about the same.
class ItemMaker {
 public:
  explicit ItemMaker(std::span<KnowledgeSource*> sources) {
    for (KnowledgeSource* source : sources) {
      for (KnowledgeStatement& statement : source->statements) {
        stated_.push_back({.source = source, .statement = &statement});
      }
    }
    std::ranges::stable_sort(stated_, [](const StatedVersion& a, const StatedVersion& b) {
      return std::tie(a.statement->item.updated_at, a.source->session_id) <
             std::tie(b.statement->item.updated_at, b.source->session_id);
    });
  }

  /// What somebody who is no author of this root has stated since the item was stated, if it has
  /// one. Of agents it waits as a candidate does. To be called before make().
  [[nodiscard]] std::optional<KnowledgeItem> proposal() const {
    const std::size_t holds = holding();
    const StatedVersion& held = stated_[holds];
    for (std::size_t i = stated_.size(); i-- > holds + 1;) {
      const KnowledgeItem& stated = stated_[i].statement->item;
      if (is_authored_here(held.statement->item.origin) && !is_authored_here(stated.origin) &&
          stated.value != held.statement->item.value) {
        KnowledgeItem item = item_of(stated_[i]);
        item.json = stated.json;
        item.learned_from.clear();
        item.pinned = false;
        item.sensitive = stated_[i].source->sensitive || held.source->sensitive;
        item.review = item.origin == Origin::kAgent ? Review::kCandidate : Review::kNone;
        item.replaces_id = held.source->id;
        item.replaces_value = held.statement->item.value;
        return item;
      }
    }
    return std::nullopt;
  }

  KnowledgeItem make() {
    const std::size_t holds = holding();
    const StatedVersion& held = stated_[holds];
    KnowledgeItem item = item_of(held);
    item.review = held.source->statements.back().superseded
                      ? Review::kDropped
                      : review_by(item.origin, held.source->latest().review);
    if (item.review == Review::kNone && is_candidate_id(item.id) && is_authored_here(item.origin)) {
      item.review = Review::kStated;
    }
    const bool is_trusted = held.statement->holding >= kLowReliability;
    for (std::size_t i = 0; i < stated_.size(); ++i) {
      const KnowledgeSource& source = *stated_[i].source;
      KnowledgeItem& stated = stated_[i].statement->item;
      const bool is_heard = !is_trusted || stated_[i].statement->holding >= kLowReliability;
      item.confidence = is_heard ? std::max(item.confidence, stated.confidence) : item.confidence;
      item.created_at = std::min(item.created_at, stated.created_at);
      item.sensitive = item.sensitive || source.sensitive;
      item.contradicted = item.contradicted || stated.value != item.value;
      item.pinned = item.pinned || (source.latest().pinned && stated.origin == Origin::kAgent &&
                                    stated.value == item.value);
      if (i <= holds && is_heard && !stated.agent_id.empty()) {
        item.agent_id = stated.agent_id;
      }
      item.chain.push_back({.session_id = source.session_id,
                            .type = source.type,
                            .id = source.id,
                            .value = std::move(stated.value),
                            .agent_id = std::move(stated.agent_id),
                            .confidence = stated.confidence,
                            .trust = stated.trust,
                            .source_kind = std::move(stated.source_kind),
                            .at = stated.updated_at,
                            .review = review_by(stated.origin, source.latest().review),
                            .holds = i == holds});
    }
    assert(std::ranges::count(item.chain, true, &KnowledgeVersion::holds) == 1);
    item.json = std::move(held.statement->item.json);
    return item;
  }

 private:
  /// What it states, without its line, of what its entry is about.
  static KnowledgeItem item_of(const StatedVersion& version) {
    std::string json = std::move(version.statement->item.json);
    KnowledgeItem item = version.statement->item;
    version.statement->item.json = std::move(json);
    const KnowledgeItem& latest = version.source->latest();
    item.category = latest.category;
    item.key = latest.key;
    item.tags = latest.tags;
    item.learned_from = latest.learned_from;
    item.pinned = latest.pinned;
    return item;
  }

  /// The newest that is trusted, or else the newest.
  [[nodiscard]] std::size_t holding() const {
    for (std::size_t i = stated_.size(); i-- > 0;) {
      if (stated_[i].statement->holding >= kLowReliability) {
        return i;
      }
    }
    assert(!stated_.empty() && "an entry has a statement");
    return stated_.size() - 1;
  }

  std::vector<StatedVersion> stated_;  // Oldest first.
};

/// Where an item stands among the others: what stands alone by its id, what has a key together.
auto place_of(const std::shared_ptr<KnowledgeSource>& source) {
  const KnowledgeItem& latest = source->latest();
  const bool alone = latest.key.empty() || !is_in_force(latest.review);
  return std::tuple(latest.category, std::string_view(latest.key), alone,
                    alone ? std::string_view(source->id) : std::string_view());
}

}  // namespace

/// What a line says of its source counts only as far as it is known who wrote it.
void KnowledgeCollector::find_origins() {
  if (origins_ == nullptr) {
    return;  // All are taken at their word.
  }
  std::vector<OriginQuery> queries;
  const auto for_each_statement = [&](const auto& use) {
    for (const auto& source : sources_) {
      std::ranges::for_each(source->statements, use);
    }
  };
  for_each_statement([&](const KnowledgeStatement& each) {
    queries.push_back({.tag = each.tag, .origin = origins_->origin_without_provenance()});
  });
  if (const ProvenanceLog* const provenance = origins_->provenance()) {
    provenance->find(queries);
  }
  std::size_t number = 0;
  for_each_statement([&](KnowledgeStatement& each) {
    KnowledgeItem& item = each.item;
    item.origin = queries[number++].origin;
    each.holding = holding_reliability(item.origin, item.trust);
    SourceReliability checked = checked_reliability(
        {.source_kind = std::move(item.source_kind), .trust = item.trust, .origin = item.origin});
    item.source_kind = std::move(checked.source_kind);
    item.trust = checked.trust;
  });
  assert(number == queries.size() && "each statement has its origin");
}

/// What somebody who is no author of this root has written behind the last statement of one who has
/// is an entry of its own: it changes neither key nor review of that, and ends it no sooner.
void KnowledgeCollector::part_authors() {
  for (std::size_t i = 0, count = sources_.size(); i < count; ++i) {
    KnowledgeSource& source = *sources_[i];
    std::vector<KnowledgeStatement> stated;
    for (KnowledgeStatement& each : source.statements) {
      const KnowledgeItem* const before = stated.empty() ? nullptr : &stated.back().item;
      const bool says_the_same =
          before != nullptr && before->updated_at == each.item.updated_at &&
          before->value == each.item.value &&
          (is_authored_here(each.item.origin) || !is_authored_here(before->origin));
      if (says_the_same) {
        stated.back() = std::move(each);  // A pin, a mark.
      } else {
        stated.push_back(std::move(each));
      }
    }
    std::size_t own =
        stated.size();  // Up to the last by an author of this root; all where nobody has one.
    while (own > 0 && !is_authored_here(stated[own - 1].item.origin)) {
      --own;
    }
    if (own > 0 && own < stated.size()) {
      const auto others = stated.begin() + static_cast<std::ptrdiff_t>(own);
      auto other =
          std::make_shared<KnowledgeSource>(KnowledgeSource{.session_id = source.session_id,
                                                            .type = source.type,
                                                            .id = source.id,
                                                            .sensitive = source.sensitive});
      other->statements.assign(std::make_move_iterator(others),
                               std::make_move_iterator(stated.end()));
      stated.erase(others, stated.end());
      sources_.push_back(std::move(other));
    }
    assert(!stated.empty());
    source.statements = std::move(stated);
  }
}

std::vector<KnowledgeItem> KnowledgeCollector::finish(bool with_proposals) {
  find_origins();
  part_authors();
  numbers_ = {};
  std::erase_if(sources_, [&](const auto& source) {
    return has_expired(source->statements.back().expires_at, now_) ||
           (store_ != nullptr && store_->past_retention.hides(source->session_id, source->type,
                                                              source->latest().created_at,
                                                              source->latest().pinned, now_));
  });
  std::ranges::stable_sort(sources_, {}, place_of);
  std::vector<KnowledgeItem> items;
  std::vector<KnowledgeSource*> group;
  for (std::size_t begin = 0; begin < sources_.size();) {
    group.clear();
    std::size_t end = begin;
    while (end < sources_.size() && place_of(sources_[end]) == place_of(sources_[begin])) {
      group.push_back(sources_[end++].get());
    }
    ItemMaker maker(group);
    std::optional<KnowledgeItem> proposal = with_proposals ? maker.proposal() : std::nullopt;
    items.push_back(maker.make());
    if (proposal) {
      items.push_back(*std::move(proposal));
    }
    while (begin < end) {
      sources_[begin++].reset();  // Else all would be there twice.
    }
  }
  assert(std::ranges::is_sorted(items, {}, &KnowledgeItem::category));
  return items;
}

std::vector<KnowledgeItem> collect_knowledge(std::span<const KnowledgeLine> lines,
                                             std::optional<Timestamp> as_of) {
  KnowledgeCollector collector(as_of);
  JsonParser parser;
  for (const KnowledgeLine& line : lines) {
    const Result<JsonValue> entry = parser.parse(line.text);
    if (entry && !check_entry(line.type, *entry)) {
      collector.add(line, *entry);
    }
  }
  return collector.finish();
}

std::string item_source(const KnowledgeItem& item) {
  const bool is_plain =
      is_authored_here(item.origin) && item.source_kind.empty() && item.trust == 1;
  return is_plain
             ? std::string()
             : source_text(
                   {.source_kind = item.source_kind, .trust = item.trust, .origin = item.origin});
}

double recall_score(double confidence, std::uint64_t access_count, Timestamp updated_at,
                    Timestamp now) {
  constexpr double kHalfBoostAccesses = 4;  // So many accesses are worth half of what is possible.
  constexpr double kNewcomerDays = 14;
  const auto accesses = static_cast<double>(access_count);
  const double popularity = accesses / (accesses + kHalfBoostAccesses);
  const std::chrono::duration<double, std::ratio<86'400>> age = now - updated_at;
  const double newness = std::exp2(-std::max(age.count(), 0.0) / kNewcomerDays);
  return confidence * (1 + std::max(popularity, newness));
}

std::string joined_list(JsonValue list, const std::vector<std::string>& added) {
  std::vector<std::string> all = json_strings(list);
  for (const std::string& each : added) {
    add_once(all, each);
  }
  return list_json(all);
}

void add_to_list(ObjectText& object, JsonValue entry, std::string_view name,
                 const std::vector<std::string>& added) {
  if (std::string all = joined_list(entry[name], added); all != "[]") {
    object.set(name, std::move(all));
  }
}

}  // namespace bmad_mem
