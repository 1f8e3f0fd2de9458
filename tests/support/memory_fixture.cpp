#include "support/memory_fixture.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

#include "bmad_mem/entry_type.hpp"

namespace bmad_mem::test {
namespace {

/// The value, or the error as an exception, which ends the test with its text.
template <typename T>
T expect(Result<T> result) {
  if (!result) {
    throw std::runtime_error(
        fmt::format("{}: {}", error_code_name(result.error().code), result.error().to_string()));
  }
  return std::move(*result);
}

std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

MemoryFixture::MemoryFixture() : root_(folder.path("memory")) {
  expect(MemoryManager::init(root_));
  reopen();
}

void MemoryFixture::reopen() {
  if (Status opened = reopen({}); !opened) {
    throw std::runtime_error(opened.error().to_string());
  }
}

Status MemoryFixture::reopen(OpenOptions options) {
  options.root = root_;
  options.clock = &clock;
  if (options.agent_id.empty()) {
    options.agent_id = "tester";
  }
  BMAD_TRY_ASSIGN(manager_, MemoryManager::open(std::move(options)));
  return {};
}

std::string MemoryFixture::session(const std::string& id) {
  return expect(manager_->create_session({.session_id = id}));
}

std::string MemoryFixture::add(EntryType type, std::string_view json, const std::string& session) {
  return expect(manager_->add(session, type, json));
}

std::string MemoryFixture::add_fact(const std::string& id, const std::string& content,
                                    const std::string& session) {
  return add(EntryType::kFact, fact(id, content), session);
}

std::string MemoryFixture::fact(const std::string& id, const std::string& content) {
  return fmt::format(
      R"({{"id":"{}","timestamp":"2026-01-11T10:00:00Z","content":"{}","decay_factor":1.0}})", id,
      content);
}

std::string MemoryFixture::path(std::string_view name, const std::string& session) const {
  return fmt::format("{}/sessions/{}/{}", root_, session, name);
}

std::string MemoryFixture::path(EntryType type, const std::string& session) const {
  return path(entry_type_info(type).log_file, session);
}

std::string MemoryFixture::read(std::string_view name, const std::string& session) const {
  return file_bytes(path(name, session));
}

std::string MemoryFixture::read(EntryType type, const std::string& session) const {
  return file_bytes(path(type, session));
}

void MemoryFixture::write(std::string_view name, std::string_view bytes,
                          const std::string& session) {
  folder.write(fmt::format("memory/sessions/{}/{}", session, name), bytes);
}

void MemoryFixture::write(EntryType type, std::string_view bytes, const std::string& session) {
  write(entry_type_info(type).log_file, bytes, session);
}

std::vector<std::pair<std::string, std::string>> MemoryFixture::files() const {
  std::vector<std::pair<std::string, std::string>> found;
  for (const auto& file : std::filesystem::recursive_directory_iterator(root_)) {
    if (file.is_regular_file() && !file.path().filename().string().starts_with(".lock")) {
      found.emplace_back(file.path().string().substr(root_.size() + 1),
                         file_bytes(file.path().string()));
    }
  }
  std::ranges::sort(found);
  return found;
}

std::vector<std::string> MemoryFixture::listed(ArchivedSessions archived) const {
  const std::vector<Entry> entries = manager_->list({.archived = archived, .limit = 0}).value();
  std::vector<std::string> ids;
  for (const Entry& entry : entries) {
    ids.push_back(entry.id);
  }
  std::ranges::sort(ids);
  return ids;
}

std::vector<std::string> MemoryFixture::found(const std::string& text,
                                              ArchivedSessions archived) const {
  const std::vector<Hit> hits =
      manager_->query({.text = text, .filter = {.archived = archived, .limit = 0}}).value();
  std::vector<std::string> ids;
  for (const Hit& hit : hits) {
    ids.push_back(hit.entry.id);
  }
  std::ranges::sort(ids);
  return ids;
}

}  // namespace bmad_mem::test
