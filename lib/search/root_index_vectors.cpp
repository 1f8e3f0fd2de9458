// The vectors of the segments: made, counted, and carried from one segment to the next.
#include <algorithm>
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

/// The sessions of segment `number` that are covered by it, ascending by number there.
std::vector<std::uint32_t> covered_in(const IndexState& state, std::uint32_t number) {
  std::vector<std::uint32_t> numbers;
  for (const auto& [id, covered] : state.sessions) {
    if (covered.segment == number) {
      numbers.push_back(covered.number);
    }
  }
  std::ranges::sort(numbers);
  return numbers;
}

/// What tells a line from others of its session.
using LineKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
LineKey line_key(const IndexRow& row) { return {row.row.line_hash, row.id_hash, row.row.size}; }

}  // namespace

/// One pass over the segments.
class RootIndex::Encoding {
 public:
  Encoding(RootIndex& index, TextEncoder& encoder, const EncodeWish& wish)
      : index_(index), encoder_(encoder), wish_(wish), done_(index.count_encoded(wish.of)) {}

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
    std::uint32_t session = 0;  // In the part.
  };

  [[nodiscard]] bool is_over() const {
    return tried_ >= wish_.texts_max ||
           (wish_.deadline && std::chrono::steady_clock::now() > *wish_.deadline);
  }

  Status encode_segment(const IndexState& state, std::uint32_t number) {
    const std::shared_ptr<Segment>& segment = state.segments[number];
    const SegmentPart part(segment, covered_in(state, number), index_.files_of());
    std::shared_ptr<SegmentVectors> vectors = segment->vectors();
    if (vectors == nullptr || vectors->of() != wish_.of) {
      const Result<FileLock::Guard> turn = turn_on(segment);
      BMAD_TRY_ASSIGN(vectors, turn ? SegmentVectors::create(*segment, wish_.of)
                                    : std::shared_ptr<SegmentVectors>());
    }
    std::vector<Waiting> waiting =
        vectors == nullptr ? std::vector<Waiting>() : waiting_in(part, *vectors);
    for (std::size_t i = 0; i < waiting.size() && !is_over();) {
      std::size_t end = i;
      const std::uint32_t block = waiting[i].slot / kVectorBlock;
      const std::size_t most = wish_.texts_max - tried_;
      while (end < waiting.size() && waiting[end].slot / kVectorBlock == block && end - i < most) {
        ++end;
      }
      BMAD_TRY_ASSIGN(const bool is_there,
                      encode_block(part, *vectors, std::span(waiting).subspan(i, end - i)));
      if (!is_there) {
        return {};  // The segment has gone meanwhile.
      }
      i = end;
    }
    return {};
  }

  static std::vector<Waiting> waiting_in(const SegmentPart& part, SegmentVectors& vectors) {
    std::vector<Waiting> waiting;
    const Segment& segment = *part.shared_segment();
    for (std::uint32_t i = 0; i < part.numbers().size(); ++i) {
      const SegmentSession& session = segment.sessions[part.numbers()[i]];
      const std::uint8_t* row = vectors.rows(session.begin, session.begin + session.count);
      for (std::uint32_t slot = 0; slot < session.count; ++slot, row += vectors.row_size()) {
        if (!is_packed(row)) {
          waiting.push_back({.slot = session.begin + slot, .session = i});
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

  /// Encodes entries of one block, and writes it. False when the segment is used no more.
  Result<bool> encode_block(const SegmentPart& part, SegmentVectors& vectors,
                            std::span<const Waiting> waiting) {
    tried_ += waiting.size();
    std::vector<std::string> texts;
    std::vector<std::uint32_t> slots;
    for (const Waiting& each : waiting) {
      if (Result<std::string> text = text_of(part, each)) {
        texts.push_back(*std::move(text));
        slots.push_back(each.slot);
      }  // Else its log is another one by now: it comes with the next segment.
    }
    BMAD_TRY_ASSIGN(const std::vector<float> numbers, encoder_.encode(texts, wish_.deadline));
    const std::uint32_t block = waiting.front().slot / kVectorBlock;
    const std::uint32_t begin = block * kVectorBlock;
    const std::uint32_t count = std::min(kVectorBlock, part.shared_segment()->entries - begin);
    const std::uint8_t* const known = vectors.rows(begin, begin + count);
    std::vector<std::uint8_t> rows(known, known + count * vectors.row_size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
      pack_vector(std::span(numbers).subspan(i * wish_.of.dimension, wish_.of.dimension),
                  rows.data() + (slots[i] - begin) * vectors.row_size());
    }
    const Result<FileLock::Guard> turn = turn_on(part.shared_segment());
    if (!turn) {
      return turn.error().code == ErrorCode::E_CONCURRENT_MOD ? Result<bool>(false) : turn.error();
    }
    BMAD_TRY(vectors.write_block(block, rows));
    done_.encoded += slots.size();
    done_.waiting -= std::min<std::uint64_t>(done_.waiting, slots.size());
    if (wish_.on_progress) {
      wish_.on_progress(done_.total - done_.waiting, done_.total);
    }
    return true;
  }

  /// What is encoded of an entry; empty where nothing may be.
  Result<std::string> text_of(const SegmentPart& part, const Waiting& waiting) {
    if (session_ != waiting.session) {
      session_ = waiting.session;
      logs_ = {};
    }
    const SegmentSession& known = part.shared_segment()->sessions[part.numbers()[waiting.session]];
    const IndexedSession& session = *part.sessions()[waiting.session];
    const Ordinal ordinal = waiting.slot - known.begin;
    BMAD_TRY_ASSIGN(const std::uint32_t flags, part.shared_segment()->flags_of(waiting.slot));
    if ((flags & kFlagSensitive) != 0 && !wish_.sensitive) {
      return std::string();
    }
    BMAD_TRY_ASSIGN(const IndexedSession::LoadedLine line, session.line(ordinal, logs_));
    BMAD_TRY_ASSIGN(const JsonValue value, parser_.parse(line.text));
    return encoded_text(line.type, value);
  }

  RootIndex& index_;
  TextEncoder& encoder_;
  const EncodeWish& wish_;
  Encoded done_;
  std::size_t tried_ = 0;  // Entries, those that could not be read among them.
  JsonParser parser_;
  std::uint32_t session_ = ~std::uint32_t{0};  // Whose logs are open.
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
    return alone.error().code == ErrorCode::E_LOCK_TIMEOUT ? Result<Encoded>(count_encoded(wish.of))
                                                           : alone.error();
  }
  return Encoding(*this, encoder, wish).run();
}

bool RootIndex::wants_vectors() {
  const SharedState now = state();
  for (std::uint32_t i = 0; i < now->segments.size(); ++i) {
    Segment* const segment = now->segments[i].get();
    const std::shared_ptr<SegmentVectors> found = segment != nullptr ? segment->vectors() : nullptr;
    for (const std::uint32_t number :
         segment != nullptr ? covered_in(*now, i) : std::vector<std::uint32_t>()) {
      const SegmentSession& session = segment->sessions[number];
      if (found == nullptr && session.count > 0) {
        return true;
      }
      const std::uint8_t* row =
          found != nullptr ? found->rows(session.begin, session.begin + session.count) : nullptr;
      for (std::uint32_t slot = 0; row != nullptr && slot < session.count;
           ++slot, row += found->row_size()) {
        if (!is_packed(row)) {
          return true;
        }
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
    for (const std::uint32_t number :
         segment != nullptr ? covered_in(*now, i) : std::vector<std::uint32_t>()) {
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

/// Gives the entries of `made` the vectors that they have in the segments of `before`, by their
/// lines. What fails costs that these are encoded again.
void RootIndex::carry_vectors(const IndexState& before, Segment& made) {
  std::shared_ptr<SegmentVectors> to;
  std::vector<std::uint8_t> rows;
  for (const SegmentSession& session : made.sessions) {
    std::vector<std::pair<LineKey, const std::uint8_t*>> known;
    std::vector<std::shared_ptr<SegmentVectors>> owners;
    for (const bool evicted : {false, true}) {
      const auto covered = before.sessions.find(covered_key(session.id, evicted));
      Segment* const from = covered == before.sessions.end()
                                ? nullptr
                                : before.segments[covered->second.segment].get();
      const std::shared_ptr<SegmentVectors> its = from != nullptr ? from->vectors() : nullptr;
      if (its == nullptr || (to != nullptr && its->of() != to->of())) {
        continue;
      }
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
      owners.push_back(its);
    }
    const Result<std::vector<IndexRow>> lines = made.rows(session.begin, session.count);
    std::ranges::sort(known, {}, &std::pair<LineKey, const std::uint8_t*>::first);
    for (std::uint32_t i = 0; lines && !known.empty() && i < session.count; ++i) {
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
