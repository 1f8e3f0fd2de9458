#include "knowledge/knowledge_item.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "base/hash.hpp"
#include "base/object_text.hpp"
#include "bmad_mem/json_copy.hpp"
#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/knowledge.hpp"
#include "model/entry.hpp"
#include "model/statement.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// What a version says of its entry besides its value.
struct KnowledgeMarks {
  Category category = Category::kProjectFact;
  std::string key;
  Review review = Review::kNone;
  bool pinned = false;
  bool superseded = false;
  std::optional<Timestamp> expires_at;
  std::vector<std::string> tags;
  std::vector<std::string> learned_from;
};

/// One line.
struct KnowledgeStatement {
  std::string value;
  std::string agent_id;
  std::string source_kind;
  std::string text;
  double confidence = 0;
  double trust = 1;
  double holding = 1;     ///< As holding_trust() has it.
  std::uint64_t tag = 0;  ///< Of the line, in the ledger.
  Origin origin = Origin::kAccepted;
  Timestamp created_at{};
  Timestamp at{};
  KnowledgeMarks marks;
};

/// An entry of a session: its statements, and what the last of them says of it.
struct KnowledgeSource {
  std::string session_id;
  EntryType type = EntryType::kFact;
  std::string id;
  KnowledgeMarks marks = {};
  bool sensitive = false;
  std::vector<KnowledgeStatement> statements = {};
};

KnowledgeCollector::KnowledgeCollector(std::optional<Timestamp> as_of, Timestamp now,
                                       const Store* store)
    : as_of_(as_of),
      now_(as_of.value_or(now)),
      store_(store),
      origins_(store == nullptr ? nullptr : store->origins.get()) {}

KnowledgeCollector::~KnowledgeCollector() = default;

KnowledgeSource& KnowledgeCollector::source_of(const KnowledgeLine& line, std::string_view id) {
  for (std::uint64_t place = xxh3(id) ^ xxh3(line.session_id);; ++place) {
    const auto [at, is_new] = numbers_.try_emplace(place, sources_.size());
    if (is_new) {
      KnowledgeSource& source = *sources_.emplace_back(std::make_unique<KnowledgeSource>());
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
  if (line.type != EntryType::kFact && line.type != EntryType::kPreference) {
    return;
  }
  const StatementMembers members = statement_members(line.type, entry);
  const Timestamp at = members.at();
  if (as_of_ && entry_written_time(entry) > *as_of_) {
    return;
  }
  KnowledgeSource& source = source_of(line, members.id);
  source.sensitive = source.sensitive || members.sensitive;
  KnowledgeStatement statement{.value = members.value_text(entry, line.text),
                               .agent_id = std::string(members.agent_id),
                               .source_kind = std::string(members.source["kind"].string()),
                               .text = std::string(line.text),
                               .confidence = members.confidence,
                               .trust = members.trust(),
                               .holding = members.trust(),
                               .created_at = members.created_at(),
                               .at = at,
                               .marks = {.category = category_of(line.type, members.category),
                                         .key = std::string(members.key),
                                         .review = review_of(members.review),
                                         .pinned = members.pinned,
                                         .superseded = members.superseded,
                                         .expires_at = members.expires_at,
                                         .tags = json_strings(members.tags),
                                         .learned_from = json_strings(members.learned_from)}};
  if (const OriginLedger* const ledger = origins_ == nullptr ? nullptr : origins_->ledger()) {
    statement.tag = ledger->line_tag(line.session_id, entry, line.text);
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
      return std::tie(a.statement->at, a.source->session_id) <
             std::tie(b.statement->at, b.source->session_id);
    });
  }

  /// What somebody without a voice has stated since the item was stated, if it has one. Of agents
  /// it waits as a candidate does. To be called before make().
  [[nodiscard]] std::optional<KnowledgeItem> proposal() const {
    const std::size_t holds = holding();
    const StatedVersion& held = stated_[holds];
    for (std::size_t i = stated_.size(); i-- > holds + 1;) {
      const KnowledgeSource& source = *stated_[i].source;
      const KnowledgeStatement& statement = *stated_[i].statement;
      if (has_voice(held.statement->origin) && !has_voice(statement.origin) &&
          statement.value != held.statement->value) {
        KnowledgeItem item{.category = source.marks.category, .key = source.marks.key};
        item.value = statement.value;
        item.agent_id = statement.agent_id;
        item.confidence = statement.confidence;
        item.trust = statement.trust;
        item.source_kind = statement.source_kind;
        item.origin = statement.origin;
        item.created_at = statement.created_at;
        item.updated_at = statement.at;
        item.session_id = source.session_id;
        item.type = source.type;
        item.id = source.id;
        item.tags = source.marks.tags;
        item.sensitive = source.sensitive || held.source->sensitive;
        item.review = statement.origin == Origin::kAgent ? Review::kCandidate : Review::kNone;
        item.replaces_id = held.source->id;
        item.replaces_value = held.statement->value;
        item.json = statement.text;
        return item;
      }
    }
    return std::nullopt;
  }

  KnowledgeItem make() {
    const std::size_t holds = holding();
    const StatedVersion& held = stated_[holds];
    KnowledgeItem item{.category = held.source->marks.category, .key = held.source->marks.key};
    item.value = held.statement->value;
    item.trust = held.statement->trust;
    item.origin = held.statement->origin;
    item.source_kind = held.statement->source_kind;
    item.updated_at = held.statement->at;
    item.created_at = held.statement->created_at;
    item.session_id = held.source->session_id;
    item.type = held.source->type;
    item.id = held.source->id;
    item.tags = held.source->marks.tags;
    item.learned_from = held.source->marks.learned_from;
    item.pinned = held.source->marks.pinned;
    item.review = held.source->marks.superseded
                      ? Review::kDropped
                      : review_by(held.statement->origin, held.source->marks.review);
    if (item.review == Review::kNone && is_candidate_id(item.id) && has_voice(item.origin)) {
      item.review = Review::kStated;
    }
    const bool is_trusted = held.statement->holding >= kLowTrust;
    for (std::size_t i = 0; i < stated_.size(); ++i) {
      const KnowledgeSource& source = *stated_[i].source;
      KnowledgeStatement& statement = *stated_[i].statement;
      const bool is_heard = !is_trusted || statement.holding >= kLowTrust;
      item.confidence =
          is_heard ? std::max(item.confidence, statement.confidence) : item.confidence;
      item.created_at = std::min(item.created_at, statement.created_at);
      item.sensitive = item.sensitive || source.sensitive;
      item.contradicted = item.contradicted || statement.value != item.value;
      item.pinned = item.pinned || (source.marks.pinned && statement.origin == Origin::kAgent &&
                                    statement.value == item.value);
      if (i <= holds && is_heard && !statement.agent_id.empty()) {
        item.agent_id = statement.agent_id;
      }
      item.chain.push_back({.session_id = source.session_id,
                            .type = source.type,
                            .id = source.id,
                            .value = std::move(statement.value),
                            .agent_id = std::move(statement.agent_id),
                            .confidence = statement.confidence,
                            .trust = statement.trust,
                            .source_kind = std::move(statement.source_kind),
                            .at = statement.at,
                            .review = review_by(statement.origin, source.marks.review),
                            .holds = i == holds});
    }
    item.json = std::move(held.statement->text);
    return item;
  }

 private:
  /// The newest that is trusted, or else the newest.
  [[nodiscard]] std::size_t holding() const {
    for (std::size_t i = stated_.size(); i-- > 0;) {
      if (stated_[i].statement->holding >= kLowTrust) {
        return i;
      }
    }
    return stated_.size() - 1;
  }

  std::vector<StatedVersion> stated_;  // Oldest first.
};

}  // namespace

namespace {

/// Where an item stands among the others: what stands alone by its id, what has a key together.
struct Place {
  explicit Place(const KnowledgeSource* source)
      : category(source->marks.category),
        key(source->marks.key),
        alone(key.empty() || !is_in_force(source->marks.review)),
        id(alone ? std::string_view(source->id) : std::string_view()) {}

  auto operator<=>(const Place&) const = default;

  Category category;
  std::string_view key;
  bool alone;
  std::string_view id;
};

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
    queries.push_back({.tag = each.tag, .origin = origins_->without_ledger()});
  });
  if (const OriginLedger* const ledger = origins_->ledger()) {
    ledger->find(queries);
  }
  std::size_t number = 0;
  for_each_statement([&](KnowledgeStatement& each) {
    each.origin = queries[number++].origin;
    each.holding = holding_trust(each.origin, each.trust);
    EntryTrust checked = checked_trust(
        {.source_kind = std::move(each.source_kind), .trust = each.trust, .origin = each.origin});
    each.source_kind = std::move(checked.source_kind);
    each.trust = checked.trust;
  });
}

/// What somebody without a voice has written behind the last statement of one who has is an entry
/// of its own: it changes neither key nor review of that, and ends it no sooner.
void KnowledgeCollector::part_voices() {
  for (std::size_t i = 0, count = sources_.size(); i < count; ++i) {
    KnowledgeSource& source = *sources_[i];
    std::vector<KnowledgeStatement> stated;
    for (KnowledgeStatement& each : source.statements) {
      const bool says_the_same = !stated.empty() && stated.back().at == each.at &&
                                 stated.back().value == each.value &&
                                 (has_voice(each.origin) || !has_voice(stated.back().origin));
      if (says_the_same) {
        stated.back() = std::move(each);  // A pin, a mark.
      } else {
        stated.push_back(std::move(each));
      }
    }
    std::size_t own = stated.size();  // Up to the last with a voice; all where nobody has one.
    while (own > 0 && !has_voice(stated[own - 1].origin)) {
      --own;
    }
    if (own > 0 && own < stated.size()) {
      const auto others = stated.begin() + static_cast<std::ptrdiff_t>(own);
      auto other =
          std::make_unique<KnowledgeSource>(KnowledgeSource{.session_id = source.session_id,
                                                            .type = source.type,
                                                            .id = source.id,
                                                            .sensitive = source.sensitive});
      other->statements.assign(std::make_move_iterator(others),
                               std::make_move_iterator(stated.end()));
      other->marks = other->statements.back().marks;
      stated.erase(others, stated.end());
      sources_.push_back(std::move(other));
    }
    source.statements = std::move(stated);
    source.marks = source.statements.back().marks;
  }
}

std::vector<KnowledgeItem> KnowledgeCollector::finish(bool with_proposals) {
  find_origins();
  part_voices();
  const auto place = [](const auto& source) { return Place(&*source); };
  numbers_ = {};
  std::erase_if(sources_, [&](const auto& source) {
    return has_expired(source->marks.expires_at, now_) ||
           (store_ != nullptr && store_->past_retention.hides(source->session_id, source->type,
                                                              source->statements.back().created_at,
                                                              source->marks.pinned, now_));
  });
  std::ranges::stable_sort(sources_, {}, place);
  std::vector<KnowledgeItem> items;
  std::vector<KnowledgeSource*> group;
  for (std::size_t begin = 0; begin < sources_.size();) {
    group.clear();
    std::size_t end = begin;
    while (end < sources_.size() && place(sources_[end]) == place(sources_[begin])) {
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
  const bool is_plain = has_voice(item.origin) && item.source_kind.empty() && item.trust == 1;
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
    if (std::ranges::find(all, each) == all.end()) {
      all.push_back(each);
    }
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
