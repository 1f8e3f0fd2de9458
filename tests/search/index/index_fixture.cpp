#include "search/index/index_fixture.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bmad_mem/json.hpp"
#include "model/entry.hpp"
#include "search/segment.hpp"
#include "store/layout.hpp"

namespace bmad_mem::test {
namespace {

constexpr std::array<std::string_view, 24> kWords = {
    "database", "postgres",       "the",         "connection",     "pool",
    "because",  "src/auth.ts",    "getUserById", "v1.2.3",         "limits",
    "Hikari",   "E_LOCK_TIMEOUT", "why",         "dropped?",       "データベース",
    "Straße",   "reviewing",      "caf\u00e9s",  "\\\"quoted\\\"", "a\\\\b\\tc",
    "running",  "user's",         "https://x.y", "deployment"};
constexpr std::array<std::string_view, 8> kTags = {
    "database", "a\\\"b", "back\\\\slash", "\\u0001x", "Zebra", "a: [1", "~", "ü"};
constexpr std::array<std::string_view, 5> kConversations = {"", "conv-a", "conv-b", "c\\\"c", "d"};
constexpr std::array<std::string_view, 6> kTypesText = {"",    "design", "\\\"T\\\"",
                                                        "a b", "A",      "zz\\\\"};

/// Whole minutes from 2026-01-11T10:00 on, over some hours and a change of day.
std::string moment(std::uint32_t minutes) {
  return fmt::format("2026-01-{:02}T{:02}:{:02}:07Z", 11 + minutes / 1440 % 10, minutes / 60 % 24,
                     minutes % 60);
}

}  // namespace

NewLine message(std::string_view id, std::string_view content, std::string_view conversation,
                std::string_view role, std::string_view agent) {
  std::string text =
      fmt::format(R"({{"id":"{}","timestamp":"2026-01-11T10:00:00Z","role":"{}","content":"{}")",
                  id, role, content);
  if (!agent.empty()) {
    text += fmt::format(R"(,"agent_id":"{}")", agent);
  }
  if (!conversation.empty()) {
    text += fmt::format(R"(,"context":{{"conversation_id":"{}"}})", conversation);
  }
  return {.type = EntryType::kConversation, .text = text + "}"};
}

NewLine fact(std::string_view id, std::string_view content) {
  return {.type = EntryType::kFact,
          .text = fmt::format(R"({{"id":"{}","timestamp":"2026-01-11T10:00:00Z","content":"{}"}})",
                              id, content)};
}

std::string RandomEntries::pick_id(EntryType type) {
  std::vector<std::string>& known = ids_[static_cast<std::size_t>(type)];
  if (!known.empty() && below(6) == 0) {
    return known[below(static_cast<std::uint32_t>(known.size()))];
  }
  if (below(4) == 0) {  // As the engine makes them.
    known.push_back(fmt::format("{}{:015}", entry_type_info(type).id_prefix, ++made_));
    return known.back();
  }
  // Ids of different types may be the same.
  known.push_back(fmt::format("id-{}", below(3) == 0 ? below(5) : ++made_));
  return known.back();
}

std::string RandomEntries::words() {
  std::string text;
  for (std::uint32_t i = below(12); i > 0; --i) {
    text += kWords[below(kWords.size())];
    text += i > 1 ? " " : "";
  }
  return text;
}

std::string RandomEntries::tags() {
  std::string text = "[";
  for (std::uint32_t i = below(4); i > 0; --i) {
    text += fmt::format(R"("{}"{})", kTags[below(kTags.size())], i > 1 ? "," : "");
  }
  return text + "]";
}

NewLine RandomEntries::next() {
  constexpr std::array kTypes = {EntryType::kConversation, EntryType::kConversation,
                                 EntryType::kConversation, EntryType::kDecision, EntryType::kFact};
  const EntryType type = kTypes[below(kTypes.size())];
  std::string text = fmt::format(R"({{"id":"{}","timestamp":"{}","tags":{},"agent_id":"agent {}")",
                                 pick_id(type), moment(below(5000)), tags(), below(3));
  const auto maybe = [&](std::string_view member) { text += below(8) == 0 ? member : ""; };
  maybe(R"(,"decay_factor":0.5)");
  maybe(R"(,"last_accessed":"2026-01-12T08:00:00Z")");
  maybe(R"(,"pinned":true)");
  maybe(R"(,"sensitive":true)");
  maybe(R"(,"references":{"decisions":["id-1","id-2"]})");
  if (type == EntryType::kConversation) {
    const std::string_view conversation = kConversations[below(kConversations.size())];
    text += fmt::format(R"(,"role":"{}","content":"{}")", below(2) == 0 ? "user" : "assistant",
                        words() + (below(3) == 0 ? " ok?" : "."));
    text +=
        fmt::format(R"(,"context":{{"topic":"{}"{}}})", kTypesText[below(kTypesText.size())],
                    conversation.empty() ? std::string()
                                         : fmt::format(R"(,"conversation_id":"{}")", conversation));
  } else if (type == EntryType::kDecision) {
    maybe(R"(,"impact":"high")");
    maybe(R"(,"approved_by":["Ann"])");
    text += fmt::format(R"(,"decision":"Use {}")", words());
  } else {
    text += fmt::format(R"(,"content":"It is {}")", words());
    maybe(R"(,"category":"constraint","key":"floor")");
    maybe(R"(,"category":"style")");
    maybe(R"(,"confidence":0.95)");
    maybe(R"(,"review":"candidate")");
    maybe(R"(,"source":{"kind":"web","trust":0.2})");
    maybe(R"(,"updated_at":"2026-01-13T08:00:00Z")");
  }
  return {.type = type, .text = text + "}"};
}

IndexedSession::IndexedSession() { files.make_folders(session_folder(kSession)); }

std::string IndexedSession::log(EntryType type) {
  return session_file(kSession, entry_type_info(type).log_file);
}

void IndexedSession::add(const NewLine& line) {
  const std::unique_ptr<File> file =
      std::move(files.open(log(line.type), OpenMode::kAppend).value());
  static_cast<void>(file->write(line.text + "\n").value());
}

std::unique_ptr<SessionIndex> IndexedSession::index(std::string_view session_id,
                                                    std::string_view language) {
  return std::make_unique<SessionIndex>(files, clock,
                                        SessionIndex::Options{.session_id = std::string(session_id),
                                                              .language = std::string(language),
                                                              .base = base()});
}

std::string flushed(SessionIndex& index, MemoryFileSystem& files, const std::string& path) {
  files.make_folders(kIndexFolder);
  const auto guard = index.lock();
  const std::array<bmad_mem::IndexedSession*, 1> sessions = {&index};
  if (const auto written = write_segment(files, path, sessions, "english"); !written) {
    throw std::runtime_error(written.error().to_string());
  }
  return files.read(path);
}

void IndexedSession::flush() {
  const std::unique_ptr<SessionIndex> writer = index();
  if (const Status done = writer->refresh(); !done) {
    throw std::runtime_error(done.error().to_string());
  }
  const std::string path = fmt::format("{}/{}.seg", kIndexFolder, ++segments_);
  flushed(*writer, files, path);
  const std::uint32_t only_one = 0;
  const auto in_files = [this](const std::string&, bool) -> Result<std::shared_ptr<FileSystem>> {
    return std::shared_ptr<FileSystem>(std::shared_ptr<void>(), &files);
  };
  base_ = {.part = std::make_shared<SegmentPart>(Segment::open(files, path, "english").value(),
                                                 std::span(&only_one, 1), in_files),
           .covers = writer->covers()};
}

namespace {

/// Tells an index, see told().
class Teller {
 public:
  explicit Teller(SessionIndex& index) : index_(index), guard_(index.lock()) {}

  Result<std::vector<std::string>> tell() {
    BMAD_TRY(index_.load());
    BMAD_TRY(tell_lines());
    tell_slots();
    tell_facts();
    for (const PostingKind kind : {PostingKind::kTerm, PostingKind::kTopic, PostingKind::kHour}) {
      BMAD_TRY(tell_postings(kind));
    }
    BMAD_TRY(tell_ids());
    std::ranges::sort(lines_);
    return std::move(lines_);
  }

 private:
  Status tell_lines() {
    for (Ordinal ordinal = 0; ordinal < index_.entry_count(); ++ordinal) {
      if (index_.slots().slot(ordinal) == SlotTable::kNoSlot) {
        names_.emplace_back("superseded");
        continue;
      }
      BMAD_TRY_ASSIGN(const SessionIndex::LoadedLine line, index_.line(ordinal));
      // The type is part of the flags, which tombstones keep to themselves: the line tells it.
      const bool said = line.text.find("\"role\":") != std::string::npos;
      const bool decided = line.text.find("\"decision\":") != std::string::npos;
      names_.push_back(fmt::format("{}:{}",
                                   said      ? "conversation"
                                   : decided ? "decision"
                                             : "fact",
                                   line.number));
      const OddEntry* odd = index_.odd(ordinal);
      add("line {} at {} odd {}: {}", names_.back(),
          index_.timestamp(ordinal).time_since_epoch().count(),
          odd == nullptr
              ? std::string("no")
              : fmt::format(
                    "{} {} {}", odd->versions, odd->decay_factor,
                    odd->last_accessed ? odd->last_accessed->time_since_epoch().count() : 0),
          line.text);
      BMAD_TRY_ASSIGN(const JsonValue value, parser_.parse(line.text));
      ids_.emplace_back(entry_id(value));
    }
    return {};
  }

  void tell_slots() {
    const SlotView slots = index_.slots();
    const auto name = [&](std::uint32_t slot) { return names_[slots.ordinal(slot)]; };
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
      const WindowReach reach = slots.reach[slot];
      add("slot {} length {} window {} flags {} before {} after {}", name(slot),
          slots.lengths[slot], slots.window_lengths[slot],
          slots.flags[slot] & ~std::uint32_t{kFlagFollows},
          reach.before > 0 ? name(slot - 1) : "none", reach.after > 0 ? name(slot + 1) : "none");
    }
    add("slots {} lengths {} windows {}", slots.size(), slots.length_sum, slots.window_length_sum);
  }

  void tell_facts() {
    const SessionFacts& facts = index_.facts();
    add("facts {} {} {} {}", fmt::join(facts.participants, "|"), facts.has_user,
        facts.has_assistant, facts.newest.time_since_epoch().count());
  }

  Status tell_postings(PostingKind kind) {
    std::vector<std::string> keys;
    Status done = index_.part_keys(
        kind, {}, [](std::string_view) { return true; },
        [&](std::string_view key, std::uint64_t count) {
          keys.emplace_back(key);
          add("key {} {} {}", static_cast<int>(kind), key, count);
          return true;
        });
    BMAD_TRY(std::move(done));
    for (const std::string& key : keys) {
      BMAD_TRY_ASSIGN(const std::vector<Posting> list, index_.postings(kind, key));
      std::vector<std::string> entries;
      for (const Posting& posting : list) {
        if (names_.at(posting.ordinal) == "superseded") {
          continue;  // A segment leaves them out.
        }
        entries.push_back(fmt::format("{} x{}", names_.at(posting.ordinal), posting.frequency));
      }
      std::ranges::sort(entries);
      add("postings {} {}: {}", static_cast<int>(kind), key, fmt::join(entries, ", "));
    }
    BMAD_TRY_ASSIGN(const std::vector<Posting> none, index_.postings(kind, "nosuchkey"));
    add("unknown {}", none.size());
    return {};
  }

  Status tell_ids() {
    std::ranges::sort(ids_);
    ids_.erase(std::ranges::unique(ids_).begin(), ids_.end());
    for (const std::string& id : ids_) {
      BMAD_TRY_ASSIGN(const auto found, index_.part_find(id));
      std::vector<std::string> names;
      for (const IndexPart::PartEntry& each : found) {
        names.push_back(names_.at(each.ordinal));
      }
      std::ranges::sort(names);
      add("id {}: {}", id, fmt::join(names, ", "));
    }
    return {};
  }

  template <typename... Parts>
  void add(fmt::format_string<Parts...> format, Parts&&... parts) {
    lines_.push_back(fmt::format(format, std::forward<Parts>(parts)...));
  }

  SessionIndex& index_;
  std::shared_lock<std::shared_mutex> guard_;
  JsonParser parser_;
  std::vector<std::string> names_;  // By ordinal.
  std::vector<std::string> ids_;
  std::vector<std::string> lines_;
};

}  // namespace

Result<std::vector<std::string>> told(SessionIndex& index) { return Teller(index).tell(); }

std::vector<std::string> told_from_logs(FileSystem& files, const Clock& clock) {
  SessionIndex index(files, clock, {.session_id = std::string(kSession)});
  if (const Status done = index.rebuild(); !done) {
    throw std::runtime_error(done.error().to_string());
  }
  return told(index).value();
}

std::vector<std::string> told_from_logs(IndexedSession& session) {
  return told_from_logs(session.files, session.clock);
}

std::string first_difference(const std::vector<std::string>& left,
                             const std::vector<std::string>& right) {
  const auto [l, r] = std::ranges::mismatch(left, right);
  if (l == left.end() && r == right.end()) {
    return {};
  }
  return fmt::format("<{}> <{}>", l == left.end() ? "end" : *l, r == right.end() ? "end" : *r);
}

}  // namespace bmad_mem::test
