// The vectors of the segments: made, counted, and carried from one segment to the next.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstring>
#include <tuple>
#include <utility>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/utf8.hpp"
#include "encoder/packed_vectors.hpp"
#include "model/entry.hpp"
#include "search/packed_session.hpp"
#include "search/root_index.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// More of a text tells no encoder more about it: ours takes 128 pieces, some 500 bytes.
constexpr std::size_t kEncodedSizeMax = 4096;

/// The lines of a session as a segment has it; null where they have gone.
Result<std::shared_ptr<FileSystem>> lines_of(const Store& store, const SegmentSession& session,
                                             std::uint64_t package) {
  if (package == 0) {
    BMAD_TRY_ASSIGN(const FileInfo folder, store.files->info(session_folder(session.id)));
    return folder.kind == FileKind::kDirectory
               ? std::shared_ptr<FileSystem>(std::shared_ptr<void>(), store.files.get())
               : nullptr;
  }
  BMAD_TRY_ASSIGN(const Packed packed,
                  packed_session(store, session.id,
                                 session.evicted ? PackedKind::kEvicted : PackedKind::kArchive));
  const bool is_it = packed != nullptr && packed->index().package() == package;
  return is_it ? std::shared_ptr<FileSystem>(packed, &packed->lines()) : nullptr;
}

/// Of each segment; null where there are none.
std::vector<std::shared_ptr<SegmentVectors>> vectors_of_all(const IndexState& state) {
  std::vector<std::shared_ptr<SegmentVectors>> vectors;
  for (const std::shared_ptr<Segment>& segment : state.segments) {
    vectors.push_back(segment != nullptr ? segment->vectors() : nullptr);
  }
  return vectors;
}

/// What tells a line from others of its session.
using LineKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
LineKey line_key(const IndexRow& row) { return {row.row.line_hash, row.id_hash, row.row.size}; }

}  // namespace

/// One pass over the segments.
class RootIndex::Encoding {
 public:
  Encoding(RootIndex& index, TextEncoder& encoder, const EncodeWish& wish)
      : index_(index), encoder_(encoder), wish_(wish), done_(index.count_encoded(wish.of)) {
    assert(wish.of.dimension == encoder.dimension());
  }

  Result<Encoded> run() {
    const SharedState state = index_.state();
    for (std::uint32_t i = 0; i < state->segments.size() && !is_over(); ++i) {
      if (state->segments[i] != nullptr) {
        BMAD_TRY(encode_segment(*state, i));
      }
    }
    return done_;
  }

 private:
  struct Waiting {
    std::uint32_t slot = 0;     // Of the segment.
    std::uint32_t session = 0;  // Of the segment.
  };

  [[nodiscard]] bool is_late() const {
    return wish_.deadline && std::chrono::steady_clock::now() > *wish_.deadline;
  }
  [[nodiscard]] bool is_over() const {
    return is_out_of_time_ || tried_ >= wish_.texts_max || is_late();
  }

  Status encode_segment(const IndexState& state, std::uint32_t number) {
    const std::shared_ptr<Segment>& segment = state.segments[number];
    sessions_ = index_.sessions_in(state, number);
    const std::shared_ptr<SegmentVectors> known = segment->vectors();
    if (known != nullptr && known->of() == wish_.of && waiting_in(*segment, *known).empty()) {
      return {};
    }
    BMAD_TRY_ASSIGN(const std::shared_ptr<SegmentVectors> vectors, vectors_of_segment(segment));
    const std::vector<Waiting> waiting =
        vectors == nullptr ? std::vector<Waiting>() : waiting_in(*segment, *vectors);
    for (std::size_t i = 0; i < waiting.size() && !is_over();) {
      std::size_t end = i;
      const std::uint32_t block = waiting[i].slot / kVectorBlock;
      while (end < waiting.size() && waiting[end].slot / kVectorBlock == block) {
        ++end;
      }
      BMAD_TRY_ASSIGN(const bool is_there,
                      encode_block(segment, *vectors, std::span(waiting).subspan(i, end - i)));
      if (!is_there) {
        return {};  // The segment has gone meanwhile.
      }
      i = end;
    }
    return {};
  }

  /// Those of `segment`, to be written; null when it is used no more.
  Result<std::shared_ptr<SegmentVectors>> vectors_of_segment(
      const std::shared_ptr<Segment>& segment) {
    const Result<FileLock::Guard> turn = turn_on(segment);
    if (!turn) {
      return turn.error().code == ErrorCode::E_CONCURRENT_MOD
                 ? Result<std::shared_ptr<SegmentVectors>>(nullptr)
                 : turn.error();
    }
    const std::shared_ptr<SegmentVectors> known = segment->vectors();
    if (known != nullptr && known->of() == wish_.of) {
      BMAD_TRY_ASSIGN(std::shared_ptr<SegmentVectors> opened,
                      SegmentVectors::open(*segment, OpenMode::kUpdate));
      if (opened != nullptr) {
        return opened;
      }
    }
    return SegmentVectors::create(*segment, wish_.of);
  }

  [[nodiscard]] std::vector<Waiting> waiting_in(const Segment& segment,
                                                SegmentVectors& vectors) const {
    std::vector<Waiting> waiting;
    for (const auto& [number, lines] : sessions_) {
      const SegmentSession& session = segment.sessions[number];
      const std::uint8_t* row = vectors.rows(session.begin, session.begin + session.count);
      for (std::uint32_t slot = 0; slot < session.count; ++slot, row += vectors.row_size()) {
        if (!is_packed(row)) {
          waiting.push_back({.slot = session.begin + slot, .session = number});
        }
      }
    }
    return waiting;
  }

  /// The right to change the vectors of `segment`; an error when it is used no more.
  Result<FileLock::Guard> turn_on(const std::shared_ptr<Segment>& segment) {
    FileLock lock = index_.lock();
    BMAD_TRY_ASSIGN(FileLock::Guard turn,
                    lock.acquire({.operation = "encode", .timeout = index_.store_.lock_timeout}));
    const SharedState now = index_.state();
    if (std::ranges::find(now->segments, segment) == now->segments.end()) {
      return Error{.code = ErrorCode::E_CONCURRENT_MOD, .message = "the segment has gone"};
    }
    return turn;
  }

  /// Encodes entries of one block, and writes it. False when the segment is used no more. What was
  /// done before an error is kept.
  Result<bool> encode_block(const std::shared_ptr<Segment>& segment, SegmentVectors& vectors,
                            std::span<const Waiting> waiting) {
    const std::uint32_t block = waiting.front().slot / kVectorBlock;
    const std::uint32_t begin = block * kVectorBlock;
    const std::uint32_t count = std::min(kVectorBlock, segment->entries - begin);
    const std::uint8_t* const known = vectors.rows(begin, begin + count);
    std::vector<std::uint8_t> rows(known, known + count * vectors.row_size());
    // Who has not much time keeps what was done in it.
    const std::size_t at_once = wish_.deadline ? 16 : kVectorBlock;
    std::uint64_t done = 0;
    Status failed;
    for (std::size_t i = 0; i < waiting.size() && failed && !is_over(); i += at_once) {
      const auto some = waiting.subspan(i, std::min(at_once, waiting.size() - i));
      Result<std::uint64_t> encoded = encode_some(*segment, begin, some, vectors.row_size(), rows);
      done += encoded.value_or(0);
      failed = encoded ? Status() : std::move(encoded).error();
    }
    if (done > 0) {
      const Result<FileLock::Guard> turn = turn_on(segment);
      if (!turn) {
        return turn.error().code == ErrorCode::E_CONCURRENT_MOD ? Result<bool>(false)
                                                                : turn.error();
      }
      BMAD_TRY(vectors.write_block(block, rows));
      done_.encoded += done;
      done_.waiting -= std::min(done_.waiting, done);
      if (wish_.on_progress) {
        wish_.on_progress(done_.total - done_.waiting, done_.total);
      }
    }
    if (!failed && failed.error().code == ErrorCode::E_QUERY_TIMEOUT && is_late()) {
      is_out_of_time_ = true;
      failed = {};
    }
    BMAD_TRY(std::move(failed));
    return true;
  }

  /// Puts the vectors of `waiting` among `rows`, which begin with slot `begin`. How many these are.
  Result<std::uint64_t> encode_some(Segment& segment, std::uint32_t begin,
                                    std::span<const Waiting> waiting, std::size_t row_size,
                                    std::vector<std::uint8_t>& rows) {
    std::vector<std::string> texts;
    std::vector<std::uint32_t> slots;
    for (const Waiting& each : waiting) {
      if (tried_ + texts.size() >= wish_.texts_max) {
        break;
      }
      if (Result<std::string> text = text_of(segment, each)) {
        texts.push_back(*std::move(text));
        slots.push_back(each.slot);
      }  // Else its log is another one by now: it comes with the next segment.
    }
    if (texts.empty()) {
      return 0;
    }
    BMAD_TRY_ASSIGN(const std::vector<float> numbers, encoder_.encode(texts, wish_.deadline));
    assert(numbers.size() == texts.size() * wish_.of.dimension);
    tried_ += texts.size();
    for (std::size_t i = 0; i < slots.size(); ++i) {
      pack_vector(std::span(numbers).subspan(i * wish_.of.dimension, wish_.of.dimension),
                  rows.data() + (slots[i] - begin) * row_size);
    }
    return texts.size();
  }

  /// What is encoded of an entry; empty where nothing may be.
  Result<std::string> text_of(Segment& segment, const Waiting& waiting) {
    FileSystem* const lines = sessions_.at(waiting.session).get();
    if (lines_ != lines || session_ != waiting.session) {
      lines_ = lines;
      session_ = waiting.session;
      logs_ = {};
    }
    BMAD_TRY_ASSIGN(const std::uint32_t flags, segment.flags_of(waiting.slot));
    if ((flags & kFlagSensitive) != 0 && !wish_.of.sensitive) {
      return std::string();
    }
    BMAD_TRY_ASSIGN(const std::vector<IndexRow> rows, segment.rows(waiting.slot, 1));
    const EntryType type = flag_type(flags);
    BMAD_TRY_ASSIGN(const IndexedSession::LoadedLine line,
                    read_row(*lines, segment.sessions[waiting.session].id, type, rows.front().row,
                             logs_[static_cast<std::size_t>(type)]));
    BMAD_TRY_ASSIGN(const JsonValue value, parser_.parse(line.text));
    return encoded_text(type, value);
  }

  RootIndex& index_;
  TextEncoder& encoder_;
  const EncodeWish& wish_;
  Encoded done_;
  std::size_t tried_ = 0;  // Texts.
  bool is_out_of_time_ = false;
  JsonParser parser_;
  LinesBySession sessions_;  // Of the segment at hand.
  FileSystem* lines_ = nullptr;
  std::uint32_t session_ = 0;  // Whose logs are open, in lines_.
  IndexedSession::OpenLogs logs_;
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
    if (alone.error().code != ErrorCode::E_LOCK_TIMEOUT) {
      return alone.error();
    }
    Encoded others = count_encoded(wish.of);
    others.is_elsewhere = true;
    return others;
  }
  BMAD_TRY(remove_unwanted_vectors());
  return Encoding(*this, encoder, wish).run();
}

bool RootIndex::wants_vectors() {
  const SharedState now = state();
  std::vector<std::shared_ptr<SegmentVectors>> vectors = vectors_of_all(*now);
  for (const auto& [id, covered] : now->sessions) {
    const SegmentSession& session = now->segments[covered.segment]->sessions[covered.number];
    SegmentVectors* const its = vectors[covered.segment].get();
    bool is_whole = its != nullptr && its->of().sensitive == store_.config.encoder.sensitive;
    const std::uint8_t* row =
        is_whole ? its->rows(session.begin, session.begin + session.count) : nullptr;
    for (std::uint32_t slot = 0; is_whole && slot < session.count; ++slot) {
      is_whole = is_packed(row);
      row += its->row_size();
    }
    // What has gone waits for nothing.
    if (!is_whole && session.count > 0) {
      const auto lines = lines_of(store_, session, covered.package);
      if (lines && *lines != nullptr) {
        return true;
      }
    }
  }
  return false;
}

Encoded RootIndex::count_encoded(VectorsOf of) {
  Encoded counted;
  const SharedState now = state();
  for (std::uint32_t i = 0; i < now->segments.size(); ++i) {
    Segment* const segment = now->segments[i].get();
    const std::shared_ptr<SegmentVectors> found = segment != nullptr ? segment->vectors() : nullptr;
    SegmentVectors* const vectors = found != nullptr && found->of() == of ? found.get() : nullptr;
    for (const auto& [number, lines] :
         segment != nullptr ? sessions_in(*now, i) : LinesBySession()) {
      const SegmentSession& session = segment->sessions[number];
      counted.total += session.count;
      counted.waiting += session.count;
      const std::uint8_t* row = vectors != nullptr
                                    ? vectors->rows(session.begin, session.begin + session.count)
                                    : nullptr;
      for (std::uint32_t slot = 0; row != nullptr && slot < session.count;
           ++slot, row += vectors->row_size()) {
        counted.waiting -= is_packed(row) ? 1 : 0;
      }
    }
  }
  return counted;
}

/// The sessions of a segment that it covers, and that are there.
RootIndex::LinesBySession RootIndex::sessions_in(const IndexState& state,
                                                 std::uint32_t segment) const {
  LinesBySession sessions;
  for (const auto& [id, covered] : state.sessions) {
    if (covered.segment == segment) {
      const SegmentSession& session = state.segments[segment]->sessions[covered.number];
      if (auto lines = lines_of(store_, session, covered.package); lines && *lines != nullptr) {
        sessions.emplace(covered.number, *std::move(lines));
      }
    }
  }
  return sessions;
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

Status RootIndex::remove_unwanted_vectors() {
  if (unwanted_vectors(*state()).empty()) {
    return {};
  }
  BMAD_TRY_ASSIGN(const std::optional<FileLock::Guard> turn, change());
  for (const std::string& path : unwanted_vectors(*state())) {
    BMAD_TRY(store_.files->remove(path));
  }
  return {};
}

/// Gives the entries of `made` the vectors that they have in the segments of `before`, by their
/// lines. What fails costs that these are encoded again.
void RootIndex::carry_vectors(const IndexState& before, Segment& made) const {
  const std::vector<std::shared_ptr<SegmentVectors>> vectors = vectors_of_all(before);
  if (std::ranges::all_of(vectors, [](const auto& each) { return each == nullptr; })) {
    return;
  }
  std::shared_ptr<SegmentVectors> to;
  std::vector<std::uint8_t> rows;
  for (const SegmentSession& session : made.sessions) {
    std::vector<std::pair<LineKey, const std::uint8_t*>> known;
    for (const bool evicted : {false, true}) {
      const auto covered = before.sessions.find(covered_key(session.id, evicted));
      SegmentVectors* const its =
          covered == before.sessions.end() ? nullptr : vectors[covered->second.segment].get();
      if (its == nullptr || !may_keep(its->of()) || (to != nullptr && its->of() != to->of())) {
        continue;
      }
      const Segment* const from = before.segments[covered->second.segment].get();
      const SegmentSession& old = from->sessions[covered->second.number];
      const Result<std::vector<IndexRow>> lines = from->rows(old.begin, old.count);
      const std::uint8_t* const first = its->rows(old.begin, old.begin + old.count);
      for (std::uint32_t i = 0; lines && i < old.count; ++i) {
        const std::uint8_t* const row = first + i * its->row_size();
        if (is_packed(row)) {
          known.emplace_back(line_key((*lines)[i]), row);
        }
      }
      if (to == nullptr && !known.empty()) {
        to = SegmentVectors::create(made, its->of()).value_or(nullptr);
        if (to == nullptr) {
          return;
        }
        rows.resize(made.entries * to->row_size());
      }
    }
    if (known.empty()) {
      continue;
    }
    const Result<std::vector<IndexRow>> lines = made.rows(session.begin, session.count);
    std::ranges::sort(known, {}, &std::pair<LineKey, const std::uint8_t*>::first);
    for (std::uint32_t i = 0; lines && i < session.count; ++i) {
      const LineKey key = line_key((*lines)[i]);
      const auto found =
          std::ranges::lower_bound(known, key, {}, &std::pair<LineKey, const std::uint8_t*>::first);
      if (found != known.end() && found->first == key) {
        std::memcpy(&rows[(session.begin + i) * to->row_size()], found->second, to->row_size());
      }
    }
  }
  const std::size_t size = to != nullptr ? kVectorBlock * to->row_size() : 1;
  for (std::size_t at = 0; at < rows.size(); at += size) {
    const auto block = std::span(rows).subspan(at, std::min(size, rows.size() - at));
    const bool has_any = std::ranges::any_of(block, [](std::uint8_t byte) { return byte != 0; });
    if (has_any && !to->write_block(static_cast<std::uint32_t>(at / size), block)) {
      return;
    }
  }
}

}  // namespace bmad_mem
