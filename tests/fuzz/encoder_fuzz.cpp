#include "fuzz/libfuzzer_target.hpp"

BMAD_FUZZ_TARGET(encoder)
