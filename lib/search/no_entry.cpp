// no_entry.cpp - why an id finds nothing, and which ids it may begin.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/encryption.hpp"
#include "bmad_mem/text.hpp"
#include "encrypted_reads.hpp"
#include "search/cached_indexes.hpp"
#include "search/reads.hpp"
#include "search/search.hpp"
#include "store/access.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// Whether an entry names `id` whose session has no events here, as in a clone: git ignores them.
bool is_named_without_events(const Store& store, std::string_view id) {
  if (!store.tracked.any()) {
    return false;
  }
  const auto naming = with_indexes(store, {.limit = 0}, [&](const CachedIndexes& indexes) {
    return naming_entries(indexes.sessions(), id);
  });
  return naming && std::ranges::any_of(*naming, [&](const Entry& entry) {
           return entry.json.contains(R"("events":[)") &&
                  !store.files->info(session_file(entry.session_id, kEventsName));
         });
}

/// Ids that other programs made are in their lines alone: they are looked for in a memory with so
/// many entries, and where they are so few.
constexpr std::uint64_t kOthersSearchedMax = 20'000;
constexpr std::uint64_t kOthersMax = 100;

struct PlacedSlot {
  IndexedSession* session = nullptr;
  std::uint32_t slot = 0;
};

/// Adds to `found` those of `ids` that begin with `begin` and may be read.
Status add_ids(const Store& store, std::span<const PlacedSlot> ids, std::string_view begin,
               std::set<std::string>& found) {
  for (const auto& [session, slot] : ids) {
    BMAD_TRY(in_session(*session, session->load_slots(slot, slot + 1)));
    const EntryType type = flag_type(session->slots().flags[slot]);
    BMAD_TRY_ASSIGN(std::string id,
                    in_session(*session, session->id(type, session->slots().ordinal(slot))));
    if (id.starts_with(begin) && check_read(store, type)) {
      found.insert(std::move(id));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> ids_that_begin(const Store& store, std::string_view begin) {
  const std::optional<EntryType> type = entry_type_of_id(begin);
  const std::pair<PackedId, PackedId> range =
      type ? id_range(entry_type_info(*type).id_prefix, begin) : std::pair<PackedId, PackedId>();
  const auto look = [&](CachedIndexes& indexes) -> Result<std::vector<std::string>> {
    EncryptedSessions encrypted;
    BMAD_TRY(encrypted.add(store, indexes, {}));
    std::vector<IndexedSession*> sessions(indexes.sessions().begin(), indexes.sessions().end());
    sessions.insert(sessions.end(), encrypted.sessions().begin(), encrypted.sessions().end());
    std::uint64_t entries = 0;
    for (IndexedSession* const session : sessions) {
      BMAD_TRY_ASSIGN(const SlotTotals totals, in_session(*session, session->totals()));
      entries += totals.entries;
    }
    // The whole id of an encrypted entry may be the beginning of another one.
    const bool has_others = entries <= kOthersSearchedMax && encrypted.closed == 0;
    if (!has_others && !range.first.is_there()) {
      return std::vector<std::string>();
    }
    std::vector<PlacedSlot> own;
    std::vector<PlacedSlot> others;
    for (IndexedSession* const session : sessions) {
      BMAD_TRY(in_session(*session, session->load_slots(0, 0)));
      BMAD_TRY_ASSIGN(const std::vector<IndexRow> rows, in_session(*session, session->rows()));
      for (std::uint32_t slot = 0; slot < rows.size(); ++slot) {
        const PackedId& id = rows[slot].id;
        if (!id.is_there()) {
          others.push_back({.session = session, .slot = slot});
        } else if (range.first <= id && id <= range.second) {
          own.push_back({.session = session, .slot = slot});
        }
      }
    }
    std::set<std::string> found;
    BMAD_TRY(add_ids(store, own, begin, found));
    if (has_others && others.size() <= kOthersMax) {
      BMAD_TRY(add_ids(store, others, begin, found));
    }
    return std::vector<std::string>(found.begin(), found.end());
  };
  return with_indexes(store, {.limit = 0}, look);
}

std::string closed_text(std::uint64_t count, const std::optional<Error>& key_problem) {
  return fmt::format(
      "{} the key{}",
      count == 1 ? "1 entry is encrypted and needs"
                 : fmt::format("{} entries are encrypted and need", count),
      key_problem ? ": " + key_problem->to_string() : fmt::format("; {}", kKeyRemedy));
}

Error no_entry(const Store& store, std::string_view id) {
  const std::string whole(id);
  const std::string shown(utf8_prefix(id, 200));
  Error error =
      field_error(ErrorCode::E_ENTRY_NOT_FOUND, "id",
                  fmt::format("there is no entry {}; `bmad-mem list` shows the newest", shown));
  if (const Store* const user = store.user_store(); user != nullptr) {
    const Result<std::vector<Entry>> found = find_entries(*user, {&whole, 1}, {}, false);
    const auto is_readable = [&](const Entry& entry) {
      return check_read(store, entry.type).has_value();
    };
    if (found && std::ranges::any_of(*found, is_readable)) {
      error.message =
          fmt::format("entry {} is in your own memory, not in this one; add --scope user", shown);
      return error;
    }
  }
  // Where nothing is encrypted no session is looked at again.
  const std::uint64_t closed =
      store.encryption->is_on() ? count_closed(store, {}).value_or(0) : std::uint64_t{0};
  if (closed > 0) {
    error.message = fmt::format("there is no entry {} in clear; {}", shown, closed_text(closed));
  } else if (is_named_without_events(store, id)) {
    error.message = fmt::format(
        "entry {} is not here: tool output stayed on the other machine, since git does not track "
        "it; a hub carries it",
        shown);
  }
  return error;
}

}  // namespace bmad_mem
