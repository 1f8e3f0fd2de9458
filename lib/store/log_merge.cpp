// log_merge.cpp - merging logs line by line.
//
//   split_lines   text -> lines, and what is behind the last line end
//   LineNames     the same line has the same number in all three texts; the second of two equal
//                 lines of one text is another line than the first
//   Interleaver   the lines that stay, in one order
//   VersionOrder  where both sides added versions of one id: the newest last, and another one of it
//                 where the sides linked it to different entries
#include "bmad_mem/log_merge.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "merged_links.hpp"
#include "model/entry.hpp"

namespace bmad_mem {
namespace {

enum class Side : std::uint8_t { kBase, kOurs, kTheirs };

constexpr std::string_view kLinksMember = "\"links\"";
constexpr std::array<const char*, 3> kSideNames = {"base", "ours", "theirs"};

/// A line of one side, and what it says about itself once somebody asked.
struct MergeLine {
  std::string_view text;
  std::uint64_t number = 0;  ///< 1-based in its text.
  std::uint32_t name = 0;    ///< See LineNames.
  bool is_known = false;     ///< Whether what follows is filled in.
  std::int64_t time = 0;
  std::int64_t written = 0;  ///< Of versions that state the same.
  std::uint64_t hash = 0;
  std::string id = {};  ///< Empty when it has none.
};

struct LogText {
  std::string_view bytes;
  std::vector<MergeLine> lines;
  std::string_view torn;          ///< Behind the last line end, when that is no whole object.
  std::uint64_t torn_number = 0;  ///< Which line it would be.
};

/// The object in `line`, which is a part of `text`.
std::optional<JsonValue> object_in(JsonParser& parser, std::string_view text,
                                   std::string_view line) {
  const auto end = static_cast<std::size_t>(line.data() - text.data()) + line.size();
  assert(line.data() >= text.data() && end <= text.size());
  std::optional<JsonValue> value;
  if (text.size() - end >= kJsonPadding) {
    value = parser.try_parse_padded(line);
  } else if (const Result<JsonValue> parsed = parser.parse(line)) {
    value = *parsed;
  }
  return value && value->is_object() ? value : std::nullopt;
}

LogText split_lines(std::string_view text, JsonParser& parser) {
  LogText split{.bytes = text};
  std::uint64_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    std::string_view line = text.substr(at, end == std::string_view::npos ? end : end - at);
    at = end == std::string_view::npos ? text.size() : end + 1;
    ++number;
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    if (is_blank(line)) {
      continue;
    }
    if (end == std::string_view::npos && !object_in(parser, text, line)) {
      split.torn = line;
      split.torn_number = number;
      continue;
    }
    split.lines.push_back({.text = line, .number = number});
  }
  return split;
}

/// Numbers for lines, and in which texts each is.
class LineNames {
 public:
  void add(Side side, std::vector<MergeLine>& lines) {
    std::vector<std::size_t> seen(names_.size(), 0);  // By text: how many of it came before.
    for (MergeLine& line : lines) {
      const auto [found, is_new] = texts_.try_emplace(line.text, names_.size());
      if (is_new) {
        names_.emplace_back();
        seen.push_back(0);
      }
      std::vector<std::uint32_t>& names = names_[found->second];
      const std::size_t occurrence = seen[found->second]++;
      if (occurrence == names.size()) {
        names.push_back(static_cast<std::uint32_t>(sides_.size()));
        sides_.push_back(0);
      }
      line.name = names[occurrence];
      sides_[line.name] |= bit(side);
    }
  }

  [[nodiscard]] bool is_in(Side side, const MergeLine& line) const {
    return (sides_[line.name] & bit(side)) != 0;
  }
  [[nodiscard]] std::size_t count() const { return sides_.size(); }

 private:
  static std::uint8_t bit(Side side) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(side));
  }

  std::unordered_map<std::string_view, std::size_t> texts_;
  std::vector<std::vector<std::uint32_t>> names_;  // By text, then by occurrence.
  std::vector<std::uint8_t> sides_;
};

JsonValue first_present(JsonValue first, JsonValue second) {
  return first.present() ? first : second;
}

/// Fills in what the line says about itself. False: it is no object.
bool read_line(JsonParser& parser, std::string_view text, MergeLine& line) {
  if (line.is_known) {
    return true;
  }
  const std::optional<JsonValue> object = object_in(parser, text, line.text);
  if (!object) {
    return false;
  }
  // What is kept of an archived session wraps its entries: {"type":"fact","entry":{…}}.
  const JsonValue wrapped = (*object)["entry"];
  const JsonValue entry = wrapped.is_object() ? wrapped : *object;
  // A version has the time of its entry, and its own beside it.
  const JsonValue time =
      first_present(entry["updated_at"], first_present(entry["timestamp"], entry["at"]));
  if (const std::optional<Timestamp> moment = try_parse_rfc3339(time.string())) {
    line.time = moment->time_since_epoch().count();
  }
  line.written = entry_written_time(entry).time_since_epoch().count();
  line.id = entry["id"].string();
  line.hash = xxh3(line.text);
  line.is_known = true;
  return true;
}

/// The order of what was added on both sides.
bool is_before(const MergeLine& left, const MergeLine& right) {
  return std::tie(left.time, left.written, left.hash, left.text) <
         std::tie(right.time, right.written, right.hash, right.text);
}

using LinePointers = std::vector<const MergeLine*>;

/// Merges two sequences, each of which keeps its order. A line that both have waits until both have
/// come to it; lines of one side only go by is_before(). Where the sides contradict each other
/// about two lines that both have, is_before() decides, too.
class Interleaver {
 public:
  explicit Interleaver(const LineNames& names) : names_(names), is_out_(names.count(), false) {}

  /// No line may be given in two calls.
  LinePointers run(const LinePointers& ours, const LinePointers& theirs) {
    LinePointers out;
    out.reserve(std::max(ours.size(), theirs.size()));
    std::size_t i = 0;
    std::size_t j = 0;
    while (true) {
      skip_out(ours, i);
      skip_out(theirs, j);
      if (i == ours.size() && j == theirs.size()) {
        return out;
      }
      const bool from_ours =
          j == theirs.size() || (i < ours.size() && takes_first(*ours[i], *theirs[j]));
      const MergeLine* line = from_ours ? ours[i++] : theirs[j++];
      assert(!is_out_[line->name] && "a line is merged once");
      is_out_[line->name] = true;
      out.push_back(line);
    }
  }

 private:
  [[nodiscard]] bool takes_first(const MergeLine& ours, const MergeLine& theirs) const {
    const bool ours_waits = is_common(ours);
    return ours_waits == is_common(theirs) ? is_before(ours, theirs) : !ours_waits;
  }

  [[nodiscard]] bool is_common(const MergeLine& line) const {
    return names_.is_in(Side::kOurs, line) && names_.is_in(Side::kTheirs, line);
  }

  void skip_out(const LinePointers& lines, std::size_t& at) const {
    while (at < lines.size() && is_out_[lines[at]->name]) {
      ++at;
    }
  }

  const LineNames& names_;
  std::vector<bool> is_out_;  // By name.
};

/// The versions of one entry on both sides, and where they stand in the merged log.
struct LineVersions {
  LinePointers ours;
  LinePointers theirs;
  std::vector<std::size_t> places;
};

class LogMerge {
 public:
  LogMerge(std::string_view base, std::string_view ours, std::string_view theirs)
      : texts_{split_lines(base, parser_), split_lines(ours, parser_),
               split_lines(theirs, parser_)} {
    for (const Side side : {Side::kBase, Side::kOurs, Side::kTheirs}) {
      names_.add(side, text(side).lines);
    }
  }

  Result<std::string> run() {
    BMAD_TRY(read_added(Side::kOurs, Side::kTheirs));
    BMAD_TRY(read_added(Side::kTheirs, Side::kOurs));
    BMAD_TRY_ASSIGN(const std::string_view torn, merged_torn());
    const LinePointers ours = staying(Side::kOurs, Side::kTheirs);
    const LinePointers theirs = staying(Side::kTheirs, Side::kOurs);
    LinePointers lines = Interleaver(names_).run(ours, theirs);
    order_versions(ours, theirs, lines);
    std::string merged;
    merged.reserve(std::max(text(Side::kOurs).bytes.size(), text(Side::kTheirs).bytes.size()));
    for (const MergeLine* line : lines) {
      merged += line->text;
      merged += '\n';
      if (const auto linked = linked_.find(line); linked != linked_.end()) {
        merged += linked->second;
        merged += '\n';
      }
    }
    merged += torn;
    return merged;
  }

 private:
  LogText& text(Side side) { return texts_[static_cast<std::size_t>(side)]; }

  [[nodiscard]] bool is_added(const MergeLine& line, Side other) const {
    return !names_.is_in(Side::kBase, line) && !names_.is_in(other, line);
  }

  static Error damaged(Side side, std::uint64_t number, std::string reason) {
    return Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                 .message = std::move(reason),
                 .path = kSideNames[static_cast<std::size_t>(side)],
                 .line = number};
  }

  /// Reads the lines that `side` alone has added: their times are needed, and damage is not carried
  /// on unseen.
  Status read_added(Side side, Side other) {
    for (MergeLine& line : text(side).lines) {
      if (is_added(line, other) && !read_line(parser_, text(side).bytes, line)) {
        return damaged(
            side, line.number,
            fmt::format("a line that this side added is not an entry ({}); correct or remove "
                        "it, then merge again",
                        reason_of(line.text)));
      }
    }
    return {};
  }

  static std::string reason_of(std::string_view line) {
    JsonParser parser;
    return parser.parse(line) ? "not a JSON object" : json_problem(line).message;
  }

  /// The lines of `side` that both sides have, or that it has added.
  LinePointers staying(Side side, Side other) {
    LinePointers lines;
    lines.reserve(text(side).lines.size());
    for (const MergeLine& line : text(side).lines) {
      if (names_.is_in(other, line) || !names_.is_in(Side::kBase, line)) {
        lines.push_back(&line);
      }
    }
    return lines;
  }

  /// What is left behind the last line end: nobody reads it, and the next writer looks after it.
  Result<std::string_view> merged_torn() {
    const std::string_view base = text(Side::kBase).torn;
    const std::string_view ours = text(Side::kOurs).torn;
    const std::string_view theirs = text(Side::kTheirs).torn;
    if (ours == theirs || theirs == base) {
      return ours;
    }
    if (ours == base || ours.empty()) {
      return theirs;
    }
    if (theirs.empty()) {
      return ours;
    }
    return damaged(Side::kTheirs, text(Side::kTheirs).torn_number,
                   "both sides end in an unfinished line, and not in the same; remove one of them, "
                   "then merge again");
  }

  /// Ids that both sides have added lines under.
  std::unordered_set<std::string_view> contested() {
    std::unordered_set<std::string_view> in_ours;
    for (const MergeLine& line : text(Side::kOurs).lines) {
      if (!line.id.empty() && is_added(line, Side::kTheirs)) {
        in_ours.insert(line.id);
      }
    }
    std::unordered_set<std::string_view> both;
    for (const MergeLine& line : text(Side::kTheirs).lines) {
      if (is_added(line, Side::kOurs) && in_ours.contains(line.id)) {
        both.insert(line.id);
      }
    }
    return both;
  }

  /// Puts the versions of ids that both sides added to into the order of their times. Else an entry
  /// that has nothing to do with them could decide which of two versions is the newest.
  void order_versions(const LinePointers& ours, const LinePointers& theirs, LinePointers& lines) {
    std::unordered_map<std::string_view, LineVersions> versions;
    for (const std::string_view id : contested()) {
      versions.try_emplace(id);
    }
    if (versions.empty()) {
      return;
    }
    read_all();
    const auto each_version = [&](const LinePointers& of, const auto& visit) {
      for (std::size_t i = 0; i < of.size(); ++i) {
        if (const auto found = versions.find(of[i]->id); found != versions.end()) {
          visit(found->second, i);
        }
      }
    };
    each_version(ours, [&](LineVersions& of, std::size_t i) { of.ours.push_back(ours[i]); });
    each_version(theirs, [&](LineVersions& of, std::size_t i) { of.theirs.push_back(theirs[i]); });
    each_version(lines, [](LineVersions& of, std::size_t i) { of.places.push_back(i); });
    Interleaver interleaver(names_);
    for (const auto& [id, of] : versions) {
      const LinePointers ordered = interleaver.run(of.ours, of.theirs);
      assert(ordered.size() == of.places.size());
      for (std::size_t i = 0; i < ordered.size(); ++i) {
        lines[of.places[i]] = ordered[i];
      }
    }
    for (const auto& [id, of] : versions) {
      merge_links(id, of, *lines[of.places.back()]);
    }
  }

  /// Notes the version that has the links of both sides, where the newest has not.
  void merge_links(std::string_view id, const LineVersions& of, const MergeLine& newest) {
    assert(!of.ours.empty() && !of.theirs.empty() && "both sides have versions of the id");
    const std::string_view ours = of.ours.back()->text;
    const std::string_view theirs = of.theirs.back()->text;
    if (!ours.contains(kLinksMember) && !theirs.contains(kLinksMember)) {
      return;
    }
    std::string_view before;
    for (MergeLine& line : text(Side::kBase).lines) {
      if (read_line(parser_, text(Side::kBase).bytes, line) && line.id == id) {
        before = line.text;
      }
    }
    if (auto linked = with_merged_links(before, ours, theirs, newest.text)) {
      linked_.emplace(&newest, *std::move(linked));
    }
  }

  void read_all() {
    for (const Side side : {Side::kOurs, Side::kTheirs}) {
      for (MergeLine& line : text(side).lines) {
        static_cast<void>(read_line(parser_, text(side).bytes, line));  // Damage has no id.
      }
    }
  }

  JsonParser parser_;
  std::array<LogText, 3> texts_;
  LineNames names_;
  std::unordered_map<const MergeLine*, std::string> linked_;  // What is to follow them.
};

/// Ends of whole lines from the front that both texts share.
std::size_t common_front(std::string_view ours, std::string_view theirs) {
  const auto [end, ignored] = std::ranges::mismatch(ours, theirs);
  const auto size = static_cast<std::size_t>(end - ours.begin());
  return size == 0 ? 0 : ours.rfind('\n', size - 1) + 1;  // npos + 1 is 0.
}

/// Bytes of whole lines at the end that both texts share, which end in a line end.
std::size_t common_back(std::string_view ours, std::string_view theirs) {
  std::size_t size = 0;
  const std::size_t size_max = std::min(ours.size(), theirs.size());
  while (size < size_max && ours[ours.size() - 1 - size] == theirs[theirs.size() - 1 - size]) {
    ++size;
  }
  if (size == 0 || !ours.ends_with('\n')) {
    return 0;
  }
  if (size == ours.size() && size == theirs.size()) {
    return size;
  }
  const std::size_t line = ours.find('\n', ours.size() - size);
  assert(line != std::string_view::npos);
  return ours.size() - line - 1;
}

void append_with_end(std::string& out, std::string_view text) {
  out += text;
  if (!text.empty() && !text.ends_with('\n')) {
    out += '\n';
  }
}

}  // namespace

Result<std::string> merge_logs(std::string_view base, std::string_view ours,
                               std::string_view theirs) {
  if (ours == theirs || base == theirs) {
    return std::string(ours);
  }
  if (base == ours) {
    return std::string(theirs);
  }
  return LogMerge(base, ours, theirs).run();
}

std::string conflict_text(std::string_view ours, std::string_view theirs, std::size_t marker_size) {
  assert(marker_size > 0);
  const std::size_t front = common_front(ours, theirs);
  const std::string_view head = ours.substr(0, front);
  ours.remove_prefix(front);
  theirs.remove_prefix(front);
  const std::size_t back = common_back(ours, theirs);
  assert(back <= ours.size() && back <= theirs.size());
  const std::string_view tail = ours.substr(ours.size() - back);
  ours.remove_suffix(back);
  theirs.remove_suffix(back);
  std::string out(head);
  out += fmt::format("{} ours\n", std::string(marker_size, '<'));
  append_with_end(out, ours);
  out += fmt::format("{}\n", std::string(marker_size, '='));
  append_with_end(out, theirs);
  out += fmt::format("{} theirs\n", std::string(marker_size, '>'));
  out += tail;
  return out;
}

}  // namespace bmad_mem
