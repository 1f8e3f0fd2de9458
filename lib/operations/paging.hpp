// paging.hpp - pages of a list: more of it is asked for, and the pages before are left out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// A limit that reaches to the end of the page; 0: no limit.
inline std::size_t page_end(std::size_t limit, std::size_t offset) {
  const std::size_t room = std::numeric_limits<std::size_t>::max() - offset;
  return limit == 0 ? 0 : offset + std::min(limit, room);
}

/// `filter` for all up to the end of its page.
inline EntryFilter up_to_page(EntryFilter filter) {
  filter.limit = page_end(filter.limit, filter.offset);
  filter.offset = 0;
  return filter;
}

/// `list` without its first `offset`.
template <typename T>
std::vector<T> behind(std::vector<T> list, std::size_t offset) {
  list.erase(list.begin(),
             list.begin() + static_cast<std::ptrdiff_t>(std::min(offset, list.size())));
  return list;
}

/// `list`, oldest first, without its last `offset`.
template <typename T>
std::vector<T> without_newest(std::vector<T> list, std::size_t offset) {
  list.resize(list.size() - std::min(offset, list.size()));
  return list;
}

template <typename T>
Result<std::vector<T>> page_of(Result<std::vector<T>> list, std::size_t offset) {
  return list && offset > 0 ? behind(*std::move(list), offset) : std::move(list);
}

}  // namespace bmad_mem
