// statistics_view.hpp - statistics as tables and as JSON.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/reports.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

/// What is told of a session beside its counts.
struct SessionLife {
  std::string state;                 ///< "active", "idle", "closed".
  std::optional<DecayReport> decay;  ///< Not in lists.
};

/// {"session_id":…,"state":…,"entries":…,…,"types":{"conversation":{…},…},"decay":{…},
/// "maintenance":{…}}
std::string statistics_as_json(const SessionStatistics& statistics, const SessionLife& life,
                               const MaintenanceReport* maintenance = nullptr);

/// A table by type, the quota as a bar, oldest and newest, how much of it still counts.
void print_statistics(Tool& tool, const SessionStatistics& statistics, const SessionLife& life);

/// A line for each session, and the total. `states` by the sessions' order.
void print_statistics(Tool& tool, const GlobalStatistics& statistics,
                      std::span<const std::string> states);

/// When maintenance is due, and what it would do now, as a dry run tells it.
void print_maintenance(Tool& tool, const MaintenanceReport& report);

/// The total over all sessions as JSON.
std::string total_as_json(const GlobalStatistics& statistics, const MaintenanceReport& maintenance);

}  // namespace bmad_mem::cli
