#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output.hpp"
#include "cli/views.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// Under the first letter of the hit's type.
constexpr std::string_view kIndent = "      ";

/// A snippet that begins so says what matched, and not what the entry is.
constexpr std::string_view kCutBegin = "…";

/// One row of "relevance = weight x value + …", or of "relevance = factor x factor x …".
struct Component {
  std::string_view name;
  double value = 0;
  double weight = 0;
  double factor = 0;
};

std::array<Component, 4> components_of(const Hit& hit) {
  const RelevanceWeights& weights = hit.weights;
  const RelevanceComponents& values = hit.components;
  return {{{"text", values.text, weights.text, values.text},
           {"time", values.time, weights.time, kTimeFactor.at(values.time)},
           {"importance", values.importance, weights.importance,
            kImportanceFactor.at(values.importance)},
           {"access", values.access, weights.access, kAccessFactor.at(values.access)}}};
}

/// What the text component holds beside the terms.
std::array<Component, 6> other_parts(const TextExplanation& explanation) {
  return {{{.name = "question", .value = explanation.question},
           {.name = "asks", .value = explanation.asks},
           {.name = "speaker", .value = explanation.speaker},
           {.name = "date", .value = explanation.date},
           {.name = "meaning", .value = explanation.meaning},
           {.name = "session_meaning", .value = explanation.session_meaning}}};
}

std::vector<RawJson> entry_lines(std::span<const Entry> entries) {
  std::vector<RawJson> lines;
  std::ranges::transform(entries, std::back_inserter(lines),
                         [](const Entry& entry) { return raw_json(entry_json_line(entry)); });
  return lines;
}

/// What the hit's line of JSON has beside the entry, without braces.
std::string hit_members(const Query& query, const QueryAnswer& answer, const Hit& hit) {
  std::vector<std::array<std::size_t, 2>> highlights;
  for (const Highlight& highlight : hit.highlights) {
    highlights.push_back({highlight.offset, highlight.size});
  }
  const auto around = [&](JsonWriter& json) {
    if (query.context != 0) {
      put(json, "context", shaped(shape::around, hit, entry_lines));
    }
  };
  const std::string text =
      json_object(shaped(shape::relevance, hit, answer, highlights), around, "explanation",
                  shaped(shape::explanation, hit.explanation, hit, answer));
  return text.substr(1, text.size() - 2);
}

/// The highlights, with those joined that only a sign stands between: "E_LOCK" is marked as one.
std::vector<Highlight> joined_highlights(const Hit& hit) {
  std::vector<Highlight> joined;
  for (const Highlight& highlight : hit.highlights) {
    if (!joined.empty()) {
      Highlight& last = joined.back();
      const std::size_t end = last.offset + last.size;
      if (highlight.offset == end + 1 &&
          std::string_view("_-./:").find(hit.snippet[end]) != std::string_view::npos) {
        last.size = highlight.offset + highlight.size - last.offset;
        continue;
      }
    }
    joined.push_back(highlight);
  }
  return joined;
}

/// The snippet with what matched marked: in colour, or between asterisks.
std::string marked(const Hit& hit, const Style& style) {
  const std::string_view text = hit.snippet;
  std::string out;
  std::size_t at = 0;
  for (const Highlight& highlight : joined_highlights(hit)) {
    out += printable(text.substr(at, highlight.offset - at));
    const std::string word = printable(text.substr(highlight.offset, highlight.size));
    out += style.colours() ? style.match(word) : fmt::format("*{}*", word);
    at = highlight.offset + highlight.size;
  }
  return out + printable(text.substr(at));
}

/// Prints the lines of a table below a hit, the first as its heading.
void print_indented(Tool& tool, const std::vector<TableRow>& rows) {
  bool is_heading = true;
  for (const std::string& line : table_lines(rows)) {
    tool.out().print("{}{}\n", kIndent, is_heading ? tool.style().faint(line) : line);
    is_heading = false;
  }
}

void print_explanation(Tool& tool, const Hit& hit) {
  const bool is_sum = hit.combine == RelevanceCombine::kSum;
  std::vector<TableRow> rows = {is_sum ? TableRow{"component", "value", "weight", "part"}
                                       : TableRow{"component", "value", "factor"}};
  for (const Component& component : components_of(hit)) {
    TableRow& row =
        rows.emplace_back(TableRow{std::string(component.name), rounded(component.value).text});
    if (is_sum) {
      row.push_back(fmt::format("{:.2f}", component.weight));
      row.push_back(rounded(component.value * component.weight).text);
    } else {
      row.push_back(rounded(component.factor).text);
    }
  }
  if (hit.outdated) {
    rows.push_back({"(outdated)", "", rounded(kOutdatedFactor).text});
  }
  print_indented(tool, rows);
  if (!hit.explanation) {
    return;
  }
  rows = {{"text", "entry", "window", "session"}};
  for (const TermScore& term : hit.explanation->terms) {
    rows.push_back({printable(term.term), rounded(term.entry).text, rounded(term.window).text,
                    rounded(term.session).text});
  }
  for (const Component& part : other_parts(*hit.explanation)) {
    if (part.value != 0) {
      rows.push_back({fmt::format("({})", part.name), rounded(part.value).text});
    }
  }
  if (hit.explanation->cosine) {
    rows.push_back({"(cosine)", rounded(*hit.explanation->cosine).text});
  }
  if (rows.size() > 1) {
    print_indented(tool, rows);
  }
}

/// The entries around a hit, a faint line each.
void print_neighbours(Tool& tool, std::span<const Entry> entries) {
  const std::size_t terminal = tool.columns();
  const std::size_t room = terminal > 2 * kIndent.size() ? terminal - kIndent.size() : 0;
  for (const Entry& entry : entries) {
    std::string line =
        fmt::format("{}  {}{}{}{}", shown_minute(entry.timestamp), printable(entry.who),
                    entry.who.empty() ? "" : "  ", entry.sensitive ? kSensitiveMark : "",
                    printable(entry.headline));
    if (room != 0) {
      line = shortened(line, room);
    }
    tool.out().print("{}{}\n", kIndent, tool.style().faint(line));
  }
}

/// The columns of the lines above the snippets.
struct HitColumns {
  std::size_t type = 0;
  std::size_t id = 0;
};

void print_hit(Tool& tool, const Query& query, const Hit& hit, HitColumns columns, Timestamp now) {
  const Entry& entry = hit.entry;
  const Style& style = tool.style();
  const std::string when =
      fmt::format("{} ({})", shown_minute(entry.timestamp), format_age(entry.timestamp, now));
  std::string about = entry.who.empty() ? "" : fmt::format("  by {}", printable(entry.who));
  about += entry.pinned ? "  pinned" : "";
  about += entry.sensitive ? style.faint("  sensitive") : "";
  about += hit.outdated ? style.faint("  outdated") : "";
  about += hit.said_before ? style.faint("  said before") : "";
  about += hit.weak ? style.faint("  weak") : "";
  if (!hit.root.empty() && !entry.of_user) {
    about += style.faint(fmt::format("  of {}{}", printable(project_name(hit.root)),
                                     hit.from_elsewhere ? ", from elsewhere" : ""));
  }
  if (const std::string_view place = place_mark(entry); !place.empty()) {
    about += style.faint(fmt::format("  {}", place));
  }
  print_neighbours(tool, hit.before);
  tool.out().print("{:.2f}  {}  {}  {}{}\n", hit.relevance,
                   padded(entry_type_name(entry.type), columns.type),
                   style.id(padded(entry.id, columns.id)), style.faint(when), about);
  if (hit.snippet.starts_with(kCutBegin) && !entry.headline.empty()) {
    tool.out().print("{}{}\n", kIndent, style.bold(printable(entry.headline)));
  }
  tool.out().print("{}{}\n", kIndent, marked(hit, style));
  if (query.explain) {
    print_explanation(tool, hit);
  }
  print_neighbours(tool, hit.after);
}

/// The hit's line of JSON where only ids are wanted.
std::string id_json_line(const Hit& hit) {
  Entry entry = hit.entry;
  entry.headline.clear();
  entry.json = json_object("id", entry.id, "timestamp", entry.timestamp);
  std::string members = fmt::format(R"("relevance":{})", rounded(hit.relevance).text);
  members += hit.root.empty() ? "" : fmt::format(R"(,"root":{})", json_quoted(hit.root));
  members += hit.from_elsewhere ? R"(,"from_elsewhere":true)" : "";
  return entry_json_line(entry, members);
}

/// How entries of other projects are read: `get` knows those of this one.
void note_other_roots(Tool& tool, std::span<const Hit> hits) {
  const Result<std::string> own = tool.find_root();
  std::set<std::string_view> roots;
  for (const Hit& hit : hits) {
    if (!hit.root.empty() && !hit.entry.of_user && own && hit.root != *own) {
      roots.insert(hit.root);
    }
  }
  for (const std::string_view root : roots) {
    tool.note(fmt::format("entries of {} are read with: bmad-mem --root {} get ID",
                          project_name(root), shell_quoted(root)));
  }
}

}  // namespace

std::string encoder_note(const EncoderUse& use) {
  if (!use.took_part) {
    return use.reason.empty() ? "" : fmt::format("searched by words alone: {}", use.reason);
  }
  std::string note = fmt::format("searched by words and by meaning, with {}", use.name);
  if (use.encoded < use.entries) {
    note += fmt::format("; {} of {} entries have no vector yet", use.entries - use.encoded,
                        use.entries);
  }
  return note;
}

void print_answer(Tool& tool, const Query& query, const QueryAnswer& answer) {
  const std::vector<Hit>& hits = answer.hits;
  if (tool.json()) {
    for (const Hit& hit : hits) {
      tool.out().print("{}\n", query.ids_only
                                   ? id_json_line(hit)
                                   : entry_json_line(hit.entry, hit_members(query, answer, hit)));
    }
    return;
  }
  tool.notes(answer.instead);
  tool.notes(query.explain ? answer.notes : std::vector<std::string>());
  if (answer.certainty && *answer.certainty != Certainty::kSure && !query.ids_only) {
    tool.note(*answer.certainty == Certainty::kNone
                  ? "certainty: none; no entry answers this, the hits are the least far away"
                  : "certainty: maybe");
  }
  const EncoderUse& use = answer.encoder;
  const bool says_why = use.took_part || (hits.empty() && !use.reason.empty());
  if (use.failed || (query.explain && says_why)) {
    tool.note(encoder_note(use));
  }
  if (query.ids_only) {
    for (const Hit& hit : hits) {
      tool.out().print("{}\n", tool.style().id(hit.entry.id));
    }
    return;
  }
  HitColumns columns;
  for (const Hit& hit : hits) {
    columns.type = std::max(columns.type, entry_type_name(hit.entry.type).size());
    columns.id = std::max(columns.id, text_width(hit.entry.id));
  }
  const Timestamp now = system_clock().now();
  bool is_first = true;
  for (const Hit& hit : hits) {
    // What belongs together would be hard to tell otherwise.
    const bool parted = query.context != 0 || query.explain;
    tool.out().write(parted && !is_first ? "\n" : "");
    print_hit(tool, query, hit, columns, now);
    is_first = false;
  }
  note_other_roots(tool, hits);
}

}  // namespace bmad_mem::cli
