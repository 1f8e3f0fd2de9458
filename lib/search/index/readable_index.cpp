// readable_index.cpp - writes the index of a session as JSON for people.
#include <algorithm>
#include <array>
#include <cassert>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "search/indexing.hpp"
#include "search/memtable.hpp"

namespace bmad_mem {
namespace {

constexpr int kReadableIndexVersion = 3;  // 2 was searched, 1 is the specification's.

/// The ids of the entries of a session, in the order of its logs.
class TableIds {
 public:
  TableIds(SlotView slots, std::span<const IndexRow> rows)
      : by_line_(rows.size()), places_(rows.size()) {
    assert(rows.size() == slots.size() && "a row for each slot");
    for (std::uint32_t slot = 0; slot < rows.size(); ++slot) {
      by_line_[slot] = {.type = flag_type(slots.flags[slot]), .slot = slot};
    }
    std::ranges::sort(by_line_, {}, [&](const Place& place) {
      return std::pair(place.type, rows[place.slot].row.line);
    });
    for (std::uint32_t at = 0; at < by_line_.size(); ++at) {
      places_[by_line_[at].slot] = at;
    }
  }

  /// Errors: as IndexedSession::line().
  Status read(const IndexedSession& session) {
    for (const Place& place : by_line_) {
      BMAD_TRY_ASSIGN(
          const std::string id,
          in_session(session, session.id(place.type, session.slots().ordinal(place.slot))));
      quoted_.push_back(json_quoted(id));
    }
    return {};
  }

  /// How many there are of each type that has some, as members of an object.
  [[nodiscard]] std::string counts() const {
    std::string members;
    for (const EntryType type : kEntryTypes) {
      if (const auto count = std::ranges::count(by_line_, type, &Place::type); count > 0) {
        members +=
            fmt::format("{}\"{}\": {}", members.empty() ? "" : ", ", entry_type_name(type), count);
      }
    }
    return members;
  }

  void tell(std::span<const SlotPosting> postings, std::string& out) {
    assert(quoted_.size() == by_line_.size() && "read() comes first");
    found_.clear();
    for (const SlotPosting& posting : postings) {
      found_.push_back(places_[posting.slot]);
    }
    std::ranges::sort(found_);
    for (std::size_t i = 0; i < found_.size(); ++i) {
      out += i == 0 ? "" : ", ";
      out += quoted_[found_[i]];
    }
  }

 private:
  struct Place {
    EntryType type = EntryType::kConversation;
    std::uint32_t slot = 0;
  };

  std::vector<Place> by_line_;
  std::vector<std::uint32_t> places_;  // In by_line_, by slot.
  std::vector<std::string> quoted_;    // As by_line_.
  std::vector<std::uint32_t> found_;   // Scratch.
};

/// A list of ids for each key of a kind that begins with a prefix; of words, for those without one.
class KeyTable {
 public:
  KeyTable(std::string_view name, std::string_view prefix)
      : prefix_(prefix), text_(fmt::format(",\n  \"{}\": {{", name)), begin_(text_.size()) {}

  [[nodiscard]] bool takes(std::string_view key) const {
    return prefix_.empty() ? true : key.starts_with(prefix_);
  }
  void add(std::string_view key, std::span<const SlotPosting> postings, TableIds& ids) {
    assert(takes(key));
    text_ += "\n    ";
    append_json_quoted(text_, key.substr(prefix_.size()));
    text_ += ": [";
    ids.tell(postings, text_);
    text_ += "],";
    ++count_;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::string finished() && {
    if (text_.size() > begin_) {
      text_.back() = '\n';  // The last comma.
      text_ += "  ";
    }
    text_ += '}';
    return std::move(text_);
  }

 private:
  std::string_view prefix_;
  std::string text_;
  std::size_t begin_;
  std::uint64_t count_ = 0;
};

/// Words never hold an upper-case letter; see memtable.hpp.
bool is_word(std::string_view key) {
  return std::ranges::none_of(std::array{kAgentPrefix, kTagPrefix, kReferencePrefix,
                                         kStatementPrefix, kFieldPrefix, kMarkPrefix},
                              [&](std::string_view prefix) { return key.starts_with(prefix); });
}

}  // namespace

Result<ReadableIndex> make_readable_index(SessionIndex& session, const Clock& clock,
                                          std::string_view language) {
  BMAD_TRY(session.load());
  BMAD_TRY_ASSIGN(const std::vector<IndexRow> rows, in_session(session, session.rows()));
  TableIds ids(session.slots(), rows);
  BMAD_TRY(ids.read(session));
  KeyTable words("inverted_index", {});
  KeyTable topics("topic_index", {});
  KeyTable hours("temporal_index", {});
  KeyTable tags("tag_index", kTagPrefix);
  KeyTable agents("agent_index", kAgentPrefix);
  for (const auto kind : {PostingKind::kTerm, PostingKind::kTopic, PostingKind::kHour}) {
    BMAD_TRY_ASSIGN(const std::unique_ptr<KeyCursor> keys, session.keys(kind, {}));
    while (true) {
      BMAD_TRY_ASSIGN(const bool more, keys->next());
      if (!more) {
        break;
      }
      KeyTable* table = kind == PostingKind::kTopic  ? &topics
                        : kind == PostingKind::kHour ? &hours
                        : tags.takes(keys->key())    ? &tags
                        : agents.takes(keys->key())  ? &agents
                        : is_word(keys->key())       ? &words
                                                     : nullptr;
      BMAD_TRY_ASSIGN(const auto found, keys->postings());
      if (table != nullptr && !found.empty()) {
        table->add(keys->key(), found.front().postings, ids);
      }
    }
  }
  ReadableIndex made{.entries = rows.size(), .terms = words.count()};
  made.text = fmt::format(
      "{{\n  \"version\": {},\n  \"session_id\": {},\n  \"generated_at\": \"{}\",\n"
      "  \"language\": {},\n  \"entries\": {},\n  \"counts\": {{{}}}",
      kReadableIndexVersion, json_quoted(session.session_id()), format_rfc3339(clock.now()),
      json_quoted(language), made.entries, ids.counts());
  for (KeyTable* const table : {&words, &topics, &hours, &tags, &agents}) {
    made.text += std::move(*table).finished();
  }
  made.text += "\n}\n";
  return made;
}

}  // namespace bmad_mem
