// fuzz_checkpoint.cpp - index.json of a small session with some of its bytes changed: whatever is
// asked of the index, it answers as an index made from the logs does, or says that it can't.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fuzz/changed_bytes.hpp"
#include "fuzz/fuzz_seeds.hpp"
#include "fuzz/fuzz_targets.hpp"
#include "fuzz/must.hpp"
#include "index/posting_codec.hpp"
#include "index/session_index.hpp"
#include "storage/layout.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test {
namespace {

constexpr const char* kSession = "s1";
constexpr std::array<PostingKind, kPostingKindCount> kKinds = {
    PostingKind::kTerm, PostingKind::kTopic, PostingKind::kHour};

std::string message(int number) {
  return fmt::format(R"({{"id":"m{}","timestamp":"2026-01-11T10:0{}:00Z","role":"{}",)"
                     R"("content":"word{} pool ledger{}","agent_id":"Ann","tags":["a\"b"],)"
                     R"("context":{{"topic":"t{}","conversation_id":"c{}"}}}})"
                     "\n",
                     number % 7, number % 10, number % 2 == 0 ? "user" : "assistant", number,
                     number % 3 == 0 ? "?" : "", number % 2, number % 2);
}

/// All that an index says of its live entries, by their lines.
using Postings = std::map<std::string, std::uint32_t>;
struct Answers {
  std::map<std::pair<int, std::string>, Postings> postings;
  std::map<std::string, std::vector<std::string>> by_id;

  bool operator==(const Answers&) const = default;
};

/// Nothing when the index says that it can't be used; everything else must succeed.
template <typename T>
bool is_refused(const Result<T>& result) {
  must(result || result.error().code == ErrorCode::E_STORAGE_CORRUPT,
       "what does not hold is said to be damaged");
  return !result;
}

std::optional<Postings> ask_postings(SessionIndex& index, PostingKind kind,
                                     const std::string& key) {
  Result<std::vector<Posting>> list = index.postings(kind, key);
  if (is_refused(list)) {
    return std::nullopt;
  }
  Postings postings;
  for (const Posting& posting : *list) {
    must(posting.ordinal < index.entry_count(), "an ordinal is one of an entry");
    if (index.slots().slot(posting.ordinal) == SlotTable::kNoSlot) {
      continue;
    }
    const Result<SessionIndex::LoadedLine> line = index.line(posting.ordinal);
    if (is_refused(line)) {
      return std::nullopt;
    }
    postings[line->text] += posting.frequency;
  }
  return postings;
}

std::optional<Answers> ask(SessionIndex& index) {
  Answers answers;
  if (is_refused(index.load())) {
    return std::nullopt;
  }
  for (const PostingKind kind : kKinds) {
    std::vector<std::string> names;
    if (is_refused(index.keys(kind, {}, [&](std::string_view key, std::uint64_t) {
          names.emplace_back(key);
          return true;
        }))) {
      return std::nullopt;
    }
    names.emplace_back("no such key");
    for (const std::string& name : names) {
      std::optional<Postings> postings = ask_postings(index, kind, name);
      if (!postings) {
        return std::nullopt;
      }
      answers.postings[{static_cast<int>(kind), name}] = std::move(*postings);
    }
  }
  for (int number = 0; number < 8; ++number) {
    const std::string id = fmt::format("m{}", number);
    const Result<std::vector<Ordinal>> found = index.find(id);
    if (is_refused(found)) {
      return std::nullopt;
    }
    for (const Ordinal ordinal : *found) {
      const Result<SessionIndex::LoadedLine> line = index.line(ordinal);
      if (is_refused(line)) {
        return std::nullopt;
      }
      answers.by_id[id].push_back(line->text);
    }
  }
  return answers;
}

/// A session on a disk in memory, and checkpoints of it.
struct SmallSession {
  MemoryFileSystem files;
  ManualClock clock;
  std::array<std::string, 3> checkpoints;  // Behind the logs; of another session; up to date.
  Answers answers;

  SmallSession() {
    clock.advance(std::chrono::hours(1));
    files.make_folders(session_folder("s2"));
    files.make_folders(session_folder(kSession));
    const std::string log = session_file(kSession, "conversation.jsonl");
    std::string lines;
    for (int number = 0; number < 9; ++number) {
      lines += message(number);
    }
    files.write(log, lines);
    checkpoints[0] = write_checkpoint(kSession);
    lines += message(9) + message(10);
    files.write(log, lines);
    files.write(session_file(kSession, "facts.jsonl"),
                R"({"id":"m1","timestamp":"2026-01-11T10:00:00Z","content":"a pool of facts"})"
                "\n");
    files.write(session_file("s2", "conversation.jsonl"), lines + message(11));
    checkpoints[1] = write_checkpoint("s2");
    checkpoints[2] = write_checkpoint(kSession);
    SessionIndex index(files, clock, {.session_id = kSession});
    must(index.rebuild().has_value(), "the logs can be indexed");
    answers = ask(index).value();
  }

  std::string write_checkpoint(const std::string& session) {
    SessionIndex index(files, clock, {.session_id = session});
    must(index.rebuild().has_value() && index.write_checkpoint().has_value(), "it is written");
    return files.read(index_path(session));
  }
};

/// The first byte chooses a checkpoint, the others change it: see changed_bytes().
std::string changed_checkpoint(const SmallSession& session, std::string_view bytes) {
  const auto which = static_cast<unsigned char>(bytes[0]);
  return changed_bytes(session.checkpoints[which % session.checkpoints.size()], bytes.substr(1));
}

void check_index(SmallSession& session, const std::string& checkpoint) {
  session.files.write(index_path(kSession), checkpoint);
  SessionIndex index(session.files, session.clock, {.session_id = kSession});
  must(index.refresh().has_value(), "the logs can always be indexed");
  if (const std::optional<Answers> answers = ask(index)) {
    must(*answers == session.answers, "it answers as the logs do");
  }
  // What is refused is made anew.
  must(index.rebuild().has_value(), "the logs can be indexed");
  must(ask(index) == session.answers, "then it answers as the logs do");
}

/// The decoders alone, since the hashes in front of them let hardly anything through.
void check_decoders(std::string_view bytes) {
  std::vector<Posting> postings;
  if (decode_postings(bytes, 1000, postings)) {
    for (std::size_t i = 0; i < postings.size(); ++i) {
      must(postings[i].ordinal < 1000, "an ordinal is below the end");
      must(i == 0 || postings[i - 1].ordinal < postings[i].ordinal, "ordinals ascend");
      must(postings[i].frequency > 0, "what is there is there once at least");
    }
  }
  for (const std::size_t digits : {kLengthDigits, kPreviousDigits, kIdHashDigits}) {
    const auto column = decode_column(bytes, digits);
    if (column) {
      std::string again;
      encode_column(*column, digits, again);
      must(again == bytes, "a column reads back the same");
    }
  }
  if (const auto times = decode_timestamps(bytes)) {
    std::string again;
    encode_timestamps(*times, again);
    must(again == bytes, "times read back the same");
  }
  if (bytes.size() >= kRowDigits) {
    if (const auto row = decode_row(bytes.substr(0, kRowDigits))) {
      std::string again;
      encode_rows({*row}, again);
      must(again == bytes.substr(0, kRowDigits), "a row reads back the same");
    }
  }
}

}  // namespace

void fuzz_checkpoint(std::string_view bytes) {
  static SmallSession session;
  check_decoders(bytes);
  if (bytes.empty()) {
    check_index(session, {});
    return;
  }
  check_index(session, changed_checkpoint(session, bytes));
}

}  // namespace bmad_mem::test
