// merge_detections.cpp - one list of what several searches found, without overlaps.
#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "finders.hpp"
#include "judged_values.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

/// A detection and the place it had in the list: lower ones know better what it is.
struct Ranked {
  Detection detection;
  std::size_t rank = 0;
};

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// Widens a detection to whole characters.
Detection snapped(std::string_view text, Detection detection) {
  while (detection.begin > 0 && is_continuation(text[detection.begin])) {
    --detection.begin;
  }
  while (detection.end < text.size() && is_continuation(text[detection.end])) {
    ++detection.end;
  }
  return detection;
}

/// What is left between two placeholders may be a separator only.
bool is_worth_taking_out(std::string_view text) {
  constexpr std::ptrdiff_t kWordSizeMin = 4;
  return std::ranges::count_if(text, [](char c) { return is_alnum(c) || !is_ascii(c); }) >=
         kWordSizeMin;
}

/// Appends what of `each` lies in none of `kept`.
void append_outside(std::string_view text, const Ranked& each, std::span<const Detection> kept,
                    std::vector<Ranked>& out) {
  const Detection& detection = each.detection;
  auto next = std::ranges::lower_bound(kept, detection.begin + 1, {}, &Detection::end);
  if (next == kept.end() || next->begin >= detection.end) {
    out.push_back(each);
    return;
  }
  const auto append = [&](std::size_t begin, std::size_t end) {
    if (begin < end && is_worth_taking_out(text.substr(begin, end - begin))) {
      out.push_back(each);
      out.back().detection.begin = begin;
      out.back().detection.end = end;
    }
  };
  std::size_t begin = detection.begin;
  for (; next != kept.end() && next->begin < detection.end; ++next) {
    append(begin, next->begin);
    begin = next->end;
  }
  append(begin, detection.end);
}

/// Joins those that overlap; `ranked` is of one action.
Detections joined(std::vector<Ranked> ranked) {
  std::ranges::sort(ranked, {}, [](const Ranked& each) { return each.detection.begin; });
  std::vector<Ranked> all;
  for (const Ranked& each : ranked) {
    if (all.empty() || each.detection.begin >= all.back().detection.end) {
      all.push_back(each);
      continue;
    }
    Ranked& last = all.back();
    last.detection.end = std::max(last.detection.end, each.detection.end);
    if (each.rank < last.rank) {
      last.rank = each.rank;
      last.detection.rule = each.detection.rule;
    }
  }
  Detections detections;
  for (const Ranked& each : all) {
    detections.push_back(each.detection);
  }
  return detections;
}

}  // namespace

bool overlaps_any(const Detection& detection, const Detections& others) {
  const auto next = std::ranges::lower_bound(others, detection.begin + 1, {}, &Detection::end);
  return next != others.end() && next->begin < detection.end;
}

Detections merge_detections(std::string_view text, Detections detections,
                            std::span<const Detection> kept) {
  std::vector<Ranked> secrets;
  std::vector<Ranked> near;
  for (std::size_t i = 0; i < detections.size(); ++i) {
    if (detections[i].begin >= detections[i].end || detections[i].end > text.size()) {
      continue;
    }
    std::vector<Ranked>& list = detections[i].action == DetectionAction::kSecret ? secrets : near;
    const std::size_t rank = detections[i].rule == JudgedValues::kRule ? detections.size() : i;
    append_outside(text, {.detection = snapped(text, detections[i]), .rank = rank}, kept, list);
  }
  Detections all = joined(std::move(secrets));
  Detections rest = joined(std::move(near));
  std::erase_if(rest, [&](const Detection& each) { return overlaps_any(each, all); });
  const auto middle = static_cast<std::ptrdiff_t>(all.size());
  all.insert(all.end(), rest.begin(), rest.end());
  std::inplace_merge(all.begin(), all.begin() + middle, all.end(),
                     [](const Detection& a, const Detection& b) { return a.begin < b.begin; });
  return all;
}

}  // namespace bmad_mem
