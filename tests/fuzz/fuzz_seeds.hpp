// fuzz_seeds.hpp - texts that are likely to hurt, for each fuzz target: where a fuzzer starts, and
// what every test run tries.
#pragma once

#include <string>
#include <vector>

namespace bmad_mem::test {

const std::vector<std::string>& json_seeds();
const std::vector<std::string>& entry_seeds();
const std::vector<std::string>& rfc3339_seeds();
const std::vector<std::string>& lines_seeds();
const std::vector<std::string>& log_seeds();
const std::vector<std::string>& query_seeds();
const std::vector<std::string>& analyzer_seeds();
const std::vector<std::string>& vectors_seeds();
const std::vector<std::string>& encoder_seeds();
const std::vector<std::string>& root_index_seeds();  ///< Of segments and of CURRENT.

}  // namespace bmad_mem::test
