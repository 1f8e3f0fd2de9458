// session_title.hpp - what a session is called: as chosen, else by its first request that says
// something, else by its first one, else by its summary, else by who wrote and when; where no
// agent is named, by one of its entries.
//
// A derived title is read from the head of the conversation each time. So it is never stale, and a
// message that is deleted or redacted takes it along. An archive's manifest keeps it, and is
// written again with the archive.
#pragma once

#include <string>
#include <string_view>

#include "base/file_system.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/reports.hpp"
#include "store/manifest.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// What is derived of a title; both may be empty.
struct DerivedTitle {
  std::string title;          ///< Of the request, else of the summary.
  std::string first_request;  ///< See Session::first_request.

  bool operator==(const DerivedTitle&) const = default;
};

/// From a conversation's log and a summary.md; both may be empty. An archive keeps it, so that a
/// message that expires some day gives no title.
DerivedTitle derived_title(std::string_view conversation, std::string_view summary);

/// Sets the title of `session`, which was described, from `files`: those of a folder or an archive.
/// Nothing is read of a type that may not be read. Never fails: without a log there is still a day.
void add_title(const Store& store, FileSystem& files, Session& session);

/// The same for the session of `manifest` in an archive, of which `derived` was kept.
void add_title(const Store& store, const Manifest& manifest, DerivedTitle derived,
               ArchivedSession& session);

}  // namespace bmad_mem
