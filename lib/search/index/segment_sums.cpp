// segment_sums.cpp - what the entries of each session come to, in a segment.
//
//   session   lines of each type; whether one expires, 0 or 1; how many days
//   day       days since 1970 (i32), entries of each type
//
// All others are varints. A session of 5,000 entries in a week takes some 110 bytes.
#include <cassert>

#include "search/segment.hpp"
#include "search/segment_format.hpp"

namespace bmad_mem {

void put_sums(const SessionSums& sums, std::string& out) {
  const auto put_each = [&](const SessionSums::PerType& counts) {
    for (const std::uint64_t count : counts) {
      put_varint(count, out);
    }
  };
  put_each(sums.lines);
  put_varint(sums.expires ? 1 : 0, out);
  put_varint(sums.days.size(), out);
  for (const auto& [day, counts] : sums.days) {
    put_little(static_cast<std::int32_t>(day.time_since_epoch().count()), out);
    put_each(counts);
  }
}

Status Segment::read_sums() {
  BMAD_TRY_ASSIGN(const std::string bytes, read_hashed(place(SegmentPlace::kSums)));
  BytesReader reader(bytes);
  const auto read_each = [&](SessionSums::PerType& counts) {
    for (std::uint64_t& count : counts) {
      count = reader.varint();
    }
  };
  std::vector<SessionSums> all(sessions.size());
  for (SessionSums& each : all) {
    read_each(each.lines);
    each.expires = reader.varint() != 0;
    for (std::uint64_t left = reader.varint(); left > 0 && reader.good(); --left) {
      const std::chrono::days day(reader.number<std::int32_t>());
      read_each(each.days[std::chrono::sys_days(day)]);
    }
  }
  if (!reader.good() || !reader.at_end()) {
    return corrupt("its sums are none");
  }
  sums = std::move(all);
  return {};
}

}  // namespace bmad_mem
