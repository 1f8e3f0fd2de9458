// session_lines.cpp - matches the lines of a log with the feed, and changes lines that left it.
#include <algorithm>
#include <cassert>
#include <unordered_map>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "bmad_mem/json.hpp"
#include "lifecycle/deletion.hpp"
#include "model/entry.hpp"
#include "session_feed.hpp"
#include "store/deletion_record.hpp"
#include "store/evicted_file.hpp"
#include "store/layout.hpp"
#include "store/line_hashes.hpp"
#include "store/line_reader.hpp"
#include "store/root_trust.hpp"

namespace bmad_mem {
namespace {

template <typename Line>
LineKey key_of(const Line& line) {
  return {line.type, xxh3(line.line)};
}

}  // namespace

Result<SessionLines> SessionLines::read(FileSystem& files, const std::string& session_id,
                                        EntryType type, const std::vector<FeedLine>& feed) {
  SessionLines out;
  BMAD_TRY_ASSIGN(
      std::string bytes,
      read_if_there(files, session_file(session_id, entry_type_info(type).log_file), kLogSizeMax));
  out.texts_.push_back(std::move(bytes));
  const std::string_view text = out.texts_.back();
  std::uint64_t number = 0;
  std::size_t begin = 0;
  for_each_text_line(whole_lines(text), [&](std::string_view line) {
    ++number;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      out.lines_.push_back({.text = line, .hash = xxh3(line), .offset = begin, .number = number});
    }
    begin += line.size() + 1;
  });
  out.read_count_ = out.lines_.size();
  out.match(feed);
  return out;
}

/// Pairs the lines with the feed in one pass, in the order of both: a line is the next row of its
/// hash. Rows that are passed over are missing, and lines without a row are new.
void SessionLines::match(const std::vector<FeedLine>& feed) {
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> places;  // In the feed, last first.
  places.reserve(feed.size());
  for (std::size_t i = feed.size(); i-- > 0;) {
    places[feed[i].hash].push_back(i);
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const auto found = places.find(lines_[i].hash);
    while (found != places.end() && !found->second.empty() && found->second.back() < next) {
      found->second.pop_back();
    }
    if (found == places.end() || found->second.empty()) {
      new_hashes_.insert(lines_[i].hash);
      continue;
    }
    for (; next < found->second.back(); ++next) {
      missing_.push_back(feed[next]);
    }
    lines_[i].seq = feed[next++].seq;
    last_ = i + 1;
  }
  // New lines at the end may be in the place of missing ones, redacted or encrypted.
  last_ = std::min(last_ + feed.size() - next, lines_.size());
  missing_.insert(missing_.end(), feed.begin() + static_cast<std::ptrdiff_t>(next), feed.end());
  // Each line of the feed is in the log, or missing.
  assert(lines_.size() - new_hashes_.size() + missing_.size() == feed.size());
}

bool SessionLines::take(std::uint64_t seq, std::string_view text, bool puts_in) {
  assert(!text.contains('\n') && last_ <= lines_.size());
  const std::uint64_t hash = xxh3(text);
  const auto known = new_hashes_.find(hash);
  const auto own = known == new_hashes_.end()
                       ? lines_.end()
                       : std::ranges::find_if(lines_, [&](const SessionLine& line) {
                           return line.seq == 0 && line.text == text;
                         });
  const auto at = [&](std::size_t i) { return lines_.begin() + static_cast<std::ptrdiff_t>(i); };
  if (own != lines_.end()) {
    new_hashes_.erase(known);
    own->seq = seq;
    const auto place = static_cast<std::size_t>(own - lines_.begin());
    if (place + 1 >= last_) {
      last_ = place + 1;
    } else {  // It stood between older ones of the feed.
      std::rotate(own, own + 1, at(last_));
      is_rewritten_ = true;
    }
    return true;
  }
  if (puts_in) {
    texts_.emplace_back(text);
    is_rewritten_ = is_rewritten_ || last_ < lines_.size();
    lines_.insert(at(last_), {.text = texts_.back(), .hash = hash, .seq = seq});
    ++last_;
  } else {
    missing_.push_back({.seq = seq, .hash = hash});
  }
  return false;
}

bool SessionLines::replace(std::uint64_t seq, std::string_view text) {
  assert(!text.contains('\n') && "rows of several lines are skipped");
  const auto found = std::ranges::find(lines_, seq, &SessionLine::seq);
  if (found == lines_.end()) {
    return false;
  }
  if (found->text != text) {
    texts_.emplace_back(text);
    found->text = texts_.back();
    found->hash = xxh3(text);
    is_rewritten_ = true;
  }
  return true;
}

void SessionLines::adopt(std::uint64_t seq, std::string_view text) {
  const auto gone = std::ranges::find(missing_, seq, &FeedLine::seq);
  if (gone == missing_.end()) {
    return;
  }
  const std::uint64_t hash = xxh3(text);
  const auto known = new_hashes_.find(hash);
  const auto own = std::ranges::find_if(lines_, [&](const SessionLine& line) {
    return known != new_hashes_.end() && line.seq == 0 && line.text == text;
  });
  if (own == lines_.end()) {
    gone->hash = hash;
    return;
  }
  new_hashes_.erase(known);
  missing_.erase(gone);
  own->seq = seq;
  last_ = std::max(last_, static_cast<std::size_t>(own - lines_.begin()) + 1);
}

bool SessionLines::has_new(std::string_view text) const { return new_hashes_.contains(xxh3(text)); }

std::string SessionLines::text_to_write() const {
  assert(read_count_ <= lines_.size() && "no line is removed");
  std::string out;
  for (std::size_t i = is_rewritten_ ? 0 : read_count_; i < lines_.size(); ++i) {
    out += lines_[i].text;
    out += '\n';
  }
  return out;
}

std::vector<FeedLine> SessionLines::feed() const {
  std::vector<FeedLine> feed = missing_;
  for (const SessionLine& line : lines_) {
    if (line.seq != 0) {
      feed.push_back({.seq = line.seq, .hash = line.hash});
    }
  }
  std::ranges::sort(feed, {}, &FeedLine::seq);
  return feed;
}

Result<std::vector<LeftLine>> read_left_lines(const Store& store, const std::string& session_id) {
  std::vector<LeftLine> left;
  BMAD_TRY_ASSIGN(const std::vector<DeletedLine> deleted,
                  read_all_deleted(*store.files, session_id));
  for (const DeletedLine& line : deleted) {
    left.push_back({FeedOp::kDelete, line.type, line.line, xxh3(line.line), line.of_session});
  }
  BMAD_TRY_ASSIGN(const std::vector<EvictedLine> evicted, read_evicted(*store.files, session_id));
  for (const EvictedLine& line : evicted) {
    left.push_back({FeedOp::kEvict, line.type, line.line, xxh3(line.line)});
  }
  return left;
}

Status redact_left_line(Store& store, const std::string& session_id, const LineKey& of,
                        const std::string& line) {
  const auto change = [&](auto& kept) {
    bool is_changed = false;
    for (auto& each : kept) {
      if (key_of(each) == of && each.line != line) {
        CarriedLines carried(store.origins->provenance(), session_id);
        carried.add(each.type, each.line, line);
        carried.settle();
        each.line = line;
        is_changed = true;
      }
    }
    return is_changed;
  };
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(std::vector<DeletedLine> deleted, read_deleted(files, session_id));
  if (change(deleted)) {
    BMAD_TRY(replace_deleted(files, session_id, deleted));
  }
  BMAD_TRY_ASSIGN(const std::vector<DeletedLog> logs, deleted_logs(files, session_id));
  for (const DeletedLog& log : logs) {
    std::vector<DeletedLine> lines;
    if (log.type == of.first) {
      BMAD_TRY_ASSIGN(lines, read_deleted_log(files, log));
    }
    if (change(lines)) {
      std::string text;
      for (const DeletedLine& each : lines) {
        text.append(each.line).append("\n");
      }
      BMAD_TRY(replace_log(files, log.path, text));
    }
  }
  BMAD_TRY_ASSIGN(std::vector<EvictedLine> evicted, read_evicted(files, session_id));
  return change(evicted) ? replace_evicted(files, session_id, evicted) : Status();
}

Status drop_deleted_lines(Store& store, const std::string& session_id,
                          const std::set<LineKey>& keys) {
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(std::vector<DeletedLine> deleted, read_deleted(files, session_id));
  const bool is_changed =
      std::erase_if(deleted, [&](const auto& line) { return keys.contains(key_of(line)); }) > 0;
  return is_changed ? replace_deleted_lines(files, session_id, deleted) : Status();
}

Status drop_evicted_lines(Store& store, const std::string& session_id,
                          const std::set<LineKey>& keys) {
  BMAD_TRY_ASSIGN(std::vector<EvictedLine> evicted, read_evicted(*store.files, session_id));
  const bool is_changed =
      std::erase_if(evicted, [&](const auto& line) { return keys.contains(key_of(line)); }) > 0;
  return is_changed ? replace_evicted(*store.files, session_id, evicted) : Status();
}

Result<LocallyGone> read_locally_gone(const Store& store, const std::string& session_id) {
  LocallyGone gone;
  BMAD_TRY_ASSIGN(const std::vector<LeftLine> left, read_left_lines(store, session_id));
  for (const LeftLine& line : left) {
    gone.lines[line.key()] |= line.left_by == FeedOp::kDelete;
  }
  BMAD_TRY_ASSIGN(DeletionRecord record, load_deletion_record(*store.files, session_id));
  gone.purged = std::move(record.purged_ids);
  return gone;
}

Result<std::vector<LogLine>> find_session_lines(
    FileSystem& files, const std::string& session_id, const SessionMirror& mirror,
    const std::function<bool(EntryType type, const SessionLine& line)>& passes) {
  std::vector<LogLine> found;
  JsonParser parser;
  for (const EntryType type : kEntryTypes) {
    const auto& feed = mirror.logs.at(static_cast<std::size_t>(type));
    BMAD_TRY_ASSIGN(const SessionLines lines, SessionLines::read(files, session_id, type, feed));
    for (const SessionLine& line : lines.lines()) {
      if (passes(type, line)) {
        found.push_back({.type = type,
                         .id = entry_id_in(parser, line.text),
                         .line = line.number,
                         .offset = line.offset,
                         .size = line.text.size() + 1});
      }
    }
  }
  return found;
}

}  // namespace bmad_mem
