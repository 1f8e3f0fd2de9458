#include "fuzz/libfuzzer_target.hpp"

BMAD_FUZZ_TARGET(segment_vectors)
