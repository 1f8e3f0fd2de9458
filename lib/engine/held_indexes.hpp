// held_indexes.hpp - the indexes of the sessions that a question is asked of: refreshed, held
// still, and made anew where one turns out not to hold.
#pragma once

#include <map>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/session_index.hpp"
#include "packed_session.hpp"
#include "store.hpp"

namespace bmad_mem {

/// A checkpoint from the last one and the tail or, where the config says so, from the logs alone.
Result<std::optional<CheckpointReport>> write_new_checkpoint(const IndexingConfig& config,
                                                             SessionIndex& index);

/// The indexes of some sessions, as fresh as their logs, held still.
class HeldIndexes {
 public:
  HeldIndexes(const Store& store, std::vector<std::shared_ptr<SessionIndex>> indexes);

  /// Runs `work` on the held indexes; when one of them turns out not to hold, it is made anew and
  /// the work is done again: first from its checkpoint, then from the logs alone. Each index has
  /// its own tries, since many may be damaged at once.
  template <typename Work>
  auto run(const Work& work) -> decltype(work()) {
    constexpr int kTries = 4;
    std::map<const SessionIndex*, int> tries;
    while (true) {
      BMAD_TRY(hold());
      auto result = work();
      if (result || !is_about_an_index(result.error())) {
        return result;
      }
      SessionIndex& doubtful = named(result.error().field);
      const int done = ++tries[&doubtful];
      if (done == kTries) {
        return result;
      }
      locks_.clear();
      if (done == 1) {
        doubtful.forget();
      } else {
        BMAD_TRY(doubtful.rebuild());
      }
    }
  }

  [[nodiscard]] std::span<SessionIndex* const> sessions() const { return sessions_; }

  /// Writes the checkpoints that the next process would miss. What goes wrong (a full disk, a store
  /// that may only be read) is no concern of the one who asked: the logs are the truth.
  void write_checkpoints();

 private:
  Status hold();
  static bool is_about_an_index(const Error& error);
  SessionIndex& named(std::string_view session_id);

  const Store& store_;
  std::vector<std::shared_ptr<SessionIndex>> owned_;
  std::vector<SessionIndex*> sessions_;
  std::vector<std::shared_lock<std::shared_mutex>> locks_;
};

struct ChosenIndexes {
  std::vector<std::shared_ptr<SessionIndex>> indexes;
  std::vector<std::string> live;  ///< Of those, the sessions that are folders.
};

/// The indexes of the sessions that `filter` names, each once; of all when it names none. Archived
/// ones are among them as far as they were kept, or as a whole with EntryFilter::archived.
Result<ChosenIndexes> chosen_indexes(const Store& store, const EntryFilter& filter);

/// What `work` makes of the indexes of the sessions that `filter` names; afterwards the checkpoints
/// that were missing are written.
template <typename Work>
auto with_indexes(const Store& store, const EntryFilter& filter, const Work& work)
    -> decltype(work(std::declval<HeldIndexes&>())) {
  const auto ask = [&]() -> decltype(work(std::declval<HeldIndexes&>())) {
    BMAD_TRY_ASSIGN(ChosenIndexes chosen, chosen_indexes(store, filter));
    HeldIndexes indexes(store, std::move(chosen.indexes));
    auto result = indexes.run([&] { return work(indexes); });
    if (result) {
      for (const std::string& session_id : chosen.live) {
        BMAD_TRY(check_still_there(store, session_id));
      }
      indexes.write_checkpoints();
    }
    return result;
  };
  return choose_steadily(ask);
}

}  // namespace bmad_mem
