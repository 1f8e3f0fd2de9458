#include "posting_lines.hpp"

#include <algorithm>
#include <deque>
#include <vector>

#include <fmt/format.h>

#include "checkpoint_text.hpp"
#include "core/hash.hpp"
#include "digits.hpp"

namespace bmad_mem {
namespace {

/// A key as it stands in the file, and what is new under it.
struct NewKey {
  std::string_view escaped;
  std::span<const Posting> postings;
};

class NewKeys {
 public:
  NewKeys(const Memtable& memtable, PostingKind kind) {
    const std::vector<Memtable::KeyedPostings> sorted = memtable.sorted(kind);
    keys_.reserve(sorted.size());
    for (const Memtable::KeyedPostings& each : sorted) {
      keys_.push_back({.escaped = escaped(each.key), .postings = each.postings});
    }
    if (!std::ranges::is_sorted(keys_, {}, &NewKey::escaped)) {  // An escape sorts elsewhere.
      std::ranges::sort(keys_, {}, &NewKey::escaped);
    }
  }

  [[nodiscard]] std::span<const NewKey> all() const { return keys_; }
  /// About as long as their lines are.
  [[nodiscard]] std::size_t text_size() const {
    constexpr std::size_t kLineFrame = 8;
    constexpr std::size_t kPostingSize = 6;
    std::size_t size = 0;
    for (const NewKey& key : keys_) {
      size += key.escaped.size() + kLineFrame + key.postings.size() * kPostingSize;
    }
    return size;
  }

 private:
  std::string_view escaped(std::string_view key) {
    return has_escapes(key) ? escaped_.emplace_back(escaped_key(key)) : key;
  }

  std::vector<NewKey> keys_;
  std::deque<std::string> escaped_;
};

/// The old checkpoint does not hold: the logs are indexed anew.
Error damaged(std::string_view what) {
  return {.code = ErrorCode::E_STORAGE_CORRUPT,
          .message = fmt::format("the old index can't be used ({})", what)};
}

/// Old lines, and new keys between and behind them.
class Merge {
 public:
  Merge(std::span<const NewKey> added, LiveEntries* live, PostingLines& out)
      : added_(added), live_(live), out_(out) {}

  /// `old` ends with a comma and a newline.
  Status take_old(std::string_view old, Ordinal entry_count) {
    for (std::size_t at = 0; at < old.size();) {
      const std::string_view line = line_at(old, at);
      const KeyLine split = split_list_line(line);
      if (!split.good) {
        return damaged("a line is none");
      }
      if (next_ < added_.size() && added_[next_].escaped <= split.key) {
        copy_run(old.substr(run_begin_, at - run_begin_));
        run_begin_ = at;
        take_new_before(split.key);
      }
      if (next_ < added_.size() && added_[next_].escaped == split.key) {
        const Ordinal last = split.value.empty() ? kNoOrdinal : last_ordinal(split.value);
        if (last >= entry_count) {
          return damaged("a posting list is none");
        }
        out_.add_grown(split.key, split.value, last, added_[next_++].postings);
        run_begin_ = at + line.size() + 1;
      } else {
        ++run_count_;
      }
      at += line.size() + 1;
    }
    copy_run(old.substr(run_begin_));
    return {};
  }

  void take_rest() {
    while (next_ < added_.size()) {
      take_new();
    }
  }

 private:
  void copy_run(std::string_view lines) {
    out_.copy(lines, run_count_);
    run_count_ = 0;
  }
  void take_new_before(std::string_view key) {
    while (next_ < added_.size() && added_[next_].escaped < key) {
      take_new();
    }
  }
  void take_new() {
    const NewKey& key = added_[next_++];
    const std::span<const Posting> postings =
        live_ == nullptr ? key.postings : live_->renumbered(key.postings);
    if (!postings.empty()) {
      out_.add(key.escaped, postings);
    }
  }

  std::span<const NewKey> added_;
  std::size_t next_ = 0;  // Of `added_`.
  LiveEntries* live_;
  PostingLines& out_;
  std::size_t run_begin_ = 0;    // Of the old lines that were not copied yet.
  std::uint64_t run_count_ = 0;  // How many they are.
};

}  // namespace

void PostingLines::begin_line(std::string_view key) {
  if (is_block_full()) {
    end_block();
  }
  lines_ += '"';
  lines_ += key;
  lines_ += "\": ";
  ++keys_;
}

void PostingLines::add(std::string_view key, std::span<const Posting> postings) {
  begin_line(key);
  lines_ += '[';
  append_postings(postings, kNoOrdinal, lines_);
  lines_ += "],\n";
}

void PostingLines::add_grown(std::string_view key, std::string_view old_list, Ordinal last,
                             std::span<const Posting> postings) {
  begin_line(key);
  lines_ += old_list.substr(0, old_list.size() - 1);
  append_postings(postings, last, lines_);
  lines_ += "],\n";
}

void PostingLines::copy(std::string_view lines, std::uint64_t count) {
  keys_ += count;
  while (!lines.empty()) {
    if (is_block_full()) {
      end_block();
    }
    // Up to the end of the line that fills the block, if there is one.
    const std::size_t room = kBlockSize - (lines_.size() - block_begin_);
    const std::size_t end = room > lines.size() ? lines.size() : lines.find('\n', room - 1) + 1;
    lines_ += lines.substr(0, end);
    lines.remove_prefix(end);
  }
}

void PostingLines::finish() {
  if (lines_.empty()) {
    return;
  }
  lines_.erase(lines_.size() - 2, 1);  // JSON wants no comma behind the last.
  end_block();
  directory_.erase(directory_.size() - 2, 1);
}

void PostingLines::end_block() {
  const std::string_view block = std::string_view(lines_).substr(block_begin_);
  directory_ += '"';
  directory_ += split_list_line(line_at(block, 0)).key;
  directory_ += "\": \"";
  append_digits(block_begin_, kBlockOffsetDigits, directory_);
  append_digits(low_digits(xxh3(block), kBlockHashDigits), kBlockHashDigits, directory_);
  directory_ += "\",\n";
  block_begin_ = lines_.size();
}

Result<PostingLines> make_posting_lines(const Memtable& memtable, PostingKind kind,
                                        const CheckpointReader* old, LiveEntries* live) {
  const NewKeys added(memtable, kind);
  PostingLines lines;
  Merge merge(added.all(), live, lines);
  if (old == nullptr) {
    lines.reserve(added.text_size());
  } else {
    BMAD_TRY_ASSIGN(std::string text, old->section(postings_section(kind)));
    lines.reserve(text.size() + added.text_size());
    if (!text.empty()) {
      if (text.back() != '\n') {
        return damaged("a line has no end");
      }
      text.insert(text.size() - 1, ",");
    }
    BMAD_TRY(merge.take_old(text, old->entry_count()));
  }
  merge.take_rest();
  lines.finish();
  return lines;
}

}  // namespace bmad_mem
