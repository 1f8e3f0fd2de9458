// merged_links.cpp - joins the typed links that both branches gave one entry.
#include "merged_links.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "base/object_text.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/json.hpp"
#include "model/entry.hpp"

namespace bmad_mem {
namespace {

using LinkIds = std::array<std::set<std::string, std::less<>>, kLinkKinds.size()>;

LinkIds link_ids(std::string_view line) {
  LinkIds ids;
  if (const ParsedJson entry(line); entry) {
    for (const TypedLink& link : typed_links(*entry)) {
      ids[static_cast<std::size_t>(link.kind)].emplace(link.id);
    }
  }
  return ids;
}

Timestamp written_time(std::string_view line) {
  const ParsedJson entry(line);
  return entry ? entry_written_time(*entry) : Timestamp();
}

LinkIds merged_ids(const LinkIds& base, const LinkIds& ours, const LinkIds& theirs) {
  LinkIds merged;
  for (std::size_t kind = 0; kind < merged.size(); ++kind) {
    for (const LinkIds* const side : {&ours, &theirs}) {
      for (const std::string& id : (*side)[kind]) {
        const bool both = ours[kind].contains(id) && theirs[kind].contains(id);
        if (both || !base[kind].contains(id)) {
          merged[kind].insert(id);
        }
      }
    }
  }
  return merged;
}

}  // namespace

std::optional<std::string> with_merged_links(std::string_view base, std::string_view ours,
                                             std::string_view theirs, std::string_view newest) {
  const LinkIds merged = merged_ids(link_ids(base), link_ids(ours), link_ids(theirs));
  if (merged == link_ids(newest)) {
    return std::nullopt;
  }
  const ParsedJson entry(newest);
  if (!entry || !entry->is_object()) {
    return std::nullopt;
  }
  ObjectText object(*entry, newest);
  const JsonValue stored = (*entry)[kLinksField];
  if (stored.present() && !stored.is_object()) {
    return std::nullopt;  // A field of the user's own.
  }
  ObjectText links(object.raw(kLinksField));
  for (const LinkKind kind : kLinkKinds) {
    links.set_unless_empty(link_member(kind), list_json(merged[static_cast<std::size_t>(kind)]));
  }
  object.set_unless_empty(kLinksField, links.to_line());
  // The same in every clone: with the later of the links that it joins.
  if (const Timestamp written = std::max(written_time(ours), written_time(theirs));
      written > entry_written_time(*entry)) {
    object.set_string(kWrittenField, format_rfc3339(written));
  }
  return object.to_line();
}

}  // namespace bmad_mem
