#include "posting_table.hpp"

#include <algorithm>
#include <ranges>

namespace bmad_mem {
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

SealedPostings::SealedPostings(
    const std::array<std::vector<Memtable::KeyedPostings>, kPostingKindCount>& kinds) {
  std::size_t keys = 0;
  std::size_t text = 0;
  std::size_t postings = 0;
  for (const std::vector<Memtable::KeyedPostings>& kind : kinds) {
    keys += kind.size();
    for (const Memtable::KeyedPostings& each : kind) {
      text += each.key.size();
      postings += each.postings.size();
    }
  }
  keys_.reserve(keys);
  text_.reserve(text);
  postings_.reserve(postings);
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    for (const Memtable::KeyedPostings& each : kinds[kind]) {
      text_ += each.key;
      postings_.insert(postings_.end(), each.postings.begin(), each.postings.end());
      keys_.push_back({.text_end = static_cast<std::uint32_t>(text_.size()),
                       .postings_end = static_cast<std::uint32_t>(postings_.size())});
    }
    ends_[kind] = static_cast<std::uint32_t>(keys_.size());
  }
}

Memtable::KeyedPostings SealedPostings::at(std::uint32_t number) const {
  const Key begin = number == 0 ? Key() : keys_[number - 1];
  const Key end = keys_[number];
  return {.key = std::string_view(text_).substr(begin.text_end, end.text_end - begin.text_end),
          .postings = std::span(postings_).subspan(begin.postings_end,
                                                   end.postings_end - begin.postings_end)};
}

std::uint32_t SealedPostings::first_from(PostingKind kind, std::string_view key) const {
  const std::uint32_t begin = kind == PostingKind{} ? 0 : ends_[static_cast<std::size_t>(kind) - 1];
  const auto numbers = std::views::iota(begin, end_of(kind));
  return begin + static_cast<std::uint32_t>(std::ranges::lower_bound(numbers, key, {},
                                                                     [this](std::uint32_t number) {
                                                                       return at(number).key;
                                                                     }) -
                                            numbers.begin());
}

std::span<const Posting> SealedPostings::postings(PostingKind kind, std::string_view key) const {
  const std::uint32_t number = first_from(kind, key);
  const bool is_there = number < end_of(kind) && at(number).key == key;
  return is_there ? at(number).postings : std::span<const Posting>();
}

std::vector<Memtable::KeyedPostings> SealedPostings::sorted(PostingKind kind,
                                                            std::string_view prefix) const {
  std::vector<Memtable::KeyedPostings> found;
  for (std::uint32_t number = first_from(kind, prefix);
       number < end_of(kind) && at(number).key.starts_with(prefix); ++number) {
    found.push_back(at(number));
  }
  return found;
}

}  // namespace bmad_mem
