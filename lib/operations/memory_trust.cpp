// memory_trust.cpp - a root becomes the user's own, or foreign again.
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/trust_offer.hpp"
#include "memory_impl.hpp"
#include "model/entry.hpp"
#include "operations/rooms.hpp"
#include "privacy/redaction.hpp"
#include "search/held_indexes.hpp"
#include "search/session_sources.hpp"
#include "store/access.hpp"
#include "store/beside_files.hpp"
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

/// Calls `use` for all there is: what was evicted, then archives and sessions.
template <typename Use>
Status for_each_source(const Store& store, const Use& use) {
  BMAD_TRY_ASSIGN(std::vector<SessionSource> sources, evicted_sources(store, {}));
  BMAD_TRY_ASSIGN(std::vector<SessionSource> sessions, session_sources(store, {}));
  std::ranges::move(sessions, std::back_inserter(sources));
  for (const SessionSource& source : sources) {
    if (const Status used = use(source); !used) {
      BMAD_TRY(source.leave_out(store, used.error()));
    }
  }
  return {};
}

}  // namespace

Result<std::uint64_t> trust_root(Store& store) {
  const bool was_own = store.origins->trust() == RootTrust::kOwn;
  BMAD_TRY(store.origins->mark(was_own ? RootTrust::kOwn : RootTrust::kTrusted, store.config));
  std::uint64_t count = 0;
  BMAD_TRY(for_each_source(store, [&](const SessionSource& source) -> Status {
    BMAD_TRY_ASSIGN(const std::uint64_t accepted, accept_session(store, source));
    count += accepted;
    return {};
  }));
  return count;
}

namespace {

/// The output of tools is quoted, by whatever door it came.
bool is_quoted_anyway(EntryType type, JsonValue entry) {
  static constexpr std::array<std::string_view, 3> kQuoted = {"tool", "web", "import"};
  return std::ranges::find(kQuoted, entry["source"]["kind"].string()) != kQuoted.end() ||
         (type == EntryType::kConversation && entry["role"].string() == "tool") ||
         (type == EntryType::kEvent && !entry["tool"].string().empty());
}

/// What trusting accepts of one log; `texts` by the ids of entries.
void offer_lines(const Store& store, const std::string& session_id, EntryType type,
                 std::span<const std::string> lines,
                 std::map<std::pair<EntryType, std::string>, OfferedText>& texts,
                 TrustOffer& offer) {
  LineOrigins origins = store.origins->lines();
  JsonParser parser;
  for (const std::string& line : lines) {
    if (const Result<JsonValue> entry = parser.parse(line)) {
      origins.want(session_id, *entry, line);
    }
  }
  origins.find();
  for (const std::string& line : lines) {
    const Result<JsonValue> entry = parser.parse(line);
    if (!entry) {
      continue;
    }
    const std::pair key(type, std::string(entry_id(*entry)));
    texts.erase(key);  // The latest version is what is told.
    if (origins.of(session_id, *entry, line) != Origin::kElsewhere) {
      continue;
    }
    ++offer.lines[static_cast<std::size_t>(type)];
    OfferedText text{.session_id = session_id, .type = type, .id = key.second, .text = {}};
    entry_searchable_text(type, *entry, text.text, ' ');
    if (!text.text.empty() && !is_quoted_anyway(type, *entry)) {
      texts.emplace(key, std::move(text));
    }
  }
}

Status offer_session(const Store& store, const SessionSource& source, TrustOffer& offer) {
  BMAD_TRY_ASSIGN(const std::shared_ptr<FileSystem> files, source.files(store));
  std::map<std::pair<EntryType, std::string>, OfferedText> texts;
  JsonParser parser;
  for (const EntryType type : kEntryTypes) {
    std::vector<std::string> lines;
    const auto take = [&](const ScannedEntry& entry) { lines.emplace_back(entry.text); };
    BMAD_TRY(scan_log(*files, session_file(source.session_id, entry_type_info(type).log_file), type,
                      parser, {.on_entry = take}));
    offer_lines(store, source.session_id, type, lines, texts, offer);
  }
  for (auto& [key, text] : texts) {
    offer.texts.push_back(std::move(text));
  }
  return {};
}

}  // namespace

Result<TrustOffer> trust_offer(MemoryManager& memory) {
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(memory, Operation::kTrust));
  TrustOffer offer{.lines = {}, .texts = {}, .switches = trusted_switches(*store), .files = {}};
  if (store->origins->is_foreign()) {
    BMAD_TRY_ASSIGN(offer.files, files_beside_sessions(*store->files));
    std::erase_if(offer.files,
                  [](const std::string& path) { return !path.starts_with("memories/"); });
  }
  BMAD_TRY(for_each_source(
      *store, [&](const SessionSource& source) { return offer_session(*store, source, offer); }));
  std::ranges::stable_sort(offer.texts, {}, [](const OfferedText& text) {
    return text.type == EntryType::kFact || text.type == EntryType::kPreference ? 0
           : text.type == EntryType::kDecision                                  ? 1
                                                                                : 2;
  });
  return offer;
}

bool MemoryManager::is_foreign() const { return impl_->store.origins->is_foreign(); }

bool MemoryManager::has_lost_origins() const {
  const OriginLedger* const ledger = impl_->store.origins->ledger();
  return ledger != nullptr && ledger->has_lost();
}

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
