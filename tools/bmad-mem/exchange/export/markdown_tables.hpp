// markdown_tables.hpp - what was learned in a session, as tables; and the links between entries.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/reports.hpp"
#include "exchange/export/entry_content.hpp"

namespace bmad_mem::cli {

/// The ids that links may lead to: those of the session.
using AnchorIds = std::set<std::string, std::less<>>;

/// An anchor that links to the entry lead to: `<a id="dec-1"></a>`.
std::string markdown_anchor(std::string_view id);

/// What the entry refers to, in its `references` and by the message it answers: links where they
/// lead somewhere, else ids. Empty when there is nothing.
std::string markdown_references(const EntryContent& content, const AnchorIds& ids);

/// "`db`, `pool`"; empty without tags.
std::string markdown_tags(const EntryContent& content);

/// The facts, or the preferences, among `entries` as a table below a heading; empty without any.
std::string markdown_facts(std::span<const Entry> entries);
std::string markdown_preferences(std::span<const Entry> entries);

}  // namespace bmad_mem::cli
