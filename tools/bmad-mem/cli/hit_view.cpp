// hit_view.cpp - prints the hits of a query for a person: title, score, snippet.
#include <algorithm>
#include <array>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/view_text.hpp"
#include "cli/views.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// The indent of neighbours of a hit, and the width of what is no terminal.
constexpr std::size_t kIndent = 6;
constexpr std::size_t kWidthMax = 1'000'000;

/// A snippet that begins so says what matched, and not what the entry is.
constexpr std::string_view kCutBegin = "…";

/// The rows of "relevance = weight x value + …", or of "relevance = factor x factor x …".
std::vector<RawJson> components_of(const Hit& hit) {
  const RelevanceWeights& weights = hit.weights;
  const RelevanceComponents& values = hit.components;
  const auto row = [](std::string_view name, double value, double weight, double factor) {
    return raw_object("name", name, "value", value, "weight", weight, "part", value * weight,
                      "factor", factor);
  };
  return {row("text", values.text, weights.text, values.text),
          row("time", values.time, weights.time, kTimeFactor.at(values.time)),
          row("importance", values.importance, weights.importance,
              kImportanceFactor.at(values.importance)),
          row("access", values.access, weights.access, kAccessFactor.at(values.access))};
}

/// What the text component holds beside the terms.
ByName<double> other_parts(const TextExplanation& explanation) {
  ByName<double> parts = {
      {"question", explanation.question}, {"asks", explanation.asks},
      {"speaker", explanation.speaker},   {"date", explanation.date},
      {"meaning", explanation.meaning},   {"session_meaning", explanation.session_meaning}};
  std::erase_if(parts, [](const auto& part) { return part.second == 0; });
  if (explanation.cosine) {
    parts.emplace_back("cosine", *explanation.cosine);
  }
  return parts;
}

std::vector<RawJson> entry_lines(std::span<const Entry> entries) {
  return mapped(entries, [](const Entry& entry) { return raw_json(entry_json_line(entry)); });
}

/// What the hit's line of JSON has beside the entry, without braces.
std::string hit_members(const Query& query, const QueryAnswer& answer, const Hit& hit) {
  const auto highlights = mapped(hit.highlights, [](const Highlight& highlight) {
    return std::array<std::size_t, 2>{highlight.offset, highlight.size};
  });
  const auto around = [&](JsonWriter& json) {
    if (query.context != 0) {
      put(json, "context", shaped(shape::around, hit, entry_lines));
    }
  };
  return json_members_of(shaped(shape::relevance, hit, answer, highlights), around, "explanation",
                         shaped(shape::explanation, hit.explanation, hit, answer));
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

/// What the view shows of a hit.
RawJson shown_hit(const Query& query, const Hit& hit, const Style& style, bool has_gap) {
  const Entry& entry = hit.entry;
  const TextExplanation explanation =
      query.explain ? hit.explanation.value_or(TextExplanation()) : TextExplanation();
  const bool is_of_project = !hit.root.empty() && !entry.of_user;
  return raw_object(
      "gap", has_gap, "entry", shown_entry(entry), "before",
      hit.before | std::views::transform(shown_entry), "after",
      hit.after | std::views::transform(shown_entry), "relevance", hit.relevance, "outdated",
      hit.outdated, "said_before", hit.said_before, "weak", hit.weak, "project",
      is_of_project ? project_name(hit.root) : "", "from_elsewhere", hit.from_elsewhere,
      "headline_above", hit.snippet.starts_with(kCutBegin) && !entry.headline.empty(), "marked",
      marked(hit, style), "is_sum", hit.combine == RelevanceCombine::kSum, "components",
      query.explain ? components_of(hit) : std::vector<RawJson>(), "outdated_factor",
      kOutdatedFactor, "terms", shaped(shape::term_score, explanation.terms), "parts",
      other_parts(explanation));
}

/// The hit's line of JSON where only ids are wanted.
std::string id_json_line(const Hit& hit) {
  Entry entry = hit.entry;
  entry.headline.clear();
  entry.json = json_object("id", entry.id, "timestamp", entry.timestamp);
  return entry_json_line(
      entry, json_members_of("relevance", rounded(hit.relevance), "root", if_some(hit.root),
                             "from_elsewhere", if_some(hit.from_elsewhere)));
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
  return view_line(
      "encoder_note",
      json_object("took_part", use.took_part, "reason", use.reason, "name", use.name, "waiting",
                  use.entries - std::min(use.encoded, use.entries), "entries", use.entries));
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
  const EncoderUse& use = answer.encoder;
  const bool says_why = use.took_part || (hits.empty() && !use.reason.empty());
  describe(tool, "answer", shaped(shape::certainty, answer), "ids_only", query.ids_only, "instead",
           answer.instead, "notes", query.explain ? answer.notes : std::vector<std::string>(),
           "encoder", use.failed || (query.explain && says_why) ? encoder_note(use) : "");
  if (query.ids_only) {
    for (const Hit& hit : hits) {
      tool.out().print("{}\n", tool.style().id(hit.entry.id));
    }
    return;
  }
  std::size_t type_width = 0;
  std::size_t id_width = 0;
  // What belongs together would be hard to tell otherwise.
  const bool are_parted = query.context != 0 || query.explain;
  std::vector<RawJson> shown;
  for (const Hit& hit : hits) {
    type_width = std::max(type_width, entry_type_name(hit.entry.type).size());
    id_width = std::max(id_width, text_width(hit.entry.id));
    shown.push_back(shown_hit(query, hit, tool.style(), are_parted && !shown.empty()));
  }
  const std::size_t columns = tool.columns();
  describe(tool, "hits", "hits", shown, "type_width", type_width, "id_width", id_width, "room",
           columns > 2 * kIndent ? columns - kIndent : kWidthMax);
  note_other_roots(tool, hits);
}

}  // namespace bmad_mem::cli
