#include "index/readable_index.hpp"

#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "core/ids.hpp"
#include "index/analyzer.hpp"
#include "index/entry_scanner.hpp"
#include "index/memtable.hpp"
#include "model/entry.hpp"
#include "storage/atomic_file.hpp"
#include "storage/layout.hpp"
#include "string_table.hpp"

namespace bmad_mem {
namespace {

constexpr int kReadableIndexVersion = 3;  // 2 is the layout of checkpoint_format.hpp.

/// Gathers the entries of a session, and tells them as lists of ids.
class EntryLists {
 public:
  explicit EntryLists(Analyzer analyzer) : analyzer_(std::move(analyzer)) {}

  void add(const ScannedEntry& scanned) {
    const EntryHead head = entry_head(scanned.type, scanned.value);
    const auto ordinal = static_cast<Ordinal>(quoted_ids_.size());
    supersede(scanned.type, head.id, ordinal);
    quoted_ids_.push_back(json_quoted(head.id));
    is_live_.push_back(true);
    text_.clear();
    entry_searchable_text(scanned.type, scanned.value, text_);
    postings_.add_text(analyzer_, text_, ordinal);
    postings_.add_key(PostingKind::kTerm, kAgentPrefix, head.who, ordinal);
    for (const JsonValue tag : head.tags.elements()) {
      postings_.add_key(PostingKind::kTerm, kTagPrefix, tag.string(), ordinal);
    }
    postings_.add_key(PostingKind::kTopic, {}, head.topic, ordinal);
    postings_.add_hour(head.timestamp, ordinal);
  }

  /// Nothing may be added any more.
  void finish() { postings_.arrange(); }

  [[nodiscard]] std::size_t live_count() const { return latest_.size(); }

  void tell_words(std::string& out) const {
    std::vector<Memtable::KeyedPostings> words = postings_.sorted(PostingKind::kTerm);
    std::erase_if(words, [](const Memtable::KeyedPostings& each) {
      return each.key.starts_with(kAgentPrefix) || each.key.starts_with(kTagPrefix);
    });
    tell("inverted_index", words, {}, out);
  }

  /// The keys of `kind` that start with `prefix`, without it.
  void tell_keys(std::string_view name, PostingKind kind, std::string_view prefix,
                 std::string& out) const {
    tell(name, postings_.sorted(kind, prefix), prefix, out);
  }

 private:
  /// Takes out the version before, if there is one.
  void supersede(EntryType type, std::string_view id, Ordinal ordinal) {
    key_.assign(1, static_cast<char>('a' + static_cast<int>(type)));
    key_ += id;
    const std::uint32_t number = numbers_.add(key_);
    if (number == latest_.size()) {
      latest_.push_back(ordinal);
    } else {
      is_live_[std::exchange(latest_[number], ordinal)] = false;
    }
  }

  void tell(std::string_view name, std::span<const Memtable::KeyedPostings> lists,
            std::string_view prefix, std::string& out) const {
    out += fmt::format(",\n  \"{}\": {{", name);
    const std::size_t begin = out.size();
    for (const auto& [key, postings] : lists) {
      tell_list(key.substr(prefix.size()), postings, out);
    }
    if (out.size() > begin) {
      out.back() = '\n';  // The last comma.
      out += "  ";
    }
    out += '}';
  }

  void tell_list(std::string_view key, std::span<const Posting> postings, std::string& out) const {
    const std::size_t before = out.size();
    out += "\n    ";
    append_json_quoted(out, key);
    out += ": [";
    bool is_empty = true;
    for (const Posting& posting : postings) {
      if (is_live_[posting.ordinal]) {
        out += is_empty ? "" : ", ";
        out += quoted_ids_[posting.ordinal];
        is_empty = false;
      }
    }
    if (is_empty) {
      out.resize(before);
    } else {
      out += "],";
    }
  }

  Analyzer analyzer_;
  Memtable postings_;
  std::vector<std::string> quoted_ids_;  // By ordinal, as the next.
  std::vector<bool> is_live_;
  StringTable numbers_;          // Type and id …
  std::vector<Ordinal> latest_;  // … to the latest version.
  std::string text_;             // Scratch; so the next.
  std::string key_;
};

}  // namespace

Result<std::string> make_readable_index(FileSystem& files, const Clock& clock,
                                        std::string_view session_id, std::string_view language) {
  BMAD_TRY(check_session_id(session_id));
  BMAD_TRY_ASSIGN(Analyzer analyzer, Analyzer::create(language));
  EntryLists lists(std::move(analyzer));
  JsonParser parser;
  for (const EntryType type : kEntryTypes) {
    BMAD_TRY(scan_log(files, session_file(session_id, entry_type_info(type).log_file), type, parser,
                      {.on_entry = [&](const ScannedEntry& entry) { lists.add(entry); }}));
  }
  lists.finish();
  std::string text = fmt::format(
      "{{\n  \"version\": {},\n  \"session_id\": {},\n  \"generated_at\": \"{}\",\n"
      "  \"language\": {},\n  \"entries\": {}",
      kReadableIndexVersion, json_quoted(session_id), format_rfc3339(clock.now()),
      json_quoted(language), lists.live_count());
  lists.tell_words(text);
  lists.tell_keys("topic_index", PostingKind::kTopic, {}, text);
  lists.tell_keys("temporal_index", PostingKind::kHour, {}, text);
  lists.tell_keys("tag_index", PostingKind::kTerm, kTagPrefix, text);
  lists.tell_keys("agent_index", PostingKind::kTerm, kAgentPrefix, text);
  text += "\n}\n";
  return text;
}

Status write_readable_index(FileSystem& files, const Clock& clock, std::string_view session_id,
                            std::string_view language) {
  BMAD_TRY_ASSIGN(const std::string text, make_readable_index(files, clock, session_id, language));
  return replace_derived_file(files, index_path(session_id), text);
}

}  // namespace bmad_mem
