// What a segment takes of the index of one session.
#include <algorithm>
#include <utility>

#include "checkpoint_format.hpp"
#include "checkpoint_text.hpp"
#include "index/segment_writer.hpp"
#include "index/session_index.hpp"
#include "session_index_state.hpp"

namespace bmad_mem {
namespace {

/// Keys and their live entries, all in memory.
struct KeyedSlots {
  std::string keys;
  std::vector<SlotPosting> postings;
  struct Ends {
    std::size_t keys = 0;
    std::size_t postings = 0;
  };
  std::vector<Ends> ends;
};

class SlotsCursor final : public KeyCursor {
 public:
  explicit SlotsCursor(KeyedSlots all) : all_(std::move(all)) {}

  Result<bool> next() override {
    if (at_ == all_.ends.size()) {
      return false;
    }
    const KeyedSlots::Ends begin = at_ == 0 ? KeyedSlots::Ends{} : all_.ends[at_ - 1];
    const KeyedSlots::Ends end = all_.ends[at_++];
    key_ = std::string_view(all_.keys).substr(begin.keys, end.keys - begin.keys);
    postings_.postings =
        std::span(all_.postings).subspan(begin.postings, end.postings - begin.postings);
    return true;
  }
  [[nodiscard]] std::string_view key() const override { return key_; }
  [[nodiscard]] std::span<const SessionPostings> postings() const override {
    return {&postings_, 1};
  }

 private:
  KeyedSlots all_;
  std::size_t at_ = 0;
  std::string_view key_;
  SessionPostings postings_;
};

}  // namespace

/// Holds nothing but the index, which must stay as it is.
class IndexSource final : public SegmentSource {
 public:
  explicit IndexSource(SessionIndex& index) : index_(index) {}

  [[nodiscard]] std::vector<SegmentSessionInfo> sessions() const override {
    const SessionFacts& facts = index_.facts();
    return {{.id = index_.session_id(),
             .archived = index_.is_archived(),
             .entries = index_.slots().size(),
             .newest = facts.newest,
             .participants = facts.participants,
             .has_user = facts.has_user,
             .has_assistant = facts.has_assistant}};
  }
  Result<SlotView> slots(std::uint32_t /*number*/) override { return index_.slots(); }
  Result<std::vector<std::int64_t>> times(std::uint32_t /*number*/) override {
    const SlotView slots = index_.slots();
    std::vector<std::int64_t> times(slots.size());
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
      times[slot] = index_.timestamp(slots.ordinal(slot)).time_since_epoch().count();
    }
    return times;
  }
  Result<std::vector<SegmentRow>> rows(std::uint32_t /*number*/) override {
    const SlotView slots = index_.slots();
    BMAD_TRY_ASSIGN(const std::vector<std::uint32_t> hashes,
                    in_session(index_, index_.id_hashes()));
    std::vector<SegmentRow> rows(slots.size());
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
      const Ordinal ordinal = slots.ordinal(slot);
      BMAD_TRY_ASSIGN(rows[slot].row, in_session(index_, index_.row(ordinal)));
      rows[slot].id_hash = hashes[ordinal];
    }
    return rows;
  }
  Result<std::vector<std::pair<std::uint32_t, OddEntry>>> odd(std::uint32_t /*number*/) override {
    const SlotView slots = index_.slots();
    std::vector<std::pair<std::uint32_t, OddEntry>> found;
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
      const OddEntry* entry =
          (slots.flags[slot] & kFlagOdd) != 0 ? index_.odd(slots.ordinal(slot)) : nullptr;
      if (entry != nullptr) {
        found.emplace_back(slot, *entry);
      }
    }
    return found;
  }
  Result<std::unique_ptr<KeyCursor>> keys(PostingKind kind) override {
    BMAD_TRY_ASSIGN(const std::vector<std::string> names,
                    in_session(index_, index_.key_names(kind)));
    KeyedSlots all;
    for (const std::string& name : names) {
      BMAD_TRY_ASSIGN(const SlotPostings found,
                      in_session(index_, index_.slot_postings(kind, name)));
      if (!found.postings.empty()) {
        all.keys += name;
        all.postings.insert(all.postings.end(), found.postings.begin(), found.postings.end());
        all.ends.push_back({.keys = all.keys.size(), .postings = all.postings.size()});
      }
    }
    return std::unique_ptr<KeyCursor>(std::make_unique<SlotsCursor>(std::move(all)));
  }

 private:
  SessionIndex& index_;
};

Result<std::unique_ptr<SegmentSource>> SessionIndex::segment_source() {
  BMAD_TRY(load());
  return std::unique_ptr<SegmentSource>(std::make_unique<IndexSource>(*this));
}

/// Without order of the file: ascending by bytes.
Result<std::vector<std::string>> SessionIndex::key_names(PostingKind kind) const {
  std::vector<std::string> names;
  for (const Memtable::KeyedPostings& each : state_->table.memtable.sorted(kind)) {
    names.emplace_back(each.key);
  }
  if (state_->checkpoint != nullptr) {
    BMAD_TRY(state_->checkpoint->keys(kind, {}, [&](std::string_view key, std::string_view) {
      names.emplace_back(key);
      return true;
    }));
  }
  std::ranges::sort(names);
  const auto same = std::ranges::unique(names);
  names.erase(same.begin(), same.end());
  return names;
}

Result<SlotPostings> SessionIndex::slot_postings(PostingKind kind, std::string_view key) const {
  BMAD_TRY_ASSIGN(const std::vector<Posting> list, postings(kind, key));
  return to_slots(*state_->slots, list);
}

}  // namespace bmad_mem
