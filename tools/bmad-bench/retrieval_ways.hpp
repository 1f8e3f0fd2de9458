// retrieval_ways.hpp - the ways in which each question of a data set is asked.
//
//   default     as a user asks: raw text, default settings, 5 minutes after the newest message
//   week month  the same, so much later
//   text        by the text component alone; what age, importance and access must not spoil
//   slip        as `default`, with a slip of the finger in the rarest word
//   plain       BM25 of the single message, by text alone: what everybody has
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bmad_mem::bench {

enum class Way : std::uint8_t { kDefault, kWeek, kMonth, kText, kSlip, kPlain };
inline constexpr std::size_t kWayCount = 6;

struct WayInfo {
  Way way = Way::kDefault;
  std::string_view name;  ///< In the JSON report, and for --ranking.
  std::string_view head;  ///< Over a column.
  std::chrono::days later{0};
  bool text_alone = false;
  bool plain = false;
  bool slip = false;
};

/// In the order of the enum.
inline constexpr std::array<WayInfo, kWayCount> kWays = {
    WayInfo{.way = Way::kDefault, .name = "default", .head = "default"},
    WayInfo{.way = Way::kWeek, .name = "week", .head = "a week on", .later = std::chrono::days(7)},
    WayInfo{
        .way = Way::kMonth, .name = "month", .head = "a month on", .later = std::chrono::days(30)},
    WayInfo{.way = Way::kText, .name = "text", .head = "text alone", .text_alone = true},
    WayInfo{.way = Way::kSlip, .name = "slip", .head = "one slip", .slip = true},
    WayInfo{.way = Way::kPlain,
            .name = "plain",
            .head = "plain BM25",
            .text_alone = true,
            .plain = true}};

constexpr std::size_t index_of(Way way) { return static_cast<std::size_t>(way); }

}  // namespace bmad_mem::bench
