// fuzz_targets.hpp - what must hold for any bytes at all. libFuzzer looks for bytes for which it
// does not (./dev fuzz); replay_test.cpp tries known and random ones in every test run.
//
// Each function aborts, naming what did not hold, when it finds a contradiction.
#pragma once

#include <string_view>

namespace bmad_mem::test {

/// JSON: the fast parser and json_problem() agree, and what is read means what nlohmann reads.
void fuzz_json(std::string_view bytes);

/// Entries, of the type that the first byte picks: the validator and the completer agree, and what
/// was completed is valid, complete and stays as it is.
void fuzz_entry(std::string_view bytes);

/// Times: what is read is written so that it reads back the same.
void fuzz_rfc3339(std::string_view bytes);

/// Lines: a reader finds those that splitting finds, whatever its limit and wherever it starts.
void fuzz_lines(std::string_view bytes);

/// Logs: a torn one takes an append, and repair leaves a store without findings that holds every
/// entry it held.
void fuzz_log(std::string_view bytes);

/// Queries, as text and as JSON, dates in them, and distances of words: each is taken apart inside
/// its bounds, or refused with a place in it.
void fuzz_query(std::string_view bytes);

/// Texts, in the language that the first byte picks: tokens and terms may stand in the index, and
/// are the same again.
void fuzz_analyzer(std::string_view bytes);

/// Answers of encoders, for 1 to 4 texts as the first byte says, and what is kept of one: vectors
/// of length 1 or 0, or a reason. The same bytes as a URL: a place on this machine, or a reason.
void fuzz_vectors(std::string_view bytes);
/// Texts for the encoder: few pieces, and a vector of length 1. Or its weights with changed bytes,
/// as the first byte says: refused with a reason, or a model.
void fuzz_encoder(std::string_view bytes);

/// The index of a memory, a segment or CURRENT: the first byte says whether hashes are put right
/// afterwards, the others change it. The memory answers as the logs do, or, where a segment lies,
/// nothing breaks.
void fuzz_segment(std::string_view bytes);
void fuzz_current(std::string_view bytes);
/// The same of the vectors beside the segment: entries have theirs or none.
void fuzz_segment_vectors(std::string_view bytes);

}  // namespace bmad_mem::test
