#include "knowledge/knowledge_item.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "base/hash.hpp"
#include "base/object_text.hpp"
#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/knowledge.hpp"
#include "model/entry.hpp"
#include "model/statement.hpp"
#include "model/validate.hpp"
#include "model/voice.hpp"

namespace bmad_mem {

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
};

/// An entry of a session: its statements, and what its latest version says of it.
struct KnowledgeSource {
  std::string session_id;
  EntryType type = EntryType::kFact;
  std::string id;
  Category category = Category::kProjectFact;
  std::string key;
  Review review = Review::kNone;
  bool pinned = false;
  bool sensitive = false;
  bool superseded = false;
  std::optional<Timestamp> expires_at;
  std::vector<std::string> tags;
  std::vector<std::string> learned_from;
  std::vector<KnowledgeStatement> statements;
};

namespace {

std::vector<std::string> texts_of(JsonValue list) {
  std::vector<std::string> texts;
  for (const JsonValue each : list.elements()) {
    texts.emplace_back(each.string());
  }
  return texts;
}

bool is_reviewed(Review review) { return review == Review::kNone || review == Review::kAccepted; }

}  // namespace

KnowledgeCollector::KnowledgeCollector(std::optional<Timestamp> as_of, Timestamp now,
                                       const RootOrigins* origins)
    : as_of_(as_of), now_(as_of.value_or(now)), origins_(origins) {}

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
  if (as_of_ && at > *as_of_) {
    return;
  }
  KnowledgeSource& source = source_of(line, members.id);
  source.category = category_of(line.type, members.category);
  source.key = members.key;
  source.review = review_of(members.review);
  source.superseded = members.superseded;
  source.pinned = members.pinned;
  source.expires_at = members.expires_at;
  source.sensitive = source.sensitive || members.sensitive;
  source.tags = texts_of(members.tags);
  source.learned_from = texts_of(members.learned_from);
  KnowledgeStatement statement{.value = members.value_text(entry, line.text),
                               .agent_id = std::string(members.agent_id),
                               .source_kind = std::string(members.source["kind"].string()),
                               .text = std::string(line.text),
                               .confidence = members.confidence,
                               .trust = members.trust(),
                               .holding = members.trust(),
                               .created_at = members.created_at(),
                               .at = at};
  if (const OriginLedger* const ledger = origins_ == nullptr ? nullptr : origins_->ledger()) {
    statement.tag = ledger->line_tag(line.session_id, entry, line.text);
  }
  std::vector<KnowledgeStatement>& stated = source.statements;
  if (!stated.empty() && stated.back().at == at && stated.back().value == statement.value) {
    stated.back() = std::move(statement);  // A pin, a mark: it says nothing else.
  } else {
    stated.push_back(std::move(statement));
  }
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
        KnowledgeItem item{.category = source.category, .key = source.key};
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
        item.tags = source.tags;
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
    KnowledgeItem item{.category = held.source->category, .key = held.source->key};
    item.value = held.statement->value;
    item.trust = held.statement->trust;
    item.origin = held.statement->origin;
    item.source_kind = held.statement->source_kind;
    item.updated_at = held.statement->at;
    item.created_at = held.statement->created_at;
    item.session_id = held.source->session_id;
    item.type = held.source->type;
    item.id = held.source->id;
    item.tags = held.source->tags;
    item.learned_from = held.source->learned_from;
    item.pinned = held.source->pinned;
    item.review = held.source->superseded ? Review::kDropped
                                          : review_by(held.statement->origin, held.source->review);
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
                            .review = review_by(statement.origin, source.review),
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
      : category(source->category),
        key(source->key),
        alone(key.empty() || !is_reviewed(source->review)),
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

std::vector<KnowledgeItem> KnowledgeCollector::finish(bool with_proposals) {
  find_origins();
  const auto place = [](const auto& source) { return Place(&*source); };
  numbers_ = {};
  std::erase_if(sources_,
                [&](const auto& source) { return has_expired(source->expires_at, now_); });
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
  std::vector<std::string> all;
  for (const JsonValue each : list.elements()) {
    all.emplace_back(each.string());
  }
  for (const std::string& each : added) {
    if (std::ranges::find(all, each) == all.end()) {
      all.push_back(each);
    }
  }
  JsonWriter json;
  json.begin_array();
  for (const std::string& each : all) {
    json.string(each);
  }
  return json.end_array().take();
}

void add_to_list(ObjectText& object, JsonValue entry, std::string_view name,
                 const std::vector<std::string>& added) {
  if (std::string all = joined_list(entry[name], added); all != "[]") {
    object.set(name, std::move(all));
  }
}

}  // namespace bmad_mem
