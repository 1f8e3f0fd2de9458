// memory_tools_about.cpp - memory_sessions, memory_stats, memory_summary, memory_more.
#include <algorithm>
#include <cassert>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/summary.hpp"
#include "cli/session_choice.hpp"
#include "cli/text.hpp"
#include "cli/views.hpp"
#include "mcp/memory_text.hpp"
#include "mcp/memory_tools.hpp"
#include "mcp/tool_arguments.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// The one that was written last first.
Result<std::vector<Session>> sessions_by_use(const MemoryManager& memory) {
  BMAD_TRY_ASSIGN(std::vector<Session> sessions, memory.list_sessions());
  std::ranges::stable_sort(sessions, std::ranges::greater(), &Session::last_write);
  return sessions;
}

/// Reads every log, so it tells how far it is, session by session.
Result<Totals> count_all(const MemoryManager& memory, McpCall& call) {
  Totals totals;
  BMAD_TRY_ASSIGN(const std::vector<Session> all, memory.list_sessions());
  for (std::size_t i = 0; i < all.size() && !call.cancelled(); ++i) {
    const Result<SessionStatistics> counted = memory.statistics(all[i].session_id);
    if (counted) {
      totals.add(*counted);
    } else {
      ++totals.unreadable;
    }
    call.progress(static_cast<double>(i + 1), static_cast<double>(all.size()),
                  fmt::format("counted {}", all[i].session_id));
  }
  return totals;
}

Result<std::string> last_messages(MemoryManager& memory, const std::string& session,
                                  std::size_t count) {
  if (count == 0) {
    return std::string();
  }
  BMAD_TRY_ASSIGN(std::vector<Entry> entries, memory.list({.sessions = {session},
                                                           .types = {EntryType::kConversation},
                                                           .without_sensitive = true,
                                                           .limit = count}));
  std::ranges::reverse(entries);
  std::string out = entries.empty() ? "" : "\nIts last messages, oldest first:\n";
  const std::vector<std::string> sources = Knowledge(memory).sources(entries);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    out += entry_head(entries[i], sources[i]).lines() + quoted_lines(entries[i].headline, 300);
  }
  return out;
}

}  // namespace

Result<McpToolResult> mcp_session_list(MemoryToolCall& call) {
  const auto limit = call.count("limit");
  const auto offset = call.count("offset");
  BMAD_TRY_ASSIGN(const MemoryManager* const memory, call.memory.to_read());
  std::vector<Session> all;
  if (memory != nullptr) {
    BMAD_TRY_ASSIGN(all, sessions_by_use(*memory));
  }
  // Not more than the answer has room for: some sessions have a great many tags.
  const auto shown = [&](const Session& session) { return session_as_json(*memory, session); };
  const std::size_t first = std::min(offset, all.size());
  const auto page = std::span(all).subspan(first, std::min(limit, all.size() - first));
  const std::vector<RawJson> sessions = that_fit(page, kAnswerSizeMax / 2, shown);
  const std::size_t next = first + sessions.size();
  const std::string current = call.session.current();
  const std::string text =
      json_object("sessions", sessions, "total", all.size(), "next_offset",
                  only_if(next < all.size(), next), "current_session_id", if_some(current));
  return McpToolResult{.text = all.empty() ? nothing_stored_yet().text : text, .structured = text};
}

Result<McpToolResult> mcp_session_set(MemoryToolCall& call) {
  SessionChange change;
  if (std::string title = call.text("title"); !title.empty()) {
    change.title = std::move(title);
  }
  if (const JsonValue metadata = call.value("metadata"); metadata.present()) {
    change.metadata_json = json_of(metadata);
  }
  if (!change.title && change.metadata_json.empty()) {
    return bad_argument("title", "is required, or metadata: what to change");
  }
  BMAD_TRY_ASSIGN(MemoryManager* const memory, call.memory.to_read());
  std::string id = call.text("session_id");
  if (id.empty()) {
    id = call.session.current();
  }
  if (memory == nullptr || id.empty()) {
    return McpToolResult{.text = "This conversation has no session yet. Give session_id.",
                         .is_error = true};
  }
  BMAD_TRY_ASSIGN(const Session session, memory->update_session(id, change));
  return McpToolResult{
      .text = fmt::format("Session {} is called:\n{}", session.session_id,
                          quoted_lines(session.title, 300)),
      .structured = json_object("session_id", session.session_id, "title", session.title)};
}

Result<McpToolResult> mcp_stats(MemoryToolCall& call) {
  const std::string session = call.text("session_id");
  BMAD_TRY_ASSIGN(const MemoryManager* const memory, call.memory.to_read());
  Totals totals;
  if (memory != nullptr && !session.empty()) {
    BMAD_TRY_ASSIGN(const SessionStatistics counted, memory->statistics(session));
    totals.add(counted);
  } else if (memory != nullptr) {
    BMAD_TRY_ASSIGN(totals, count_all(*memory, call.call));
  }
  const std::string text = json_object(shaped(shape::totals, totals));
  return McpToolResult{.text = memory == nullptr ? nothing_stored_yet().text : text,
                       .structured = text};
}

Result<McpToolResult> mcp_summary_show(MemoryToolCall& call) {
  std::string session = call.text("session_id");
  const auto messages = call.count("messages");
  BMAD_TRY_ASSIGN(MemoryManager* const memory, call.existing());
  if (session.empty()) {
    BMAD_TRY_ASSIGN(const std::vector<Session> all, sessions_by_use(*memory));
    if (all.empty()) {
      return nothing_stored_yet();
    }
    session = all.front().session_id;
  }
  Summaries summaries(*memory);
  BMAD_TRY_ASSIGN(const SummaryStatus status, summaries.status(session));
  std::string summary;
  if (status.exists && !status.is_template) {
    BMAD_TRY_ASSIGN(summary, summaries.show(session));
  }
  const std::string text =
      view_line("mcp_summary",
                json_object("name", is_plain_name(session) ? session : "", "messages",
                            status.messages, "quoted", kQuotedIsData, "has_summary",
                            status.exists && !status.is_template, "behind", status.messages_since));
  BMAD_TRY_ASSIGN(const std::string last, last_messages(*memory, session, messages));
  return McpToolResult{
      .text =
          text + "\n" +
          (summary.empty() ? "" : quoted_lines(without_front_matter(summary), kAnswerSizeMax / 2)) +
          last};
}

Result<McpToolResult> mcp_more(MemoryToolCall& call) {
  const JsonValue arguments = call.value("arguments");
  if (arguments.present() && !arguments.is_object()) {
    return bad_argument("arguments", "must be an object, such as {\"limit\":5}");
  }
  if (const std::string name = call.text("tool"); !name.empty()) {
    McpAnswer<McpToolResult> answer = call.service.call_tool(name, arguments, call.call);
    assert(answer);  // `tool` is one of its choices, and those are tools.
    return *std::move(answer);
  }
  std::string text =
      "Run one with its name as tool and its arguments; ? marks what may be left out.\n";
  for (const MemoryTool& tool : all_memory_tools()) {
    if (tool.core.empty()) {
      const auto signature =
          tool.parameters | std::views::transform([](const JsonParameter& row) {
            return fmt::format("{}{}{}{}", row.name, row.required ? "" : "?",
                               row.choices.empty() ? "" : ": ", fmt::join(row.choices, "|"));
          });
      text += fmt::format("{}({}): {}\n", tool.name, fmt::join(signature, ", "), tool.summary);
    }
  }
  return McpToolResult{.text = text};
}

}  // namespace bmad_mem::cli
