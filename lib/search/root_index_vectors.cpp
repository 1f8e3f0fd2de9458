// root_index_vectors.cpp - encodes entries of segments, and counts those that wait for a vector.
#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "encoder/packed_vectors.hpp"
#include "model/entry.hpp"
#include "search/archive_reader.hpp"
#include "search/root_index.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// Of a text that an encoder refuses, what it is asked for once more: long ones are refused most.
constexpr std::size_t kShortTextSize = 1024;
/// Failed answers that a pass takes: a few, and more for each text that got its vector. One refused
/// text among 128 costs eight.
constexpr std::size_t kFailuresMax = 64;
constexpr std::size_t kFailuresPerText = 8;

/// The lines of a session as a segment has it; null where they have gone.
Result<std::shared_ptr<FileSystem>> lines_of(const Store& store, const SegmentSession& session,
                                             std::uint64_t package) {
  if (package == 0) {
    BMAD_TRY_ASSIGN(const FileInfo folder, store.files->info(session_folder(session.id)));
    return folder.kind == FileKind::kDirectory
               ? std::shared_ptr<FileSystem>(std::shared_ptr<void>(), store.files.get())
               : nullptr;
  }
  BMAD_TRY_ASSIGN(const ArchiveReaderPtr packed,
                  archive_reader(store, session.id, {.part = session.evicted}));
  return std::shared_ptr<FileSystem>(packed != nullptr && packed->package() == package ? packed
                                                                                       : nullptr);
}

bool is_there(const Store& store, const SegmentSession& session, std::uint64_t package) {
  const auto lines = lines_of(store, session, package);
  return lines && *lines != nullptr;
}

/// What each segment covers, in the order of its slots; nothing where it can't be read.
std::vector<std::vector<const CoveredSession*>> covered_by_segments(const IndexState& state) {
  std::vector<std::vector<const CoveredSession*>> sessions(state.segments.size());
  for (const auto& [id, covered] : state.sessions) {
    assert(covered.segment < sessions.size());
    sessions[covered.segment].push_back(&covered);
  }
  for (std::vector<const CoveredSession*>& its : sessions) {
    std::ranges::sort(its, {}, &CoveredSession::number);
  }
  return sessions;
}

/// The slots of `session` without a vector, at most `count_max`; all where `vectors` are none.
std::vector<std::uint32_t> slots_without(
    SegmentVectors* vectors, const SegmentSession& session,
    std::size_t count_max = std::numeric_limits<std::size_t>::max()) {
  std::vector<std::uint32_t> slots;
  const std::uint8_t* row =
      vectors != nullptr ? vectors->rows(session.begin, session.begin + session.count) : nullptr;
  for (std::uint32_t i = 0; i < session.count && slots.size() < count_max; ++i) {
    if (row == nullptr || !is_packed(row + i * vectors->row_size())) {
      slots.push_back(session.begin + i);
    }
  }
  return slots;
}

}  // namespace

/// One pass over the segments.
class RootIndex::Encoding {
 public:
  Encoding(RootIndex& index, TextEncoder& encoder, const EncodeWish& wish)
      : index_(index), encoder_(encoder), wish_(wish) {}

  Result<Encoded> run() {
    const SharedState state = index_.state();
    const auto sessions = covered_by_segments(*state);
    for (std::uint32_t i = 0; i < state->segments.size() && !is_over(); ++i) {
      if (state->segments[i] != nullptr) {
        BMAD_TRY(encode_segment(state->segments[i], sessions[i]));
      }
    }
    BMAD_TRY(std::move(unread_));
    return done_;
  }

 private:
  struct Waiting {
    std::uint32_t slot = 0;  // Of the segment.
    const CoveredSession* session = nullptr;
  };

  /// Encoders count whole milliseconds.
  [[nodiscard]] bool is_late() const {
    return wish_.deadline &&
           std::chrono::steady_clock::now() + std::chrono::milliseconds(1) > *wish_.deadline;
  }
  [[nodiscard]] bool is_over() const {
    return is_out_of_time_ || tried_ >= wish_.texts_max || is_late();
  }

  Status encode_segment(const std::shared_ptr<Segment>& segment,
                        std::span<const CoveredSession* const> sessions) {
    known_ = segment->vectors();
    to_ = nullptr;
    if (known_ != nullptr && known_->of() != wish_.of) {
      const bool is_other = known_->of().encoder != wish_.of.encoder;
      if (is_other && wish_.others == OtherVectors::kKeep) {
        return {};
      }
      known_ = nullptr;  // The file is there until the first vectors are to take its place.
    }
    const std::vector<Waiting> waiting = waiting_in(*segment, sessions);
    if (waiting.empty() && known_ != nullptr && !known_->is_whole()) {
      static_cast<void>(mark_whole(segment));  // Else the next pass does.
    }
    for (std::size_t i = 0; i < waiting.size() && !is_over();) {
      std::size_t end = i;
      const std::uint32_t block = waiting[i].slot / kVectorBlock;
      while (end < waiting.size() && waiting[end].slot / kVectorBlock == block) {
        ++end;
      }
      BMAD_TRY_ASSIGN(const bool is_there,
                      encode_block(segment, std::span(waiting).subspan(i, end - i)));
      if (!is_there) {
        done_.has_changed = !is_out_of_time_;
        return {};
      }
      i = end;
    }
    return {};
  }

  [[nodiscard]] std::vector<Waiting> waiting_in(
      const Segment& segment, std::span<const CoveredSession* const> sessions) const {
    std::vector<Waiting> waiting;
    for (const CoveredSession* const each : sessions) {
      const SegmentSession& session = segment.sessions[each->number];
      const std::vector<std::uint32_t> slots = slots_without(known_.get(), session);
      if (!slots.empty() && is_there(index_.store_, session, each->package)) {
        for (const std::uint32_t slot : slots) {
          waiting.push_back({.slot = slot, .session = each});
        }
      }
    }
    return waiting;
  }

  /// Encodes entries of one block, and writes it. False when the segment is used no more. What was
  /// done before an error is kept.
  Result<bool> encode_block(const std::shared_ptr<Segment>& segment,
                            std::span<const Waiting> waiting) {
    const std::uint32_t block = waiting.front().slot / kVectorBlock;
    const std::uint32_t begin = block * kVectorBlock;
    assert(begin < segment->entries);
    const std::uint32_t count = std::min(kVectorBlock, segment->entries - begin);
    const std::size_t row_size = packed_size(wish_.of.dimension);
    std::vector<std::uint8_t> rows(count * row_size);
    if (known_ != nullptr) {
      std::memcpy(rows.data(), known_->rows(begin, begin + count), rows.size());
    }
    // Who has not much time keeps what was done in it; no request of others has more than 64.
    const std::size_t at_once = wish_.deadline ? 16 : 64;
    const std::size_t before = tried_;
    Status failed;
    for (std::size_t i = 0; i < waiting.size() && failed && !is_over(); i += at_once) {
      failed = encode_some(*segment, waiting.subspan(i, std::min(at_once, waiting.size() - i)),
                           std::span(rows), begin);
    }
    if (!failed && failed.error().code == ErrorCode::E_QUERY_TIMEOUT && is_late()) {
      is_out_of_time_ = true;
      failed = {};
    }
    bool is_used = true;
    if (tried_ > before) {
      BMAD_TRY_ASSIGN(is_used, write(segment, block, rows, tried_ - before));
    }
    BMAD_TRY(std::move(failed));
    return is_used;
  }

  /// Puts the vectors of `waiting` among `rows`, which begin with slot `begin`.
  Status encode_some(Segment& segment, std::span<const Waiting> waiting,
                     std::span<std::uint8_t> rows, std::uint32_t begin) {
    std::vector<std::string> texts;
    std::vector<std::uint8_t*> places;
    for (const Waiting& each : waiting) {
      if (tried_ + texts.size() >= wish_.texts_max) {
        break;
      }
      Result<std::string> text = text_of(segment, each);
      if (text) {
        texts.push_back(*std::move(text));
        places.push_back(&rows[(each.slot - begin) * packed_size(wish_.of.dimension)]);
      } else if (text.error().code != ErrorCode::E_CONCURRENT_MOD && !is_not_found(text.error()) &&
                 unread_) {
        unread_ = std::move(text).error();
      }  // Else its log is another one by now: it comes with the next segment.
    }
    return texts.empty() ? Status() : encode_texts(texts, places);
  }

  /// Puts the vector of each text in its place. Where an answer fails, each half is asked for
  /// alone, down to the text that the encoder refuses. That one gets the row of a text with nothing
  /// in it: each pass would end there.
  Status encode_texts(std::span<const std::string> texts, std::span<std::uint8_t* const> places) {
    assert(!texts.empty() && texts.size() == places.size());
    Result<std::vector<float>> numbers = ask(texts);
    if (!numbers && is_refusal(numbers.error())) {
      if (texts.size() > 1) {
        const std::size_t half = texts.size() / 2;
        BMAD_TRY(encode_texts(texts.first(half), places.first(half)));
        return encode_texts(texts.subspan(half), places.subspan(half));
      }
      numbers = ask(std::array{std::string(utf8_prefix(texts.front(), kShortTextSize))});
      if (!numbers && is_refusal(numbers.error())) {
        numbers = std::vector<float>(wish_.of.dimension);
        ++done_.refused;
      }
    }
    BMAD_TRY(numbers ? Status() : Status(std::move(numbers).error()));
    assert(numbers->size() == places.size() * wish_.of.dimension && "ask() checks it");
    for (std::size_t i = 0; i < places.size(); ++i) {
      pack_vector(std::span(*numbers).subspan(i * wish_.of.dimension, wish_.of.dimension),
                  places[i]);
    }
    tried_ += texts.size();
    return {};
  }

  /// Errors besides: E_CONCURRENT_MOD when its vectors have another size than they had.
  Result<std::vector<float>> ask(std::span<const std::string> texts) {
    BMAD_TRY_ASSIGN(std::vector<float> numbers, encoder_.encode(texts, wish_.deadline));
    if (numbers.size() != texts.size() * wish_.of.dimension) {
      return Error{.code = ErrorCode::E_CONCURRENT_MOD,
                   .message = fmt::format("the vectors of {} have another size by now; encode "
                                          "again",
                                          encoder_.name())};
    }
    return numbers;
  }

  /// Whether the encoder failed because of what it was asked for.
  bool is_refusal(const Error& error) {
    return error.code != ErrorCode::E_QUERY_TIMEOUT && error.code != ErrorCode::E_CONCURRENT_MOD &&
           ++failures_ <= kFailuresMax + kFailuresPerText * (tried_ - done_.refused) &&
           ask(std::array{std::string("Is anybody there?")});
  }

  /// The right to write vectors of `segment`; nothing when it is used no more, or no time is left.
  Result<std::optional<FileLock::Guard>> turn_on(const std::shared_ptr<Segment>& segment) {
    FileLock lock = index_.lock();
    Result<FileLock::Guard> turn =
        lock.acquire({.operation = "encode", .timeout = index_.lock_timeout(wish_.deadline)});
    if (!turn) {
      is_out_of_time_ = turn.error().code == ErrorCode::E_LOCK_TIMEOUT && is_late();
      return is_out_of_time_ ? Result<std::optional<FileLock::Guard>>(std::nullopt) : turn.error();
    }
    const SharedState now = index_.state();
    const bool is_used = std::ranges::find(now->segments, segment) != now->segments.end();
    return is_used ? std::optional(*std::move(turn)) : std::nullopt;
  }

  Status mark_whole(const std::shared_ptr<Segment>& segment) {
    BMAD_TRY_ASSIGN(const std::optional<FileLock::Guard> turn, turn_on(segment));
    BMAD_TRY_ASSIGN(const auto vectors, SegmentVectors::open(*segment, OpenMode::kUpdate));
    return turn && vectors != nullptr && vectors->of() == wish_.of ? vectors->mark_whole(*segment)
                                                                   : Status();
  }

  /// False when the segment is used no more.
  Result<bool> write(const std::shared_ptr<Segment>& segment, std::uint32_t block,
                     std::span<const std::uint8_t> rows, std::size_t done) {
    BMAD_TRY_ASSIGN(const std::optional<FileLock::Guard> turn, turn_on(segment));
    if (!turn) {
      return false;
    }
    if (to_ == nullptr && known_ != nullptr) {
      BMAD_TRY_ASSIGN(to_, SegmentVectors::open(*segment, OpenMode::kUpdate));
    }
    if (to_ == nullptr || to_->of() != wish_.of) {
      BMAD_TRY_ASSIGN(to_, SegmentVectors::create(*segment, wish_.of));
    }
    BMAD_TRY(to_->write_block(block, rows));
    done_.encoded += done;
    if (wish_.on_progress) {
      wish_.on_progress(done_.encoded);
    }
    return true;
  }

  /// What is encoded of an entry; empty where nothing may or can be.
  Result<std::string> text_of(Segment& segment, const Waiting& waiting) {
    const SegmentSession& session = segment.sessions[waiting.session->number];
    if (session_ != waiting.session) {
      BMAD_TRY_ASSIGN(lines_, lines_of(index_.store_, session, waiting.session->package));
      session_ = waiting.session;
    }
    if (lines_ == nullptr) {
      return Error{.code = ErrorCode::E_CONCURRENT_MOD, .message = "the session has gone"};
    }
    BMAD_TRY_ASSIGN(const std::uint32_t flags, segment.flags_of(waiting.slot));
    if ((flags & kFlagSensitive) != 0 && !wish_.of.sensitive) {
      return std::string();
    }
    BMAD_TRY_ASSIGN(const std::vector<IndexRow> rows, segment.rows(waiting.slot, 1));
    const EntryType type = flag_type(flags);
    BMAD_TRY_ASSIGN(const IndexedSession::LoadedLine line,
                    read_row(*lines_, session.id, type, rows.front().row));
    // The line is the one that was indexed: what does not parse never will.
    const Result<JsonValue> value = parser_.parse(line.text);
    return value ? encoded_text(type, *value) : std::string();
  }

  RootIndex& index_;
  TextEncoder& encoder_;
  const EncodeWish& wish_;
  Encoded done_;
  std::size_t tried_ = 0;     // Texts that have their row.
  std::size_t failures_ = 0;  // Answers.
  bool is_out_of_time_ = false;
  Status unread_;  // Why the first text could not be read, of those that are there.
  JsonParser parser_;
  std::shared_ptr<SegmentVectors> known_;    // Of the segment at hand, by this encoder.
  std::shared_ptr<SegmentVectors> to_;       // To be written; null before the first block.
  const CoveredSession* session_ = nullptr;  // Whose logs are open, in lines_.
  std::shared_ptr<FileSystem> lines_;
};

std::string encoded_text(EntryType type, JsonValue entry) {
  std::string text;
  entry_searchable_text(type, entry, text);
  return std::string(utf8_prefix(text, kEncodedSizeMax));
}

Result<Encoded> RootIndex::encode(TextEncoder& encoder, const EncodeWish& wish) {
  if (!store_.files->info(kIndexFolder)) {
    return Encoded{};
  }
  FileLock encoding(*store_.files, store_.clock, segment_path(".encoding"),
                    segment_path(".encoding.json"));
  const Result<FileLock::Guard> alone =
      encoding.acquire({.operation = "encode", .timeout = std::chrono::milliseconds(0)});
  if (!alone) {
    return alone.error().code == ErrorCode::E_LOCK_TIMEOUT ? Result<Encoded>({.is_elsewhere = true})
                                                           : alone.error();
  }
  BMAD_TRY(remove_unwanted_vectors(wish.deadline));
  return Encoding(*this, encoder, wish).run();
}

bool RootIndex::wants_vectors() {
  const SharedState now = state();
  const std::vector<std::shared_ptr<SegmentVectors>> vectors = vectors_of_all(*now);
  return std::ranges::any_of(now->sessions, [&](const auto& each) {
    const CoveredSession& covered = each.second;
    const SegmentSession& session = now->segments[covered.segment]->sessions[covered.number];
    SegmentVectors* its = vectors[covered.segment].get();
    if (its != nullptr && its->of().sensitive != store_.config.encoder.sensitive) {
      its = nullptr;
    }
    if (its != nullptr && its->is_whole()) {
      return false;
    }
    // What has gone waits for nothing.
    return !slots_without(its, session, 1).empty() && is_there(store_, session, covered.package);
  });
}

std::chrono::milliseconds RootIndex::lock_timeout(TextEncoder::Deadline deadline) const {
  if (!deadline) {
    return store_.lock_timeout;
  }
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now());
  return std::clamp(left, std::chrono::milliseconds(0), store_.lock_timeout);
}

bool RootIndex::may_keep(const VectorsOf& of) const {
  return store_.config.encoder.sensitive || !of.sensitive;
}

/// The vectors that the config wants no more, with those of sensitive entries among them.
std::vector<std::string> RootIndex::unwanted_vectors(const IndexState& state) const {
  std::vector<std::string> paths;
  for (const std::shared_ptr<Segment>& segment : state.segments) {
    const auto vectors = segment != nullptr ? segment->vectors() : nullptr;
    if (vectors != nullptr && !may_keep(vectors->of())) {
      paths.push_back(vectors_path(segment->path));
    }
  }
  return paths;
}

Status RootIndex::remove_unwanted_vectors(TextEncoder::Deadline deadline) {
  if (unwanted_vectors(*state()).empty()) {
    return {};
  }
  BMAD_TRY_ASSIGN(const std::optional<FileLock::Guard> turn, change(lock_timeout(deadline)));
  for (const std::string& path : unwanted_vectors(*state())) {
    BMAD_TRY(store_.files->remove(path));
  }
  return {};
}

}  // namespace bmad_mem
