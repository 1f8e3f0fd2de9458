// copied_messages.cpp - finds messages that another session had before.
#include <cassert>
#include <functional>
#include <initializer_list>
#include <limits>

#include "cli/text.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/import_sink.hpp"

namespace bmad_mem::cli {
namespace {

std::uint64_t hash_of(std::initializer_list<std::string_view> parts) {
  return std::hash<std::string>()(joined(parts, std::string_view("\0", 1)));
}

/// Of what another session may have in common with it.
std::vector<std::uint64_t> hashes_of(const MessageKey& key, std::string_view session) {
  std::vector<std::uint64_t> hashes;
  const std::uint64_t text = std::hash<std::string_view>()(key.text);
  if (is_usable_id(key.id)) {
    hashes.push_back(hash_of({"id", key.id, key.role}) + text);
  }
  if (!key.time.empty()) {
    hashes.push_back(hash_of({"time", key.time, key.role}) + text);
  }
  if (!session.empty()) {
    hashes.push_back(hash_of({"session", session, key.role}) + text);
  }
  return hashes;
}

}  // namespace

std::uint32_t CopiedMessages::number_of(std::string_view session) {
  const auto [at, is_new] = numbers_.try_emplace(std::string(session), names_.size());
  if (is_new) {
    assert(names_.size() < std::numeric_limits<std::uint32_t>::max());
    names_.push_back(at->first);
  }
  return at->second;
}

void CopiedMessages::add(const MessageKey& key, const std::string& id) {
  assert(said_.size() < std::numeric_limits<std::uint32_t>::max());
  const auto place = static_cast<std::uint32_t>(said_.size());
  said_.push_back({number_of(key.session), id});
  for (const std::uint64_t hash : hashes_of(key, key.session)) {
    by_hash_.try_emplace(hash, place);
  }
}

void CopiedMessages::add_event(std::string_view session, std::string_view id) {
  if (is_usable_id(id)) {
    events_.try_emplace(hash_of({id}), number_of(session));
  }
}

const CopiedMessages::Said* CopiedMessages::find(const MessageKey& key,
                                                 std::string_view parent) const {
  for (const std::uint64_t hash : hashes_of(key, parent)) {
    if (const auto found = by_hash_.find(hash); found != by_hash_.end()) {
      assert(found->second < said_.size());
      return &said_[found->second];
    }
  }
  return nullptr;
}

CopiedMessages::Origin CopiedMessages::origin_of(const MessageKey& key, std::string_view parent) {
  Progress& progress = progress_[std::string(key.session)];
  if (progress.is_own) {
    return {};
  }
  const Said* const said = find(key, parent);
  if (said != nullptr && said->session != number_of(key.session)) {
    assert(said->session < names_.size());
    progress.copies_of = said->session;
    return {.id = said->id, .session = names_[said->session]};
  }
  progress.is_own = true;
  return {.session = said != nullptr           ? std::string_view()
                     : progress.copies_of != 0 ? names_[progress.copies_of]
                                               : parent};
}

bool CopiedMessages::is_copied_event(std::string_view session, std::string_view id) {
  const auto progress = progress_.find(session);
  const auto event = is_usable_id(id) ? events_.find(hash_of({id})) : events_.end();
  const bool is_there = event != events_.end();
  if (progress != progress_.end() && progress->second.is_own) {
    return is_there && event->second == number_of(session);
  }
  return is_there || (progress != progress_.end() && !is_usable_id(id));
}

}  // namespace bmad_mem::cli
