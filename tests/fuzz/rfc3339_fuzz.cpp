#include "fuzz/libfuzzer_target.hpp"

BMAD_FUZZ_TARGET(rfc3339)
