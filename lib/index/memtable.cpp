#include "index/memtable.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include <fmt/format.h>

#include "core/hash.hpp"
#include "digits.hpp"
#include "string_table.hpp"

namespace bmad_mem {
namespace {

/// Keys to posting lists.
class PostingTable {
 public:
  std::uint32_t number(std::string_view key) {
    const std::uint32_t number = keys_.add(key);
    if (number == lists_.size()) {
      lists_.emplace_back();
    }
    return number;
  }

  void add(std::uint32_t number, Ordinal ordinal) {
    std::vector<Posting>& list = lists_[number];
    if (!list.empty() && list.back().ordinal == ordinal) {
      ++list.back().frequency;
    } else {
      list.push_back({.ordinal = ordinal, .frequency = 1});
    }
  }

  [[nodiscard]] std::span<const Posting> postings(std::string_view key) const {
    const std::uint32_t number = keys_.find(key);
    return number == StringTable::kNone ? std::span<const Posting>() : lists_[number];
  }

  [[nodiscard]] std::vector<Memtable::KeyedPostings> sorted(std::string_view prefix) const {
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
      all.push_back({.key = keys_.text(each.number), .postings = lists_[each.number]});
    }
    return all;
  }

 private:
  /// A key by its first eight bytes, which nearly always decide: a third of the time of comparing
  /// strings.
  struct Sortable {
    std::uint64_t front = 0;
    std::uint32_t number = 0;
  };
  static std::uint64_t front_of(std::string_view key) {
    std::uint64_t front = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      front = front << 8U | (i < key.size() ? static_cast<unsigned char>(key[i]) : 0U);
    }
    return front;
  }

  StringTable keys_;
  std::vector<std::vector<Posting>> lists_;
};

}  // namespace

struct Memtable::Impl {
  std::array<PostingTable, kPostingKindCount> tables;
  // Each token is stemmed once: token to number in `token_terms`. Wholes are not stemmed, so they
  // have a table of their own.
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
    const std::uint32_t number = known.add(token.text);
    if (number == terms.size()) {
      const std::string_view term = analyzer.term(token.text, token.whole);
      terms.push_back(term.empty() ? StringTable::kNone : table(PostingKind::kTerm).number(term));
    }
    return terms[number];
  }
};

Memtable::Memtable() : impl_(std::make_unique<Impl>()) {}
Memtable::Memtable(Memtable&&) noexcept = default;
Memtable& Memtable::operator=(Memtable&&) noexcept = default;
Memtable::~Memtable() = default;

std::uint32_t Memtable::add_text(Analyzer& analyzer, std::string_view text, Ordinal ordinal) {
  std::uint32_t length = 0;
  PostingTable& terms = impl_->table(PostingKind::kTerm);
  for (const Token& token : analyzer.tokenize(text)) {
    const std::uint32_t term = impl_->term_of(analyzer, token);
    if (term != StringTable::kNone) {
      terms.add(term, ordinal);
      length += token.whole ? 0 : 1;
    }
  }
  return length;
}

void Memtable::add_key(PostingKind kind, std::string_view prefix, std::string_view key,
                       Ordinal ordinal) {
  if (key.empty()) {
    return;
  }
  impl_->key = prefix;
  impl_->key += key;
  PostingTable& table = impl_->table(kind);
  table.add(table.number(impl_->key), ordinal);
}

void Memtable::add_hour(Timestamp time, Ordinal ordinal) {
  // Most entries are of the hour of the one before.
  const auto hour = std::chrono::floor<std::chrono::hours>(time);
  PostingTable& table = impl_->table(PostingKind::kHour);
  if (hour != impl_->last_hour || impl_->last_hour_number == StringTable::kNone) {
    impl_->last_hour = hour;
    impl_->last_hour_number = table.number(hour_key(time));
  }
  table.add(impl_->last_hour_number, ordinal);
}

std::span<const Posting> Memtable::postings(PostingKind kind, std::string_view key) const {
  return impl_->tables[static_cast<std::size_t>(kind)].postings(key);
}

std::vector<Memtable::KeyedPostings> Memtable::sorted(PostingKind kind,
                                                      std::string_view prefix) const {
  return impl_->tables[static_cast<std::size_t>(kind)].sorted(prefix);
}

std::string reference_key(std::string_view id) {
  constexpr std::size_t kHashDigits = 5;
  std::string key(kReferencePrefix);
  append_digits(low_digits(xxh3(id), kHashDigits), kHashDigits, key);
  return key;
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
