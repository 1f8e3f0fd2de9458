// verify.hpp - what `verify` looks at, part by part.
//
//   sessions/ID     verify.cpp           every line of every log, the manifest, foreign files
//   archive/ID.*    verify_stored.cpp    every file in the archive, its manifest, what was evicted
//   shared/kept/ID  deleted/ID           against the archive; lines, record, whole sessions
//   */ID/audit, quarantine, memories/    line by line; that they can be read
//
// What is derived (indexes, catalog, views, access counts) is no finding: the next read that needs
// it makes it again.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json.hpp"
#include "bmad_mem/reports.hpp"
#include "store/entry_scanner.hpp"
#include "store/line_sealing.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// Adds findings of one session, or of the root when the id is empty.
class FindingList {
 public:
  FindingList(VerifyReport& report, std::string session_id)
      : report_(report), session_id_(std::move(session_id)) {}

  void add(FindingKind kind, std::string path, std::uint64_t line, std::string reason);
  /// As the error has it.
  void add_as(FindingKind kind, const Error& error);
  /// The same, but kNewerVersion and kUnreadable go before `kind`.
  void add(FindingKind kind, const Error& error);

 private:
  VerifyReport& report_;
  std::string session_id_;
};

/// Opens sealed lines, and counts them in a report.
class SealedCheck {
 public:
  /// Both must outlive it.
  SealedCheck(const Store& store, VerifyReport& report);

  /// Why a sealed line of the session does not open; nothing when it does, or without its key.
  std::optional<Error> problem_of(std::string_view session_id, const ScannedEntry& scanned);
  /// Gives what does not open of the session to `on_damage`.
  template <typename OnDamage>
  auto handler(std::string_view session_id, const OnDamage& on_damage) {
    return [this, session_id, &on_damage](const ScannedEntry& entry) {
      if (const auto problem = problem_of(session_id, entry)) {
        on_damage(sealed_damage(entry, *problem));
      }
    };
  }
  /// The same of what may be a sealed document.
  std::optional<Error> problem_of_document(std::string_view session_id, std::string_view text);

 private:
  VerifyReport& report_;
  std::unique_ptr<LineOpener> opener_;  // Null where the key can't be used.
  JsonParser parser_;
};

/// The sessions that something is stored of outside their folders, sorted.
Result<std::vector<std::string>> stored_session_ids(const Store& store);

/// Checks what is stored of a session outside its logs and manifest.
void verify_stored(const Store& store, const std::string& session_id, VerifyReport& report);

/// Checks memories/.
void verify_memories(const Store& store, VerifyReport& report);

/// Names what is in the folders of sessions and of archives and can be neither, such as the copies
/// "s1 (1)" and "s2 (1).tar.gz" of a cloud drive: no command reads them.
void verify_names(const Store& store, VerifyReport& report);

}  // namespace bmad_mem
