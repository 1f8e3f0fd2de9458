// root_index_carrying.cpp - copies vectors from old segments to a new one, line by line.
#include <algorithm>
#include <cassert>
#include <cstring>
#include <tuple>
#include <utility>

#include "encoder/packed_vectors.hpp"
#include "search/root_index.hpp"
#include "search/segment.hpp"
#include "search/segment_vectors.hpp"

namespace bmad_mem {
namespace {

/// What tells a line from others of its session.
using LineKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
LineKey line_key(const IndexRow& row) { return {row.row.line_hash, row.id_hash, row.row.size}; }

}  // namespace

std::shared_ptr<const void> RootIndex::keep_vectors() {
  const SharedState now = state();
  auto kept = std::make_shared<const CachedVectors>(CachedVectors{now, vectors_of_all(*now)});
  const std::lock_guard guard(mutex_);
  cached_vectors_ = kept;
  return kept;
}

/// Gives the entries of `made` the vectors that they have in the segments of `state`, or have in
/// those that are kept, by their lines. What fails costs that these are encoded again.
void RootIndex::carry_vectors(const IndexState& state, Segment& made) const {
  const auto kept = [&] {
    const std::lock_guard guard(mutex_);
    return cached_vectors_.lock();
  }();
  const IndexState& before = kept != nullptr ? *kept->state : state;
  const auto vectors = kept != nullptr ? kept->vectors : vectors_of_all(state);
  assert(vectors.size() == before.segments.size());
  if (std::ranges::all_of(vectors, [](const auto& each) { return each == nullptr; })) {
    return;
  }
  std::shared_ptr<SegmentVectors> to;
  std::vector<std::uint8_t> rows;
  for (const SegmentSession& session : made.sessions) {
    std::vector<std::pair<LineKey, const std::uint8_t*>> known;
    for (std::uint32_t part = 0;; ++part) {
      const auto covered = before.sessions.find(covered_key(session.id, part));
      if (covered == before.sessions.end() && part > 1) {
        break;
      }
      SegmentVectors* const its =
          covered == before.sessions.end() ? nullptr : vectors[covered->second.segment].get();
      if (its == nullptr || !may_keep(its->of()) || (to != nullptr && its->of() != to->of())) {
        continue;
      }
      const Segment* const from = before.segments[covered->second.segment].get();
      assert(to == nullptr || its->row_size() == to->row_size());
      const SegmentSession& old = from->sessions[covered->second.number];
      const Result<std::vector<IndexRow>> lines = from->rows(old.begin, old.count);
      const std::uint8_t* const first = its->rows(old.begin, old.begin + old.count);
      for (std::uint32_t i = 0; lines && i < old.count; ++i) {
        const std::uint8_t* const row = first + i * its->row_size();
        if (is_packed(row)) {
          known.emplace_back(line_key((*lines)[i]), row);
        }
      }
      if (to == nullptr && !known.empty()) {
        to = SegmentVectors::create(made, its->of()).value_or(nullptr);
        if (to == nullptr) {
          return;
        }
        rows.resize(made.entries * to->row_size());
      }
    }
    if (known.empty()) {
      continue;
    }
    assert(to != nullptr && "it was created with the first known row");
    const Result<std::vector<IndexRow>> lines = made.rows(session.begin, session.count);
    std::ranges::sort(known, {}, &std::pair<LineKey, const std::uint8_t*>::first);
    for (std::uint32_t i = 0; lines && i < session.count; ++i) {
      const LineKey key = line_key((*lines)[i]);
      const auto found =
          std::ranges::lower_bound(known, key, {}, &std::pair<LineKey, const std::uint8_t*>::first);
      if (found != known.end() && found->first == key) {
        std::memcpy(&rows[(session.begin + i) * to->row_size()], found->second, to->row_size());
      }
    }
  }
  const std::size_t size = to != nullptr ? kVectorBlock * to->row_size() : 1;
  for (std::size_t at = 0; at < rows.size(); at += size) {
    const auto block = std::span(rows).subspan(at, std::min(size, rows.size() - at));
    const bool has_any = std::ranges::any_of(block, [](std::uint8_t byte) { return byte != 0; });
    if (has_any && !to->write_block(static_cast<std::uint32_t>(at / size), block)) {
      return;
    }
  }
}

}  // namespace bmad_mem
