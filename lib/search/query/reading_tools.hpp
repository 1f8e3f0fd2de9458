// reading_tools.hpp - what reading questions and entries takes, made once a thread.
//
// To make an analyzer and a parser, and to give their buffers back to the system, costs a query
// 30,000 instructions and as many page faults as they have pages.
#pragma once

#include <string>
#include <string_view>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/result.hpp"
#include "known_terms.hpp"
#include "search/analyzer.hpp"

namespace bmad_mem {

struct ReadingTools {
  Analyzer analyzer;
  KnownTerms known_terms;
  JsonParser parser;
  std::string text;  ///< Of the entry at hand.
};

/// Those of this thread; valid until another language is asked for on it. What a caller has from
/// them is valid until the next one on this thread uses them.
/// Errors: as Analyzer::create().
Result<ReadingTools*> reading_tools(std::string_view language);

}  // namespace bmad_mem
