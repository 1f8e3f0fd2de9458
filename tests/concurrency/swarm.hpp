// swarm.hpp - many writers on one session, or on a few: processes that are killed and started
// again, threads, and readers that look on.
//
// Writer 3 appends the entries w03-000000, w03-000001, ... and writes each id to its own pipe once
// the call has returned: acknowledged. Started again after a kill, it goes on behind its last
// acknowledged entry, and asks for that one not to be written twice, as an agent would that does
// not know how far it came. In the end each writer's entries must be there once, in order, and as
// they were sent; at any moment a reader must see whole entries only, and no fewer than were
// acknowledged before it began.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace bmad_mem::test {

inline constexpr unsigned kWritersMax = 64;

struct SwarmPlan {
  std::string root;         ///< Made by the swarm.
  unsigned seed = 0;        ///< Of the sizes of entries and of who is killed when.
  unsigned sessions = 1;    ///< Writer 3 writes to session 3 % sessions.
  unsigned writers = 16;    ///< Processes, or threads.
  unsigned entries = 1000;  ///< Of each writer.
  unsigned kills = 0;       ///< Of each writer; processes only.
  unsigned readers = 1;
  unsigned looks = 20;  ///< Of each reader, spread over the writers' work.
};

/// What all processes of a swarm see.
struct SwarmBoard {
  std::array<std::atomic<std::uint32_t>, kWritersMax> acknowledged{};
  std::atomic<bool> done = false;
};

/// What became of a swarm.
struct SwarmReport {
  unsigned kills = 0;
  unsigned repeated = 0;  ///< Entries that were there already when a writer began again.
  unsigned looks = 0;     ///< Of the readers.
  unsigned quarantined = 0;
  double seconds = 0;
  std::string problem;  ///< The first thing that was wrong; empty when nothing was.
};

/// Each writer a process, each reader too.
SwarmReport run_processes(const SwarmPlan& plan);

/// Each writer a thread, and each reader, all with one MemoryManager.
SwarmReport run_threads(const SwarmPlan& plan);

}  // namespace bmad_mem::test
