// encrypted_reads.cpp - opens encrypted lines for one question, and indexes those that may answer
// it.
#include "encrypted_reads.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <ranges>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/parallel.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "index/token_folder.hpp"
#include "model/entry.hpp"
#include "search/archive_reader.hpp"
#include "search/session_index.hpp"
#include "search/slot_table.hpp"
#include "store/layout.hpp"
#include "store/line_encryption.hpp"
#include "store/line_reader.hpp"
#include "store/unpacked_files.hpp"

namespace bmad_mem {
namespace {

/// Whether a letter of `text` beyond ASCII may be one of ASCII in a term: é, full-width forms,
/// mathematical ones. Dashes, arrows and other scripts are none.
bool may_fold_to_ascii(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead < 0xC3) {
      continue;
    }
    const auto next = static_cast<unsigned char>(at + 1 < text.size() ? text[at + 1] : 0);
    if (lead <= 0xCD || lead == 0xE1 || lead == 0xEF || (lead == 0xE2 && next >= 0x84) ||
        (lead == 0xF0 && next == 0x9D)) {
      return true;
    }
  }
  return text.find("\\u") != std::string_view::npos;
}

/// Writes `size` letters of `text` to `lower`; ored bytes. Blocks of one size, for the vectors of
/// the machine.
unsigned char lower_to(const char* __restrict text, std::size_t size, char* __restrict lower) {
  constexpr std::size_t kBlock = 64;
  std::array<unsigned char, kBlock> seen{};
  std::size_t at = 0;
  for (; at + kBlock <= size; at += kBlock) {
    for (std::size_t i = 0; i < kBlock; ++i) {
      const auto c = static_cast<unsigned char>(text[at + i]);
      seen[i] |= c;
      lower[at + i] = static_cast<char>(c | (static_cast<unsigned char>(c - 'A') < 26U ? 32U : 0U));
    }
  }
  for (; at < size; ++at) {
    seen[0] |= static_cast<unsigned char>(text[at]);
    lower[at] = to_lower(text[at]);
  }
  return std::accumulate(seen.begin(), seen.end(), static_cast<unsigned char>(0), std::bit_or<>());
}

/// Whether a text holds the beginning of a word of the question, however its letters are written.
/// Threads: one a thread.
class NeedleFinder {
 public:
  explicit NeedleFinder(std::span<const std::string> needles) : needles_(needles) {}

  /// Of an entry and its line. The names of members hold no word, so that a line that may hold one
  /// is looked at once more: to index it takes three times as long.
  bool may_answer(EntryType type, const std::string& line) {
    if (!holds(line) && !is_suspect_) {
      return false;
    }
    const Result<JsonValue> value = parser_.parse(line);
    text_.clear();
    if (value) {
      entry_searchable_text(type, *value, text_, ' ');
    }
    if (holds(text_) || !is_suspect_) {
      return is_found_;
    }
    lower_.clear();
    for (std::string_view rest = text_; !rest.empty();) {
      const std::size_t end = std::min(rest.find_first_of(" \n\t"), rest.size());
      if (const std::string_view word = rest.substr(0, end); !std::ranges::all_of(word, is_ascii)) {
        lower_.append(word).push_back(' ');
      }
      rest.remove_prefix(std::min(rest.size(), end + 1));
    }
    constexpr std::size_t kGrowthMax = 18;  // Of U+FDFA.
    const std::string_view folded = folder_.fold(lower_, kGrowthMax * lower_.size());
    const bool is_there = is_in(without_marks(folded, text_));
    folder_.clear();
    return is_there;
  }

 private:
  /// Sets `is_found_` and, when it is not, `is_suspect_`: whether letters beyond ASCII may be it.
  bool holds(std::string_view text) {
    unsigned char all = 0;
    // Not what it is called with: GCC's library gives the room that there is for the size.
    lower_.resize_and_overwrite(text.size(), [&](char* to, std::size_t) {
      all = lower_to(text.data(), text.size(), to);
      return text.size();
    });
    is_found_ = is_in(lower_);
    is_suspect_ = !is_found_ && (all >= 0x80 || lower_.find("\\u") != std::string::npos) &&
                  may_fold_to_ascii(lower_);
    return is_found_;
  }

  [[nodiscard]] bool is_in(std::string_view text) const {
    return std::ranges::any_of(needles_, [&](const std::string& needle) {
      return ::memmem(text.data(), text.size(), needle.data(), needle.size()) != nullptr;
    });
  }

  std::span<const std::string> needles_;
  JsonParser parser_;
  TokenFolder folder_;
  std::string lower_;
  std::string text_;
  bool is_found_ = false;
  bool is_suspect_ = false;
};

enum class LineKind : std::uint8_t { kOther, kPlain, kOpened, kClosed, kDamaged, kUnread };

/// A line of a log with encrypted ones.
struct LogLine {
  std::string_view text;  // In the log.
  std::uint64_t number = 0;
  LineKind kind = LineKind::kOther;
  bool may_be_encrypted = false;
  bool is_wanted = false;
  std::string id;
  Timestamp at{};  // When an encrypted one was written.
  std::string opened;
};

/// One log, opened line by line.
class EncryptedLog {
 public:
  EncryptedLog(const EncryptedWish& wish, std::string_view session_id, EntryType type)
      : wish_(wish), session_id_(session_id), type_(type) {}

  /// Counts in `bytes` what is opened. Errors: as the file system's.
  Status read(FileSystem& files, const LineOpener* opener, std::uint64_t& bytes) {
    const std::string path = log_path(session_id_, type_);
    BMAD_TRY_ASSIGN(bytes_, read_if_there(files, path, kLogSizeMax));
    const std::size_t size = bytes_.size();
    bytes_.append(kJsonPadding, '\0');
    split(std::string_view(bytes_).substr(0, size), bytes);
    constexpr std::size_t kAtOnce = 32;
    for_each_parallel((lines_.size() + kAtOnce - 1) / kAtOnce, [&](std::size_t chunk) {
      JsonParser parser;
      NeedleFinder finder(wish_.needles);
      const std::size_t end = std::min(lines_.size(), (chunk + 1) * kAtOnce);
      for (std::size_t i = chunk * kAtOnce; i < end; ++i) {
        open(lines_[i], opener, parser, finder);
      }
    });
    choose();
    return {};
  }

  [[nodiscard]] std::span<const LogLine> lines() const { return lines_; }
  [[nodiscard]] std::uint64_t wanted() const { return wanted_; }
  [[nodiscard]] std::uint64_t all() const { return all_; }

  /// The lines that are wanted, where they are in the log.
  [[nodiscard]] std::string text() const {
    std::string text;
    std::uint64_t number = 1;
    for (const LogLine& line : lines_) {
      if (line.is_wanted) {
        assert(line.number >= number && "lines ascend by number");
        text.append(line.number - number, '\n');
        text += line.opened;
        text += '\n';
        number = line.number + 1;
      }
    }
    return text;
  }

 private:
  void split(std::string_view log, std::uint64_t& bytes) {
    log = log.substr(0, log.rfind('\n') + 1);  // What follows is torn.
    for (std::uint64_t number = 1; !log.empty(); ++number) {
      const std::string_view text = take_line(log);
      if (text.empty() || text.size() > kEntrySizeMax) {
        continue;
      }
      LogLine line{.text = text, .number = number};
      line.may_be_encrypted = text.find("\"sealed\"") != std::string_view::npos;
      if (line.may_be_encrypted) {
        bytes += text.size();
        line.kind = bytes > wish_.bytes_max ? LineKind::kUnread : LineKind::kOther;
      }
      lines_.push_back(std::move(line));
    }
  }

  void open(LogLine& line, const LineOpener* opener, JsonParser& parser,
            NeedleFinder& finder) const {
    if (!line.may_be_encrypted || line.kind == LineKind::kUnread) {
      return;
    }
    const std::optional<JsonValue> value = parser.try_parse_padded(line.text);
    if (!value || !is_encrypted(*value)) {
      return;
    }
    line.id = entry_id(*value);
    line.at = entry_written_time(*value);
    if (opener == nullptr || !opener->has_key(*value)) {
      line.kind = LineKind::kClosed;
      return;
    }
    line.kind = LineKind::kOpened;
    if (wish_.counts_only || (!wish_.ids.empty() && !is_asked(line.id))) {
      return;
    }
    Result<std::string> opened = opener->open(session_id_, type_, *value);
    if (!opened) {
      line.kind = LineKind::kDamaged;
      return;
    }
    line.opened = *std::move(opened);
    line.is_wanted = wish_.needles.empty() || finder.may_answer(type_, line.opened);
  }

  [[nodiscard]] bool is_asked(std::string_view id) const {
    return std::ranges::find(wish_.ids, id) != wish_.ids.end();
  }

  /// The latest version of an entry decides for all of them.
  void choose() {
    if (wish_.counts_only) {
      return;
    }
    std::unordered_map<std::string_view, std::size_t> latest;
    bool has_others = false;
    latest.reserve(lines_.size());
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (lines_[i].kind == LineKind::kOpened && !lines_[i].opened.empty()) {
        const auto [newest, is_first] = latest.try_emplace(lines_[i].id, i);
        if (is_first || lines_[newest->second].at <= lines_[i].at) {
          newest->second = i;
        } else {
          lines_[i].opened.clear();  // A copy of an older version replaces nothing.
        }
      }
      has_others = has_others || lines_[i].kind == LineKind::kOther;
    }
    if (has_others && !latest.empty()) {
      look_at_others(latest);
    }
    all_ = latest.size();
    if (std::ranges::none_of(lines_, &LogLine::is_wanted)) {
      return;
    }
    const auto unsorted = std::views::values(latest);
    std::vector<std::size_t> places(unsorted.begin(), unsorted.end());
    std::ranges::sort(places);
    std::vector<bool> wanted(places.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (!lines_[places[i]].is_wanted) {
        continue;
      }
      // What stands beside a message that answers is found with it, and ranks by its own window.
      const std::size_t reach = type_ == EntryType::kConversation ? 2 * kWindowReach : 0;
      for (std::size_t at = i - std::min(i, reach); at <= std::min(i + reach, places.size() - 1);
           ++at) {
        wanted[at] = true;
      }
    }
    std::unordered_set<std::string_view> ids;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (wanted[i]) {
        ids.insert(lines_[places[i]].id);
      }
    }
    wanted_ = ids.size();
    for (LogLine& line : lines_) {
      line.is_wanted = !line.opened.empty() && ids.contains(line.id);
    }
  }

  /// Takes out of `latest` the entries whose latest version is in clear, and notes those that have
  /// an earlier one.
  void look_at_others(std::unordered_map<std::string_view, std::size_t>& latest) {
    JsonParser parser;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const std::optional<JsonValue> value = lines_[i].kind == LineKind::kOther
                                                 ? parser.try_parse_padded(lines_[i].text)
                                                 : std::nullopt;
      const auto known = value ? latest.find(entry_id(*value)) : latest.end();
      if (known == latest.end()) {
        continue;
      }
      if (known->second < i) {
        lines_[known->second].kind = LineKind::kOpened;
        latest.erase(known);
      } else {
        lines_[known->second].kind = LineKind::kPlain;
      }
    }
  }

  const EncryptedWish& wish_;
  std::string_view session_id_;
  EntryType type_;
  std::string bytes_;
  std::vector<LogLine> lines_;
  std::uint64_t all_ = 0;  // Entries; so for the next.
  std::uint64_t wanted_ = 0;
};

/// The logs of the session as it is indexed.
Result<std::shared_ptr<FileSystem>> files_of(const Store& store, const IndexedSession& session) {
  if (!session.is_archived() && !session.is_evicted()) {
    return std::shared_ptr<FileSystem>(std::shared_ptr<void>(), store.files.get());  // Not owned.
  }
  BMAD_TRY_ASSIGN(const ArchiveReaderPtr packed,
                  archive_reader(store, session.session_id(), {.part = session.evicted_part()}));
  if (packed != nullptr) {
    BMAD_TRY(packed->files());  // What is wrong with it is said here.
  }
  return std::shared_ptr<FileSystem>(packed);
}

/// The index of `logs`, which are of `session`.
std::shared_ptr<SessionIndex> index_of_logs(const Store& store, const IndexedSession& session,
                                            NamedBytes logs, double entries_for_each) {
  SessionIndex::Options options = index_options(store, session.session_id());
  options.package = 1;
  options.archived = session.is_archived();
  options.evicted = session.evicted_part();
  options.entries_for_each = entries_for_each;
  return index_of_files(
      store,
      std::make_shared<UnpackedFiles>(
          store.files->display_path(session_folder(session.session_id())), 1, std::move(logs)),
      std::move(options));
}

}  // namespace

Status EncryptedSessions::add(const Store& store, const CachedIndexes& indexes,
                              const EncryptedWish& wish) {
  const CachedIndexes::EncryptedSessionLines encrypted = indexes.with_encrypted_lines();
  if (encrypted.empty()) {
    return {};
  }
  if (!store.encryption->opens() && wish.types.empty()) {
    closed += indexes.encrypted_lines();
    return {};
  }
  Result<std::unique_ptr<LineOpener>> opener = store.encryption->opener();
  if (!opener) {
    key_problem = opener.error();
  }
  const std::size_t begin = opened_.size();
  for (const auto& [session, lines] : encrypted) {
    BMAD_TRY_ASSIGN(const std::shared_ptr<FileSystem> files, files_of(store, *session));
    if (files == nullptr) {
      continue;  // It is damaged, and somebody was told.
    }
    NamedBytes logs;
    std::uint64_t all = 0;
    std::uint64_t wanted = 0;
    for (const EntryType type :
         wish.types.empty() ? std::span<const EntryType>(kEntryTypes) : wish.types) {
      EncryptedLog log(wish, session->session_id(), type);
      BMAD_TRY(log.read(*files, opener ? opener->get() : nullptr, bytes_));
      for (const LogLine& line : log.lines()) {
        closed += line.kind == LineKind::kClosed ? 1 : 0;
        damaged += line.kind == LineKind::kDamaged ? 1 : 0;
        unread += line.kind == LineKind::kUnread ? 1 : 0;
        if (line.kind == LineKind::kPlain) {
          replaced_.emplace(session->session_id(), type, line.id);
        }
      }
      all += log.all();
      wanted += log.wanted();
      if (log.wanted() > 0) {
        logs[log_path(session->session_id(), type)] = log.text();
      }
    }
    assert(wanted <= all);
    if (wanted > 0) {
      opened_.push_back(index_of_logs(store, *session, std::move(logs),
                                      static_cast<double>(all) / static_cast<double>(wanted)));
    }
  }
  std::vector<Status> done(opened_.size());
  for_each_parallel(opened_.size() - begin,
                    [&](std::size_t i) { done[begin + i] = opened_[begin + i]->refresh(); });
  std::vector<SessionIndex*> all;
  std::ranges::transform(opened_, std::back_inserter(all), &std::shared_ptr<SessionIndex>::get);
  for (std::size_t i = begin; i < opened_.size(); ++i) {
    BMAD_TRY(std::move(done[i]));
    opened_[i]->past_retention = &store.past_retention;
    sessions_.push_back(opened_[i].get());
  }
  for (SessionIndex* const each : all) {
    BMAD_TRY(each->is_evicted() ? each->hide_those_in(newer_than(*each, all)) : Status());
  }
  return {};
}

}  // namespace bmad_mem
