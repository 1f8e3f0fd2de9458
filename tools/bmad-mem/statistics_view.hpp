// statistics_view.hpp - statistics as tables and as JSON.
#pragma once

#include <string>

#include "bmad_mem/reports.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {

/// {"session_id":…,"entries":…,…,"types":{"conversation":{…},…}}
std::string statistics_as_json(const SessionStatistics& statistics);

/// A table by type, the quota as a bar, oldest and newest.
void print_statistics(Tool& tool, const SessionStatistics& statistics);

/// A line for each session, and the total.
void print_statistics(Tool& tool, const GlobalStatistics& statistics);

/// The total over all sessions as JSON.
std::string total_as_json(const GlobalStatistics& statistics);

}  // namespace bmad_mem::cli
