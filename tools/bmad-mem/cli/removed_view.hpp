// removed_view.hpp - lines that left the logs, or that would, as text and as JSON.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

/// A line each: session, type, id, size, reason, headline; aligned, and cut to the terminal's
/// width. With --json an object each.
void print_removed(Tool& tool, std::span<const RemovedEntry> removed);

/// The bytes of all these lines together.
std::uint64_t removed_bytes(std::span<const RemovedEntry> removed);

/// What a deletion or a purge did, or would do: its lines in a dry run, then the totals, where else
/// it reached, and how to bring it back.
void print_deletion(Tool& tool, const DeletionReport& report, const DeleteOptions& options);

/// `texts` as a member that is an array.
void add_texts(JsonWriter& json, std::string_view name, std::span<const std::string> texts);

}  // namespace bmad_mem::cli
