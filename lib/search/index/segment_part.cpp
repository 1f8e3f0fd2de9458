// segment_part.cpp - some sessions of a segment as a part that a search asks.
#include <algorithm>
#include <cassert>
#include <mutex>
#include <utility>

#include "search/segment.hpp"

namespace bmad_mem {

/// What is under a key in the sessions of the part.
Result<std::shared_ptr<const CachedPostings>> SegmentPart::decoded(std::size_t kind,
                                                                   const SegmentKey& key) const {
  BMAD_TRY_ASSIGN(CachedPostings held, in_segment(segment_->decode(kind, key, numbers_)));
  return std::make_shared<const CachedPostings>(std::move(held));
}

void SegmentPart::remember(std::string name, const std::shared_ptr<const CachedPostings>& made) {
  // Six bytes an entry hold the list of a word that half of all entries have, and twice that is
  // kept: 12 MB of a million entries.
  const std::uint64_t size_max =
      std::max<std::uint64_t>(64U << 10U, std::uint64_t{6} * segment_->entries);
  const std::uint64_t size = 128 + name.size() +
                             made->postings.size() * (sizeof(SlotPosting) + sizeof(Impact)) +
                             made->sessions.size() * sizeof(SessionPostings);
  assert(made->sessions.size() <= wanted_.size());
  const std::lock_guard guard(mutex_);
  recent_.add(std::move(name), made, size, size_max);
}

Result<std::shared_ptr<const CachedPostings>> SegmentPart::held(std::size_t kind,
                                                                std::string_view key) {
  std::string name(1, static_cast<char>('0' + kind));
  name += key;
  {
    const std::lock_guard guard(mutex_);
    if (auto found = recent_.find(name)) {
      return *std::move(found);
    }
  }
  BMAD_TRY_ASSIGN(auto made, look_up(kind, key));
  remember(std::move(name), made);
  return made;
}

Result<std::shared_ptr<const CachedPostings>> SegmentPart::look_up(std::size_t kind,
                                                                   std::string_view key) const {
  BMAD_TRY_ASSIGN(const std::optional<SegmentKey> found, in_segment(segment_->find(kind, key)));
  return found ? decoded(kind, *found) : std::make_shared<const CachedPostings>();
}

/// A session of a part.
class PartSession final : public IndexedSession {
 public:
  PartSession(SegmentPart& part, std::uint32_t number)
      : part_(part),
        number_(number),
        session_(part.wanted_[number]),
        known_(part.segment_->sessions[session_]) {}

  [[nodiscard]] const std::string& session_id() const override { return known_.id; }
  [[nodiscard]] bool is_archived() const override { return known_.archived; }
  [[nodiscard]] std::uint32_t evicted_part() const override { return known_.evicted; }
  [[nodiscard]] IndexPart& part() override { return part_; }
  [[nodiscard]] Timestamp newest() const override { return known_.newest; }
  [[nodiscard]] SessionFacts facts() const override {
    SessionFacts facts{.has_user = known_.has_user,
                       .has_assistant = known_.has_assistant,
                       .newest = known_.newest,
                       .oldest = known_.oldest};
    for (const std::uint32_t name : known_.participants) {
      facts.participants.push_back(file().participants[name]);
    }
    return facts;
  }
  [[nodiscard]] Result<SlotTotals> totals() override { return known_.totals; }

  [[nodiscard]] Result<const SessionSums*> sums() override {
    BMAD_TRY(part_.in_segment(file().load_sums()));
    return &file().sums[session_];
  }

  Status load() override { return load_slots(0, known_.count); }
  Status load_slots(std::uint32_t begin, std::uint32_t end) override {
    return part_.in_segment(file().load_slots(known_.begin + begin, known_.begin + end));
  }
  [[nodiscard]] SlotView slots() const override {
    return {.lengths = file().lengths + known_.begin,
            .window_lengths = file().windows + known_.begin,
            .flags = file().flags + known_.begin,
            .reach = file().reach + known_.begin,
            .count = known_.count,
            .length_sum = known_.totals.lengths,
            .window_length_sum = known_.totals.window_lengths};
  }
  Result<SlotView> slots_between(std::uint32_t begin, std::uint32_t end, SlotRoom& room) override {
    BMAD_TRY(part_.in_segment(file().copy_slots(known_.begin + begin, known_.begin + end, room)));
    return SlotView{.lengths = {room.lengths.data(), begin},
                    .window_lengths = {room.window_lengths.data(), begin},
                    .flags = {room.flags.data(), begin},
                    .reach = {room.reach.data(), begin},
                    .count = known_.count,
                    .length_sum = known_.totals.lengths,
                    .window_length_sum = known_.totals.window_lengths};
  }
  Status load_times() override {
    return part_.in_segment(file().load_times(known_.begin, known_.begin + known_.count));
  }
  [[nodiscard]] Timestamp timestamp(Ordinal ordinal) const override {
    assert(ordinal < known_.count);
    Result<std::int64_t> time = file().time(known_.begin + ordinal);
    if (!time) {
      file().note(std::move(time).error());
      return {};
    }
    return Timestamp(std::chrono::milliseconds(*time));
  }
  [[nodiscard]] const OddEntry* odd(Ordinal ordinal) const override {
    if (Status loaded = file().load_odd(); !loaded) {
      file().note(std::move(loaded).error());
      return nullptr;
    }
    const auto found = file().odd.find(known_.begin + ordinal);
    return found == file().odd.end() ? nullptr : &found->second;
  }
  [[nodiscard]] Result<VectorRange> vectors() override {
    return VectorRange{.segment = part_.segment_, .first = known_.begin, .count = known_.count};
  }
  [[nodiscard]] Result<IndexRow> row(Ordinal ordinal) const override {
    BMAD_TRY_ASSIGN(const std::vector<IndexRow> found,
                    part_.in_segment(file().rows(known_.begin + ordinal, 1)));
    assert(found.size() == 1 && "rows() gives as many as are asked for");
    return found.front();
  }
  [[nodiscard]] Result<std::vector<IndexRow>> rows() const override {
    return part_.in_segment(file().rows(known_.begin, known_.count));
  }
  Result<Postings> live_postings(PostingKind kind, std::string_view key) override {
    BMAD_TRY_ASSIGN(const PartPostings all, part_.part_postings(kind, key));
    auto found = std::make_shared<SlotPostings>();
    const auto own = std::ranges::lower_bound(all.sessions, number_, {}, &SessionPostings::session);
    if (own != all.sessions.end() && own->session == number_) {
      found->postings.assign(own->postings.begin(), own->postings.end());
      found->frequency_sum = own->frequency_sum;
      found->window_count = own->window_count;
    }
    return Postings(std::move(found));
  }

  Status for_statements(const UseStatement& use) override {
    BMAD_TRY(part_.in_segment(file().load_statements()));
    std::ranges::for_each(file().statements_of(session_), use);
    return {};
  }

  [[nodiscard]] Result<LoadedLine> line(Ordinal ordinal) const override {
    assert(ordinal < known_.count);
    BMAD_TRY_ASSIGN(const std::uint32_t flags,
                    part_.in_segment(file().flags_of(known_.begin + ordinal)));
    BMAD_TRY_ASSIGN(const IndexRow found, row(ordinal));
    const EntryType type = flag_type(flags);
    BMAD_TRY_ASSIGN(const std::shared_ptr<FileSystem> files,
                    part_.files_of_(known_.id, known_.archived));
    return read_row(*files, known_.id, type, found.row);
  }

 private:
  [[nodiscard]] Segment& file() const { return *part_.segment_; }

  SegmentPart& part_;
  std::uint32_t number_;
  std::uint32_t session_;  // In the segment.
  const SegmentSession& known_;
};

SegmentPart::SegmentPart(std::shared_ptr<Segment> segment, std::span<const std::uint32_t> wanted,
                         FilesOf files_of)
    : segment_(std::move(segment)),
      files_of_(std::move(files_of)),
      wanted_(wanted.begin(), wanted.end()),
      numbers_(segment_->sessions.size(), kNotHere) {
  sessions_.reserve(wanted.size());
  for (std::uint32_t i = 0; i < wanted.size(); ++i) {
    assert(wanted[i] < numbers_.size() && (i == 0 || wanted[i - 1] < wanted[i]));
    numbers_[wanted[i]] = i;
    sessions_.push_back(std::make_unique<PartSession>(*this, i));
  }
}

Result<PartPostings> SegmentPart::part_postings(PostingKind kind, std::string_view key) {
  BMAD_TRY_ASSIGN(const std::shared_ptr<const CachedPostings> held,
                  held(static_cast<std::size_t>(kind), key));
  return PartPostings{.sessions = held->sessions, .owner = held};
}

Result<std::vector<IndexPart::PartEntry>> SegmentPart::part_candidates(std::uint32_t id_hash) {
  // Not kept: nobody asks for an id again soon, and most of these hold nothing.
  BMAD_TRY_ASSIGN(const std::shared_ptr<const CachedPostings> held,
                  look_up(kIdKind, id_key(id_hash)));
  std::vector<PartEntry> found;
  for (const SessionPostings& session : held->sessions) {
    for (const SlotPosting& posting : session.postings) {
      found.push_back({.session = session.session, .ordinal = posting.slot});
    }
  }
  return found;
}

Result<std::span<const StatementRow>> SegmentPart::part_statements(std::uint32_t number) {
  assert(number < wanted_.size());
  BMAD_TRY(in_segment(segment_->load_statements()));
  return segment_->statements_of(wanted_[number]);
}

void SegmentPart::add_participants(Participants& all) const {
  std::vector<bool> speaks(segment_->participants.size());
  for (const std::uint32_t number : wanted_) {
    const SegmentSession& session = segment_->sessions[number];
    all.has_user = all.has_user || session.has_user;
    all.has_assistant = all.has_assistant || session.has_assistant;
    for (const std::uint32_t name : session.participants) {
      speaks[name] = true;
    }
  }
  for (std::size_t i = 0; i < speaks.size(); ++i) {
    if (speaks[i]) {
      all.names.insert(segment_->participants[i]);
    }
  }
}

/// The keys of a part, block by block.
class PartCursor final : public KeyCursor {
 public:
  PartCursor(const SegmentPart& part, std::size_t kind, std::uint64_t block)
      : part_(part), kind_(kind), block_(block) {}

  /// Goes on to the first key from `prefix` on.
  Status begin(std::string_view prefix) {
    BMAD_TRY(read_block());
    at_ = static_cast<std::size_t>(std::ranges::lower_bound(keys_, prefix, {}, &SegmentKey::key) -
                                   keys_.begin());
    return {};
  }

  Result<bool> next() override {
    at_ += is_begun_ ? 1 : 0;
    is_begun_ = true;
    if (at_ >= keys_.size()) {
      BMAD_TRY(read_block());
    }
    held_ = nullptr;
    return !keys_.empty();
  }
  [[nodiscard]] std::string_view key() const override { return keys_[at_].key; }
  Result<std::uint64_t> count() override {
    if (part_.wanted_.size() == part_.numbers_.size()) {
      return keys_[at_].count;
    }
    BMAD_TRY(postings());
    return std::uint64_t{held_->postings.size()};
  }
  Result<std::span<const SessionPostings>> postings() override {
    if (held_ == nullptr) {
      assert(at_ < keys_.size() && "next() said that there is a key");
      BMAD_TRY_ASSIGN(held_, part_.decoded(kind_, keys_[at_]));
    }
    return std::span<const SessionPostings>(held_->sessions);
  }

 private:
  Status read_block() {
    BMAD_TRY_ASSIGN(keys_, part_.in_segment(part_.segment_->keys_of_block(kind_, block_++)));
    at_ = 0;
    return {};
  }

  const SegmentPart& part_;
  std::size_t kind_;
  std::uint64_t block_;
  std::vector<SegmentKey> keys_;
  std::size_t at_ = 0;
  bool is_begun_ = false;
  std::shared_ptr<const CachedPostings> held_;  // Null before somebody asks.
};

Result<std::unique_ptr<KeyCursor>> SegmentPart::keys(PostingKind kind, std::string_view prefix) {
  const auto number = static_cast<std::size_t>(kind);
  BMAD_TRY_ASSIGN(const std::uint64_t block, in_segment(segment_->block_of(number, prefix)));
  auto cursor = std::make_unique<PartCursor>(*this, number, block);
  BMAD_TRY(cursor->begin(prefix));
  return std::unique_ptr<KeyCursor>(std::move(cursor));
}

}  // namespace bmad_mem
