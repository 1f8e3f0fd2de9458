#include "bench_store.hpp"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "corpus_text.hpp"
#include "corpus_writer.hpp"

namespace bmad_mem::bench {

Error system_error(const std::string& action, const std::string& path) {
  return Error{.code = ErrorCode::E_STORAGE_IO,
               .message = fmt::format("cannot {} {}: {}", action, path,
                                      std::generic_category().message(errno)),
               .path = path,
               .os_error = errno};
}

BenchStore::BenchStore(std::string folder, std::uint64_t seed)
    : folder_(std::move(folder)), root_(folder_ + "/memory"), seed_(seed) {}

BenchStore::BenchStore(BenchStore&& other) noexcept
    : folder_(std::exchange(other.folder_, {})),
      root_(std::move(other.root_)),
      seed_(other.seed_),
      entry_(std::move(other.entry_)) {}

BenchStore::~BenchStore() {
  if (!folder_.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
}

Result<BenchStore> BenchStore::create(const std::string& directory, std::uint64_t seed) {
  std::string folder = directory + "/bmad-bench-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    return system_error("make a folder in", directory);
  }
  BenchStore store(std::move(folder), seed);
  BMAD_TRY(store.init());
  return store;
}

Status BenchStore::init() {
  BMAD_TRY(init_roomy_root(root_));
  return fit_entry();
}

Result<MemoryManager> BenchStore::open(
    std::optional<std::chrono::milliseconds> lock_timeout) const {
  return MemoryManager::open(
      {.root = root_, .agent_id = "bmad-bench", .lock_timeout = lock_timeout});
}

Result<std::string> BenchStore::new_session() const {
  BMAD_TRY_ASSIGN(MemoryManager memory, open());
  return memory.create_session({.user_id = "user-789", .agent_ids = {"builder"}});
}

std::string BenchStore::session_file(const std::string& session_id, const std::string& name) const {
  return fmt::format("{}/sessions/{}/{}", root_, session_id, name);
}

/// Tries a text, looks how long its line is, and cuts the text by what is too much.
Status BenchStore::fit_entry() {
  const Vocabulary vocabulary(seed_);
  Random random(seed_);
  TextMaker text(vocabulary, random);
  entry_ = {.role = "assistant",
            .content = text.sentences(text.topic(), 200),
            .agent_id = "builder",
            .topic = "benchmark"};
  BMAD_TRY_ASSIGN(const std::string session, new_session());
  BMAD_TRY_ASSIGN(MemoryManager memory, open());
  for (const std::string& warning : memory.config_warnings()) {
    return Error{.message = "the benchmark's config.json: " + warning};
  }
  BMAD_TRY(memory.add_conversation(session, entry_));
  const std::uintmax_t size =
      std::filesystem::file_size(session_file(session, "conversation.jsonl"));
  if (size < kEntrySize || entry_.content.size() <= size - kEntrySize) {
    return Error{.message = fmt::format("an entry takes {} bytes, which cannot be cut to {}", size,
                                        kEntrySize)};
  }
  entry_.content.resize(entry_.content.size() - (size - kEntrySize));
  // The cut may have hit a character of several bytes.
  for (char& c : entry_.content) {
    c = (static_cast<unsigned char>(c) & 0x80U) != 0 ? 'x' : c;
  }
  return {};
}

}  // namespace bmad_mem::bench
