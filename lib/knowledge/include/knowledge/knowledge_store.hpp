// knowledge_store.hpp - knowledge as the parts of the engine write and read it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/knowledge.hpp"
#include "knowledge/knowledge_item.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// In the order in which their lines are put together.
inline constexpr std::array kKnowledgeTypes = {EntryType::kPreference, EntryType::kFact};

/// As Knowledge::remember(), for each of `params` in order; all of one session and type share one
/// write. Writes the views once. Errors: as remember(); what was written before stays.
Result<std::vector<Remembered>> remember_all(Store& store, std::span<const RememberParams> params);

/// The same of what an agent states: a candidate, the same one however often it is stated, unless a
/// hook has recorded a message of the person that has the very words.
Result<Remembered> remember_for_agent(Store& store, RememberParams params);

/// `lines`, new preferences, as they are to be written: one without an id under a key that is known
/// becomes a version of the preference there, and keeps what it does not name. What somebody of low
/// trust says stays beside. Lines that are no preferences stay as they are.
Result<std::vector<std::string>> preferences_as_versions(Store& store,
                                                         std::span<const std::string_view> lines);

/// All that is known in `sessions` (all when empty; archived ones too), sorted by
/// category, key and id; candidates and dropped ones too. Neither scores nor accesses are filled
/// in. Reads all preferences and facts: KnownStatements has those that somebody wants.
Result<std::vector<KnowledgeItem>> all_knowledge(const Store& store,
                                                 std::span<const std::string> sessions,
                                                 std::optional<Timestamp> as_of = {});

/// Characters (code points) of an error that are kept: enough to know it again by.
inline constexpr std::size_t kErrorCharactersMax = 200;

/// What is to be remembered since `agent` has come to `output`, in the order of `rules`, those of a
/// config, whose patterns are in the syntax of RE2: time linear in the text, whatever the pattern.
/// Errors: E_SCHEMA_INVALID for a pattern that doesn't compile, a category that there is not, or an
/// empty value, with the field: "memory_config.knowledge.learn_rules[2].match".
Result<std::vector<RememberParams>> lessons_of_rules(std::span<const LearnRule> rules,
                                                     std::string_view agent,
                                                     std::string_view output);

/// What is to be remembered since `agent` has failed at `task`: an error_solution under the key
/// "AGENT: TASK" with "Failed with: " and the first kErrorCharactersMax characters of `error` on
/// one line. What is secret in `error` must be gone already: its front would not be known again.
RememberParams failure_lesson(std::string_view agent, std::string_view task,
                              std::string_view error);

/// Drops items of types that may not be read. Errors: E_ACCESS_DENIED when none may.
Status drop_unreadable_items(const Store& store, std::vector<KnowledgeItem>& items);

/// As Knowledge::key_of().
std::string key_of_value(const Store& store, std::string_view value);

/// The id of a candidate that `text` tells from all others: "fact-c" and 12 characters.
std::string candidate_id(std::string_view text);

/// Candidates that user messages of live `sessions` (all when empty) give and that are not stored:
/// as if they were, `json` included. Sorted as all_knowledge(). Nothing where the config says not
/// to look, or messages may not be read. Reads all messages.
Result<std::vector<KnowledgeItem>> found_candidates(const Store& store,
                                                    std::span<const std::string> sessions);

struct NewCandidates {
  std::vector<KnowledgeItem> items = {};
  std::uint64_t looked_to = 0;  ///< Where the next look begins, in the log of messages.
};

/// The same of the messages of one live session from byte `looked_to` on; of all where the log has
/// been rewritten meanwhile. What the message `typed` states is no candidate but Review::kStated,
/// unless it may be a paste.
Result<NewCandidates> found_new_candidates(const Store& store, const std::string& session_id,
                                           std::uint64_t looked_to, std::string_view typed);

/// Writes shared/user-preferences.json and shared/agent-knowledge.json.
Status write_knowledge_views(const Store& store);
/// After a change of knowledge, of which there were `statements` before: writes the views where
/// that is cheap, else removes them until write_missing_views(). What fails here fails nothing.
void renew_knowledge_views(const Store& store, std::size_t statements);
/// Writes the views that are not there though they were written before. For those who have time.
/// What fails here fails nothing.
void write_missing_views(const Store& store);
/// Removes the views, durably: for those who take something out of the logs, before and after,
/// since somebody may write them meanwhile.
Status drop_knowledge_views(const Store& store);

/// Drops the views at its beginning, and at its end under the root's lock, so that nobody writes
/// what was read before. Its owner holds neither that lock nor a session's at its end.
class ViewsDropped {
 public:
  explicit ViewsDropped(const Store& store, bool wanted = true);
  ~ViewsDropped();
  ViewsDropped(const ViewsDropped&) = delete;
  ViewsDropped& operator=(const ViewsDropped&) = delete;

  /// Whether they went at the beginning.
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  const Store* store_;
  Status status_;
};

}  // namespace bmad_mem
