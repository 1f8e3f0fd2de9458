#include "store/session_title.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "model/title.hpp"
#include "store/access.hpp"
#include "store/append_log.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

/// Who asked nothing by then is an agent.
constexpr std::size_t kLinesMax = 64;
constexpr std::size_t kBytesMax = std::size_t{64} << 10U;
/// Most requests are within it.
constexpr std::size_t kFirstRead = std::size_t{8} << 10U;

/// The first request in whole lines of a log, of which `lines` were looked at by then.
std::string first_request(std::string_view log, JsonParser& parser, std::size_t& lines) {
  while (!log.empty() && lines < kLinesMax) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(log.size(), line.size() + 1));
    ++lines;
    if (line.find("user") == std::string_view::npos) {
      continue;
    }
    const Result<JsonValue> entry = parser.parse(line);
    if (entry && (*entry)["role"].string() == "user" && !(*entry)["sensitive"].boolean()) {
      if (std::string request = request_line((*entry)["content"].string()); !request.empty()) {
        return request;
      }
    }
  }
  return {};
}

/// Reads no more of the log than it needs. Empty also when it can't be read.
std::string read_first_request(FileSystem& files, const std::string& session_id) {
  const std::string name(entry_type_info(EntryType::kConversation).log_file);
  const Result<std::unique_ptr<File>> log =
      files.open(session_file(session_id, name), OpenMode::kRead);
  JsonParser parser;
  std::string bytes;
  std::size_t seen = 0;
  std::size_t lines = 0;
  for (std::size_t wanted = kFirstRead; log; wanted *= 4) {
    const std::size_t had = bytes.size();
    bytes.resize(wanted);
    const Result<std::size_t> got = (*log)->read_at(had, std::span(bytes).subspan(had));
    bytes.resize(had + got.value_or(0));
    const std::size_t end = bytes.rfind('\n') + 1;  // npos + 1 is 0: no line is whole.
    std::string request =
        first_request(std::string_view(bytes).substr(seen, end - seen), parser, lines);
    if (!request.empty() || bytes.size() < wanted || end > kBytesMax || lines >= kLinesMax ||
        wanted > kLineSizeMax) {
      return request;
    }
    seen = end;
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
  return title_line(fmt::format("{}, {}", who.empty() ? "session" : who, day));
}

}  // namespace

std::string_view title_source_name(TitleSource source) {
  switch (source) {
    case TitleSource::kChosen:
      return "chosen";
    case TitleSource::kRequest:
      return "request";
    case TitleSource::kSummary:
      return "summary";
    case TitleSource::kDay:
      break;
  }
  return "day";
}

DerivedTitle derived_title(std::string_view conversation, std::string_view summary) {
  JsonParser parser;
  std::size_t lines = 0;
  DerivedTitle derived;
  derived.first_request = first_request(conversation, parser, lines);
  derived.title = derived.first_request.empty() ? summary_line(summary)
                                                : title_of_request(derived.first_request);
  return derived;
}

void add_title(const Store& store, FileSystem& files, Session& session) {
  const bool may_read = check_read(store, EntryType::kConversation).has_value();
  session.first_request = may_read ? read_first_request(files, session.session_id) : "";
  if (!session.title.empty()) {
    return;  // Chosen.
  }
  if (!session.first_request.empty()) {
    session.title = title_of_request(session.first_request);
    session.title_from = TitleSource::kRequest;
    return;
  }
  session.title = may_read ? read_summary_line(files, session.session_id) : "";
  session.title_from = session.title.empty() ? TitleSource::kDay : TitleSource::kSummary;
  if (session.title.empty()) {
    session.title = day_title(session.agent_ids, session.session_type, session.created_at);
  }
}

void add_title(const Store& store, const Manifest& manifest, DerivedTitle derived,
               ArchivedSession& session) {
  if (!check_read(store, EntryType::kConversation)) {
    derived = {};
  }
  session.title_from = !manifest.title.empty()         ? TitleSource::kChosen
                       : derived.title.empty()         ? TitleSource::kDay
                       : derived.first_request.empty() ? TitleSource::kSummary
                                                       : TitleSource::kRequest;
  session.first_request = std::move(derived.first_request);
  session.title = !manifest.title.empty() ? manifest.title : std::move(derived.title);
  if (session.title.empty()) {
    session.title = day_title(manifest.agent_ids, manifest.session_type, manifest.created_at);
  }
}

}  // namespace bmad_mem
