// memory_trust.cpp - a root becomes the user's own, or foreign again.
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/json_parser.hpp"
#include "memory_impl.hpp"
#include "operations/rooms.hpp"
#include "search/held_indexes.hpp"
#include "search/session_sources.hpp"
#include "store/access.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// Records all lines of a session that nobody has a record of as accepted. Their number.
Result<std::uint64_t> accept_session(const Store& store, const SessionSource& source) {
  BMAD_TRY_ASSIGN(const std::shared_ptr<FileSystem> files, source.files(store));
  JsonParser parser;
  std::uint64_t count = 0;
  for (const EntryType type : kEntryTypes) {
    std::vector<std::string> lines;
    const auto take = [&](const ScannedEntry& entry) { lines.emplace_back(entry.text); };
    BMAD_TRY(scan_log(*files, session_file(source.session_id, entry_type_info(type).log_file), type,
                      parser, {.on_entry = take}));
    count += store.origins->ledger()->accept(source.session_id, type, lines);
  }
  return count;
}

}  // namespace

Result<std::uint64_t> trust_root(Store& store) {
  const bool was_own = store.origins->trust() == RootTrust::kOwn;
  BMAD_TRY(store.origins->mark(was_own ? RootTrust::kOwn : RootTrust::kTrusted, store.config));
  BMAD_TRY_ASSIGN(std::vector<SessionSource> sources, evicted_sources(store, {}));
  BMAD_TRY_ASSIGN(std::vector<SessionSource> sessions, session_sources(store, {}));
  std::ranges::move(sessions, std::back_inserter(sources));
  std::uint64_t count = 0;
  for (const SessionSource& source : sources) {
    const Result<std::uint64_t> accepted = accept_session(store, source);
    if (accepted) {
      count += *accepted;
    } else {
      BMAD_TRY(source.leave_out(store, accepted.error()));
    }
  }
  return count;
}

bool MemoryManager::is_foreign() const { return impl_->store.origins->is_foreign(); }

TrustReport MemoryManager::trust_report() const {
  return impl_->store.origins->report(impl_->store.config);
}

Result<TrustReport> MemoryManager::trust() {
  BMAD_TRY_ASSIGN(Store* const store, impl_->enter(Operation::kTrust));
  if (ActingAs::current(store->writes_as) == Origin::kAgent) {
    return Error{
        .code = ErrorCode::E_ACCESS_DENIED,
        .message = "only the user trusts a memory: ask for `bmad-mem trust` in a terminal"};
  }
  BMAD_TRY_ASSIGN(const std::uint64_t lines, trust_root(*store));
  TrustReport report = trust_report();
  report.lines = lines;
  return report;
}

Result<TrustReport> MemoryManager::revoke_trust() {
  BMAD_TRY_ASSIGN(Store* const store, impl_->enter(Operation::kTrust));
  BMAD_TRY(store->origins->revoke());
  return trust_report();
}

}  // namespace bmad_mem
