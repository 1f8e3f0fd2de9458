// access.cpp - what the workflow of an agent allows it to read, to write and to decide.
#include "store/access.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/knowledge.hpp"
#include "model/entry.hpp"
#include "model/field.hpp"
#include "store/posix_file_system.hpp"

namespace bmad_mem {
namespace {

Error denied(const Store& store, std::string_view what, std::string_view list,
             std::string_view type) {
  assert(store.access && "nothing is denied without a workflow");
  const std::string who = store.agent_id.empty() ? "the agent" : store.agent_id;
  return {.code = ErrorCode::E_ACCESS_DENIED,
          .message = fmt::format("{} may not {}: its workflow would have to name {} in {}", who,
                                 what, type, list),
          .path = store.access->given_by,
          .field = fmt::format("workflow.memory_requirements.{}", list)};
}

}  // namespace

Status check_read(const Store& store, EntryType type) {
  if (!store.access || store.access->may_read(type)) {
    return {};
  }
  const std::string_view name = entry_type_info(type).plural;
  return denied(store, fmt::format("read {}", name), "read_access", name);
}

Status check_write(const Store& store, EntryType type) {
  if (!store.access || store.access->may_write(type)) {
    return {};
  }
  const std::string_view name = entry_type_info(type).plural;
  return denied(store, fmt::format("write {}", name), "write_access", name);
}

Status check_decides_nothing(const Store& store, std::string_view entry, bool is_change) {
  const auto may_have = [&](std::string_view part) { return entry.contains(part); };
  if (ActingAs::current(store.writes_as) != Origin::kAgent ||
      (!may_have("review") && !may_have(kLinksField) && !may_have("\\u"))) {
    return {};
  }
  const ParsedJson value(entry);
  if (!value) {
    return {};  // Whoever writes it says why it is no entry.
  }
  const JsonValue review = (*value)["review"];
  if (review.present() && (is_change || review.string() != review_name(Review::kCandidate))) {
    return field_error(ErrorCode::E_ACCESS_DENIED, "review",
                       "only the user decides about a statement: leave review out, and ask "
                       "for `bmad-mem review` in a terminal");
  }
  if (is_superseded((*value)[kLinksField])) {
    return field_error(ErrorCode::E_ACCESS_DENIED, kLinksField,
                       "an agent says by a link what replaces an entry: `bmad-mem link FROM "
                       "supersedes TO`, or memory_link");
  }
  return {};
}

Status check_decide_nothing(const Store& store, std::span<const std::string_view> entries) {
  for (const std::string_view entry : entries) {
    BMAD_TRY(check_decides_nothing(store, entry, false));
  }
  return {};
}

bool is_withheld_from_agent(const Store& store, const Entry& entry) {
  return is_statement(entry.type) && ActingAs::current(store.writes_as) == Origin::kAgent &&
         store.origins->provenance() != nullptr &&
         is_authored_here(store.origins->origin_of(entry.session_id, entry.json));
}

Status permit(const Store& store, std::string_view operation, bool changes) {
  const std::span<const OperationRow> rows = all_operations();
  const auto found = std::ranges::find(rows, operation, &OperationRow::name);
  if (found == rows.end()) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = fmt::format("there is no operation '{}'", operation)};
  }
  const OperationRow& row = *found;
  if (!store.access || row.right == Right::kNone || (row.right == Right::kChange && !changes)) {
    return {};
  }
  if (!row.type.empty()) {
    const std::optional<EntryType> type = try_parse_entry_type(row.type);
    assert(type);
    assert(row.right == Right::kRead || row.right == Right::kWrite);
    return row.right == Right::kRead ? check_read(store, *type) : check_write(store, *type);
  }
  const auto may_read = [&](EntryType type) { return store.access->may_read(type); };
  const auto may_write = [&](EntryType type) { return store.access->may_write(type); };
  if (row.right == Right::kRead) {
    return std::ranges::any_of(kEntryTypes, may_read)
               ? Status()
               : denied(store, "read anything", "read_access", "the types");
  }
  const bool one_is_enough = row.right == Right::kWrite;
  if (one_is_enough ? std::ranges::any_of(kEntryTypes, may_write)
                    : std::ranges::all_of(kEntryTypes, may_write)) {
    return {};
  }
  return denied(store, fmt::format("do `{}`", row.name), "write_access",
                one_is_enough ? "the types" : "all");
}

Result<EntryFilter> readable(const Store& store, EntryFilter filter) {
  BMAD_TRY(check_fields(filter));
  if (!store.access) {
    return filter;
  }
  for (const EntryType type : filter.types) {
    BMAD_TRY(check_read(store, type));
  }
  const auto may_read = [&](EntryType type) { return store.access->may_read(type); };
  if (filter.types.empty() && !std::ranges::all_of(kEntryTypes, may_read)) {
    std::ranges::copy_if(kEntryTypes, std::back_inserter(filter.types), may_read);
    if (filter.types.empty()) {
      return denied(store, "read anything", "read_access", "the types");
    }
  }
  return filter;
}

bool may_read_summaries(const Store& store) {
  // As found_lines() in knowledge/summaries/rule_summary.cpp takes them.
  constexpr std::array<EntryType, 4> kQuoted = {EntryType::kConversation, EntryType::kDecision,
                                                EntryType::kEvent, EntryType::kFinding};
  return !store.access ||
         std::ranges::all_of(kQuoted, [&](EntryType type) { return store.access->may_read(type); });
}

void drop_unreadable(const Store& store, std::vector<Entry>& entries) {
  std::erase_if(entries, [&](const Entry& entry) {
    return store.access && !store.access->may_read(entry.type);
  });
}

Result<MemoryAccess> read_workflow(const std::string& path) {
  constexpr std::uint64_t kSizeMax = 1U << 20U;  // As parse_workflow() takes.
  Result<std::string> text = read_outside_file(path, kSizeMax);
  if (!text && text.error().os_error != 0) {
    text.error().message = "can't read the workflow; give the path of a YAML or JSON file";
  }
  BMAD_TRY(text);
  return parse_workflow(*text, path);
}

}  // namespace bmad_mem
