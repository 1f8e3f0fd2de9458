#include "mcp/lazy_memory.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "cli/text.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {
namespace {

void warn(const std::string& warning) {
  fmt::print(stderr, "bmad-mem: warning: {}\n", printable(warning));
}

}  // namespace

Result<MemoryManager*> LazyMemory::open(std::string root) {
  Result<MemoryManager> opened = MemoryManager::open({.root = std::move(root),
                                                      .user_root = place_.user_root,
                                                      .working_directory = place_.directory,
                                                      .agent_id = place_.agent_id,
                                                      .state_folder = trusting_folder(),
                                                      .writes_as = Origin::kAgent,
                                                      .access = place_.access,
                                                      .seal_key = seal_key_here(),
                                                      .watch_folders = true});
  if (!opened) {
    return std::move(opened).error();
  }
  memory_.emplace(std::move(*opened));
  std::ranges::for_each(memory_->config_warnings(), warn);
  return &*memory_;
}

Result<MemoryManager*> LazyMemory::to_read() {
  const std::scoped_lock lock(mutex_);
  if (memory_) {
    return &*memory_;
  }
  Result<std::string> root = MemoryManager::find_root(place_.explicit_root, place_.environment_root,
                                                      place_.directory, trusting_folder());
  Result<MemoryManager*> memory =
      root ? open(*std::move(root)) : Result<MemoryManager*>(std::move(root).error());
  if (!memory && memory.error().code == ErrorCode::E_SESSION_NOT_FOUND) {
    return static_cast<MemoryManager*>(nullptr);
  }
  return memory;
}

Result<MemoryManager*> LazyMemory::to_write() {
  if (place_.read_only) {
    return Error{.code = ErrorCode::E_ACCESS_DENIED,
                 .message = "this server was started with --read-only and writes nothing"};
  }
  BMAD_TRY_ASSIGN(MemoryManager* const memory, made());
  std::call_once(said_, [&] { std::ranges::for_each(rule_warnings(*memory), warn); });
  return memory;
}

Result<MemoryManager*> LazyMemory::made() {
  BMAD_TRY_ASSIGN(MemoryManager* const memory, to_read());
  if (memory != nullptr) {
    return memory;
  }
  const std::scoped_lock lock(mutex_);
  if (memory_) {
    return &*memory_;
  }
  std::string root = MemoryManager::root_to_create(place_.explicit_root, place_.environment_root,
                                                   place_.directory);
  BMAD_TRY(MemoryManager::init(root, trusting_folder()));
  return open(std::move(root));
}

Result<Readable> to_read_either(LazyMemory& project, LazyMemory& users) {
  BMAD_TRY_ASSIGN(MemoryManager* const memory, project.to_read());
  if (memory != nullptr || users.place().explicit_root.empty()) {
    return Readable{.memory = memory};
  }
  BMAD_TRY_ASSIGN(MemoryManager* const own, users.to_read());
  return Readable{.memory = own, .of_user = true};
}

Result<MemoryManager*> users_to_write(LazyMemory* users) {
  if (users == nullptr || users->place().explicit_root.empty()) {
    return invalid_query("scope",
                         "there is no folder for the user's own memory, or this server was "
                         "started with --scope");
  }
  return users->to_write();
}

}  // namespace bmad_mem::cli
