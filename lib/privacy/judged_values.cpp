// judged_values.cpp - stores hashes of values that were judged secret, and finds them in any text.
#include "judged_values.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/base64.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "privacy/redaction.hpp"
#include "store/root_trust.hpp"
#include "store/store.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

constexpr unsigned kSizeBits = 20;
constexpr std::size_t kRepeatSizeMax = (std::size_t{1} << kSizeBits) - 1;
constexpr std::size_t kRecordsMax = 4096;
/// What begins alike is looked at one by one.
constexpr std::ptrdiff_t kAlikeMax = 16;

/// A longer form is known by its parts, so that one that is cut is, too.
std::size_t part_size(std::size_t form_size) {
  constexpr std::size_t kPartMin = 128;
  constexpr std::size_t kPartsMax = 32;
  return std::min(form_size, std::max(kPartMin, form_size / kPartsMax + 1));
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
  const auto add = [&](std::string form) { add_once(forms, std::move(form)); };
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
      assert(quoted.size() >= 2 && "it has its quotes");
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

/// Where `value` ends if it was read beyond its end: at a newline or tab as JSON writes it, at a
/// tag, at the next parameter or command.
std::size_t end_in_text(std::string_view value) {
  for (std::size_t at = 0; at < value.size(); ++at) {
    const bool is_written =
        value[at] == '\\' && std::string_view("nrt").contains(byte_at(value, at + 1));
    if (is_written || std::string_view("<>&").contains(value[at])) {
      return is_written ? value.find_last_not_of('\\', at) + 1 : at;  // npos + 1 is 0.
    }
  }
  return value.size();
}

/// Whether [begin, end) of `text` is no number, or is a whole one.
bool is_apart(std::string_view text, std::size_t begin, std::size_t end) {
  return any_is(text.substr(begin, end - begin), is_letter) ||
         !(is_alnum(byte_before(text, begin)) || is_alnum(byte_at(text, end)));
}

using Record = JudgedValues::Record;

constexpr std::string_view kName = kJudgedName;
constexpr std::string_view kKeyName = "/judged.key";
/// Records of a root: 128 KiB. When there would be more, the older half goes.
constexpr std::ptrdiff_t kRetainedMax = 8192;

/// What the file begins with.
Record header_of(const HashKey& key) { return {.hash = keyed_hash(key, "judged values, 1")}; }

std::vector<Record> records_in(std::string_view bytes) {
  std::vector<Record> records(bytes.size() / sizeof(Record));
  if (!records.empty()) {
    std::memcpy(records.data(), bytes.data(), records.size() * sizeof(Record));
  }
  return records;
}

std::string bytes_of(std::span<const Record> records) {
  std::string bytes(records.size_bytes(), '\0');
  std::memcpy(bytes.data(), records.data(), bytes.size());
  return bytes;
}

}  // namespace

JudgedValues::JudgedValues(const HashKey& key)
    : key_(key), factor_(keyed_hash(key, "start") | 1U) {}

std::uint32_t JudgedValues::start_of(std::uint64_t bytes) const {
  return static_cast<std::uint32_t>(bytes * factor_ >> (32U + kSizeBits));
}

JudgedValues::Record JudgedValues::record_of(std::string_view part) const {
  assert(part.size() >= kSizeMin && "the hash of its start takes kSizeMin bytes");
  std::uint64_t first = 0;
  std::memcpy(&first, part.data(), kSizeMin);
  return {.hash = keyed_hash(key_, part),
          .start = start_of(first) << kSizeBits | static_cast<std::uint32_t>(part.size())};
}

bool JudgedValues::has(const Record& record) const {
  return std::ranges::any_of(
      std::ranges::equal_range(records_, start_bits(record), {}, start_bits),
      [&](const Record& each) { return each.hash == record.hash && each.start == record.start; });
}

bool JudgedValues::knows(std::string_view value) const {
  return value.size() >= kSizeMin && has(record_of(value.substr(0, part_size(value.size()))));
}

std::vector<JudgedValues::Record> JudgedValues::records_of(std::string_view value,
                                                           std::uint32_t session) const {
  std::vector<Record> records;
  for (const std::string& form : forms_of(value)) {
    const std::size_t size = part_size(form.size());
    for (std::size_t at = 0; size >= kSizeMin && at < form.size() && form.size() <= kRepeatSizeMax;
         at += size) {
      const std::size_t begin = std::min(at, form.size() - size);
      assert(size <= form.size() && begin + size <= form.size());
      records.push_back(record_of(std::string_view(form).substr(begin, size)));
      records.back().session = session;
    }
  }
  return records;
}

std::vector<std::string> read_forms(std::string_view value) {
  std::vector<std::string> forms = {std::string(value),
                                    std::string(trimmed(value, " \t\r\n\"'`.,;:!?()[]{}<>")), ""};
  for (std::size_t at = 0; at < value.size(); ++at) {
    at += value[at] == '\\' && at + 1 < value.size() && !is_alnum(value[at + 1]) ? 1 : 0;
    forms.back() += value[at];
  }
  forms.emplace_back(value.substr(0, end_in_text(value)));
  if (is_encoded_login(value)) {
    const std::string login = decode_base64(value);
    forms.push_back(login.substr(login.find(':') + 1));
  }
  return forms;
}

void JudgedValues::add(std::span<const Record> records) {
  for (const Record& record : records) {
    const std::uint32_t start = start_bits(record);
    const auto alike = std::ranges::equal_range(records_, start, {}, start_bits);
    if (!has(record) && std::ssize(alike) < kAlikeMax && records_.size() < kRecordsMax) {
      records_.insert(alike.end(), record);
      starts_[start / 64] |= std::uint64_t{1} << start % 64;
      assert(records_.size() <= kRecordsMax);
    }
  }
}

void JudgedValues::find(std::string_view text, Detections& out) const {
  std::uint64_t bytes = 0;  // The last kSizeMin, as record_of() copies them.
  for (std::size_t end = 1; end <= text.size(); ++end) {
    const std::uint64_t next = static_cast<unsigned char>(text[end - 1]);
    bytes = bytes >> 8U | next << 8 * (kSizeMin - 1);
    const std::uint32_t start = start_of(bytes);
    if (end < kSizeMin || (starts_[start / 64] >> start % 64 & 1U) == 0) {
      continue;
    }
    const std::size_t at = end - kSizeMin;
    for (const Record& each : std::ranges::equal_range(records_, start, {}, start_bits)) {
      const std::size_t size = each.start & kRepeatSizeMax;
      if (at + size <= text.size() && keyed_hash(key_, text.substr(at, size)) == each.hash &&
          is_apart(text, at, at + size)) {
        out.push_back({.begin = at, .end = at + size, .rule = kRule});
      }
    }
  }
}

void JudgedMemory::read_key() {
  const std::string bytes = store_.origins->state_text(kKeyName);
  if (bytes.size() == key_.size()) {
    std::ranges::copy(bytes, key_.begin());
  } else if (writes_) {  // Where it can't be kept, it holds as long as the process lives.
    static_cast<void>(store_.origins->change_state(kKeyName, [&](const std::string& there) {
      const std::string made(key_.begin(), key_.end());
      return there.size() == made.size() ? there : made;
    }));
    const std::string now = store_.origins->state_text(kKeyName);
    std::ranges::copy(now.substr(0, key_.size()), key_.begin());
  }
}

void JudgedMemory::read_again() {
  const std::uint64_t now = store_.origins->state_stamp(kName);
  if (now == stamp_ || (!writes_ && stamp_ != 0)) {
    return;
  }
  stamp_ = now;
  set_.reset();
  read_key();
  records_ = records_in(store_.origins->state_text(kName));
  if (records_.empty() || records_.front().hash != header_of(key_).hash) {
    records_.clear();
    store_.note_problem(
        std::string(kName), {},
        {.code = ErrorCode::E_STORAGE_CORRUPT,
         .message = "the key of the values that were judged to be secret is gone, so these are "
                    "forgotten: what repeats them stays until they are named once more",
         .path = store_.origins->state_file(kName)},
        /*is_readable=*/true);
    keep({});
  }
}

void JudgedMemory::keep(std::span<const Record> fresh) {
  if (!writes_) {
    return;
  }
  static_cast<void>(store_.origins->change_state(
      kName,
      [&](const std::string& bytes) {
        std::vector<Record> all = records_in(bytes);
        if (all.empty() || all.front().hash != header_of(key_).hash) {
          all.assign(1, header_of(key_));
        }
        if (std::ssize(all) + std::ssize(fresh) > kRetainedMax) {
          all.erase(all.begin() + 1, all.begin() + std::ssize(all) / 2);
        }
        assert(!all.empty() && "the first record says of which key they are");
        all.insert(all.end(), fresh.begin(), fresh.end());
        return bytes_of(all);
      },
      /*is_durable=*/false));
}

void JudgedMemory::add(std::string_view session_id, std::span<const std::string> values) {
  if (session_id.empty() && !holds_for_all_) {
    return;
  }
  const std::lock_guard guard(mutex_);
  read_again();
  read_key();
  const JudgedValues maker(key_);
  std::vector<Record> fresh;
  for (const std::string& value : values) {
    const std::vector<Record> forms = maker.records_of(value, tag_of(session_id));
    fresh.insert(fresh.end(), forms.begin(), forms.end());
  }
  keep(fresh);
  records_.insert(records_.end(), fresh.begin(), fresh.end());
  set_.reset();
  count_ += values.size();
}

void JudgedMemory::hold_for_all() {
  const std::lock_guard guard(mutex_);
  holds_for_all_ = true;
  read_again();
  const auto widen = [](std::vector<Record>& records) {
    for (Record& each : records) {
      each.session = 0;
    }
  };
  widen(records_);
  set_.reset();
  if (writes_ && !records_.empty()) {
    static_cast<void>(store_.origins->change_state(kName, [&](const std::string& bytes) {
      std::vector<Record> all = records_in(bytes);
      widen(all);
      return bytes_of(all);
    }));
  }
}

std::uint32_t JudgedMemory::tag_of(std::string_view session_id) const {
  return holds_for_all_ || session_id.empty()
             ? 0
             : static_cast<std::uint32_t>(keyed_hash(key_, session_id)) | 1U;
}

std::shared_ptr<const JudgedValues> JudgedMemory::of(std::string_view session_id, bool looks) {
  const std::lock_guard guard(mutex_);
  if (looks) {
    read_again();
  }
  if (records_.empty()) {
    return nullptr;
  }
  const std::uint32_t tag = tag_of(session_id);
  if (set_ == nullptr || tag != set_of_) {
    auto made = std::make_shared<JudgedValues>(key_);
    for (auto each = records_.rbegin(); each != records_.rend(); ++each) {  // The newest first.
      if ((tag == 0 || each->session == 0 || each->session == tag) && each->start != 0) {
        made->add({&*each, 1});
      }
    }
    set_ = std::move(made);
    set_of_ = tag;
  }
  assert(set_ != nullptr && set_of_ == tag);
  return set_->empty() ? nullptr : set_;
}

}  // namespace bmad_mem
