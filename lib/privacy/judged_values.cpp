#include "judged_values.hpp"

#include <algorithm>
#include <cstring>

#include "base/base64.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/text.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

constexpr unsigned kSizeBits = 20;
constexpr std::size_t kSizeMax = (std::size_t{1} << kSizeBits) - 1;
/// Of a longer form so many bytes in its middle are compared: that is where keys differ.
constexpr std::size_t kWindow = 128;
constexpr std::size_t kRecordsMax = 4096;
/// What begins alike is looked at one by one.
constexpr std::ptrdiff_t kAlikeMax = 16;

/// The part of a form of `size` bytes that is compared.
struct Window {
  std::size_t begin = 0;
  std::size_t size = 0;
};
Window window_of(std::size_t size) {
  const std::size_t compared = std::min(size, kWindow);
  return {.begin = (size - compared) / 2, .size = compared};
}

std::uint32_t start_bits(const JudgedValues::Record& record) { return record.start >> kSizeBits; }

/// `text` with `before` in front of each byte that is one of `signs`.
std::string escaped(std::string_view text, std::string_view signs, std::string_view before) {
  std::string out;
  for (const char c : text) {
    out.append(signs.contains(c) ? before : "") += c;
  }
  return out;
}

/// How `value` is written: as it is, in an address with a blank, in a shell in quotes of both kinds
/// and without; that in JSON, also in JSON in JSON; and what of base64 stands for it alone, at each
/// of three places in a text.
std::vector<std::string> forms_of(std::string_view value) {
  std::vector<std::string> forms = {std::string(value)};
  const auto add = [&](std::string form) {
    if (!is_among(forms, form)) {
      forms.push_back(std::move(form));
    }
  };
  std::string joined(value);
  std::ranges::replace(joined, ' ', '+');
  add(std::move(joined));
  add(escaped(value, "\"$`\\", "\\"));
  add(escaped(value, " !\"#$&'()*;<=>?[\\]^`{|}~", "\\"));
  add(escaped(value, " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "\\"));
  add(escaped(value, "'", "'\\'"));
  for (int depth = 0; depth < 2; ++depth) {
    for (std::size_t i = 0, count = forms.size(); i < count; ++i) {
      const std::string quoted = json_quoted(forms[i]);
      add(quoted.substr(1, quoted.size() - 2));
    }
  }
  for (std::size_t before = 0; before < 3; ++before) {
    const std::string text = std::string(before, ' ').append(value);
    const std::size_t first = (before * 8 + 5) / 6;
    for (const Base64 form : {Base64::kPadded, Base64::kUrl}) {
      add(base64_encoded(text, form).substr(first, text.size() * 8 / 6 - first));
    }
  }
  return forms;
}

/// Whether [begin, end) of `text` is no number, or is a whole one.
bool is_apart(std::string_view text, std::size_t begin, std::size_t end) {
  return any_is(text.substr(begin, end - begin), is_letter) ||
         !(is_alnum(byte_before(text, begin)) || is_alnum(byte_at(text, end)));
}

}  // namespace

JudgedValues::JudgedValues(const HashKey& key)
    : key_(key), factor_(keyed_hash(key, "start") | 1U) {}

std::uint32_t JudgedValues::start_of(const char* bytes) const {
  std::uint64_t first = 0;
  std::memcpy(&first, bytes, kSizeMin);
  return static_cast<std::uint32_t>(first * factor_ >> (32U + kSizeBits));
}

bool JudgedValues::knows(std::string_view value) const {
  Detections found;
  find(value, found);
  return is_among(found, Detection{.begin = 0, .end = value.size(), .rule = kRule});
}

std::vector<JudgedValues::Record> JudgedValues::records_of(std::string_view value,
                                                           std::uint32_t session) const {
  std::vector<Record> records;
  const auto add = [&](std::string_view form) {
    const auto [begin, size] = window_of(form.size());
    if (size >= kSizeMin && form.size() <= kSizeMax) {
      const std::string_view window = form.substr(begin, size);
      records.push_back({.hash = keyed_hash(key_, window),
                         .session = session,
                         .start = start_of(window.data()) << kSizeBits |
                                  static_cast<std::uint32_t>(form.size())});
    }
  };
  std::ranges::for_each(forms_of(value), add);
  return records;
}

void JudgedValues::add(std::span<const Record> records) {
  for (const Record& record : records) {
    const std::uint32_t start = start_bits(record);
    const auto alike = std::ranges::equal_range(records_, start, {}, start_bits);
    const bool is_known = std::ranges::any_of(alike, [&](const Record& each) {
      return each.hash == record.hash && each.start == record.start;
    });
    if (!is_known && std::ssize(alike) < kAlikeMax && records_.size() < kRecordsMax) {
      records_.insert(alike.end(), record);
      starts_[start / 64] |= std::uint64_t{1} << start % 64;
    }
  }
}

void JudgedValues::find(std::string_view text, Detections& out) const {
  for (std::size_t at = 0; at + kSizeMin <= text.size(); ++at) {
    const std::uint32_t start = start_of(text.data() + at);
    if ((starts_[start / 64] >> start % 64 & 1U) == 0) {
      continue;
    }
    for (const Record& each : std::ranges::equal_range(records_, start, {}, start_bits)) {
      const std::size_t size = each.start & kSizeMax;
      const Window window = window_of(size);
      if (at + window.size <= text.size() &&
          keyed_hash(key_, text.substr(at, window.size)) == each.hash) {
        const std::size_t begin = at - std::min(at, window.begin);  // It may be cut at its ends.
        const std::size_t end = std::min(text.size(), at + size - window.begin);
        if (is_apart(text, begin, end)) {
          out.push_back({.begin = begin, .end = end, .rule = kRule});
        }
      }
    }
  }
}

}  // namespace bmad_mem
