// said_texts.hpp - what a context says already, so that nothing is said twice.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "bmad_mem/entry_type.hpp"

namespace bmad_mem {

/// `text` as it is compared with others: its words in lower case, with one blank between.
std::string comparable_text(std::string_view text);

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

}  // namespace bmad_mem
