// entry_links.hpp - what links an entry to others, as its line says it. Views live as long as the
// value's parser keeps it.
//
//   finding-3  {…,"links":{"refines":["finding-1"],"superseded_by":["finding-9"]}}
//
// A typed link is stored once, in the entry that it changes most: `supersedes` in its target, which
// knows so by itself that it is replaced; the others in their source.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "bmad_mem/json_value.hpp"

namespace bmad_mem {

/// What one entry does to another one: "fact-7 solves finding-3".
enum class LinkKind : std::uint8_t { kSolves, kCauses, kSupersedes, kRefines };
inline constexpr std::array kLinkKinds = {LinkKind::kSolves, LinkKind::kCauses,
                                          LinkKind::kSupersedes, LinkKind::kRefines};

/// "solves", "causes", "supersedes" or "refines". Static storage.
std::string_view link_kind_name(LinkKind kind);
/// Nothing for any other text.
std::optional<LinkKind> try_parse_link_kind(std::string_view name);

/// A typed link that the line of an entry holds.
struct TypedLink {
  LinkKind kind = LinkKind::kSolves;
  bool is_target = false;  ///< The entry with `id` does it to this one.
  std::string_view id;     ///< Of the other entry, which need not exist.
};

/// The typed links in `entry`: the members of `links`, kinds in the order of LinkKind. What is no
/// list of ids under a known name is passed over.
std::vector<TypedLink> typed_links(JsonValue entry);

/// The ids of other entries it refers to, in the order of the text, each once: the lists in
/// `references`, `links` and `metadata.references`, and `context.parent_message_id`. They need not
/// exist.
/// `learned_from` names sessions and is not among them.
std::vector<std::string_view> entry_references(JsonValue entry);
/// The same without the message that a message answers: what the entry itself refers to.
std::vector<std::string_view> entry_citations(JsonValue entry);

/// context.topic as conversations have it, or else a member `topic`. Empty when absent.
std::string_view entry_topic(JsonValue entry);

}  // namespace bmad_mem
