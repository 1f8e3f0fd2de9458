#include <string>

#include <fmt/format.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "cli/json_text.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"

namespace bmad_mem::cli {
namespace {

void write_chain(JsonWriter& json, const KnowledgeItem& item) {
  add_objects(json, "chain", item.chain, [&](const KnowledgeVersion& version) {
    json.member("session_id", version.session_id);
    json.member("type", entry_type_info(version.type).name).member("id", version.id);
    json.member("value", version.value);
    add_text(json, "agent_id", version.agent_id);
    json.member("confidence", version.confidence).member("trust", version.trust);
    add_text(json, "source", version.source_kind);
    json.member("at", format_rfc3339(version.at)).member("holds", version.holds);
  });
}

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

void add_item(JsonWriter& json, const KnowledgeItem& item) {
  json.member("category", category_name(item.category));
  add_text(json, "key", item.key);
  json.member("value", item.value).member("id", item.id).member("session_id", item.session_id);
  json.member("type", entry_type_info(item.type).name);
  add_text(json, "agent_id", item.agent_id);
  json.member("confidence", item.confidence).member("trust", item.trust);
  add_text(json, "source", item.source_kind);
  json.member("origin", origin_name(item.origin))
      .member("score", item.score)
      .member("access_count", item.access_count);
  json.member("created_at", format_rfc3339(item.created_at));
  json.member("updated_at", format_rfc3339(item.updated_at));
  add_list(json, "tags", item.tags);
  json.member("pinned", item.pinned).member("sensitive", item.sensitive);
  add_text(json, "review", review_name(item.review));
  json.member("contradicted", item.contradicted);
  if (item.of_user) {
    json.member("scope", "user");
  }
  add_text(json, "replaces_id", item.replaces_id);
  add_text(json, "replaces_value", item.replaces_value);
  write_chain(json, item);
}

void print_items(Tool& tool, std::span<const KnowledgeItem> items) {
  for (const KnowledgeItem& item : items) {
    if (tool.json()) {
      print_object(tool, [&](JsonWriter& json) { add_item(json, item); });
    } else {
      print_item(tool, item);
    }
  }
}

void print_remembered(Tool& tool, std::span<const Remembered> all) {
  for (const Remembered& each : all) {
    if (tool.json()) {
      print_object(tool, [&](JsonWriter& json) {
        json.member("id", each.id).member("session_id", each.session_id);
        json.member("category", category_name(each.category));
        add_text(json, "key", each.key);
        json.member("value", each.value).member("confidence", each.confidence);
        json.member("new", each.is_new).member("holds", each.holds);
        add_text(json, "previous_value", each.previous_value);
        add_text(json, "review", review_name(each.review));
        if (!each.notices.empty()) {
          add_list(json, "notices", each.notices);
        }
      });
      continue;
    }
    tool.out().print("{}\n", each.id);
    if (each.review == Review::kCandidate) {
      tool.note(fmt::format("{}: waits until the user accepts it (`bmad-mem review`)", each.id));
    } else if (!each.holds) {
      tool.note(
          fmt::format("{}: stored, but a more trusted value remains current", printable(each.key)));
    } else if (!each.previous_value.empty()) {
      tool.note(fmt::format("{}: was \"{}\"", printable(each.key), printable(each.previous_value)));
    }
    for (const std::string& notice : each.notices) {
      tool.note(notice);
    }
  }
}

namespace {

constexpr std::size_t kItemWidth = 60;

/// What stands behind the dash of the item's first line.
std::string first_line(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  return shortened(printable(line.starts_with("- ") ? line.substr(2) : line), kItemWidth);
}

void add_gate(JsonWriter& json, const ContextGate& gate) {
  if (gate.needed <= 0 && !gate.is_dialogue) {
    return;
  }
  json.key("gate").begin_object().member("asks", gate.asks).member("is_open", gate.is_open);
  json.member("is_dialogue", gate.is_dialogue).member("needed", gate.needed);
  json.member("coverage", gate.best.coverage).member("words", gate.best.words);
  json.member("score", gate.best.score);
  add_objects(json, "asked", gate.words, [&](const AskedWord& each) {
    json.member("word", each.word).member("share", each.share).member("is_known", each.is_known);
  });
  json.end_object();
}

}  // namespace

void print_context_as_json(Tool& tool, const Context& context, std::optional<Timestamp> as_of) {
  print_object(tool, [&](JsonWriter& json) {
    add_time(json, "as_of", as_of);
    json.member("markdown", context.markdown);
    json.member("tokens", static_cast<std::uint64_t>(context.tokens));
    json.member("max_tokens", static_cast<std::uint64_t>(context.max_tokens));
    if (context.sealed_lines != 0) {
      json.member("sealed_lines", context.sealed_lines);
    }
    add_gate(json, context.gate);
    add_objects(json, "items", context.items, [&](const ContextItem& item) {
      json.member("section", context_section_name(item.section));
      json.member("session_id", item.session_id).member("type", entry_type_name(item.type));
      json.member("id", item.id).member("timestamp", format_rfc3339(item.timestamp));
      json.member("tokens", static_cast<std::uint64_t>(item.tokens)).member("trust", item.trust);
      json.member("quoted", item.quoted).member("why", item.why).member("text", item.text);
      if (item.of_user) {
        json.member("scope", "user");
      }
    });
    add_objects(json, "omitted", context.omitted, [&](const ContextOmission& omission) {
      json.member("section", context_section_name(omission.section));
      json.member("session_id", omission.session_id).member("id", omission.id);
      json.member("why", omission.why);
    });
  });
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
    print_object(tool, [&](JsonWriter& json) {
      json.member("session_id", update.session_id);
      write_members(update, json);
      add_counts(json, "redacted", update.redacted);
    });
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
