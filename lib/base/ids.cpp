// ids.cpp - which ids are allowed, how new ones are made, and names given by their beginning.
#include "base/ids.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/process.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::uint32_t kRandomMask = (1U << 30U) - 1;  // 6 characters of 5 bits
constexpr std::size_t kTimeChars = 9;                   // 45 bits of ms: until the year 3084
constexpr std::size_t kRandomChars = 6;

void append_base32(std::string& out, std::uint64_t value, std::size_t chars) {
  assert(5 * chars < 64);
  for (std::size_t i = chars; i-- > 0;) {
    out += kAlphabet[(value >> (5 * i)) & 31U];
  }
}

constexpr std::uint8_t kNoDigit = 32;

constexpr std::array<std::uint8_t, 256> kDigitTable = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(kNoDigit);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    table[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return table;
}();

std::optional<std::uint64_t> base32_number(std::string_view text) {
  assert(5 * text.size() < 64 && "the number fits into 64 bits");
  std::uint64_t value = 0;
  for (const char c : text) {
    const std::uint8_t digit = kDigitTable[static_cast<unsigned char>(c)];
    if (digit == kNoDigit) {
      return std::nullopt;
    }
    value = value << 5U | digit;
  }
  return value;
}

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// A table, because every line of every scan has its id checked.
enum : std::uint8_t { kNotInId = 0, kInsideId = 1, kFirstInId = 2 };

constexpr std::array<std::uint8_t, 256> kIdTable = [] {
  std::array<std::uint8_t, 256> table{};
  for (const char c : std::string_view("_.:@+=~-")) {
    table[static_cast<unsigned char>(c)] = kInsideId;
  }
  for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789_")) {
    table[static_cast<unsigned char>(c)] = kInsideId | kFirstInId;
  }
  return table;
}();

}  // namespace

bool is_session_id(std::string_view id) {
  return !id.empty() && id.size() <= kSessionIdSizeMax && is_lower_or_digit(id.front()) &&
         std::ranges::all_of(
             id, [](char c) { return is_lower_or_digit(c) || c == '.' || c == '_' || c == '-'; });
}

bool is_entry_id(std::string_view id) {
  if (id.empty() || id.size() > kEntryIdSizeMax ||
      (kIdTable[static_cast<unsigned char>(id.front())] & kFirstInId) == 0) {
    return false;
  }
  unsigned all = kInsideId;
  for (const char c : id) {
    all &= kIdTable[static_cast<unsigned char>(c)];
  }
  return all != 0;
}

Status check_session_id(std::string_view id) {
  if (is_session_id(id)) {
    return {};
  }
  return field_error(
      ErrorCode::E_INVALID_FORMAT, "session_id",
      fmt::format("\"{}\" is not a session id: 1 to {} of a-z, 0-9, '.', '_', '-', the first a "
                  "letter or digit; `bmad-mem session list` shows the ones there are",
                  id.substr(0, 80), kSessionIdSizeMax));
}

bool is_portable_session_id(std::string_view id) {
  if (!is_session_id(id) || id.ends_with('.')) {
    return false;
  }
  const std::string_view stem = id.substr(0, id.find('.'));
  static constexpr std::string_view kDevices[] = {"con", "prn", "aux", "nul"};
  const bool is_numbered = stem.size() == 4 &&
                           (stem.starts_with("com") || stem.starts_with("lpt")) &&
                           stem.back() >= '0' && stem.back() <= '9';
  return !is_numbered && std::ranges::find(kDevices, stem) == std::end(kDevices);
}

PackedId pack_id(std::string_view prefix, std::string_view id) {
  if (!id.starts_with(prefix) || id.size() != prefix.size() + kTimeChars + kRandomChars) {
    return {};
  }
  const auto time = base32_number(id.substr(prefix.size(), kTimeChars));
  const auto random = base32_number(id.substr(prefix.size() + kTimeChars));
  return time && random ? PackedId{.time = *time, .random = static_cast<std::uint32_t>(*random)}
                        : PackedId{};
}

std::pair<PackedId, PackedId> id_range(std::string_view prefix, std::string_view begin) {
  const std::size_t size = prefix.size() + kTimeChars + kRandomChars;
  if (begin.size() >= size) {
    return {};
  }
  const auto filled = [&](char c) {
    return pack_id(prefix, std::string(begin) + std::string(size - begin.size(), c));
  };
  return {filled(kAlphabet.front()), filled(kAlphabet.back())};
}

std::string unpack_id(std::string_view prefix, const PackedId& id) {
  assert(id.is_there());
  std::string text;
  text.reserve(prefix.size() + kTimeChars + kRandomChars);
  text += prefix;
  append_base32(text, id.time, kTimeChars);
  append_base32(text, id.random, kRandomChars);
  return text;
}

std::uint32_t system_random() {
  std::uint32_t value = 0;
  if (::getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) {
    value = std::random_device()();  // Old kernels and other systems.
  }
  return value & kRandomMask;
}

IdGenerator::IdGenerator(const Clock& clock, std::function<std::uint32_t()> random)
    : clock_(clock), random_(std::move(random)) {}

std::string IdGenerator::entry_id(std::string_view prefix) {
  const std::int64_t now_ms = std::max<std::int64_t>(0, clock_.now().time_since_epoch().count());
  std::int64_t ms = 0;
  std::uint32_t random = 0;
  {
    const std::lock_guard guard(mutex_);
    const int pid = process_id();
    if (now_ms > last_ms_ || pid != pid_) {
      last_ms_ = std::max(now_ms, last_ms_);
      counter_ = random_() & kRandomMask;
      pid_ = pid;
    } else if (counter_ == kRandomMask) {
      ++last_ms_;  // The millisecond is used up, or the clock stands still: borrow the next one.
      counter_ = 0;
    } else {
      ++counter_;
    }
    ms = last_ms_;
    random = counter_;
  }
  assert(ms >= now_ms && random <= kRandomMask);
  return unpack_id(prefix, {.time = static_cast<std::uint64_t>(ms), .random = random});
}

std::string IdGenerator::session_id() {
  std::string id = "sess-" + format_date(clock_.now()) + "-";
  append_base32(id, random_() & kRandomMask, kRandomChars);
  return id;
}

Result<std::string> whole_name(std::string_view given, std::span<const std::string> known,
                               std::string_view plural, std::string_view field) {
  constexpr std::size_t kShown = 5;
  if (given.size() < kWholeNamePrefixMin || std::ranges::find(known, given) != known.end()) {
    return std::string(given);
  }
  std::set<std::string_view> found;
  for (const std::string& name : known) {
    if (name.starts_with(given)) {
      found.insert(name);
    }
  }
  if (found.size() > 1) {
    std::vector<std::string_view> shown(found.begin(), found.end());
    shown.resize(std::min(kShown, shown.size()));
    return invalid_query(
        field, fmt::format("{} {} begin with {} ({}{}); give more of the {}", found.size(), plural,
                           given, fmt::join(shown, ", "), found.size() > kShown ? ", ..." : "",
                           plural == "sessions" ? "name" : "id"));
  }
  return std::string(found.empty() ? given : *found.begin());
}

}  // namespace bmad_mem
