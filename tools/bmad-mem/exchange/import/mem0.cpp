#include "exchange/import/mem0.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "exchange/ids.hpp"
#include "exchange/transcript_text.hpp"
#include "json_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::array<std::string_view, 7> kKeptMembers = {
    "metadata", "user_id", "run_id", "actor_id", "role", "expiration_date", "categories"};

/// A time; one without a zone, as Python writes it by itself, is UTC. Empty for what is no time.
std::string time_text(JsonValue value) {
  auto time = try_parse_rfc3339(value.string());
  if (!time) {
    time = try_parse_rfc3339(std::string(value.string()) + "Z");
  }
  return time ? format_rfc3339(*time) : "";
}

}  // namespace

bool looks_like_mem0(std::string_view beginning) {
  const std::size_t first = beginning.find_first_not_of(" \t\r\n");
  const std::string_view front = beginning.substr(0, 4096);
  return first != std::string_view::npos && front.contains("\"memory\"") &&
         ((beginning[first] == '{' && front.contains("\"results\"")) || beginning[first] == '[');
}

Mem0Import::Mem0Import(ImportSink& sink, std::string file, const std::string& session_id,
                       std::string_view project)
    : sink_(sink), file_(std::move(file)), session_(session_id), project_(project) {}

Status Mem0Import::take(JsonValue record, std::string_view text, std::uint64_t line) {
  const std::string_view memory = stripped(record["memory"].string());
  if (memory.empty()) {
    sink_.skip("records without a memory");
    return {};
  }
  const std::string id(record["id"].string());
  JsonWriter json;
  json.begin_object().member("id", is_usable_id(id) ? id : content_id("fact-", memory));
  const std::string created_at = time_text(record["created_at"]);
  add_if_any(json, "timestamp", created_at);
  add_if_any(json, "agent_id", record["agent_id"].string());
  json.member("category", "project_fact").member("content", memory);
  for (const MemberText& member : json_members(text)) {
    const bool is_kept = std::ranges::find(kKeptMembers, member.key) != kKeptMembers.end();
    if (is_kept && member.value != "null") {
      json.key(member.key).raw(json_compact(member.value));
    }
  }
  json.key("source").raw(kImportSource);
  json.key("imported_from").begin_object().member("format", "mem0");
  json.member("file", base_name(file_)).end_object();
  add_if_any(json, "updated_at", time_text(record["updated_at"]));
  json.end_object();
  const SessionParams params{.session_id = session_.empty() ? "mem0" : session_,
                             .project_name = project_,
                             .session_type = "mem0",
                             .tags = {"imported"}};
  if (session_.empty()) {
    BMAD_TRY_ASSIGN(session_, sink_.need_shared_session(params));
  } else {
    BMAD_TRY(sink_.need_session(params));
  }
  return sink_.add(session_, EntryType::kFact, json.take(),
                   created_at.empty() ? KnownEntries::kSkipId : KnownEntries::kSkipIdentical,
                   {.file = file_, .line = line});
}

}  // namespace bmad_mem::cli
