// no_entry.cpp - why an id finds nothing.
#include <algorithm>

#include <fmt/format.h>

#include "bmad_mem/encryption.hpp"
#include "bmad_mem/text.hpp"
#include "search/reads.hpp"
#include "store/access.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// Whether an entry names `id` whose session has no events here, as in a clone: git ignores them.
/// Reads all entries, so it looks only where git may have left some out.
bool is_named_without_events(const Store& store, std::string_view id) {
  if (!store.tracked.any()) {
    return false;
  }
  const std::string quoted = fmt::format("\"{}\"", id);
  const Result<std::vector<Entry>> all = list_entries(store, {.limit = 0});
  return all && std::ranges::any_of(*all, [&](const Entry& entry) {
           return entry.json.contains(R"("events":[)") && entry.json.contains(quoted) &&
                  !store.files->info(session_file(entry.session_id, kEventsName));
         });
}

}  // namespace

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
