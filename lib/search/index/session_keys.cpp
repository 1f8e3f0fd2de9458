// What a segment takes of the index of one session: its keys and statements, those that a segment
// knew and those that came since.
#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "search/session_index.hpp"
#include "session_index_state.hpp"

namespace bmad_mem {

/// The keys of the base merged with those of the table.
class MergedCursor final : public KeyCursor {
 public:
  /// `base` is null without one. `state` is loaded, and stays as it is.
  MergedCursor(const SessionIndex::State& state, std::unique_ptr<KeyCursor> base, PostingKind kind)
      : state_(state), base_(std::move(base)), added_(state.table.memtable.sorted(kind)) {}

  Result<bool> next() override {
    do {
      if (base_ != nullptr && is_of_base_) {
        BMAD_TRY_ASSIGN(const bool more, base_->next());
        base_ = more ? std::move(base_) : nullptr;
      }
      const auto* const added = next_ < added_.size() ? &added_[next_] : nullptr;
      if (base_ == nullptr && added == nullptr) {
        return false;
      }
      is_of_base_ = base_ != nullptr && (added == nullptr || base_->key() <= added->key);
      key_ = is_of_base_ ? base_->key() : added->key;
      list_.clear();
      if (is_of_base_) {
        state_.add_told(base_->postings(), list_);
      }
      if (added != nullptr && added->key == key_) {
        list_.insert(list_.end(), added->postings.begin(), added->postings.end());
        ++next_;
      }
      live_ = to_slots(*state_.slots, list_);
    } while (live_.postings.empty());
    postings_ = {.postings = live_.postings,
                 .frequency_sum = live_.frequency_sum,
                 .window_count = live_.window_count};
    return true;
  }
  [[nodiscard]] std::string_view key() const override { return key_; }
  [[nodiscard]] std::span<const SessionPostings> postings() const override {
    return {&postings_, 1};
  }

 private:
  const SessionIndex::State& state_;
  std::unique_ptr<KeyCursor> base_;  // Null behind its last key.
  std::vector<Memtable::KeyedPostings> added_;
  std::size_t next_ = 0;  // Of these.
  bool is_of_base_ = true;
  std::string_view key_;
  std::vector<Posting> list_;  // What is under it; so for the next.
  SlotPostings live_;
  SessionPostings postings_;
};

Result<std::unique_ptr<KeyCursor>> SessionIndex::keys(PostingKind kind) {
  std::unique_ptr<KeyCursor> base;
  if (state_->base != nullptr) {
    BMAD_TRY_ASSIGN(base, state_->base->keys(kind));
  }
  return std::unique_ptr<KeyCursor>(std::make_unique<MergedCursor>(*state_, std::move(base), kind));
}

Status SessionIndex::for_statements(const UseStatement& use) {
  std::vector<StatementRow> all = state_->table.statements;
  std::ranges::sort(all, {}, [](const StatementRow& each) {
    return std::tuple(each.outline.type != EntryType::kPreference, each.row.line);
  });
  std::ranges::for_each(all, use);
  return {};
}

}  // namespace bmad_mem
