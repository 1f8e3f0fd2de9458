// hit_loader.hpp - from places in an index to entries with snippets: the few lines that are read.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "search/indexed_session.hpp"
#include "search/search.hpp"

namespace bmad_mem {

class HitLoader {
 public:
  /// All arguments must outlive the loader; the sessions are locked.
  HitLoader(std::span<IndexedSession* const> sessions, const SearchResult& result,
            const Query& query, std::string_view language);
  ~HitLoader();

  /// Entry `index` of the result with its line, a snippet, and Query::context entries before and
  /// after it in its conversation. Errors: as IndexedSession::line(), with the session in
  /// Error::field.
  Result<Hit> load(std::size_t index);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// An entry as a report has it. Errors: as IndexedSession::line().
Result<Entry> load_entry(const IndexedSession& session, Ordinal ordinal);
/// The same of several of one session, whose logs stay open.
Result<Entry> load_entry(const IndexedSession& session, Ordinal ordinal,
                         IndexedSession::OpenLogs& logs);

}  // namespace bmad_mem
