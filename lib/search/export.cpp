// export.cpp - all sessions, or what a filter chooses of them, one after the other.
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/exports.hpp"
#include "bmad_mem/json.hpp"
#include "query/plan.hpp"
#include "search/archive_reader.hpp"
#include "search/field_filter.hpp"
#include "search/reads.hpp"
#include "search/session_sources.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/manifest.hpp"
#include "store/present_sessions.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// A session that is to be exported.
struct Chosen {
  Session session;
  bool packed = false;
};

Result<Session> archived_session(const Store& store, const std::string& session_id) {
  BMAD_TRY_ASSIGN(const std::shared_ptr<FileSystem> files, archive_files(store, session_id));
  BMAD_TRY_ASSIGN(Session session, describe_session(*files, session_id));
  add_title(store, *files, session);
  return session;
}

/// The session, or why it can't be read. The size of an archived one is about that of its logs.
Session described(const Store& store, const std::string& session_id, bool packed) {
  Result<Session> session =
      packed ? archived_session(store, session_id) : titled_session(store, session_id);
  if (session) {
    return *std::move(session);
  }
  return {.session_id = session_id, .problem = std::move(session).error()};
}

class Export {
 public:
  Export(const Store& store, const ExportOptions& options, ExportVisitor& visitor)
      : store_(store), options_(options), visitor_(visitor) {}

  Result<ExportReport> run() {
    BMAD_TRY(check_time_range(options_.filter));
    BMAD_TRY(choose_sessions());
    for (Chosen& chosen : chosen_) {
      BMAD_TRY(export_session(chosen));
      done_ += chosen.session.size_bytes;
      visitor_.on_progress(done_, total_);
    }
    if (closed_ > 0) {
      note_problem({.code = ErrorCode::E_ACCESS_DENIED,
                    .message = fmt::format(
                        "{} left out; name the key in $BMAD_MEM_KEY_FILE, $BMAD_MEM_KEY or "
                        "$BMAD_MEM_PASSPHRASE",
                        closed_ == 1 ? "1 encrypted entry is"
                                     : fmt::format("{} encrypted entries are", closed_)),
                    .field = "key"});
    }
    return report_;
  }

 private:
  Status choose_sessions() {
    if (options_.filter.sessions.empty()) {
      BMAD_TRY_ASSIGN(PresentSessions present, present_sessions(store_));
      for (const std::string& id : present.live) {
        choose(id, /*packed=*/false);
      }
      if (options_.archived) {
        for (const std::string& id : present.packed) {
          choose(id, /*packed=*/true);
        }
      } else {
        report_.archived = std::move(present.packed);
      }
    }
    for (const std::string& id : options_.filter.sessions) {
      BMAD_TRY(choose_session(id));
    }
    std::ranges::sort(chosen_, {}, [](const Chosen& each) {
      return std::pair(each.session.created_at, std::string_view(each.session.session_id));
    });
    for (const Chosen& chosen : chosen_) {
      total_ += chosen.session.size_bytes;
    }
    return {};
  }

  void choose(const std::string& id, bool packed) {
    chosen_.push_back({.session = described(store_, id, packed), .packed = packed});
  }

  /// One that was asked for must be there, and comes once however often it was named.
  Status choose_session(const std::string& id) {
    const auto is_it = [&](const Chosen& chosen) { return chosen.session.session_id == id; };
    if (std::ranges::any_of(chosen_, is_it)) {
      return {};
    }
    if (Status there = check_session(store_, id); there) {
      choose(id, /*packed=*/false);
    } else if (options_.archived && there.error().code == ErrorCode::E_SESSION_ARCHIVED) {
      choose(id, /*packed=*/true);
    } else {
      return there;
    }
    return {};
  }

  Status export_session(Chosen& chosen) {
    Result<std::vector<TableEntry>> entries = load_where_it_is(chosen);
    closed_ += closed_here_;
    if (!entries) {
      return leave_out(chosen.session.session_id, std::move(entries).error());
    }
    if (chosen.session.problem) {
      note_problem(*chosen.session.problem);
      if (entries->empty()) {
        return {};
      }
    }
    keep_chosen(chosen.session.session_id, *entries);
    const bool came_later =
        options_.filter.as_of && chosen.session.created_at > *options_.filter.as_of;
    if (entries->empty() &&
        (came_later || options_.filter.without_sensitive || chooses_entries(options_.filter))) {
      return {};
    }
    ++report_.sessions;
    leave_out_title(chosen.session);
    BMAD_TRY(visitor_.on_session(chosen.session));
    for (const auto& [time, index] : order_of(*entries)) {
      ++report_.entries;
      BMAD_TRY(visitor_.on_entry(
          to_entry(parser_, chosen.session.session_id, std::move((*entries)[index]))));
    }
    return visitor_.on_session_end();
  }

  /// A title that is derived tells of messages: where only some entries are wanted, perhaps of
  /// others.
  void leave_out_title(Session& session) const {
    if (chooses_entries(options_.filter)) {  // No title is of a sensitive one.
      session.first_request.clear();
      session.title = session.title_from == TitleSource::kChosen ? session.title : std::string();
    }
  }

  /// What went meanwhile is no problem, unless it was asked for.
  Status leave_out(const std::string& session_id, const Error& error) {
    const Status there = check_session(store_, session_id);
    const bool has_gone = !there && there.error().code == ErrorCode::E_SESSION_NOT_FOUND;
    if (!there && there.error().code == ErrorCode::E_SESSION_ARCHIVED && !options_.archived) {
      report_.archived.push_back(session_id);
    } else if (!has_gone || !options_.filter.sessions.empty()) {
      note_problem(error);
    }
    return {};
  }

  /// A session that was archived or restored since it was chosen is read where it is now.
  Result<std::vector<TableEntry>> load_where_it_is(Chosen& chosen) {
    constexpr int kTries = 4;
    const std::string id = chosen.session.session_id;
    for (int tries = 1;; ++tries) {
      Result<std::vector<TableEntry>> entries = load(chosen);
      const Status there = check_session(store_, id);
      const bool is_packed = !there && there.error().code == ErrorCode::E_SESSION_ARCHIVED;
      const bool has_moved = chosen.packed ? there.has_value() : is_packed;
      if ((entries && !chosen.session.problem) || !has_moved || tries == kTries ||
          (is_packed && !options_.archived)) {
        return entries;
      }
      chosen = {.session = described(store_, id, is_packed), .packed = is_packed};
    }
  }

  Result<std::vector<TableEntry>> load(const Chosen& chosen) {
    const std::string& id = chosen.session.session_id;
    std::shared_ptr<FileSystem> apart;  // None for a folder as it is.
    if (chosen.packed) {
      BMAD_TRY_ASSIGN(apart, archive_files(store_, id));
    }
    if (options_.filter.as_of) {
      BMAD_TRY_ASSIGN(apart, choose_steadily(store_, [&] { return past_files_of(chosen); }));
    }
    FileSystem& files = apart == nullptr ? *store_.files : *apart;
    const auto on_damage = [&](EntryType type, const DamagedLine& line) {
      const std::string path = log_path(id, type);
      note_problem({.code = ErrorCode::E_STORAGE_CORRUPT,
                    .message = line.reason,
                    .path = files.display_path(path),
                    .line = line.line,
                    .column = line.column,
                    .field = line.field});
    };
    const bool opens = !options_.filter.as_of && store_.encryption->opens();
    const Versions versions = options_.all_versions ? Versions::kAll : Versions::kLatest;
    closed_here_ = 0;
    BMAD_TRY_ASSIGN(std::vector<TableEntry> entries,
                    load_entries(files, id, options_.filter.types, versions, on_damage,
                                 opens ? store_.encryption.get() : nullptr, &closed_here_));
    if (!chosen.packed) {
      BMAD_TRY(check_still_there(store_, id));
    }
    return entries;
  }

  Result<std::shared_ptr<FileSystem>> past_files_of(const Chosen& chosen) {
    SessionSource source{.session_id = chosen.session.session_id};
    if (chosen.packed) {
      BMAD_TRY_ASSIGN(source.packed, archive_reader(store_, source.session_id));
    }
    return past_files(store_, source, *options_.filter.as_of);
  }

  void note_problem(const Error& problem) {
    ++report_.problems;
    visitor_.on_problem(problem);
  }

  /// Leaves what the options choose. The latest version of an entry decides; but one that was ever
  /// marked as sensitive is sensitive in all its versions.
  void keep_chosen(const std::string& session_id, std::vector<TableEntry>& entries) {
    struct Verdict {
      bool passes = false;
      bool sensitive = false;
    };
    EntryFilter filter = options_.filter;
    filter.without_sensitive = false;  // Not for one version to say.
    std::map<std::pair<EntryType, std::string>, Verdict> verdicts;
    for (const TableEntry& entry : entries) {
      Verdict& verdict = verdicts[{entry.type, entry.id}];
      verdict.passes = passes(filter, session_id, entry);
      verdict.sensitive = verdict.sensitive || entry.sensitive;
    }
    std::erase_if(entries, [&](const TableEntry& entry) {
      const Verdict& verdict = verdicts[{entry.type, entry.id}];
      report_.sensitive += verdict.passes && verdict.sensitive ? 1U : 0U;
      return !verdict.passes || (verdict.sensitive && options_.filter.without_sensitive);
    });
  }

  /// The entries, which are by type and line, in order of time. Where all versions come, none
  /// stands before one that is above it in its log: the last line of an entry is the one that
  /// counts, whatever its time.
  [[nodiscard]] std::vector<std::pair<Timestamp, std::size_t>> order_of(
      const std::vector<TableEntry>& entries) const {
    std::vector<std::pair<Timestamp, std::size_t>> keys;
    keys.reserve(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      Timestamp key = entries[i].timestamp;
      if (options_.all_versions && i > 0 && entries[i - 1].type == entries[i].type) {
        key = std::max(key, keys.back().first);
      }
      keys.emplace_back(key, i);
    }
    assert(keys.size() == entries.size());
    std::ranges::sort(keys);
    return keys;
  }

  const Store& store_;
  const ExportOptions& options_;
  ExportVisitor& visitor_;
  std::vector<Chosen> chosen_;
  ExportReport report_;
  JsonParser parser_;
  std::uint64_t closed_ = 0;       // Encrypted entries that did not open.
  std::uint64_t closed_here_ = 0;  // Of the session that was read last.
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace

Result<ExportReport> export_entries(const Store& store, const ExportOptions& options,
                                    ExportVisitor& visitor) {
  return Export(store, options, visitor).run();
}

}  // namespace bmad_mem
