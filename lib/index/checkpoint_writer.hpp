// checkpoint_writer.hpp - a session's table as the text of index.json, see checkpoint_format.hpp.
#pragma once

#include <string>
#include <string_view>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"
#include "index/checkpoint_reader.hpp"
#include "index/log_cover.hpp"
#include "session_table.hpp"

namespace bmad_mem {

struct CheckpointInput {
  std::string_view session_id;
  std::string_view language;
  Timestamp created_at{};
  const SessionTable& table;
  const LogCovers& covers;
  /// The checkpoint that the table goes on from; null when it holds everything. What is old is
  /// copied, and a posting list grows at its end.
  const CheckpointReader* old = nullptr;
};

struct CheckpointText {
  std::string buffer;
  std::size_t begin = 0;    ///< Of the text, in the buffer.
  std::uint64_t terms = 0;  ///< Keys of the inverted index.

  [[nodiscard]] std::string_view text() const { return std::string_view(buffer).substr(begin); }
};

/// Errors: E_STORAGE_CORRUPT when the old checkpoint does not hold.
Result<CheckpointText> make_checkpoint(const CheckpointInput& input);

}  // namespace bmad_mem
