// remember.cpp - stores statements as lines in the logs of their sessions.
#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/object_text.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "knowledge/knowledge_item.hpp"
#include "knowledge/knowledge_store.hpp"
#include "knowledge/merge_plan.hpp"
#include "known_statements.hpp"
#include "model/entry.hpp"
#include "model/statement.hpp"
#include "search/analyzer.hpp"
#include "store/access.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

Status check(const RememberParams& params) {
  if (params.value.find_first_not_of(" \t\r\n") == std::string::npos) {
    return field_error(ErrorCode::E_SCHEMA_INVALID, "value",
                       "the value is empty; give the statement to store");
  }
  if (!(params.confidence >= 0 && params.confidence <= 1)) {
    return field_error(ErrorCode::E_SCHEMA_INVALID, "confidence",
                       fmt::format("must be a number from 0 to 1, not {}", params.confidence));
  }
  return {};
}

std::string source_json(const EntrySource& source) {
  JsonWriter json;
  json.begin_object().member_unless_empty("kind", source.kind);
  if (source.trust) {
    json.member("trust", *source.trust);
  }
  return json.end_object().take();
}

/// What a version says that is not in the structs of entries.
std::string further_members(const RememberParams& params, EntryType type) {
  std::string members = params.extra;
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) {
      members += fmt::format("{}\"{}\":{}", members.empty() ? "" : ",", name, json_quoted(value));
    }
  };
  add("review", review_name(params.review));
  if (type == EntryType::kPreference) {
    add("agent_id", params.agent_id);
  }
  return members;
}

std::string new_line(const RememberParams& params, EntryType type, const std::string& id) {
  assert(!id.empty());
  const EntryCommon common{.id = id,
                           .tags = params.tags,
                           .pinned = params.pinned,
                           .source = params.source,
                           .extra = further_members(params, type)};
  const std::string category(category_name(params.category));
  if (type == EntryType::kFact) {
    return to_json(FactEntry{.content = params.value,
                             .agent_id = params.agent_id,
                             .category = category,
                             .key = params.key,
                             .confidence = params.confidence,
                             .learned_from = params.learned_from,
                             .common = common});
  }
  return to_json(UserPreference{.key = params.key,
                                .value = params.value,
                                .category = category,
                                .confidence = params.confidence,
                                .learned_from = params.learned_from,
                                .common = common});
}

/// `item`'s line with what `params` say, as a newer version of it.
Result<std::string> next_line(const KnowledgeItem& item, const RememberParams& params,
                              double confidence, Timestamp now) {
  BMAD_TRY_ASSIGN(const ParsedJson entry, parse_json(item.json));
  ObjectText object(*entry, item.json);
  object.set_string(item.type == EntryType::kFact ? "content" : "value", params.value);
  object.set("confidence", json_number(confidence));
  object.set_string("category", category_name(params.category));
  object.set_string("updated_at", format_rfc3339(next_version_time(*entry, now)));
  if (!params.agent_id.empty()) {
    object.set_string("agent_id", params.agent_id);
  }
  add_to_list(object, *entry, "tags", params.tags);
  add_to_list(object, *entry, "learned_from", params.learned_from);
  object.remove("source");  // Whoever speaks now speaks for himself.
  if (!params.source.kind.empty() || params.source.trust) {
    object.set("source", source_json(params.source));
  }
  object.remove("review");
  if (params.review != Review::kNone) {
    object.set_string("review", review_name(params.review));
  }
  if (params.pinned) {
    object.set("pinned", "true");
  }
  const std::string extra = "{" + params.extra + "}";
  BMAD_TRY_ASSIGN(const ParsedJson further, parse_json(extra));
  const ObjectText further_text(*further, extra);
  for (const JsonMember& member : further->members()) {
    object.set(member.key, std::string(further_text.raw(member.key)));
  }
  return object.to_line();
}

/// Goes through statements in order and says what is to be written.
class Rememberer {
 public:
  Rememberer(Store& store, std::vector<KnowledgeItem> known) : store_(store) {
    for (KnowledgeItem& item : known) {
      if (!item.key.empty() && is_in_force(item.review)) {
        const auto place = std::pair(item.category, item.key);
        known_.insert_or_assign(place, std::move(item));
      }
    }
  }

  Status plan(const RememberParams& params) {
    BMAD_TRY(check(params));
    BMAD_TRY_ASSIGN(const std::string session_id, session_of(params));
    const auto known = params.key.empty() || params.review == Review::kCandidate
                           ? known_.end()
                           : known_.find({params.category, params.key});
    Remembered remembered{.session_id = session_id,
                          .category = params.category,
                          .key = params.key,
                          .value = readable(params, session_id),
                          .confidence = params.confidence,
                          .is_new = known == known_.end()};
    if (known == known_.end()) {
      plan_new(params, std::move(remembered));
      return {};
    }
    return plan_known(params, std::move(remembered), known->second);
  }

  Result<std::vector<Remembered>> write() {
    for (const auto& [place, planned] : planned_) {
      const std::vector<std::string_view> lines(planned.lines.begin(), planned.lines.end());
      BMAD_TRY_ASSIGN(const BatchReport report,
                      add_lines(store_, place.first, place.second, lines, {}));
      assert(planned.first < remembered_.size() && !planned.lines.empty());
      std::ranges::copy(report.notices, std::back_inserter(remembered_[planned.first].notices));
    }
    return std::move(remembered_);
  }

  [[nodiscard]] bool writes() const { return !planned_.empty(); }

 private:
  /// For one log.
  struct Planned {
    std::size_t first = 0;  // Of remembered_.
    std::vector<std::string> lines = {};
  };

  /// Where a new statement goes without a key, and with one.
  static EntryType type_of(const RememberParams& params) {
    return params.key.empty() ? EntryType::kFact : category_type(params.category);
  }

  /// What would be refused anyway opens no session.
  [[nodiscard]] Result<bool> is_writable(const RememberParams& params) const {
    const EntryType type = type_of(params);
    const std::string line =
        new_line(params, type, store_.ids.entry_id(entry_type_info(type).id_prefix));
    const std::string_view view = line;
    BMAD_TRY(check_lines(store_, type, {&view, 1}, {}));
    return true;
  }

  Result<std::string> session_of(const RememberParams& params) {
    if (!params.session_id.empty()) {
      return params.session_id;
    }
    if (usual_session_.empty()) {
      BMAD_TRY_ASSIGN(UsualSession usual, usual_session(store_, {.session_type = "knowledge"},
                                                        [&] { return is_writable(params); }));
      usual_session_ = std::move(usual.session_id);
    }
    return usual_session_;
  }

  /// The value as it is written: what its key says counts as well.
  [[nodiscard]] std::string readable(const RememberParams& params,
                                     const std::string& session_id) const {
    if (store_.redaction == nullptr) {
      return params.value;
    }
    const std::string line = fmt::format(R"({{"key":{},"content":{}}})", json_quoted(params.key),
                                         json_quoted(params.value));
    JsonParser parser;
    const Result<JsonValue> entry = parser.parse(line);
    RedactionCounts counts;
    const std::optional<std::string> written =
        entry ? store_.redaction->redact_entry(*entry, line, session_id, counts) : std::nullopt;
    const Result<JsonValue> read = written ? parser.parse(*written) : entry;
    return read ? std::string((*read)["content"].string()) : params.value;
  }

  void plan_new(const RememberParams& params, Remembered remembered) {
    const EntryType type = type_of(params);
    remembered.id =
        params.id.empty() ? store_.ids.entry_id(entry_type_info(type).id_prefix) : params.id;
    std::string line = new_line(params, type, remembered.id);
    if (!params.key.empty() && params.review != Review::kCandidate) {
      known_.insert_or_assign({params.category, params.key}, item_of(params, remembered, type));
    }
    add(std::move(remembered), type, std::move(line));
  }

  Status plan_known(const RememberParams& params, Remembered remembered, KnowledgeItem& item) {
    assert(item.category == params.category && item.key == params.key);
    const double trust = params.source.trust.value_or(1);
    if (trust < kLowReliability && item.trust >= kLowReliability) {
      // Beside the entry, not over it: what is trusted must stay the newest version of itself.
      remembered.holds = false;
      remembered.id = store_.ids.entry_id(entry_type_info(item.type).id_prefix);
      std::string line = new_line(params, item.type, remembered.id);
      add(std::move(remembered), item.type, std::move(line));
      return {};
    }
    remembered.id = params.id.empty() ? item.id : params.id;
    remembered.confidence = std::max(item.confidence, params.confidence);
    if (item.value != remembered.value) {
      remembered.previous_value = check_read(store_, item.type) ? item.value : std::string();
    } else if (is_known(params, item, trust)) {
      remembered.session_id = item.session_id;
      remembered_.push_back(std::move(remembered));
      return {};
    }
    BMAD_TRY_ASSIGN(std::string line,
                    next_line(item, params, remembered.confidence, store_.clock.now()));
    item.value = remembered.value;
    item.confidence = remembered.confidence;
    item.trust = trust;
    item.json = line;
    item.session_id = remembered.session_id;
    add(std::move(remembered), item.type, std::move(line));
    return {};
  }

  /// Whether it would say nothing that the item does not say.
  static bool is_known(const RememberParams& params, const KnowledgeItem& item, double trust) {
    const auto is_tagged = [&](const std::string& tag) { return is_among(item.tags, tag); };
    return params.confidence <= item.confidence && trust <= item.trust &&
           (params.agent_id.empty() || params.agent_id == item.agent_id) &&
           std::ranges::all_of(params.tags, is_tagged) && (!params.pinned || item.pinned) &&
           params.extra.empty();
  }

  static KnowledgeItem item_of(const RememberParams& params, const Remembered& remembered,
                               EntryType type) {
    return {.category = params.category,
            .key = params.key,
            .value = remembered.value,
            .agent_id = params.agent_id,
            .confidence = params.confidence,
            .trust = params.source.trust.value_or(1),
            .session_id = remembered.session_id,
            .type = type,
            .id = remembered.id,
            .tags = params.tags,
            .pinned = params.pinned,
            .json = new_line(params, type, remembered.id)};
  }

  void add(Remembered remembered, EntryType type, std::string line) {
    assert(!remembered.id.empty() && !remembered.session_id.empty());
    Planned& planned =
        planned_.try_emplace({remembered.session_id, type}, Planned{remembered_.size()})
            .first->second;
    planned.lines.push_back(std::move(line));
    remembered_.push_back(std::move(remembered));
  }

  Store& store_;
  std::map<std::pair<Category, std::string>, KnowledgeItem> known_;
  std::string usual_session_;
  std::vector<Remembered> remembered_;
  std::map<std::pair<std::string, EntryType>, Planned> planned_;  // By session and type.
};

/// `item`'s line with the members of `preference`, whose text is `line`.
Result<std::string> restated(const KnowledgeItem& item, JsonValue preference, std::string_view line,
                             Timestamp now) {
  BMAD_TRY_ASSIGN(const ParsedJson entry, parse_json(item.json));
  ObjectText object(*entry, item.json);
  const ObjectText members(preference, line);
  object.remove("source");  // The new statement has its own source and review.
  object.remove("review");
  object.set_string("updated_at", format_rfc3339(next_version_time(*entry, now)));
  for (const JsonMember& member : preference.members()) {
    if (member.key != "type") {
      object.set(member.key, std::string(members.raw(member.key)));
    }
  }
  return object.to_line();
}

}  // namespace

Result<std::vector<KnowledgeItem>> known_under_keys(KnownStatements& known,
                                                    const SubjectHashes& subjects) {
  return known.items([&] {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < known.outlines().size(); ++i) {
      const ItemOutline& item = known.outlines()[i];
      if (item.is_reviewed() && subjects.contains({item.category, item.key_hash})) {
        chosen.push_back(i);
      }
    }
    return chosen;
  });
}

Result<std::vector<Remembered>> remember_all(Store& store, std::span<const RememberParams> params) {
  KnownStatements known(store, {});
  SubjectHashes subjects;
  for (const RememberParams& each : params) {
    if (!each.key.empty() && each.review != Review::kCandidate) {
      subjects.emplace(each.category, outline_hash(each.key));
    }
  }
  BMAD_TRY_ASSIGN(std::vector<KnowledgeItem> items, known_under_keys(known, subjects));
  Rememberer rememberer(store, std::move(items));
  for (const RememberParams& each : params) {
    BMAD_TRY(rememberer.plan(each));
  }
  BMAD_TRY_ASSIGN(std::vector<Remembered> remembered, rememberer.write());
  if (rememberer.writes()) {
    renew_knowledge_views(store, known.statement_count());
  }
  assert(remembered.size() == params.size() && "one for each");
  return remembered;
}

Result<std::vector<std::string>> preferences_as_versions(Store& store,
                                                         std::span<const std::string_view> lines) {
  std::vector<std::string> out(lines.begin(), lines.end());
  JsonParser parser;
  /// Without a key where it can't be a version of what is known.
  const auto head_of = [&](std::string_view line) {
    const Result<JsonValue> entry = parser.parse(line);
    const bool is_new = entry && !(*entry)["id"].present();
    const StatementHead head =
        is_new ? statement_head(EntryType::kPreference, *entry) : StatementHead();
    return head.review == Review::kCandidate ? StatementHead() : head;
  };
  SubjectHashes subjects;
  for (const std::string_view line : lines) {
    if (const StatementHead head = head_of(line); !head.key.empty()) {
      subjects.emplace(head.category, outline_hash(head.key));
    }
  }
  if (subjects.empty()) {
    return out;
  }
  KnownStatements known(store, {});
  BMAD_TRY_ASSIGN(std::vector<KnowledgeItem> items, known_under_keys(known, subjects));
  const bool is_agent = store.origins->provenance() != nullptr &&
                        ActingAs::current(store.writes_as) == Origin::kAgent;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const StatementHead head = head_of(lines[i]);
    const auto item = std::ranges::find_if(items, [&](const KnowledgeItem& other) {
      return other.key == head.key && other.category == head.category &&
             other.type == EntryType::kPreference && is_in_force(other.review);
    });
    if (head.key.empty() || item == items.end() ||
        (head.trust < kLowReliability && item->trust >= kLowReliability) ||
        (is_agent && is_authored_here(item->origin))) {  // It stays beside, and waits.
      continue;
    }
    BMAD_TRY_ASSIGN(const JsonValue entry, parser.parse(lines[i]));
    BMAD_TRY_ASSIGN(out[i], restated(*item, entry, lines[i], store.clock.now()));
    item->json = out[i];  // The next one of the same key.
  }
  return out;
}

Knowledge::Knowledge(MemoryManager& memory) : memory_(&memory) {}

Result<Remembered> Knowledge::remember(const RememberParams& params) {
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(*memory_, "remember"));
  if (ActingAs::current(store->writes_as) == Origin::kAgent && params.review == Review::kNone) {
    return remember_for_agent(*store, params);
  }
  BMAD_TRY_ASSIGN(std::vector<Remembered> remembered, remember_all(*store, {&params, 1}));
  return std::move(remembered.front());
}

std::string key_of_value(const Store& store, std::string_view value) {
  constexpr std::size_t kWordsSizeMax = 32;
  constexpr std::size_t kHashSize = 6;
  const std::string text =
      store.redaction == nullptr ? std::string(value) : store.redaction->redact_text(value, "");
  std::string key;
  for (const std::string& word : plain_words(text)) {
    const bool is_name = std::ranges::all_of(
        word, [](char c) { return is_lower(c) || is_digit(c) || !is_ascii(c); });
    if (is_name && !is_stop_word(word) && key.size() + word.size() < kWordsSizeMax) {
      key += word + '_';
    }
  }
  return key + hash_hex(xxh3(text)).substr(0, kHashSize);
}

Result<std::string> Knowledge::key_of(std::string_view value) const {
  BMAD_TRY_ASSIGN(const Store* const store, MemoryInside::enter(*memory_, "remember"));
  return key_of_value(*store, value);
}

}  // namespace bmad_mem
