// decay_view.hpp - how much entries count, as histograms, tables and JSON.
#pragma once

#include <span>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

/// A line for each tenth of [0,1]: how many entries have a factor in it, with a bar.
void print_histogram(Tool& tool, const DecayReport& report);

/// The members model, as_of, entries, histogram and mean of the object that is open.
void add_decay(JsonWriter& json, const DecayReport& report);

/// A table of both models over a year.
void print_decay_table(Tool& tool, std::span<const DecayTableLine> lines);

}  // namespace bmad_mem::cli
