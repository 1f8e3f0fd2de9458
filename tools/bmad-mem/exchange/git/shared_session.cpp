// shared_session.cpp - chooses the session of a name to write to, and lists all of them.
#include "exchange/git/shared_session.hpp"

#include <algorithm>
#include <cassert>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kLetters = "abcdefghjkmnpqrstvwxyz";  // No word has these eight …
constexpr std::string_view kDigits = "0123456789";               // … since one is a digit.
constexpr std::size_t kWriterSize = 8;
constexpr std::size_t kNumberSizeMax = 9;

/// What stands behind "NAME-"; empty when nothing does.
std::string_view suffix_of(std::string_view session_id, std::string_view name) {
  if (!session_id.starts_with(name) || session_id.size() < name.size() + 2 ||
      session_id[name.size()] != '-') {
    return {};
  }
  return session_id.substr(name.size() + 1);
}

bool is_number(std::string_view suffix) {
  return !suffix.empty() && suffix.size() <= kNumberSizeMax && suffix.front() != '0' &&
         suffix.find_first_not_of(kDigits) == std::string_view::npos;
}

bool is_writer(std::string_view suffix) {
  return suffix.size() == kWriterSize && kLetters.contains(suffix.front()) &&
         suffix.find_first_of(kDigits) != std::string_view::npos &&
         std::ranges::all_of(suffix, [](char c) { return kLetters.contains(c) || is_digit(c); });
}

std::string new_writer() {
  std::random_device random;
  const auto one_of = [&](std::string_view characters) {
    return characters[std::uniform_int_distribution<std::size_t>(0, characters.size() - 1)(random)];
  };
  const std::string all = std::string(kLetters) + std::string(kDigits);
  std::string writer{one_of(kLetters)};
  while (writer.size() + 1 < kWriterSize) {
    writer += one_of(all);
  }
  return writer + one_of(kDigits);
}

/// 1 for the name itself, and the number behind it; 0 for others.
std::uint64_t number_of(std::string_view session_id, std::string_view name) {
  if (session_id == name) {
    return 1;
  }
  const std::string_view suffix = suffix_of(session_id, name);
  std::uint64_t number = 0;
  for (const char digit : is_number(suffix) ? suffix : std::string_view()) {
    number = number * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return number;
}

bool has_room(const Session& session, std::uint64_t size_max) {
  return size_max == 0 || session.size_bytes < size_max;
}

/// In a repository: the newest that git does not track, else a new one.
std::string choose_own(const std::vector<Session>& sessions, const MemoryManager& memory,
                       const std::string& name, std::uint64_t size_max) {
  for (auto session = sessions.rbegin(); session != sessions.rend(); ++session) {
    if (is_writer(suffix_of(session->session_id, name)) && !session->problem &&
        has_room(*session, size_max) && !memory.is_tracked(session->session_id)) {
      return session->session_id;
    }
  }
  return fmt::format("{}-{}", name, new_writer());
}

/// Outside: the last one, or the one after it.
std::string choose_common(const std::vector<Session>& sessions, const std::string& name,
                          std::uint64_t size_max) {
  const Session* last = nullptr;
  for (const Session& session : sessions) {
    const std::uint64_t number = number_of(session.session_id, name);
    if (number > (last == nullptr ? 0 : number_of(last->session_id, name))) {
      last = &session;
    }
  }
  if (last == nullptr) {
    return name;
  }
  return has_room(*last, size_max)
             ? last->session_id
             : fmt::format("{}-{}", name, number_of(last->session_id, name) + 1);
}

}  // namespace

bool is_shared_session(std::string_view session_id, std::string_view name) {
  const std::string_view suffix = suffix_of(session_id, name);
  return session_id == name || is_number(suffix) || is_writer(suffix);
}

Result<std::vector<std::string>> shared_sessions(const MemoryManager& memory,
                                                 std::string_view name) {
  std::vector<std::pair<Timestamp, std::string>> found;
  BMAD_TRY_ASSIGN(const std::vector<Session> live, memory.list_sessions());
  BMAD_TRY_ASSIGN(const std::vector<ArchivedSession> archived, memory.archived_sessions());
  const auto take = [&](const auto& sessions) {
    for (const auto& session : sessions) {
      if (is_shared_session(session.session_id, name)) {
        found.emplace_back(session.created_at, session.session_id);
      }
    }
  };
  take(live);
  take(archived);
  std::ranges::sort(found);
  std::vector<std::string> ids;
  for (auto& [created_at, id] : found) {
    add_once(ids, std::move(id));  // A crash may leave one in both places.
  }
  return ids;
}

Result<std::set<std::string, std::less<>>> deleted_of_shared(const MemoryManager& memory,
                                                             std::string_view name) {
  std::set<std::string> sessions;
  BMAD_TRY_ASSIGN(const std::vector<Deletion> deletions, memory.deletions());
  for (const Deletion& deletion : deletions) {
    if (is_shared_session(deletion.session_id, name)) {
      sessions.insert(deletion.session_id);
    }
  }
  std::set<std::string, std::less<>> ids;
  for (const std::string& session_id : sessions) {
    BMAD_TRY_ASSIGN(const std::vector<Entry> entries, memory.deleted_entries(session_id));
    for (const Entry& entry : entries) {
      ids.insert(entry.id);
    }
  }
  return ids;
}

Result<std::string> writable_session_id(const MemoryManager& memory, const std::string& name,
                                        std::uint64_t size_max) {
  assert(!name.empty());
  BMAD_TRY_ASSIGN(const std::vector<Session> sessions, memory.list_sessions());
  return memory.in_repository() ? choose_own(sessions, memory, name, size_max)
                                : choose_common(sessions, name, size_max);
}

Result<std::string> writable_session(MemoryManager& memory, SessionParams params,
                                     std::uint64_t size_max) {
  BMAD_TRY_ASSIGN(params.session_id, writable_session_id(memory, params.session_id, size_max));
  if (memory.load_session(params.session_id)) {
    return params.session_id;
  }
  const Result<std::string> made = memory.create_session(params);
  // Another process was first: all the better.
  if (!made && made.error().code != ErrorCode::E_CONCURRENT_MOD) {
    return made.error();
  }
  return params.session_id;
}

}  // namespace bmad_mem::cli
