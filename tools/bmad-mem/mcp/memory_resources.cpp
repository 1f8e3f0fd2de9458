// memory_resources.cpp - what a host can show or attach: sessions, entries, summaries.
//
//   memory://sessions                  all sessions, JSON
//   memory://sessions/{session_id}     a session: its manifest and its newest entries, JSON
//   memory://summaries/{session_id}    its running summary, Markdown
//   memory://entries/{id}              an entry in full, JSON
//
// What is marked sensitive is not among them: hosts hand resources to models.

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/summary.hpp"
#include "bmad_mem/text.hpp"
#include "cli/results.hpp"
#include "cli/session_choice.hpp"
#include "cli/text.hpp"
#include "cli/views.hpp"
#include "mcp/memory_service.hpp"
#include "mcp/memory_text.hpp"
#include "mcp/memory_tools.hpp"

namespace bmad_mem::cli {
namespace {

/// Sessions on one page of the list.
constexpr std::size_t kResourcePageSize = 50;

constexpr std::string_view kSessionsUri = MemoryWatch::kSessionsKey;
constexpr std::string_view kSessionUri = "memory://sessions/";
constexpr std::string_view kSummaryUri = "memory://summaries/";
constexpr std::string_view kEntryUri = "memory://entries/";

McpError unknown_resource(std::string_view uri) {
  return McpError{McpError::Kind::kUnknownResource,
                  fmt::format("Resource not found: {}", utf8_prefix(uri, 200)),
                  {}};
}

/// Where a page begins: after the session that was made at this time and has this id. Holds also
/// when that session has gone.
using Position = std::tuple<std::int64_t, std::string>;

Position position_of(const Session& session) {
  return {session.created_at.time_since_epoch().count(), session.session_id};
}

std::string as_cursor(const Session& session) {
  return fmt::format("1.{}.{}", session.created_at.time_since_epoch().count(), session.session_id);
}

std::optional<Position> read_cursor(std::string_view cursor) {
  const std::size_t end = cursor.find('.', 2);
  if (!cursor.starts_with("1.") || end == std::string_view::npos || end + 1 == cursor.size()) {
    return std::nullopt;
  }
  const auto created_ms = number_in<std::int64_t>(cursor.substr(2, end - 2));
  return created_ms ? std::optional<Position>({*created_ms, std::string(cursor.substr(end + 1))})
                    : std::nullopt;
}

std::string session_resource(const Session& session) {
  // No "title": a host shows that as it is.
  AnswerHead about;
  about.say("Session of " + format_minute(session.created_at));
  for (const auto& [label, name] :
       {std::pair{"title", &session.title}, std::pair{"project", &session.project_name}}) {
    if (!name->empty()) {
      about.name(label, *name);
    }
  }
  return json_object("uri", std::string(kSessionUri) + session.session_id, "name",
                     session.session_id, "description", about.lines(), "mimeType",
                     "application/json");
}

/// A text, or nothing for a resource that isn't there.
using Found = Result<std::optional<std::string>>;

Found all_sessions(const MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const std::vector<Session> sessions, memory.list_sessions());
  const auto shown = [&](const Session& session) {
    return raw_json(session_as_json(memory, session));
  };
  return std::optional(json_object(
      "total", sessions.size(), "newest",
      sessions | std::views::reverse | std::views::take(200) | std::views::transform(shown)));
}

Found one_session(MemoryManager& memory, const std::string& id) {
  const Result<Session> session = memory.load_session(id);
  if (!session) {
    const ErrorCode code = session.error().code;
    const bool is_known =
        code != ErrorCode::E_SESSION_NOT_FOUND && code != ErrorCode::E_INVALID_FORMAT;
    return is_known ? Found(session.error()) : Found(std::nullopt);
  }
  BMAD_TRY_ASSIGN(const std::vector<Entry> entries,
                  memory.list({.sessions = {id}, .without_sensitive = true, .limit = 100}));
  const auto shown = [](const Entry& entry) {
    return json_object("uri", std::string(kEntryUri) + entry.id, "id", entry.id, "type",
                       entry_type_name(entry.type), "timestamp", format_minute(entry.timestamp),
                       "who", entry.who, "headline", utf8_prefix(entry.headline, 300));
  };
  return std::optional(json_object("session", raw_json(session_as_json(memory, *session)),
                                   "newest_entries", that_fit(entries, kAnswerSizeMax, shown)));
}

Found one_summary(MemoryManager& memory, const std::string& id) {
  Summaries summaries(memory);
  const Result<SummaryStatus> status = summaries.status(id);
  if (!status || !status->exists || status->is_template) {
    return std::optional<std::string>();
  }
  BMAD_TRY_ASSIGN(std::string text, summaries.show(id));
  return std::optional(std::move(text));
}

Found one_entry(MemoryManager& memory, const std::string& id) {
  BMAD_TRY_ASSIGN(const std::vector<Entry> entries, memory.get({&id, 1}));
  const auto shown = std::ranges::find(entries, false, &Entry::sensitive);
  return shown == entries.end() ? std::nullopt : std::optional(entry_json_line(*shown));
}

/// What stands behind `prefix` in `uri`; nothing when it doesn't begin so, or ends there.
std::optional<std::string> behind(std::string_view uri, std::string_view prefix) {
  const bool fits = uri.size() > prefix.size() && uri.starts_with(prefix);
  return fits ? std::optional(percent_decoded(uri.substr(prefix.size()))) : std::nullopt;
}

}  // namespace

/// All sessions first, then each session, newest first.
McpAnswer<McpPage> MemoryService::resources(std::string_view cursor) {
  const std::optional<Position> from = read_cursor(cursor);
  if (!cursor.empty() && !from) {
    return invalid_params("unknown cursor; leave it out for the first page");
  }
  McpPage page;
  if (!from) {
    page.items = mcp_described("resources");
  }
  BMAD_TRY_ASSIGN(const MemoryManager* const memory, memory_.to_read());
  if (memory == nullptr) {
    return page;
  }
  BMAD_TRY_ASSIGN(std::vector<Session> sessions, memory->list_sessions());
  std::ranges::sort(sessions, std::ranges::greater(), position_of);
  std::erase_if(sessions,
                [&](const Session& session) { return from && position_of(session) >= *from; });
  std::ranges::transform(sessions | std::views::take(kResourcePageSize),
                         std::back_inserter(page.items), session_resource);
  if (sessions.size() > kResourcePageSize) {
    page.next_cursor = as_cursor(sessions[kResourcePageSize - 1]);
  }
  return page;
}

McpAnswer<std::vector<McpResourceText>> MemoryService::read_resource(std::string_view uri,
                                                                     McpCall& /*call*/) {
  BMAD_TRY_ASSIGN(MemoryManager* const memory, memory_.to_read());
  Found text = std::optional<std::string>();
  if (uri == kSessionsUri) {
    text = memory != nullptr ? all_sessions(*memory)
                             : Found(std::optional<std::string>(R"({"total":0,"newest":[]})"));
  }
  for (const auto& [prefix, read] : {std::pair(kSessionUri, &one_session),
                                     {kSummaryUri, &one_summary},
                                     {kEntryUri, &one_entry}}) {
    if (const std::optional<std::string> id = behind(uri, prefix); id && memory != nullptr) {
      text = read(*memory, *id);
    }
  }
  if (!text) {
    return text.error();
  }
  if (!*text) {
    return unknown_resource(uri);
  }
  const bool is_markdown = uri.starts_with(kSummaryUri);
  return std::vector<McpResourceText>{
      {std::string(uri), is_markdown ? "text/markdown" : "application/json", **std::move(text)}};
}

/// A resource is watched by its name without percent encoding; it need not be there yet.
McpAnswer<McpSubscription> MemoryService::subscribe(const std::string& uri, McpOnChange on_change) {
  if (uri == kSessionsUri) {
    return watch_.subscribe(uri, std::move(on_change));
  }
  for (const std::string_view prefix : {kSessionUri, kEntryUri}) {
    if (const std::optional<std::string> id = behind(uri, prefix)) {
      return watch_.subscribe(std::string(prefix) + *id, std::move(on_change));
    }
  }
  return McpError{
      McpError::Kind::kUnknownResource, "Resource not found, or it can't be watched: " + uri, {}};
}

McpSubscription MemoryService::subscribe_to_list(McpOnChange on_change) {
  return watch_.subscribe(std::string(kSessionsUri), std::move(on_change));
}

}  // namespace bmad_mem::cli
