#include "index/entry_columns.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include "core/hash.hpp"
#include "digits.hpp"
#include "model/entry.hpp"

namespace bmad_mem {
namespace {

// Timestamps may lie before 1970: half of what the digits can say.
constexpr std::int64_t kTimestampBias = std::int64_t{1} << (kDigitBits * kTimestampDigits - 1);

constexpr std::size_t kOffsetDigits = 6;
constexpr std::size_t kSizeDigits = 4;
constexpr std::size_t kLineDigits = 4;
constexpr std::size_t kHashDigits = 5;
constexpr std::size_t kCheckDigits = 4;
static_assert(kOffsetDigits + kSizeDigits + kLineDigits + kHashDigits + kCheckDigits == kRowDigits);

std::uint32_t low_bits(std::uint64_t hash, std::size_t digits) {
  return static_cast<std::uint32_t>(low_digits(hash, digits));
}

/// The value of each digit at each of five places, shifted to where it belongs; a bit above all
/// of them marks what is no digit. Columns are what a cold query over many sessions spends its time
/// on, and this takes a third of what read_digits() does.
constexpr std::uint32_t kBadDigit = 1U << 31U;
constexpr std::size_t kPlaces = 5;
constexpr auto kPlacedDigits = [] {
  std::array<std::array<std::uint32_t, 256>, kPlaces> placed{};
  for (std::size_t place = 0; place < kPlaces; ++place) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      placed[place][byte] = kDigitValues[byte] > 63
                                ? kBadDigit
                                : std::uint32_t{kDigitValues[byte]} << (kDigitBits * place);
    }
  }
  return placed;
}();

template <std::size_t kCount>
std::optional<std::vector<std::uint32_t>> decode_fixed(std::string_view text) {
  static_assert(kCount <= kPlaces);
  std::vector<std::uint32_t> values(text.size() / kCount);
  std::uint32_t bad = 0;
  const char* at = text.data();
  for (std::uint32_t& value : values) {
    value = [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
      return (kPlacedDigits[kCount - 1 - kIndex][static_cast<unsigned char>(at[kIndex])] | ...);
    }(std::make_index_sequence<kCount>());
    bad |= value;
    at += kCount;
  }
  if ((bad & kBadDigit) != 0 || text.size() % kCount != 0) {
    return std::nullopt;
  }
  return values;
}

/// Makes `out` longer by `size` bytes; where they begin.
char* make_room(std::string& out, std::size_t size) {
  out.resize(out.size() + size);
  return out.data() + out.size() - size;
}

template <std::size_t kCount>
void encode_fixed(const std::vector<std::uint32_t>& values, std::string& out) {
  char* to = make_room(out, values.size() * kCount);
  for (const std::uint32_t value : values) {
    to = put_digits<kCount>(value, to);
  }
}

}  // namespace

void EntryColumns::shrink() {
  lengths.shrink_to_fit();
  flags.shrink_to_fit();
  previous.shrink_to_fit();
  timestamps.shrink_to_fit();
  id_hashes.shrink_to_fit();
  rows.shrink_to_fit();
}

void encode_column(const std::vector<std::uint32_t>& values, std::size_t digits, std::string& out) {
  switch (digits) {
    case 2:
      return encode_fixed<2>(values, out);
    case 3:
      return encode_fixed<3>(values, out);
    case 4:
      return encode_fixed<4>(values, out);
    case 5:
      return encode_fixed<5>(values, out);
    default:
      assert(false);
  }
}

void encode_timestamps(const std::vector<std::int64_t>& values, std::string& out) {
  char* to = make_room(out, values.size() * kTimestampDigits);
  for (const std::int64_t value : values) {
    const std::int64_t bounded = std::clamp(value, -kTimestampBias, kTimestampBias - 1);
    to = put_digits<kTimestampDigits>(static_cast<std::uint64_t>(bounded + kTimestampBias), to);
  }
}

void encode_rows(const std::vector<EntryRow>& rows, std::string& out) {
  char* to = make_room(out, rows.size() * kRowDigits);
  for (const EntryRow& row : rows) {
    const char* const begin = to;
    to = put_digits<kOffsetDigits>(row.offset, to);
    to = put_digits<kSizeDigits>(row.size, to);
    to = put_digits<kLineDigits>(row.line, to);
    to = put_digits<kHashDigits>(row.line_hash, to);
    const std::string_view checked(begin, kRowDigits - kCheckDigits);
    to = put_digits<kCheckDigits>(low_bits(xxh3(checked), kCheckDigits), to);
  }
}

std::optional<std::vector<std::uint32_t>> decode_column(std::string_view text, std::size_t digits) {
  switch (digits) {
    case 2:
      return decode_fixed<2>(text);
    case 3:
      return decode_fixed<3>(text);
    case 4:
      return decode_fixed<4>(text);
    case 5:
      return decode_fixed<5>(text);
    default:
      return std::nullopt;
  }
}

std::optional<std::vector<std::int64_t>> decode_timestamps(std::string_view text) {
  std::vector<std::int64_t> values(text.size() / kTimestampDigits);
  std::uint32_t bad = 0;
  const char* at = text.data();
  for (std::int64_t& value : values) {
    value = static_cast<std::int64_t>(read_digits<kTimestampDigits>(at, bad)) - kTimestampBias;
    at += kTimestampDigits;
  }
  if (bad > 63 || text.size() % kTimestampDigits != 0) {
    return std::nullopt;
  }
  return values;
}

std::int64_t timestamp_at(std::string_view text, Ordinal ordinal) {
  assert((ordinal + std::size_t{1}) * kTimestampDigits <= text.size());
  std::uint32_t bad = 0;
  const char* at = text.data() + ordinal * kTimestampDigits;
  return static_cast<std::int64_t>(read_digits<kTimestampDigits>(at, bad)) - kTimestampBias;
}

std::optional<EntryRow> decode_row(std::string_view text) {
  assert(text.size() == kRowDigits);
  const std::string_view checked = text.substr(0, kRowDigits - kCheckDigits);
  std::uint32_t bad = 0;
  const char* at = text.data();
  EntryRow row;
  row.offset = read_digits<kOffsetDigits>(at, bad);
  at += kOffsetDigits;
  row.size = static_cast<std::uint32_t>(read_digits<kSizeDigits>(at, bad));
  at += kSizeDigits;
  row.line = static_cast<std::uint32_t>(read_digits<kLineDigits>(at, bad));
  at += kLineDigits;
  row.line_hash = static_cast<std::uint32_t>(read_digits<kHashDigits>(at, bad));
  at += kHashDigits;
  const std::uint64_t check = read_digits<kCheckDigits>(at, bad);
  if (bad > 63 || check != low_bits(xxh3(checked), kCheckDigits)) {
    return std::nullopt;
  }
  return row;
}

std::uint32_t entry_id_hash(EntryType type, std::string_view id) {
  // Types are few, so one character in front tells equal ids of two types apart.
  std::string key(1, static_cast<char>('a' + static_cast<int>(type)));
  key += id;
  return low_bits(xxh3(key), kIdHashDigits);
}

double flag_importance(std::uint32_t flags) {
  return importance_of(flag_type(flags), (flags & kFlagSevere) != 0, (flags & kFlagApproved) != 0);
}

std::uint32_t entry_line_hash(std::string_view line) { return low_bits(xxh3(line), kHashDigits); }

}  // namespace bmad_mem
