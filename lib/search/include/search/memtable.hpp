// memtable.hpp - the in-memory index of entries that no segment covers: three kinds of keys to
// posting lists.
//
//   kTerm   "postgr", "AGENT:analyst", "TAG:database",
//           "REF:x4Gh_", "FIELD:status=open"             inverted index
//   kTopic  "database_selection"                         topic index
//   kHour   "2026-01-11T10"                              temporal index, UTC
//
// Terms of text never hold an upper-case ASCII letter (see analyzer.hpp), so filter terms can't be
// mistaken for them. Threads: build from one, then read from any; add_text() may be called on
// another thread than add_key() and add_hour(), at the same time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "search/analyzer.hpp"
#include "search/entry_columns.hpp"

namespace bmad_mem {

enum class PostingKind : std::uint8_t { kTerm, kTopic, kHour };
inline constexpr std::size_t kPostingKindCount = 3;

/// What a filter term starts with.
inline constexpr std::string_view kAgentPrefix = "AGENT:";
inline constexpr std::string_view kTagPrefix = "TAG:";
inline constexpr std::string_view kReferencePrefix = "REF:";
inline constexpr std::string_view kWorkspacePrefix = "IN:";        ///< See entry_workspace().
inline constexpr std::string_view kWorkspaceNamePrefix = "INTO:";  ///< The last part of its path.
inline constexpr std::string_view kStatementPrefix = "KNOW:";
inline constexpr std::string_view kFieldPrefix = "FIELD:";  ///< See field_filter.hpp.
/// "IS:" and the name of a type, except of messages, which are most entries; or one of the marks.
inline constexpr std::string_view kMarkPrefix = "IS:";
inline constexpr std::string_view kPinnedMark = "pinned";
inline constexpr std::string_view kExpiresMark = "expires";  ///< It has an expires_at.
inline constexpr std::string_view kPlacedMark = "placed";    ///< It names its workspace itself.

/// "REF:" and a hash of `id`: what entries stand under that name entry `id`. Ids are long and each
/// is seldom named, so their hashes do; who looks here compares the ids themselves.
std::string reference_key(std::string_view id);

/// "KNOW:" and a hash of StatementHead::subject(): what statements about the same stand under.
std::string statement_key(std::string_view subject);

class FrozenPostings;

class Memtable {
 public:
  Memtable();
  ~Memtable();

  /// Indexes the text of entry `ordinal`, which is not below any added before. Returns its length
  /// in terms; stop words and wholes don't count.
  std::uint32_t add_text(Analyzer& analyzer, std::string_view text, Ordinal ordinal);

  /// Puts entry `ordinal` under `prefix` and `key`, which may be empty: then it does nothing. Of
  /// kTerm, the two together are no term that a text can have.
  void add_key(PostingKind kind, std::string_view prefix, std::string_view key, Ordinal ordinal);
  void add_hour(Timestamp time, Ordinal ordinal);

  /// Makes what was added there to be read. Takes about 5 ns an occurrence of all that was ever
  /// added.
  void arrange();

  /// Forgets what only further additions need, and packs the rest. Nothing may be added any more;
  /// what postings() and sorted() gave before is gone.
  void freeze();

  /// Ascending by ordinal; empty for an unknown key. Of what was arranged; valid until the next
  /// addition.
  [[nodiscard]] std::span<const Posting> postings(PostingKind kind, std::string_view key) const;

  /// A key and its postings.
  struct KeyedPostings {
    std::string_view key;
    std::span<const Posting> postings;
  };
  /// All of a kind whose keys start with `prefix`, ascending by the bytes of their keys. Valid
  /// until the next addition.
  [[nodiscard]] std::vector<KeyedPostings> sorted(PostingKind kind,
                                                  std::string_view prefix = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;  // Null once it is frozen.
  std::unique_ptr<const FrozenPostings> frozen_;
};

/// "2026-01-11T10": the key of the hour that holds `time`.
std::string hour_key(Timestamp time);

}  // namespace bmad_mem
