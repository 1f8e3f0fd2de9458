// What a segment takes of the index of one session.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "search/segment_writer.hpp"
#include "search/session_index.hpp"
#include "session_index_state.hpp"

namespace bmad_mem {

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

namespace {

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
    return {{.id = index_.session_id(),
             .archived = index_.is_archived(),
             .evicted = index_.evicted_part(),
             .entries = index_.slots().size(),
             .facts = index_.facts()}};
  }
  Result<SlotView> slots(std::uint32_t /*number*/) override { return index_.slots(); }
  Result<std::vector<std::int64_t>> times(std::uint32_t /*number*/) override {
    const SlotView slots = index_.slots();
    std::vector<std::int64_t> times(slots.size());
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
      times[slot] = index_.timestamp(slots.ordinal(slot)).time_since_epoch().count();
    }
    BMAD_TRY(in_session(index_, index_.status()));
    return times;
  }
  Result<std::vector<IndexRow>> rows(std::uint32_t /*number*/) override {
    const SlotView slots = index_.slots();
    BMAD_TRY_ASSIGN(const std::vector<IndexRow> all, in_session(index_, index_.rows()));
    std::vector<IndexRow> rows(slots.size());
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
      rows[slot] = all[slots.ordinal(slot)];
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
  Result<std::vector<StatementRow>> statements(std::uint32_t /*number*/) override {
    return index_.statements();
  }
  Result<std::unique_ptr<KeyCursor>> keys(PostingKind kind) override {
    BMAD_TRY_ASSIGN(KeyedSlots all, in_session(index_, index_.keyed_slots(kind)));
    return std::unique_ptr<KeyCursor>(std::make_unique<SlotsCursor>(std::move(all)));
  }

 private:
  SessionIndex& index_;
};

Result<std::unique_ptr<SegmentSource>> SessionIndex::segment_source() {
  BMAD_TRY(load());
  return std::unique_ptr<SegmentSource>(std::make_unique<IndexSource>(*this));
}

/// Those that a segment knew, and those that came since, log by log.
std::vector<StatementRow> SessionIndex::statements() const {
  std::vector<StatementRow> all = state_->table.statements;
  std::ranges::sort(all, {}, [](const StatementRow& each) {
    return std::tuple(each.outline.type != EntryType::kPreference, each.row.line);
  });
  return all;
}

Status SessionIndex::for_statements(const UseStatement& use) {
  std::ranges::for_each(statements(), use);
  return {};
}

/// All keys of a kind, ascending by bytes.
Result<KeyedSlots> SessionIndex::keyed_slots(PostingKind kind) const {
  KeyedSlots all;
  const auto add = [&](std::string_view key, const std::vector<Posting>& list) {
    const SlotPostings found = to_slots(*state_->slots, list);
    if (!found.postings.empty()) {
      all.keys += key;
      all.postings.insert(all.postings.end(), found.postings.begin(), found.postings.end());
      all.ends.push_back({.keys = all.keys.size(), .postings = all.postings.size()});
    }
  };
  const std::vector<Memtable::KeyedPostings> added = state_->table.memtable.sorted(kind);
  std::vector<Posting> list;
  auto next = added.begin();
  const auto add_next = [&] {
    list.assign(next->postings.begin(), next->postings.end());
    add(next->key, list);
    ++next;
  };
  if (state_->base != nullptr) {
    const std::unique_ptr<SegmentSource> base = state_->base->source();
    BMAD_TRY_ASSIGN(const std::unique_ptr<KeyCursor> keys, base->keys(kind));
    while (true) {
      BMAD_TRY_ASSIGN(const bool more, keys->next());
      if (!more) {
        break;
      }
      while (next != added.end() && next->key < keys->key()) {
        add_next();
      }
      list.clear();
      for (const SlotPosting& posting : keys->postings().front().postings) {
        if (const Ordinal ordinal = state_->ordinal_of(posting.slot); ordinal != kNoOrdinal) {
          list.push_back({.ordinal = ordinal, .frequency = posting.frequency});
        }
      }
      if (next != added.end() && next->key == keys->key()) {
        list.insert(list.end(), next->postings.begin(), next->postings.end());
        ++next;
      }
      add(keys->key(), list);
    }
  }
  while (next != added.end()) {
    add_next();
  }
  return all;
}

}  // namespace bmad_mem
