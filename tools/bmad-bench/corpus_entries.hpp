// corpus_entries.hpp - one line of each type of entry, about what a project talks of at the moment.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "corpus_text.hpp"
#include "prng.hpp"

namespace bmad_mem::bench {

/// What an entry is made from. The references must live through the call only.
struct Scene {
  Random& random;
  TextMaker& text;
  const Topic& topic;
  std::string_view id;
  Timestamp time{};
  std::string_view conversation_id;
  std::string_view last_message_id;   ///< Empty at the start of a conversation.
  std::string_view last_decision_id;  ///< Empty before the first one; so for findings.
  std::string_view last_finding_id;
  bool user_speaks = false;
};

struct CorpusLine {
  std::string json;        ///< Complete, its members in the order in which the engine writes them.
  std::size_t tokens = 0;  ///< In the searchable text.
};

CorpusLine make_corpus_line(EntryType type, const Scene& scene);

}  // namespace bmad_mem::bench
