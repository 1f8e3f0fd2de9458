// entry_links.hpp - what links an entry to others, as its line says it. Views live as long as the
// value's parser keeps it.
#pragma once

#include <string_view>
#include <vector>

#include "bmad_mem/json_value.hpp"

namespace bmad_mem {

/// The ids of other entries it refers to, in the order of the text, each once: the lists in
/// `references` and `metadata.references`, and `context.parent_message_id`. They need not exist.
/// `learned_from` names sessions and is not among them.
std::vector<std::string_view> entry_references(JsonValue entry);
/// The same without the message that a message answers: what the entry itself refers to.
std::vector<std::string_view> entry_citations(JsonValue entry);

/// context.topic as conversations have it, or else a member `topic`. Empty when absent.
std::string_view entry_topic(JsonValue entry);

}  // namespace bmad_mem
