// links.cpp - a typed link between two entries, set or taken away: a newer version of the one that
// stores it.
//
//   link fact-7 solves finding-3        fact-7     {…,"links":{"solves":["finding-3"]}}
//   link dec-9 supersedes dec-2         dec-2      {…,"links":{"superseded_by":["dec-9"]}}
//
// One line of one log, so that it is there or not, whatever happens in between.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/object_text.hpp"
#include "bmad_mem/json.hpp"
#include "lifecycle/maintenance.hpp"
#include "model/entry.hpp"
#include "model/statement.hpp"
#include "store/access.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// `old`'s line with the id `other` among its links of `kind`, or without it.
Result<std::string> line_with_link(const Entry& old, LinkKind kind, std::string_view other,
                                   bool remove) {
  BMAD_TRY_ASSIGN(const ParsedJson value, parse_json(old.json));
  const JsonValue stored = value[kLinksField];
  if (stored.present() && !stored.is_object()) {
    return invalid_query(
        kLinksField,
        fmt::format("entry {} has a field \"links\" of another kind; rename that field "
                    "first (`bmad-mem edit {} --unset links`)",
                    old.id, old.id));
  }
  std::vector<std::string_view> ids;
  for (const TypedLink& link : typed_links(*value)) {
    if (link.kind == kind && link.id != other) {
      ids.push_back(link.id);
    } else if (link.kind == kind && !remove) {
      return ObjectText(*value, old.json).to_line();  // It is there.
    }
  }
  if (!remove) {
    ids.push_back(other);
  }
  ObjectText object(*value, old.json);
  ObjectText links(object.raw(kLinksField));
  links.remove(link_member(kind));
  links.set_unless_empty(link_member(kind), list_json(ids));
  object.set_unless_empty(kLinksField, links.to_line());
  return object.to_line();
}

/// Whether `later` may replace `earlier`.
Status check_replacement(const Store& store, const Entry& later, const Entry& earlier) {
  BMAD_TRY_ASSIGN(const ParsedJson by, parse_json(later.json));
  BMAD_TRY_ASSIGN(const ParsedJson what, parse_json(earlier.json));
  for (const TypedLink& link : typed_links(*by)) {
    if (link.kind == LinkKind::kSupersedes && link.id == earlier.id) {
      return invalid_query("kind", fmt::format("{} supersedes {} already; remove that link first",
                                               earlier.id, later.id));
    }
  }
  const StatementHead newer = statement_head(later.type, *by);
  const std::string subject = newer.subject();
  if (!subject.empty() && subject == statement_head(earlier.type, *what).subject()) {
    return invalid_query("kind",
                         fmt::format("both state {}, so that the newer one is current; state "
                                     "the value again (`bmad-mem remember VALUE`) to change that",
                                     newer.key));
  }
  const auto is_authored = [&](const Entry& entry) {
    return is_authored_here(store.origins->origin_of(entry.session_id, entry.json));
  };
  if (newer.trust < kLowReliability ||
      (is_statement(earlier.type) && !is_authored(later) && is_authored(earlier))) {
    return invalid_query("from",
                         fmt::format("{} is from an untrusted source, and can't replace another "
                                     "entry",
                                     later.id));
  }
  if (is_withheld_from_agent(store, earlier)) {
    return field_error(ErrorCode::E_ACCESS_DENIED, "to",
                       fmt::format("{} is a statement of the user, and only the user says "
                                   "what replaces it",
                                   earlier.id));
  }
  return {};
}

/// Adds the ids that supersede `entry` and are not among `ids`.
Status add_superseding(const Entry& entry, std::vector<std::string>& ids) {
  BMAD_TRY_ASSIGN(const ParsedJson value, parse_json(entry.json));
  for (const TypedLink& link : typed_links(*value)) {
    if (link.kind == LinkKind::kSupersedes && std::ranges::find(ids, link.id) == ids.end()) {
      ids.emplace_back(link.id);
    }
  }
  return {};
}

/// Whether `earlier` replaces `later` already, over others: all of them would be hidden.
Status check_no_circle(const Store& store, const Entry& later, const Entry& earlier) {
  constexpr std::size_t kStepsMax = 100;
  std::vector<std::string> ids;
  BMAD_TRY(add_superseding(later, ids));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == earlier.id) {
      return invalid_query("kind",
                           fmt::format("{} supersedes {} already, over other entries; remove "
                                       "one of these links first",
                                       earlier.id, later.id));
    }
    if (i == kStepsMax) {
      return invalid_query("kind",
                           fmt::format("more than {} entries supersede {} one after the other; "
                                       "link the newest of them",
                                       kStepsMax, later.id));
    }
    const std::string id = ids[i];
    if (const Result<Entry> next = entry_to_change(store, id, {})) {  // Else it has gone.
      BMAD_TRY(add_superseding(*next, ids));
    }
  }
  return {};
}

}  // namespace

Result<LinkReport> link_entries(Store& store, const LinkRequest& request) {
  const bool in_target = is_stored_in_target(request.kind);
  const std::string& holder_id = in_target ? request.to : request.from;
  const std::string& other_id = in_target ? request.from : request.to;
  if (request.from == request.to) {
    return invalid_query("to", "an entry can't be linked to itself");
  }
  BMAD_TRY_ASSIGN(const Entry holder, entry_to_change(store, holder_id, request.sessions));
  BMAD_TRY(check_read(store, holder.type));
  BMAD_TRY(check_write(store, holder.type));
  if (!request.remove) {  // What has gone may still have links to be removed.
    BMAD_TRY_ASSIGN(const Entry other, entry_to_change(store, other_id, request.sessions));
    BMAD_TRY(check_read(store, other.type));
    if (in_target) {
      BMAD_TRY(check_replacement(store, other, holder));
      BMAD_TRY(check_no_circle(store, other, holder));
    }
  }
  LinkReport report;
  const std::string session_id = holder.session_id;
  BMAD_TRY_ASSIGN(report.entry,
                  change_entry(store, holder_id, {&session_id, 1},
                               [&](const Entry& old) -> Result<std::string> {
                                 BMAD_TRY_ASSIGN(
                                     std::string line,
                                     line_with_link(old, request.kind, other_id, request.remove));
                                 report.changed = line != old.json;
                                 return line;
                               }));
  return report;
}

}  // namespace bmad_mem
