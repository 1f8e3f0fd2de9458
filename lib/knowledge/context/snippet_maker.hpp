// snippet_maker.hpp - from hits to dated snippets, with what was asked or said beside them.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_parser.hpp"
#include "context/context_builder.hpp"
#include "model/statement.hpp"

namespace bmad_mem {

/// What a context says already, so that nothing is said twice.
class SaidTexts {
 public:
  /// An entry: session, type, id.
  using Key = std::tuple<std::string, EntryType, std::string>;

  template <typename Entry>
  static Key key_of(const Entry& entry) {
    return {entry.session_id, entry.type, entry.id};
  }

  /// Takes an entry that says `text`, a comparable_text(). False when either was there already.
  bool add(const Key& key, const std::string& text);
  /// Takes an entry whose text may be said again. False when it was there already.
  bool add_entry(const Key& key) { return entries_.insert(key).second; }
  /// The entries, or sessions, that something said was learned from.
  void add_sources(std::span<const std::string> ids) { sources_.insert(ids.begin(), ids.end()); }

  [[nodiscard]] bool has_entry(const Key& key) const { return entries_.contains(key); }
  /// Whether the entry, which says `text`, adds nothing: it is there, what is known from it is
  /// there, or it is hardly longer than something that is.
  [[nodiscard]] bool covers(const Key& key, std::string_view text) const;

 private:
  std::set<Key> entries_;
  std::set<std::string> texts_;
  std::set<std::string, std::less<>> sources_;
};

class SnippetMaker {
 public:
  /// Both must outlive it. What it makes, it adds to `said`.
  SnippetMaker(const ContextRules& rules, SaidTexts& said) : rules_(rules), said_(said) {}

  /// The snippet of `hit`; nothing when it must not be told, or tells nothing new: then it is among
  /// the omitted. A neighbour that is to be quoted makes all of it data.
  std::optional<ContextCandidate> make(ContextSection section, const Hit& hit, std::string why,
                                       std::vector<ContextOmission>& omitted);

 private:
  bool add_request(const Entry& before, ContextCandidate& candidate);
  bool add_beside(std::string_view where, const Entry& entry, ContextCandidate& candidate);
  [[nodiscard]] bool was_told(const Entry& entry) const;
  [[nodiscard]] EntryTrust trust_of(const Entry& entry, JsonValue value) const {
    return entry_trust(entry.type, value,
                       rules_.origin_of ? rules_.origin_of(entry, value) : Origin::kAccepted);
  }
  [[nodiscard]] bool may_be_told(const Entry& entry, const Result<JsonValue>& value) const;

  const ContextRules& rules_;
  SaidTexts& said_;
  JsonParser parser_;
};

}  // namespace bmad_mem
