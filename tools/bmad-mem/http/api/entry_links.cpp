#include "http/api/entry_links.hpp"

#include <algorithm>
#include <string_view>

namespace bmad_mem::cli {
namespace {

void add_ids(JsonValue value, std::vector<std::string>& ids) {
  const auto add = [&](JsonValue id) {
    if (!id.string().empty() && std::ranges::find(ids, id.string()) == ids.end()) {
      ids.emplace_back(id.string());
    }
  };
  add(value);
  for (const JsonValue element : value.elements()) {
    add(element);
  }
}

}  // namespace

std::vector<std::string> referenced_ids(JsonValue entry) {
  std::vector<std::string> ids;
  const JsonValue references = entry["references"];
  add_ids(references, ids);
  for (const JsonMember& list : references.members()) {
    add_ids(list.value, ids);
  }
  add_ids(entry["metadata"]["references"], ids);
  add_ids(entry["context"]["parent_message_id"], ids);
  return ids;
}

}  // namespace bmad_mem::cli
