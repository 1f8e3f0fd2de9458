#include <string>

#include <fmt/format.h>

#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// "0.95  MARS  2026-01-11 10:00  fact-…"
std::string origin_text(const KnowledgeItem& item) {
  std::string text = fmt::format("{:.2f}", item.confidence);
  if (const std::string source = item_source(item); !source.empty()) {
    text += "  " + source;
  }
  if (!item.agent_id.empty()) {
    text += "  " + printable(item.agent_id);
  }
  text += fmt::format("  {}  {}", shown_minute(item.updated_at), item.id);
  for (const auto& [is_so, mark] :
       {std::pair(item.pinned, "  pinned"), std::pair(item.sensitive, "  sensitive"),
        std::pair(item.review == Review::kAccepted, "  accepted"),
        std::pair(item.review == Review::kStated, "  stated by you, in force"),
        std::pair(item.of_user, "  yours")}) {
    text += is_so ? mark : "";
  }
  return text;
}

void print_chain(Tool& tool, const KnowledgeItem& item) {
  for (const KnowledgeVersion& version : item.chain) {
    const std::string line = fmt::format(
        "  {} {}  {}  {}{}", version.holds ? "holds" : "was  ", shown_minute(version.at),
        printable(version.value), version.session_id,
        version.trust < 1 ? fmt::format("  trust {:.2f}", version.trust) : std::string());
    tool.out().print("{}\n", version.holds ? tool.style().green(line) : tool.style().faint(line));
  }
}

void print_item(Tool& tool, const KnowledgeItem& item) {
  std::string name(category_name(item.category));
  if (!item.key.empty()) {
    name += " " + printable(item.key);
  }
  tool.out().print("{}  {}\n", tool.style().bold(name), tool.style().faint(origin_text(item)));
  tool.out().print("  {}\n", printable(item.value));
  if (!item.replaces_id.empty()) {
    tool.out().print(
        "  {}\n", tool.style().faint(fmt::format("in place of {}: {}", printable(item.replaces_id),
                                                 printable(item.replaces_value))));
  }
  if (item.contradicted) {
    print_chain(tool, item);
  }
}

}  // namespace

Result<std::optional<Category>> read_category(const Arguments& args) {
  const std::optional<std::string_view> name = args.maybe("category");
  if (!name) {
    return std::optional<Category>();
  }
  if (const std::optional<Category> category = try_parse_category(*name)) {
    return category;
  }
  const std::string_view meant = nearest_word(*name, kCategoryNames);
  return bad_value(
      "category",
      fmt::format("\"{}\" is no category{}; there are {}", printable(*name),
                  meant.empty() ? std::string() : fmt::format(", did you mean {}?", meant),
                  fmt::join(kCategoryNames, ", ")));
}

Result<double> read_share(const Arguments& args, std::string_view name, double fallback) {
  return read_number(args, name, fallback, "a number from 0 to 1, such as 0.8", 0.0, 1.0);
}

void print_items(Tool& tool, std::span<const KnowledgeItem> items) {
  if (tool.json()) {
    print_objects(tool, shape::item, items);
    return;
  }
  for (const KnowledgeItem& item : items) {
    print_item(tool, item);
  }
}

void print_remembered(Tool& tool, std::span<const Remembered> all) {
  if (tool.json()) {
    print_objects(tool, shape::remembered_line, all);
    return;
  }
  for (const Remembered& each : all) {
    tool.out().print("{}\n", each.id);
    if (each.review == Review::kCandidate) {
      tool.note(fmt::format("{}: waits until the user accepts it (`bmad-mem review`)", each.id));
    } else if (!each.holds) {
      tool.note(
          fmt::format("{}: stored, but a more trusted value remains current", printable(each.key)));
    } else if (!each.previous_value.empty()) {
      tool.note(fmt::format("{}: was \"{}\"", printable(each.key), printable(each.previous_value)));
    }
    tool.notes(each.notices);
  }
}

namespace {

constexpr std::size_t kItemWidth = 60;

/// What stands behind the dash of the item's first line.
std::string first_line(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  return shortened(printable(line.starts_with("- ") ? line.substr(2) : line), kItemWidth);
}

}  // namespace

void print_context_as_json(Tool& tool, const Context& context, std::optional<Timestamp> as_of) {
  const ContextGate& gate = context.gate;
  const auto shown_gate = gate.needed > 0 || gate.is_dialogue ? std::optional(gate) : std::nullopt;
  print_object(tool, "as_of", as_of, shaped(shape::context, context), "gate",
               shaped(shape::gate, shown_gate), "items", shaped(shape::context_item, context.items),
               "omitted", shaped(shape::omission, context.omitted));
}

void print_context_table(Tool& tool, const Context& context) {
  std::string_view section;
  for (const ContextItem& item : context.items) {
    if (context_section_name(item.section) != section) {
      section = context_section_name(item.section);
      tool.out().print("{}\n", tool.style().bold(section));
    }
    tool.out().print(
        "  {}  {} tokens  {}{}\n", tool.style().id(printable(item.id)), item.tokens,
        printable(item.why),
        fmt::format("{}{}", item.quoted ? ", quoted" : "", item.of_user ? ", yours" : ""));
    tool.out().print("    {}\n", first_line(item.text));
  }
  for (const ContextOmission& omission : context.omitted) {
    tool.out().print("{} {} ({}): {}\n", tool.style().faint("left out"), printable(omission.id),
                     context_section_name(omission.section), omission.why);
  }
  const ContextGate& gate = context.gate;
  if (gate.is_dialogue) {
    tool.out().print("the prompt asks nothing: it has words of a dialogue only\n");
  }
  if (gate.needed > 0) {
    tool.out().print("{}: nearest {:.2f} (coverage {:.2f}, words {}), needed {:.2f}\n",
                     gate.is_open ? "something is near" : "nothing is near", gate.best.score,
                     gate.best.coverage, gate.best.words, gate.needed);
    for (const AskedWord& each : gate.words) {
      tool.out().print("  {:3.0f} %  {}{}\n", 100 * each.share, printable(each.word),
                       each.is_known ? "" : tool.style().faint("  in no entry"));
    }
  }
  tool.out().print("{} of {} tokens\n", context.tokens, context.max_tokens);
}

void print_summary_update(Tool& tool, const SummaryUpdate& update) {
  if (tool.json()) {
    print_object(
        tool, "session_id", update.session_id,
        [&](JsonWriter& json) { write_members(update, json); }, "redacted", update.redacted);
    return;
  }
  tool.out().print("summarized {} up to {} ({} tokens in, {} out)\n",
                   format_count(update.messages, "message", "messages"),
                   tool.style().id(update.last_summarized_id), format_count(update.tokens_in),
                   format_count(update.tokens_out));
  print_counts(tool, update.redacted);
  if (!update.id_was_moved) {
    tool.note("a compaction is going on: the mark stays where it was");
  }
}

std::string due_reason(const SummaryStatus& status) {
  switch (status.due) {
    case SummaryDue::kDueFirst:
      return "the conversation is long enough for a first summary";
    case SummaryDue::kDueToolCalls:
      return "enough was said and done since the last one";
    case SummaryDue::kDueTokens:
      return "enough was said since the last one";
    case SummaryDue::kDisabled:
      return "switched off (memory_config.summarizer.enabled)";
    case SummaryDue::kNoMessages:
      return "no messages since the last one";
    case SummaryDue::kTooShort:
      return "the conversation is too short for a summary";
    case SummaryDue::kTooFewTokens:
      return "too little was said since the last one";
    case SummaryDue::kTooFewToolCalls:
      return "a compaction is going on, and too few tools were used since the last one";
    case SummaryDue::kPending:
      return printable(status.pending_by) + " is writing it";
    case SummaryDue::kSidechain:
      return "the newest message is a sub-agent's";
  }
  return {};
}

}  // namespace bmad_mem::cli
