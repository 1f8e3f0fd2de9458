#include "store/session_folder.hpp"

#include <cassert>

#include <fmt/format.h>

#include "base/ids.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kUnfinishedPrefix = ".";
constexpr std::string_view kUnfinishedSuffix = ".tmp";

}  // namespace

std::string unfinished_session_folder(std::string_view session_id) {
  assert(is_session_id(session_id));
  return fmt::format("{}/{}{}{}", kSessionsFolder, kUnfinishedPrefix, session_id,
                     kUnfinishedSuffix);
}

bool is_unfinished_session_name(std::string_view name) {
  return name.starts_with(kUnfinishedPrefix) && name.ends_with(kUnfinishedSuffix);
}

}  // namespace bmad_mem
