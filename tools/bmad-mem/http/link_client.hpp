// link_client.hpp - asking a server that runs already for a link.
#pragma once

#include <string>

#include "bmad_mem/result.hpp"
#include "http/server_file.hpp"

namespace bmad_mem::cli {

/// A link that opens its pages once. Errors: E_STORAGE_IO when it doesn't answer, or refuses.
Result<std::string> ask_for_link(const RunningServer& server);

}  // namespace bmad_mem::cli
