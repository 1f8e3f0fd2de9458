// memtable.cpp - notes keys entry by entry, and arranges them as posting lists in memory.
#include "search/memtable.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <ranges>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "string_table.hpp"

namespace bmad_mem {

/// Keys to posting lists, gathered entry by entry.
///
///   noted     entry 0: 5 2 5   entry 1: 2 7 ...       numbers of keys as they come
///   arranged  | 2: 0 1 | 5: 0 (twice) | 7: 1 |        all lists in one array
///
/// To note an occurrence is one store at the end of an array, and lists are laid out at once when
/// all their sizes are known: a vector that grows by itself for each of 30,000 keys took twice the
/// time. Threads: one.
class PostingTable {
 public:
  std::uint32_t number(std::string_view key) { return keys_.add(key); }

  /// What is noted from now on is about entry `ordinal`.
  void begin(Ordinal ordinal) {
    assert(entries_.empty() || entries_.back().ordinal <= ordinal);
    if (entries_.empty() || entries_.back().ordinal != ordinal) {
      entries_.push_back({.ordinal = ordinal, .begin = noted_.size()});
    }
  }
  void note(std::uint32_t number) { noted_.push_back(number); }

  /// Room for `count_max` numbers to be noted, which end_notes() takes from its front.
  std::uint32_t* begin_notes(std::size_t count_max) {
    noted_.resize(noted_.size() + count_max);
    return noted_.data() + noted_.size() - count_max;
  }
  void end_notes(const std::uint32_t* end) {
    assert(end >= noted_.data() && end <= noted_.data() + noted_.size());
    noted_.resize(static_cast<std::size_t>(end - noted_.data()));
  }

  /// Lays out the lists of what was noted. All are laid out again, 5 ns an occurrence.
  void arrange();

  /// Ascending by ordinal; empty for an unknown key. Of what was arranged; so for the next.
  [[nodiscard]] std::span<const Posting> postings(std::string_view key) const {
    const std::uint32_t number = keys_.find(key);
    return number == StringTable::kNone ? std::span<const Posting>() : list(number);
  }

  /// The keys that start with `prefix`, ascending by their bytes.
  [[nodiscard]] std::vector<Memtable::KeyedPostings> sorted(std::string_view prefix) const;

 private:
  struct Entry {
    Ordinal ordinal = 0;
    std::size_t begin = 0;  // Of what is noted about it.
  };
  struct List {
    std::size_t begin = 0;  // In postings_; so for the next.
    std::size_t end = 0;
  };

  void add(List& list, Ordinal ordinal) {
    if (list.end > list.begin && postings_[list.end - 1].ordinal == ordinal) {
      ++postings_[list.end - 1].frequency;
    } else {
      postings_[list.end++] = {.ordinal = ordinal, .frequency = 1};
    }
  }
  [[nodiscard]] std::span<const Posting> list(std::uint32_t number) const {
    assert(arranged_ == noted_.size());
    const List& list = lists_[number];
    return std::span(postings_).subspan(list.begin, list.end - list.begin);
  }

  StringTable keys_;
  std::vector<std::uint32_t> noted_;
  std::vector<Entry> entries_;
  std::vector<List> lists_;  // By key number.
  std::vector<Posting> postings_;
  std::size_t arranged_ = 0;  // How much of noted_ the lists tell.
};

/// What was gathered, once nothing is added any more: sorted keys, one behind the other. Where a
/// table that grows has taken 4 KB of a session of ten entries, this takes 1.
class FrozenPostings {
 public:
  /// `kinds`: all keys of each kind, ascending.
  explicit FrozenPostings(
      const std::array<std::vector<Memtable::KeyedPostings>, kPostingKindCount>& kinds);

  /// As PostingTable's.
  [[nodiscard]] std::span<const Posting> postings(PostingKind kind, std::string_view key) const;
  [[nodiscard]] std::vector<Memtable::KeyedPostings> sorted(PostingKind kind,
                                                            std::string_view prefix) const;

 private:
  struct Key {
    std::uint32_t text_end = 0;  // In text_; it begins where the one before ends. So for the next.
    std::uint32_t postings_end = 0;
  };

  [[nodiscard]] Memtable::KeyedPostings at(std::uint32_t number) const;
  /// The number of the first key of `kind` that isn't below `key`.
  [[nodiscard]] std::uint32_t first_from(PostingKind kind, std::string_view key) const;
  [[nodiscard]] std::uint32_t end_of(PostingKind kind) const {
    return ends_[static_cast<std::size_t>(kind)];
  }

  std::string text_;
  std::vector<Key> keys_;
  std::vector<Posting> postings_;
  std::array<std::uint32_t, kPostingKindCount> ends_{};  // Of each kind, in keys_.
};

namespace {

/// A key by its first eight bytes, which nearly always decide: a third of the time of comparing
/// strings.
struct Sortable {
  std::uint64_t front = 0;
  std::uint32_t number = 0;
};
std::uint64_t front_of(std::string_view key) {
  std::uint64_t front = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    front = front << 8U | (i < key.size() ? static_cast<unsigned char>(key[i]) : 0U);
  }
  return front;
}

std::string hashed_key(std::string_view prefix, std::string_view text) {
  constexpr std::size_t kKeyHashDigits = 5;
  std::string key(prefix);
  append_digits(xxh3(text), kKeyHashDigits, key);
  return key;
}

}  // namespace

void PostingTable::arrange() {
  if (arranged_ == noted_.size()) {
    return;
  }
  lists_.assign(keys_.size(), {});
  for (const std::uint32_t number : noted_) {
    ++lists_[number].end;
  }
  std::size_t begin = 0;
  for (List& list : lists_) {
    const std::size_t size = list.end;
    list = {.begin = begin, .end = begin};
    begin += size;
  }
  postings_.resize(noted_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const std::size_t end = i + 1 < entries_.size() ? entries_[i + 1].begin : noted_.size();
    for (std::size_t at = entries_[i].begin; at < end; ++at) {
      add(lists_[noted_[at]], entries_[i].ordinal);
    }
  }
  assert(begin == noted_.size() && "each occurrence has its place");
  arranged_ = noted_.size();
}

std::vector<Memtable::KeyedPostings> PostingTable::sorted(std::string_view prefix) const {
  std::vector<Sortable> order;
  for (std::uint32_t i = 0; i < keys_.size(); ++i) {
    if (keys_.text(i).starts_with(prefix)) {
      order.push_back({.front = front_of(keys_.text(i)), .number = i});
    }
  }
  std::ranges::sort(order, [this](const Sortable& a, const Sortable& b) {
    return a.front != b.front ? a.front < b.front : keys_.text(a.number) < keys_.text(b.number);
  });
  std::vector<Memtable::KeyedPostings> all;
  all.reserve(order.size());
  for (const Sortable& each : order) {
    all.push_back({.key = keys_.text(each.number), .postings = list(each.number)});
  }
  return all;
}

FrozenPostings::FrozenPostings(
    const std::array<std::vector<Memtable::KeyedPostings>, kPostingKindCount>& kinds) {
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    for (const Memtable::KeyedPostings& each : kinds[kind]) {
      text_ += each.key;
      postings_.insert(postings_.end(), each.postings.begin(), each.postings.end());
      keys_.push_back({.text_end = static_cast<std::uint32_t>(text_.size()),
                       .postings_end = static_cast<std::uint32_t>(postings_.size())});
    }
    ends_[kind] = static_cast<std::uint32_t>(keys_.size());
  }
  text_.shrink_to_fit();
  keys_.shrink_to_fit();
  postings_.shrink_to_fit();
}

Memtable::KeyedPostings FrozenPostings::at(std::uint32_t number) const {
  assert(number < keys_.size());
  const Key begin = number == 0 ? Key() : keys_[number - 1];
  const Key end = keys_[number];
  return {.key = std::string_view(text_).substr(begin.text_end, end.text_end - begin.text_end),
          .postings = std::span(postings_).subspan(begin.postings_end,
                                                   end.postings_end - begin.postings_end)};
}

std::uint32_t FrozenPostings::first_from(PostingKind kind, std::string_view key) const {
  const std::uint32_t begin = kind == PostingKind{} ? 0 : ends_[static_cast<std::size_t>(kind) - 1];
  const auto numbers = std::views::iota(begin, end_of(kind));
  return begin + static_cast<std::uint32_t>(std::ranges::lower_bound(numbers, key, {},
                                                                     [this](std::uint32_t number) {
                                                                       return at(number).key;
                                                                     }) -
                                            numbers.begin());
}

std::span<const Posting> FrozenPostings::postings(PostingKind kind, std::string_view key) const {
  const std::uint32_t number = first_from(kind, key);
  const bool is_there = number < end_of(kind) && at(number).key == key;
  return is_there ? at(number).postings : std::span<const Posting>();
}

std::vector<Memtable::KeyedPostings> FrozenPostings::sorted(PostingKind kind,
                                                            std::string_view prefix) const {
  std::vector<Memtable::KeyedPostings> found;
  for (std::uint32_t number = first_from(kind, prefix);
       number < end_of(kind) && at(number).key.starts_with(prefix); ++number) {
    found.push_back(at(number));
  }
  return found;
}

struct Memtable::Impl {
  std::array<PostingTable, kPostingKindCount> tables;
  PostingTable names;  // The terms that do not come from text.
  // What add_text() touches is here and the table of kTerm; nothing else touches it. Each token is
  // stemmed once: token to number in `token_terms`. Wholes are not stemmed, so they have a table of
  // their own.
  StringTable tokens;
  StringTable wholes;
  std::vector<std::uint32_t> token_terms;
  std::vector<std::uint32_t> whole_terms;
  std::string key;  // Scratch.
  std::chrono::sys_time<std::chrono::hours> last_hour{};
  std::uint32_t last_hour_number = StringTable::kNone;

  PostingTable& table(PostingKind kind) { return tables[static_cast<std::size_t>(kind)]; }

  std::uint32_t term_of(Analyzer& analyzer, const Token& token) {
    StringTable& known = token.whole ? wholes : tokens;
    std::vector<std::uint32_t>& terms = token.whole ? whole_terms : token_terms;
    const std::uint32_t number = known.add_padded(token.text);
    assert(number <= terms.size());
    if (number == terms.size()) {
      const std::string_view term = analyzer.term(token.text, token.whole);
      terms.push_back(term.empty() ? StringTable::kNone : table(PostingKind::kTerm).number(term));
    }
    return terms[number];
  }
};

Memtable::Memtable() : impl_(std::make_unique<Impl>()) {}
Memtable::~Memtable() = default;

std::uint32_t Memtable::add_text(Analyzer& analyzer, std::string_view text, Ordinal ordinal) {
  std::uint32_t length = 0;
  assert(frozen_ == nullptr && "a frozen one takes nothing more");
  PostingTable& terms = impl_->table(PostingKind::kTerm);
  terms.begin(ordinal);
  const std::span<const Token> tokens = analyzer.tokenize(text);
  std::uint32_t* note = terms.begin_notes(tokens.size());
  for (const Token& token : tokens) {
    // Every other token is a stop word, and no processor can tell which: so all are written down,
    // and the next one takes the place of a stop word.
    const std::uint32_t term = impl_->term_of(analyzer, token);
    const bool is_term = term != StringTable::kNone;
    *note = term;
    note += is_term ? 1 : 0;
    length += static_cast<std::uint32_t>(is_term) & static_cast<std::uint32_t>(!token.whole);
  }
  terms.end_notes(note);
  return length;
}

void Memtable::add_key(PostingKind kind, std::string_view prefix, std::string_view key,
                       Ordinal ordinal) {
  if (key.empty()) {
    return;
  }
  assert(frozen_ == nullptr && "a frozen one takes nothing more");
  impl_->key = prefix;
  impl_->key += key;
  PostingTable& table = kind == PostingKind::kTerm ? impl_->names : impl_->table(kind);
  table.begin(ordinal);
  table.note(table.number(impl_->key));
}

void Memtable::add_hour(Timestamp time, Ordinal ordinal) {
  // Most entries are of the hour of the one before.
  const auto hour = std::chrono::floor<std::chrono::hours>(time);
  PostingTable& table = impl_->table(PostingKind::kHour);
  if (hour != impl_->last_hour || impl_->last_hour_number == StringTable::kNone) {
    impl_->last_hour = hour;
    impl_->last_hour_number = table.number(hour_key(time));
  }
  table.begin(ordinal);
  table.note(impl_->last_hour_number);
}

void Memtable::arrange() {
  if (frozen_ != nullptr) {
    return;
  }
  for (PostingTable& table : impl_->tables) {
    table.arrange();
  }
  impl_->names.arrange();
}

void Memtable::freeze() {
  if (frozen_ == nullptr) {
    frozen_ = std::make_unique<const FrozenPostings>(std::array{
        sorted(PostingKind::kTerm), sorted(PostingKind::kTopic), sorted(PostingKind::kHour)});
    impl_.reset();
  }
}

std::span<const Posting> Memtable::postings(PostingKind kind, std::string_view key) const {
  if (frozen_ != nullptr) {
    return frozen_->postings(kind, key);
  }
  const std::span<const Posting> found = impl_->table(kind).postings(key);
  return found.empty() && kind == PostingKind::kTerm ? impl_->names.postings(key) : found;
}

std::vector<Memtable::KeyedPostings> Memtable::sorted(PostingKind kind,
                                                      std::string_view prefix) const {
  if (frozen_ != nullptr) {
    return frozen_->sorted(kind, prefix);
  }
  std::vector<KeyedPostings> found = impl_->table(kind).sorted(prefix);
  if (kind != PostingKind::kTerm) {
    return found;
  }
  const std::vector<KeyedPostings> names = impl_->names.sorted(prefix);
  std::vector<KeyedPostings> all(found.size() + names.size());
  std::ranges::merge(found, names, all.begin(), {}, &KeyedPostings::key, &KeyedPostings::key);
  return all;
}

std::string reference_key(std::string_view id) { return hashed_key(kReferencePrefix, id); }

std::string statement_key(std::string_view subject) {
  return hashed_key(kStatementPrefix, subject);
}

std::string hour_key(Timestamp time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const auto hour = std::chrono::floor<std::chrono::hours>(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     hour.count());
}

}  // namespace bmad_mem
