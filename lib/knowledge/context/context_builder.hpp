// context_builder.hpp - from what is known and found to the text that an agent reads before a task.
//
//   items, hits --sections, no duplicates--> candidates --ceiling, most useful first--> Markdown
//
// Pure, and the same bytes for the same input: no clock, no counts of accesses, nothing of the
// order in which the items come.
//
// What an agent was told in a session, so that it is not told twice:
//
//   sessions/ID/.lock.told      8a1f00c2d94be07733b1c2a09f5e6d41\n
//                               |<- who read --->|<- entry ---->|
//                               8a1f00c2d94be0770000000000000000\n    all before is forgotten
//
// Hooks run at once, so lines are only appended, each write whole. Local to this machine; it may be
// deleted at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "model/statement.hpp"
#include "search/cached_indexes.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// From this confidence on, constraints and architecture are told to every agent: that of those
/// who state something and name none.
inline constexpr double kToldConfidence = kUsualConfidence;

/// Most items of these sections.
inline constexpr std::size_t kConstraintsMax = 5;
inline constexpr std::size_t kStatedRulesMax = 5;
inline constexpr std::size_t kAgentPatternsMax = 5;
inline constexpr std::size_t kPreferencesMax = 5;

/// Why something is left out that nothing said before it.
inline constexpr std::string_view kOverCeiling = "over the ceiling";
inline constexpr std::string_view kToldBefore = "told in this session";

/// "near 5.20 (coverage 0.44, words 2)".
std::string near_text(const Nearness& nearness);

/// Adds `item`, an entry or an item of knowledge, to what is left out.
template <typename Item>
void omit(std::vector<ContextOmission>& omitted, ContextSection section, const Item& item,
          std::string_view why) {
  omitted.push_back(
      {.section = section, .session_id = item.session_id, .id = item.id, .why = std::string(why)});
}

struct ContextRules {
  std::size_t max_tokens = 800;
  std::size_t facts_max = 5;
  std::size_t snippets_max = 6;
  double quote_below_trust = 0.7;
  bool is_foreign = false;            ///< The whole root.
  Timestamp now{};                    ///< What ages count from.
  std::set<std::uint64_t> told = {};  ///< By told_hash(): what the reader knows already.
  /// Who wrote the line of an entry, which the value was parsed from; null: all are accepted.
  std::function<Origin(const Entry&, JsonValue)> origin_of = {};
  /// What belongs to another workspace, or lies outside this one, is left out.
  Workspace workspace;
};

struct ContextInput {
  std::string_view agent_id;  ///< Empty: no section of its own.
  std::string_view task;      ///< Empty: a session begins, or nothing is asked.
  /// What is known, as collect_knowledge() gives it. Dropped and sensitive ones are left out, and
  /// candidates but for those of agents that the task brings up.
  std::span<const KnowledgeItem> items;
  /// Facts and preferences that the task brings up, best first.
  std::span<const Hit> known;
  /// What was said, decided, found and done that the task brings up, best first, with its
  /// neighbours. Sensitive ones are left out, as neighbours too.
  std::span<const Hit> said;
  /// Entries that are pinned, newest first; facts and preferences among them are passed over.
  std::span<const Hit> pinned;
};

/// The context of `input`, never longer than the rules allow as estimate_tokens() counts its whole
/// text.
Context build_context(const ContextInput& input, const ContextRules& rules);

// What a context would say if it were as long as it likes: each section's
// items, best first, nothing twice.

/// Something that may be said.
struct ContextCandidate {
  /// Without text and tokens; and, for what is left out, why.
  ContextItem item;
  /// What stands before the text: a key, or the date of a snippet and who said it.
  std::string label = {};
  /// The same for what is quoted: of the entry's own words nothing.
  std::string quoted_label = {};
  std::string asked = {};  ///< The request that it answers; empty for none.
  std::string text;        ///< As it was stored.
  std::string note = {};   ///< What is said of a text that is a person's, in its words.
  /// What was said before and after it, where it is no whole answer: "after: Bob: …".
  std::vector<std::string> beside = {};
};

struct ContextCandidates {
  std::vector<ContextCandidate> said;  ///< By section, best first.
  std::vector<ContextOmission> omitted;
};

ContextCandidates choose_candidates(const ContextInput& input, const ContextRules& rules);

/// An entry as the log knows it; never 0.
std::uint64_t told_hash(std::string_view session_id, EntryType type, std::string_view id);

/// What `reader` was told; of a log that can't be read nothing.
std::set<std::uint64_t> read_told(const Store& store, const ContextReader& reader);

/// Appends `entries`; without any, the mark that all is forgotten.
Status append_told(const Store& store, const ContextReader& reader,
                   std::span<const std::uint64_t> entries);

/// What a context draws on.
struct ContextSources {
  std::set<std::string, std::less<>> sessions;
  std::set<std::string, std::less<>> user_sessions;  ///< Of the user's own memory.
  std::vector<Hit> known;                            ///< Facts and preferences, best first.
  std::vector<Hit> said;                             ///< All else; repeats come last.
  std::vector<Hit> pinned;                           ///< Newest first.
  ContextGate gate;
  std::vector<ContextOmission> omitted;  ///< What is not near.
  std::uint64_t encrypted_lines = 0;     ///< As Context has it; so is the next.
  bool encoder_was_late = false;
};

/// What counts least is not worth its place in a prompt: nothing that was evicted. Errors: as
/// chosen_indexes().
Result<ChosenIndexes> choose_for_context(const Store& store, const ContextOptions& options);

/// `first`: what choose_for_context() has found just now. Errors: as search_sessions() and
/// load_hits().
Result<ContextSources> search_for_context(const Store& store, const ContextOptions& options,
                                          ChosenIndexes first);

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
  [[nodiscard]] SourceReliability reliability_of(const Entry& entry, JsonValue value) const {
    return source_reliability(
        entry.type, value, rules_.origin_of ? rules_.origin_of(entry, value) : Origin::kAccepted);
  }
  [[nodiscard]] bool may_be_told(const Entry& entry, const Result<JsonValue>& value) const;

  const ContextRules& rules_;
  SaidTexts& said_;
  JsonParser parser_;
};

}  // namespace bmad_mem
