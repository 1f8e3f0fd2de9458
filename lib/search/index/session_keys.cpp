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
  MergedCursor(const SessionIndex::State& state, std::unique_ptr<KeyCursor> base,
               std::vector<Memtable::KeyedPostings> added)
      : state_(state), base_(std::move(base)), added_(std::move(added)) {}

  Result<bool> next() override {
    if (base_ != nullptr && is_of_base_) {
      BMAD_TRY_ASSIGN(const bool more, base_->next());
      base_ = more ? std::move(base_) : nullptr;
    }
    next_ += is_added_ ? 1 : 0;
    const bool has_added = next_ < added_.size();
    is_of_base_ = base_ != nullptr && (!has_added || base_->key() <= added_[next_].key);
    is_added_ = has_added && (base_ == nullptr || added_[next_].key <= base_->key());
    is_read_ = false;
    return is_of_base_ || is_added_;
  }
  [[nodiscard]] std::string_view key() const override {
    return is_added_ ? added_[next_].key : base_->key();
  }
  Result<std::uint64_t> count() override {
    if (!state_.slots->slots.empty() || state_.moved) {  // Some may have gone.
      BMAD_TRY(postings());
      return std::uint64_t{live_.postings.size()};
    }
    BMAD_TRY_ASSIGN(const std::uint64_t known,
                    is_of_base_ ? base_->count() : Result<std::uint64_t>(std::uint64_t{0}));
    return known + (is_added_ ? added_[next_].postings.size() : 0);
  }
  Result<std::span<const SessionPostings>> postings() override {
    if (!is_read_) {
      list_.clear();
      if (is_of_base_) {
        BMAD_TRY_ASSIGN(const auto known, base_->postings());
        state_.add_told(known, list_);
      }
      if (is_added_) {
        const std::span<const Posting> added = added_[next_].postings;
        list_.insert(list_.end(), added.begin(), added.end());
      }
      live_ = to_slots(*state_.slots, list_);
      postings_ = {.postings = live_.postings,
                   .frequency_sum = live_.frequency_sum,
                   .window_count = live_.window_count};
      is_read_ = true;
    }
    return std::span(&postings_, live_.postings.empty() ? 0 : 1);
  }

 private:
  const SessionIndex::State& state_;
  std::unique_ptr<KeyCursor> base_;  // Null behind its last key.
  std::vector<Memtable::KeyedPostings> added_;
  std::size_t next_ = 0;    // Of these.
  bool is_of_base_ = true;  // The key at hand; so for the next.
  bool is_added_ = false;
  bool is_read_ = false;
  std::vector<Posting> list_;  // What is under it; so for the next.
  SlotPostings live_;
  SessionPostings postings_;
};

Result<std::unique_ptr<KeyCursor>> SessionIndex::keys(PostingKind kind, std::string_view prefix) {
  BMAD_TRY(load());
  std::unique_ptr<KeyCursor> base;
  if (state_->base != nullptr) {
    BMAD_TRY_ASSIGN(base, state_->base->keys(kind, prefix));
  }
  return std::unique_ptr<KeyCursor>(std::make_unique<MergedCursor>(
      *state_, std::move(base), state_->table.memtable.sorted(kind, prefix)));
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
