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
const std::vector<std::string>& config_seeds();
const std::vector<std::string>& manifest_seeds();
const std::vector<std::string>& encrypted_line_seeds();
const std::vector<std::string>& root_file_seeds();
const std::vector<std::string>& feed_seeds();
const std::vector<std::string>& http_seeds();
const std::vector<std::string>& mcp_seeds();
const std::vector<std::string>& hook_seeds();    ///< The fixtures of all clients.
const std::vector<std::string>& import_seeds();  ///< The fixtures, in each format.

}  // namespace bmad_mem::test
