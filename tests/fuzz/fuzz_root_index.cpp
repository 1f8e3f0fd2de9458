// fuzz_root_index.cpp - the index of a small memory with some of its bytes changed: whatever is
// asked, it answers as the logs do, or says that it can't. Bytes whose hashes were put right may
// lie; then nothing may break.
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "encoder/encoder_choice.hpp"
#include "fuzz/changed_bytes.hpp"
#include "fuzz/fuzz_targets.hpp"
#include "fuzz/must.hpp"
#include "operations/rooms.hpp"
#include "search/reads.hpp"
#include "search/root_index.hpp"
#include "search/segment.hpp"
#include "search/segment_format.hpp"
#include "search/session_index.hpp"
#include "store/layout.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"
#include "support/word_encoder.hpp"

namespace bmad_mem::test {
namespace {

constexpr const char* kSegment = "index/1.seg";
constexpr const char* kVectors = "index/1.vec";
constexpr std::size_t kSessions = 2;

/// A memory of two sessions, and the index that a question makes of it.
struct SmallMemory {
  /// The disk of a store, which owns its file system.
  class Shared final : public FileSystem {
   public:
    explicit Shared(MemoryFileSystem& files) : files_(files) {}
    Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override {
      return files_.open(path, mode);
    }
    Result<FileInfo> info(const std::string& path) override { return files_.info(path); }
    Result<std::vector<std::string>> list(const std::string& path) override {
      return files_.list(path);
    }
    Status make_directory(const std::string& path) override { return files_.make_directory(path); }
    Status rename(const std::string& from, const std::string& to) override {
      return files_.rename(from, to);
    }
    Status remove(const std::string& path) override { return files_.remove(path); }
    Status remove_directory(const std::string& path) override {
      return files_.remove_directory(path);
    }
    Status sync_directory(const std::string& path) override { return files_.sync_directory(path); }
    [[nodiscard]] std::string display_path(const std::string& path) const override {
      return files_.display_path(path);
    }

   private:
    MemoryFileSystem& files_;
  };

  MemoryFileSystem files;
  ManualClock clock;
  std::string current;
  std::string segment;
  std::string vectors;
  std::vector<std::string> answers;
  std::vector<std::string> answers_by_meaning;
  std::shared_ptr<WordEncoder> encoder = std::make_shared<WordEncoder>();

  SmallMemory() {
    clock.advance(std::chrono::hours(1));
    files.make_folders(kSessionsFolder);
    for (std::size_t i = 1; i <= kSessions; ++i) {
      const std::string id = fmt::format("s{}", i);
      must(create_session(*open(), {.session_id = id}).has_value(), "a session can be made");
      std::string lines;
      for (int number = 0; number < 9; ++number) {
        lines += fmt::format(
            R"({{"id":"m{}","timestamp":"2026-01-11T10:0{}:00Z","role":"user","agent_id":"Ann",)"
            R"("content":"word{} pool ledger?","context":{{"topic":"t{}","conversation_id":"c"}}}})"
            "\n",
            number % 7, number, number, number % 2);
      }
      files.write(session_file(id, "conversation.jsonl"), lines);
    }
    answers = ask(*open());
    must(!answers.empty() && answers == ask(*open()), "it answers the same again");
    current = files.read(kIndexCurrentFile);
    segment = files.read(kSegment);
    const std::unique_ptr<Store> store = open_with_encoder();
    must(store->root_index->encode(*encoder, {.of = vectors_of(*encoder, false)}).has_value(),
         "entries are encoded");
    vectors = files.read(kVectors);
    answers_by_meaning = ask(*store);
    must(answers_by_meaning != answers, "meaning takes part");
  }

  std::unique_ptr<Store> open() {
    auto store = std::make_unique<Store>(clock, all_rooms());
    store->files = std::make_unique<Shared>(files);
    store->notes_accesses = false;
    store->config.indexing.rebuild_threshold_writes = 1;
    return store;
  }

  std::unique_ptr<Store> open_with_encoder() {
    std::unique_ptr<Store> store = open();
    use_encoder(*store, encoder);
    return store;
  }

  static std::vector<std::string> ask(const Store& store) {
    std::vector<std::string> found;
    for (const char* text : {"word3", "+pool -word1", "led*"}) {
      const Result<QueryAnswer> answer =
          answer_query(store, {.text = text, .filter = {.limit = 0}});
      must(answer.has_value(), "a question is answered");
      for (const Hit& hit : answer->hits) {
        found.push_back(
            fmt::format("{} {} {:.6f}", hit.entry.session_id, hit.entry.json, hit.relevance));
      }
    }
    return found;
  }

  /// Puts the index there, and no other file of it.
  void put_index(const std::string& current_text, const std::string& segment_bytes) {
    for (const auto all = files.list(kIndexFolder); const std::string& name : all.value()) {
      must(files.remove(fmt::format("{}/{}", kIndexFolder, name)).has_value(), "it goes");
    }
    files.write(kIndexCurrentFile, current_text);
    files.write(kSegment, segment_bytes);
  }

  /// The memory answers as the logs do, now and when it has made what was wrong anew.
  void check_answers() {
    const std::unique_ptr<Store> store = open();
    must(ask(*store) == answers, "it answers as the logs do");
    must(ask(*store) == answers, "and again");
    must(ask(*open()) == answers, "and another process");
  }
};

template <typename T>
bool is_no_answer(const Result<T>& result) {
  must(result || result.error().code == ErrorCode::E_STORAGE_CORRUPT ||
           result.error().code == ErrorCode::E_CONCURRENT_MOD,
       "what does not hold is said to be damaged");
  return !result;
}

/// All that a segment says; nothing when it says that it is damaged.
std::optional<std::vector<std::string>> told_by(MemoryFileSystem& files) {
  std::vector<std::string> told;
  const Result<std::shared_ptr<Segment>> segment = Segment::open(files, kSegment, "english");
  if (is_no_answer(segment)) {
    return std::nullopt;
  }
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t i = 0; i < (*segment)->sessions.size(); ++i) {
    wanted.push_back(i);
  }
  SegmentPart part(*segment, wanted,
                   [&](const std::string&, bool) -> Result<std::shared_ptr<FileSystem>> {
                     return std::shared_ptr<FileSystem>(std::shared_ptr<void>(), &files);
                   });
  for (const std::unique_ptr<IndexedSession>& session : part.sessions()) {
    if (is_no_answer(session->load())) {
      return std::nullopt;
    }
    const SlotView slots = session->slots();
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
      const Ordinal ordinal = slots.ordinal(slot);
      const OddEntry* const odd = session->odd(ordinal);
      const auto line = session->line(ordinal);
      if (is_no_answer(line)) {
        return std::nullopt;
      }
      told.push_back(fmt::format("{} {} {} {} {} {} {}", session->session_id(), line->text,
                                 slots.lengths[slot], slots.window_lengths[slot], slots.flags[slot],
                                 session->timestamp(ordinal).time_since_epoch().count(),
                                 odd == nullptr ? 0 : odd->versions));
    }
  }
  for (const PostingKind kind : {PostingKind::kTerm, PostingKind::kTopic, PostingKind::kHour}) {
    std::vector<std::string> keys;
    if (is_no_answer(part.part_keys(
            kind, {}, [](std::string_view) { return true; },
            [&](std::string_view key, std::uint64_t) {
              keys.emplace_back(key);
              return true;
            }))) {
      return std::nullopt;
    }
    keys.emplace_back("no such key");
    for (const std::string& key : keys) {
      const Result<PartPostings> found = part.part_postings(kind, key);
      if (is_no_answer(found)) {
        return std::nullopt;
      }
      for (const SessionPostings& session : found->sessions) {
        must(session.session < part.sessions().size(), "a session is one of the part");
        for (const SlotPosting& posting : session.postings) {
          must(posting.slot < part.sessions()[session.session]->slots().size(),
               "a slot is one of an entry");
          told.push_back(fmt::format("{} {} {} {} {}", static_cast<int>(kind), key, session.session,
                                     posting.slot, posting.frequency));
        }
      }
    }
  }
  for (int number = 0; number < 8; ++number) {
    const auto found = part.part_find(fmt::format("m{}", number));
    if (is_no_answer(found)) {
      return std::nullopt;
    }
    for (const IndexPart::PartEntry& each : *found) {
      told.push_back(fmt::format("m{} {} {}", number, each.session, each.ordinal));
    }
  }
  Participants participants;
  part.add_participants(participants);
  told.insert(told.end(), participants.names.begin(), participants.names.end());
  return part.status() ? std::optional(told) : std::nullopt;
}

void put_number(std::string& bytes, std::size_t at, std::uint64_t number) {
  std::string text;
  put_little(number, text);
  bytes.replace(at, text.size(), text);
}

/// Puts hashes right where a segment of this size has them, so that what they guard is read.
std::string with_right_hashes(std::string bytes) {
  constexpr std::size_t kHead = 32;
  constexpr std::size_t kLine = 24;
  const std::size_t footer_size = kHead + kPlaceCount * kLine + std::string_view("english").size();
  if (bytes.size() < kTrailerSize + footer_size) {
    return bytes;
  }
  const std::size_t footer = bytes.size() - kTrailerSize - footer_size;
  const auto salt = little_at<std::uint64_t>(bytes.data() + footer + kHead - 8);
  for (std::size_t i = 0; i < kPlaceCount; ++i) {
    const std::size_t at = footer + kHead + i * kLine;
    const auto offset = little_at<std::uint64_t>(bytes.data() + at);
    const auto size = little_at<std::uint64_t>(bytes.data() + at + 8);
    if (offset > footer || size > footer - offset) {
      continue;
    }
    const std::string_view all(bytes);
    if (little_at<std::uint64_t>(bytes.data() + at + 16) != 0) {
      put_number(bytes, at + 16, xxh3(all.substr(offset, size)));
    } else if (i == static_cast<std::size_t>(SegmentPlace::kRows)) {
      for (std::size_t row = offset; row + kRowSize <= offset + size; row += kRowSize) {
        std::string hash;
        put_little(xxh3(all.substr(row, kRowSize - 3)) ^ salt, hash);
        bytes.replace(row + kRowSize - 3, 3, hash, 0, 3);
      }
    } else if (size > kBlockHash) {  // One block, in a memory as small as this.
      put_number(bytes, offset + size - kBlockHash,
                 xxh3(all.substr(offset, size - kBlockHash)) ^ salt);
    }
  }
  const std::size_t trailer = bytes.size() - kTrailerSize;
  put_number(bytes, trailer, footer_size);
  put_number(bytes, trailer + 8, xxh3(std::string_view(bytes).substr(footer, footer_size)));
  return bytes;
}

std::string with_right_hash(const std::string& current) {
  const std::size_t end = current.find('\n');
  return end == std::string::npos
             ? current
             : fmt::format("{{\"version\": 2, \"xxh3\": \"{}\",\n{}",
                           hash_hex(xxh3(std::string_view(current).substr(end + 1))),
                           current.substr(end + 1));
}

SmallMemory& small_memory() {
  static SmallMemory memory;
  return memory;
}

}  // namespace

void fuzz_segment(std::string_view bytes) {
  SmallMemory& memory = small_memory();
  static const auto told = [&] {
    memory.put_index(memory.current, memory.segment);
    return told_by(memory.files);
  }();
  must(told.has_value() && told->size() > 50, "what was written can be read");
  const bool is_lie = !bytes.empty() && (bytes[0] & 1) != 0;
  std::string segment = changed_bytes(memory.segment, bytes.substr(bytes.empty() ? 0 : 1));
  segment = is_lie ? with_right_hashes(std::move(segment)) : segment;
  memory.put_index(memory.current, segment);
  const std::optional<std::vector<std::string>> now = told_by(memory.files);
  must(is_lie || !now || now == told, "it says what it said");
  if (!is_lie) {
    memory.check_answers();
  }
}

namespace {

/// With the hashes of the header and of the only block as they have to be.
std::string with_right_vector_hashes(std::string bytes, std::uint64_t salt) {
  constexpr std::size_t kHeaderHash = 48;
  constexpr std::size_t kHeader = 64;
  if (bytes.size() > kHeader + sizeof(std::uint64_t)) {
    put_number(bytes, kHeaderHash, xxh3(std::string_view(bytes).substr(0, kHeaderHash)));
    const std::size_t end = bytes.size() - sizeof(std::uint64_t);
    put_number(bytes, end, xxh3(std::string_view(bytes).substr(kHeader, end - kHeader)) ^ salt);
  }
  return bytes;
}

}  // namespace

void fuzz_segment_vectors(std::string_view bytes) {
  SmallMemory& memory = small_memory();
  memory.put_index(memory.current, memory.segment);
  const bool is_lie = !bytes.empty() && (bytes[0] & 1) != 0;
  std::string vectors = changed_bytes(memory.vectors, bytes.substr(bytes.empty() ? 0 : 1));
  if (is_lie) {
    vectors = with_right_vector_hashes(
        std::move(vectors), Segment::open(memory.files, kSegment, "english").value()->salt);
  }
  memory.files.write(kVectors, vectors);
  const std::unique_ptr<Store> store = memory.open_with_encoder();
  const std::vector<std::string> found = SmallMemory::ask(*store);
  must(is_lie || found == memory.answers || found == memory.answers_by_meaning,
       "vectors are right, or none");
  must(found == SmallMemory::ask(*store), "the same again");
  must(store->root_index->encode(*memory.encoder, {.of = vectors_of(*memory.encoder, false)})
           .has_value(),
       "what is missing is encoded");
  must(is_lie || SmallMemory::ask(*store) == memory.answers_by_meaning, "and is right then");
}

void fuzz_current(std::string_view bytes) {
  SmallMemory& memory = small_memory();
  const bool is_hashed = !bytes.empty() && (bytes[0] & 1) != 0;
  const std::string current = changed_bytes(memory.current, bytes.substr(bytes.empty() ? 0 : 1));
  memory.put_index(is_hashed ? with_right_hash(current) : current, memory.segment);
  memory.check_answers();
}

}  // namespace bmad_mem::test
