// session_title.cpp - names a session by its first request, its summary, its agent or its day.
#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "model/entry.hpp"
#include "model/title.hpp"
#include "store/access.hpp"
#include "store/append_log.hpp"
#include "store/layout.hpp"
#include "store/manifest.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// Who asked nothing by then is an agent.
constexpr std::size_t kLinesMax = 64;
constexpr std::size_t kBytesMax = std::size_t{64} << 10U;
/// Most requests are within it.
constexpr std::size_t kFirstRead = std::size_t{8} << 10U;
/// To read and look through less takes no longer than to ask the index.
constexpr std::uint64_t kLongLog = std::uint64_t{256} << 10U;

/// Whose words a title quotes: a user's request, or the headline of any entry.
enum class Words : std::uint8_t { kRequest, kHeadline };

/// A log that may say what its session is called.
struct Speaker {
  EntryType type = EntryType::kConversation;
  Words words = Words::kRequest;
};

/// Who speaks where nobody asked, what says most first.
constexpr std::array<EntryType, 8> kSpeakers = {
    EntryType::kDecision, EntryType::kFinding,      EntryType::kFact,  EntryType::kPreference,
    EntryType::kArtifact, EntryType::kConversation, EntryType::kEvent, EntryType::kAgentState};

/// What `entry` says, as far as a title may say it at `now`: it is no secret, and has not expired.
std::string shown_words(Speaker speaker, JsonValue entry, Timestamp now) {
  if (entry[kSensitiveField].boolean() ||
      has_expired(try_parse_rfc3339(entry[kExpiresField].string()), now)) {
    return {};
  }
  if (speaker.words == Words::kHeadline) {
    return entry_headline(speaker.type, entry, kRequestWidth);
  }
  return entry["role"].string() == "user" ? request_line(entry["content"].string()) : std::string();
}

/// The last of the whole lines in `log` with entry `id`; empty when there is none.
std::string_view last_version(std::string_view log, const std::string& id) {
  assert(!id.empty());
  const std::string quoted = fmt::format("\"{}\"", id);
  JsonParser parser;
  std::string_view last;
  while (const void* const found = memmem(log.data(), log.size(), quoted.data(), quoted.size())) {
    const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - log.data());
    const std::size_t end = log.find('\n', at);
    if (end == std::string_view::npos) {
      break;
    }
    const std::size_t begin = log.rfind('\n', at) + 1;  // npos + 1 is 0.
    const std::string_view line = log.substr(begin, end - begin);
    if (const Result<JsonValue> entry = parser.parse(line); entry && entry_id(*entry) == id) {
      last = line;
    }
    log.remove_prefix(end);
  }
  return last;
}

/// Whether no later line says more.
bool are_enough(Speaker speaker, const std::string& words) {
  return speaker.words == Words::kRequest ? says_something(words) : !words.empty();
}

/// Gives the newest line of an entry; empty when the one at hand is.
using NewestLine = std::function<std::string(const std::string& id)>;

/// The first words in whole lines of the log of `speaker`, of which `lines` were looked at by then.
/// Without `newest`, in any version.
std::string first_words(Speaker speaker, std::string_view log, const NewestLine& newest,
                        Timestamp now, std::size_t& lines) {
  JsonParser parser;
  std::string first;  // Where no words say something.
  while (!log.empty() && lines < kLinesMax) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(log.size(), line.size() + 1));
    ++lines;
    if (speaker.words == Words::kRequest && line.find("user") == std::string_view::npos) {
      continue;
    }
    const Result<JsonValue> entry = parser.parse(line);
    std::string words = entry ? shown_words(speaker, *entry, now) : std::string();
    if (words.empty()) {
      continue;
    }
    const std::string id(entry_id(*entry));
    if (newest && !id.empty()) {
      const std::string its = newest(id);
      const Result<JsonValue> later = parser.parse(its.empty() ? line : its);
      words = later ? shown_words(speaker, *later, now) : std::string();
    }
    if (are_enough(speaker, words)) {
      return words;
    }
    first = first.empty() ? words : first;
  }
  return first;
}

/// The same of all of a log, which has the newest versions.
std::string whole_first_words(Speaker speaker, std::string_view log, Timestamp now,
                              std::size_t& lines) {
  const auto newest = [log](const std::string& id) { return std::string(last_version(log, id)); };
  return first_words(speaker, log, newest, now, lines);
}

/// Reads on, up to `size` bytes. Whether there may be more.
bool read_on(File& log, std::string& bytes, std::size_t size) {
  const std::size_t had = bytes.size();
  assert(had <= size);
  bytes.resize_and_overwrite(size, [&](char* data, std::size_t) {
    return had + log.read_at(had, std::span(data, size).subspan(had)).value_or(0);
  });
  return bytes.size() == size;
}

/// What `log` says, of which the first lines are `head`, as far as an index knows their newest
/// versions and these say enough; else empty.
std::string known_first_words(Speaker speaker, const Store& store, const std::string& session_id,
                              std::string_view head) {
  bool is_known = store.above.newest_line != nullptr;
  const NewestLine newest = [&](const std::string& id) {
    const auto line =
        is_known ? store.above.newest_line(store, session_id, speaker.type, id) : std::nullopt;
    is_known = line.has_value();
    return line.value_or("");
  };
  std::size_t lines = 0;
  std::string words = first_words(speaker, head, newest, store.clock.now(), lines);
  return is_known && are_enough(speaker, words) ? words : std::string();
}

/// Reads no more of the log than it needs: all of it only where its head has such words, of which
/// there may be newer versions that no index knows. Empty also when it can't be read.
std::string read_first_words(Speaker speaker, const Store& store, FileSystem& files,
                             const std::string& session_id) {
  const Timestamp now = store.clock.now();
  const std::string name(entry_type_info(speaker.type).log_file);
  const Result<std::unique_ptr<File>> log =
      files.open(session_file(session_id, name), OpenMode::kRead);
  std::string bytes;
  std::size_t seen = 0;
  std::size_t lines = 0;
  for (std::size_t wanted = kFirstRead; log; wanted *= 4) {
    const bool has_more = read_on(**log, bytes, wanted);
    const std::size_t end = bytes.rfind('\n') + 1;  // npos + 1 is 0: no line is whole.
    const std::string_view head = std::string_view(bytes).substr(seen, end - seen);
    if (!first_words(speaker, head, nullptr, now, lines).empty()) {
      if (has_more) {
        constexpr std::uint64_t kWholeMax = 4 * kTextLineMax;
        const Result<FileInfo> info = (*log)->info();
        const std::uint64_t size = info ? info->size : 0;
        std::string known = size >= kLongLog && &files == store.files.get()
                                ? known_first_words(speaker, store, session_id,
                                                    std::string_view(bytes).substr(0, end))
                                : std::string();
        if (!known.empty()) {
          return known;
        }
        bytes.clear();  // In one go: growing would copy it each time.
        read_on(**log, bytes, std::min(size, kWholeMax));
      }
      lines = 0;
      bytes.resize(bytes.rfind('\n') + 1);
      return whole_first_words(speaker, bytes, now, lines);
    }
    if (!has_more || end > kBytesMax || lines >= kLinesMax || wanted > kLineSizeMax) {
      return {};
    }
    seen = end;
  }
  return {};
}

/// The headline of one entry of the session; empty when none may be quoted.
std::string read_entry_line(const Store& store, FileSystem& files, const std::string& session_id) {
  for (const EntryType type : kSpeakers) {
    if (!check_read(store, type)) {
      continue;
    }
    const Speaker speaker{.type = type, .words = Words::kHeadline};
    const std::string words = read_first_words(speaker, store, files, session_id);
    if (!words.empty()) {
      return title_of_request(words);
    }
  }
  return {};
}

std::string read_summary_line(FileSystem& files, const std::string& session_id) {
  constexpr std::uint64_t kSummarySizeMax = 1U << 20U;
  const Result<std::string> text =
      read_file(files, session_file(session_id, kSummaryName), kSummarySizeMax);
  return text ? summary_line(*text) : std::string();
}

/// "architect, 2026-01-11"
std::string day_title(const std::vector<std::string>& agents, std::string_view type,
                      Timestamp created_at) {
  const std::string_view who = agents.empty() ? type : std::string_view(agents.front());
  const std::string day =
      format_rfc3339(created_at).substr(0, std::string_view("2026-01-11").size());
  assert(day.size() == std::string_view("2026-01-11").size());
  return title_line(fmt::format("{}, {}", who.empty() ? "session" : who, day));
}

}  // namespace

std::string_view title_source_name(TitleSource source) {
  static constexpr std::array<std::string_view, 5> kNames = {"chosen", "request", "summary", "day",
                                                             "entry"};
  assert(static_cast<std::size_t>(source) < kNames.size());
  return kNames[static_cast<std::size_t>(source)];
}

DerivedTitle derived_title(std::string_view conversation, std::string_view summary) {
  std::size_t lines = 0;
  DerivedTitle derived;
  derived.first_request = whole_first_words({}, conversation, Timestamp::max(), lines);
  derived.title = derived.first_request.empty() ? summary_line(summary)
                                                : title_of_request(derived.first_request);
  return derived;
}

void add_title(const Store& store, FileSystem& files, Session& session) {
  const bool may_read = check_read(store, EntryType::kConversation).has_value();
  session.first_request = may_read ? read_first_words({}, store, files, session.session_id) : "";
  if (!session.title.empty()) {
    return;  // Chosen.
  }
  if (!session.first_request.empty()) {
    session.title = title_of_request(session.first_request);
    session.title_from = TitleSource::kRequest;
    return;
  }
  session.title =
      may_read_summaries(store) ? read_summary_line(files, session.session_id) : std::string();
  session.title_from = session.title.empty() ? TitleSource::kDay : TitleSource::kSummary;
  if (session.title.empty() && session.agent_ids.empty()) {
    session.title = read_entry_line(store, files, session.session_id);
    session.title_from = session.title.empty() ? TitleSource::kDay : TitleSource::kEntry;
  }
  if (session.title.empty()) {
    assert(session.title_from == TitleSource::kDay);
    session.title = day_title(session.agent_ids, session.session_type, session.created_at);
  }
}

void add_title(const Store& store, const Manifest& manifest, DerivedTitle derived,
               ArchivedSession& session) {
  if (!check_read(store, EntryType::kConversation)) {
    derived = {};
  }
  if (derived.first_request.empty() && !may_read_summaries(store)) {
    derived.title.clear();  // It is of the summary.
  }
  session.title_from = !manifest.title.empty()         ? TitleSource::kChosen
                       : derived.title.empty()         ? TitleSource::kDay
                       : derived.first_request.empty() ? TitleSource::kSummary
                                                       : TitleSource::kRequest;
  session.first_request = std::move(derived.first_request);
  session.title = manifest.title.empty() ? derived.title : manifest.title;
  if (session.title.empty()) {
    session.title = day_title(manifest.agent_ids, manifest.session_type, manifest.created_at);
  }
}

}  // namespace bmad_mem
