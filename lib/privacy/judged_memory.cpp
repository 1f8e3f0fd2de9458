// judged_memory.cpp - the file of judged values: read when it has changed, at most so many of them.
#include <algorithm>
#include <cstring>

#include "judged_values.hpp"
#include "privacy/redaction.hpp"
#include "store/root_trust.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

using Record = JudgedValues::Record;

constexpr std::string_view kName = kJudgedName;
constexpr std::string_view kKeyName = "/judged.key";
/// Records of a root: 128 KiB. When there would be more, the older half goes.
constexpr std::ptrdiff_t kKeptMax = 8192;

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
        if (std::ssize(all) + std::ssize(fresh) > kKeptMax) {
          all.erase(all.begin() + 1, all.begin() + std::ssize(all) / 2);
        }
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
  return set_->empty() ? nullptr : set_;
}

}  // namespace bmad_mem
