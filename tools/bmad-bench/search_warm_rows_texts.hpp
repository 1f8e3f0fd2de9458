// search_warm_rows_texts.hpp - the others with their texts kept, to give back what ours does: whole
// texts with snippets, as a program needs them that shows what it found.
#pragma once

#include <string>
#include <vector>

#include "bmad_mem/result.hpp"
#include "search_race.hpp"
#include "search_store.hpp"

namespace bmad_mem::bench {

struct TextEngine {
  PeerKind kind = PeerKind::kFts5;
  Engine engine;  ///< Keeps its index alive.
};

/// Those that are built in, over the texts of `store`: FTS5 in memory, Xapian in a file beside it.
/// Each gives back the 20 best texts with a snippet of about 200 bytes, and keeps its own ranking.
Result<std::vector<TextEngine>> text_engines(const SearchStore& store);

}  // namespace bmad_mem::bench
