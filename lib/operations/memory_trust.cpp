// memory_trust.cpp - a root becomes the user's own, or foreign again.
#include <algorithm>
#include <cassert>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/trust.hpp"
#include "memory_impl.hpp"
#include "model/entry.hpp"
#include "model/statement.hpp"
#include "operations/rooms.hpp"
#include "privacy/redaction.hpp"
#include "search/cached_indexes.hpp"
#include "search/session_sources.hpp"
#include "store/access.hpp"
#include "store/beside_files.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// All that a briefing would tell of it, with who speaks and what no search finds; nothing when it
/// is quoted anyway, whatever its trust.
std::string told_text(EntryType type, JsonValue entry) {
  if (must_be_quoted(source_reliability(type, entry), 0)) {
    return {};
  }
  std::string text(type == EntryType::kEvent ? entry["kind"].string() : "");
  text += text.empty() ? "" : " ";
  entry_searchable_text(type, entry, text, ' ');
  const std::string_view who = entry_who(type, entry);
  return who.empty() || text.empty() ? text : fmt::format("{}: {}", who, text);
}

/// What trusting accepts of a log: of each entry the latest version, which is shown, and the
/// earlier ones that would tell the same. Another text is not shown, so nobody can have accepted
/// it: it would speak as soon as the later version goes.
struct Acceptable {
  std::vector<std::string> lines;
  std::map<std::string, std::pair<std::string, std::string>> latest;  ///< Line and told_text().
};

Acceptable acceptable(EntryType type, std::vector<std::string> lines) {
  Acceptable found;
  JsonParser parser;
  std::vector<std::string> ids;
  for (const std::string& line : lines) {
    const Result<JsonValue> entry = parser.parse(line);
    ids.emplace_back(entry ? entry_id(*entry) : "");
    if (entry) {
      found.latest[ids.back()].first = line;
    }
  }
  assert(ids.size() == lines.size());
  const auto told = [&](const std::string& line) {
    const Result<JsonValue> entry = parser.parse(line);
    return entry ? told_text(type, *entry) : std::string();
  };
  for (auto& [id, latest] : found.latest) {
    latest.second = told(latest.first);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto latest = found.latest.find(ids[i]);
    if (latest != found.latest.end() &&
        (lines[i] == latest->second.first || told(lines[i]) == latest->second.second)) {
      found.lines.push_back(std::move(lines[i]));
    }
  }
  assert(found.lines.size() <= lines.size() && found.latest.size() <= found.lines.size());
  return found;
}

/// The entries of a session in its log, or in a newer part of what was evicted.
using KnownIds = std::map<std::string, std::set<std::pair<EntryType, std::string>>>;

/// Calls `use` with the type and the lines of each log of a session, entries and encrypted ones.
/// What was evicted and is `known` is an earlier version.
template <typename Use>
Status for_each_log(const Store& store, const SessionSource& source, KnownIds& known,
                    const Use& use) {
  BMAD_TRY_ASSIGN(const std::shared_ptr<FileSystem> files, source.files(store));
  JsonParser parser;
  std::set<std::pair<EntryType, std::string>>& ids = known[source.session_id];
  for (const EntryType type : kEntryTypes) {
    std::vector<std::string> lines;
    std::vector<std::string> encrypted;
    BMAD_TRY(scan_log(
        *files, log_path(source.session_id, type), type, parser,
        {.on_entry =
             [&](const ScannedEntry& entry) {
               if (ids.emplace(type, entry_id(entry.value)).second || !source.is_evicted()) {
                 lines.emplace_back(entry.text);
               }
             },
         .on_encrypted = [&](const ScannedEntry& entry) { encrypted.emplace_back(entry.text); }}));
    use(type, std::move(lines), std::move(encrypted));
  }
  return {};
}

/// Calls `use` for all there is: archives and sessions, then what was evicted.
template <typename Use>
Status for_each_source(const Store& store, const Use& use) {
  BMAD_TRY_ASSIGN(std::vector<SessionSource> sources, session_sources(store, {}));
  BMAD_TRY_ASSIGN(std::vector<SessionSource> evicted, evicted_sources(store, {}));
  std::ranges::move(evicted, std::back_inserter(sources));
  KnownIds known;
  for (const SessionSource& source : sources) {
    if (const Status used = use(source, known); !used) {
      BMAD_TRY(source.leave_out(store, used.error()));
    }
  }
  return {};
}

}  // namespace

Result<std::uint64_t> trust_root(Store& store) {
  BMAD_TRY(load_config(*store.files));  // What can't be read was not shown.
  BMAD_TRY(check_config(store, store.written.config));
  BMAD_TRY(store.origins->mark(RootTrust::kTrusted, store.written.config, store.written.text));
  assert(store.origins->provenance() != nullptr && "a trusted root has one");
  store.config = store.written.config;
  store.written.waiting.clear();
  store.written.stricter.clear();
  std::uint64_t count = 0;
  BMAD_TRY(for_each_source(store, [&](const SessionSource& source, KnownIds& known) {
    return for_each_log(store, source, known, [&](EntryType type, auto lines, const auto&) {
      count += store.origins->provenance()->accept(source.session_id, type,
                                                   acceptable(type, std::move(lines)).lines);
    });
  }));
  return count;
}

namespace {

/// Who wrote some lines of a session, as far as it is known; also where the root is foreign.
class KnownLines {
 public:
  KnownLines(const Store& store, const std::string& session_id, std::span<const std::string> lines)
      : session_id_(session_id), origins_(store.origins->known_lines()) {
    for (const std::string& line : lines) {
      if (const Result<JsonValue> entry = parser_.parse(line)) {
        origins_.want(session_id_, *entry, line);
      }
    }
    origins_.find();
  }

  [[nodiscard]] bool is_by(Origin origin, const std::string& line) {
    const Result<JsonValue> entry = parser_.parse(line);
    return entry && origins_.of(session_id_, *entry, line) == origin;
  }
  [[nodiscard]] std::uint64_t count(Origin origin, std::span<const std::string> lines) {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(lines, [&](const auto& line) { return is_by(origin, line); }));
  }

 private:
  std::string session_id_;
  JsonParser parser_;
  LineOrigins origins_;
};

Status offer_session(const Store& store, const SessionSource& source, KnownIds& ids,
                     TrustOffer& offer) {
  return for_each_log(store, source, ids, [&](EntryType type, auto lines, const auto& encrypted) {
    const auto place = static_cast<std::size_t>(type);
    const Acceptable found = acceptable(type, std::move(lines));
    KnownLines known(store, source.session_id, found.lines);
    offer.lines[place] += known.count(Origin::kElsewhere, found.lines);
    offer.by_agents[place] += known.count(Origin::kAgent, found.lines);
    for (const auto& [id, latest] : found.latest) {
      if (!latest.second.empty() && known.is_by(Origin::kElsewhere, latest.first)) {
        offer.texts.push_back(
            {.session_id = source.session_id, .type = type, .id = id, .text = latest.second});
      }
    }
    offer.encrypted_lines +=
        KnownLines(store, source.session_id, encrypted).count(Origin::kElsewhere, encrypted);
  });
}

}  // namespace

Result<TrustOffer> trust_offer(MemoryManager& memory) {
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(memory, "trust"));
  TrustOffer offer;
  offer.settings = store->written.waiting;
  offer.switches = trusted_switches(*store);
  if (store->origins->is_foreign()) {
    BMAD_TRY_ASSIGN(offer.files, files_beside_sessions(*store->files));
    std::erase_if(offer.files,
                  [](const std::string& path) { return !path.starts_with("memories/"); });
  }
  BMAD_TRY(for_each_source(*store, [&](const SessionSource& source, KnownIds& known) {
    return offer_session(*store, source, known, offer);
  }));
  std::ranges::stable_sort(offer.texts, {}, [](const OfferedText& text) {
    return is_statement(text.type) ? 0 : text.type == EntryType::kDecision ? 1 : 2;
  });
  return offer;
}

bool MemoryManager::is_foreign() const { return impl_->store.origins->is_foreign(); }

std::string MemoryManager::note_text(std::string_view name) const {
  return impl_->store.origins->state_text(name);
}

Status MemoryManager::change_note(std::string_view name,
                                  const std::function<std::string(std::string)>& change) const {
  return impl_->store.origins->change_state(name, change, /*is_durable=*/false);
}

bool MemoryManager::has_lost_origins() const {
  const ProvenanceLog* const provenance = impl_->store.origins->provenance();
  return provenance != nullptr && provenance->has_lost();
}

TrustReport MemoryManager::trust_report() const {
  return impl_->store.origins->report(impl_->store.config, impl_->store.written.config);
}

namespace {

Status check_is_user(const Store& store) {
  if (ActingAs::current(store.writes_as) != Origin::kAgent) {
    return {};
  }
  return Error{.code = ErrorCode::E_ACCESS_DENIED,
               .message =
                   "only the user trusts a memory, or takes that back: ask for `bmad-mem "
                   "trust` in a terminal"};
}

}  // namespace

Result<TrustReport> MemoryManager::trust() {
  BMAD_TRY_ASSIGN(Store* const store, impl_->enter("trust"));
  BMAD_TRY(check_is_user(*store));
  BMAD_TRY_ASSIGN(const std::uint64_t lines, trust_root(*store));
  // Hooks read little of archives that are in no index, and those of a clone are.
  static_cast<void>(with_indexes(*store, {}, [](const CachedIndexes&) { return Status(); }));
  TrustReport report = trust_report();
  report.lines = lines;
  return report;
}

Result<TrustReport> MemoryManager::revoke_trust() {
  BMAD_TRY_ASSIGN(Store* const store, impl_->enter("trust"));
  BMAD_TRY(check_is_user(*store));
  BMAD_TRY(store->origins->revoke());
  return trust_report();
}

}  // namespace bmad_mem
