// markdown_writer.cpp - an export to read: a chapter for each session, a heading for each day, what
// was said as a dialogue, decisions with their reasons, and in the end what was learned.
#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "cli/text.hpp"
#include "exchange/export/export_writer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

std::string clock_time(Timestamp time) { return format_minute(time).substr(11); }

/// "2026-01-11, Sunday".
std::string day_title(Timestamp time) {
  static constexpr std::array<std::string_view, 7> kNames = {
      "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::weekday weekday{std::chrono::sys_days(day.time_since_epoch())};
  return fmt::format("{}, {}", format_date(time), kNames[weekday.c_encoding()]);
}

/// The ids that links may lead to: those of the session.
using AnchorIds = std::set<std::string, std::less<>>;

/// An anchor that links to the entry lead to.
std::string anchor(std::string_view id) {
  return fmt::format("<a id=\"{}\"></a>", id);  // Ids hold no character that HTML gives a meaning.
}

/// What the entry refers to, in its `references`: links where they lead somewhere, else ids.
std::string references_of(const EntryContent& content, const AnchorIds& ids) {
  std::vector<std::string> links;
  const auto add = [&](JsonValue list) {
    for (const JsonValue each : list.elements()) {
      const std::string_view id = each.string();
      links.push_back(ids.contains(id) ? fmt::format("[{}](#{})", markdown_inline(id), id)
                                       : markdown_code(id));
    }
  };
  for (const JsonValue references : {content["references"], content["metadata"]["references"]}) {
    for (const JsonMember& list : references.members()) {
      add(list.value);
    }
    add(references);
  }
  return joined(links);
}

/// "`db`, `pool`"; empty without tags.
std::string tags_text(const std::vector<std::string>& tags) {
  return joined(mapped(tags, markdown_code));
}

std::string confidence(const EntryContent& content) {
  const JsonValue value = content["confidence"];
  return value.is_number() ? fmt::format("{:.0f} %", value.number() * 100) : "";
}

/// What was learned in a session, as a table.
struct LearnedTable {
  EntryType type;
  std::string_view head;
  std::vector<std::string> (*cells)(const Entry& entry, const EntryContent& content);
};
constexpr LearnedTable kLearnedTables[] = {
    {EntryType::kPreference,
     "### Preferences\n\n| Preference | Value | Context | Sure | When | Tags |",
     [](const Entry& entry, const EntryContent& content) {
       return std::vector{
           content.text("key"), content.text("value"),          content.text("context"),
           confidence(content), format_minute(entry.timestamp), joined(content.texts("tags"))};
     }},
    {EntryType::kFact, "### Facts\n\n| Fact | About | Sure | By | When | Tags |",
     [](const Entry& entry, const EntryContent& content) {
       const std::string category = content.text("category");
       const std::string key = content.text("key");
       return std::vector{content.text("content"),
                          category + (category.empty() || key.empty() ? "" : ": ") + key,
                          confidence(content),
                          entry.who,
                          format_minute(entry.timestamp),
                          joined(content.texts("tags"))};
     }},
};

/// The entries of the table's type as rows below its head; empty without any.
std::string learned(const LearnedTable& table, std::span<const Entry> entries) {
  std::string rows;
  for (const Entry& entry : entries) {
    if (entry.type == table.type) {
      std::vector<std::string> cells = table.cells(entry, EntryContent(entry));
      assert(cells.size() == 6 && "as many as the head has columns");
      cells.front() += entry.pinned ? " 📌" : "";
      std::ranges::transform(cells, cells.begin(), markdown_inline);
      rows += fmt::format("| {}{} |\n", anchor(entry.id), fmt::join(cells, " | "));
    }
  }
  return rows.empty() ? rows : fmt::format("{}\n|---|---|---|---|---|---|\n{}\n", table.head, rows);
}

class MarkdownWriter final : public ExportWriter {
 public:
  using ExportWriter::ExportWriter;

  void begin() override {
    out().print("# Memory\n\nExported {} UTC. Times are UTC.\n", format_minute(now()));
  }
  void session(const Session& session) override {
    session_ = session;
    entries_.clear();
    ids_.clear();
  }
  /// Kept until the session ends: its head counts them, and links lead forwards too.
  void entry(const Entry& entry) override {
    ids_.insert(entry.id);
    entries_.push_back(entry);
  }
  void end_session() override {
    write_head();
    std::string day;
    for (const Entry& entry : entries_) {
      if (entry.type == EntryType::kFact || entry.type == EntryType::kPreference) {
        continue;
      }
      if (std::string title = day_title(entry.timestamp); title != day) {
        out().print("### {}\n\n", title);
        day = std::move(title);
      }
      write_entry(entry);
    }
    for (const LearnedTable& table : kLearnedTables) {
      out().write(learned(table, entries_));
    }
  }
  void end() override { out().write(sessions_ == 0 ? "\nNothing to show.\n" : ""); }

 private:
  void write_head() {
    ++sessions_;
    const bool has_title = !session_.title.empty() && session_.title_from != TitleSource::kDay;
    out().print("\n## {}{}\n\n", has_title ? markdown_inline(session_.title) : "Session ",
                has_title ? "" : markdown_code(session_.session_id));
    point("Session", has_title ? markdown_code(session_.session_id) : "");
    if (!session_.problem) {
      std::string when = format_minute(session_.created_at);
      if (!entries_.empty() && format_minute(entries_.back().timestamp) > when) {
        when += fmt::format(" to {}", format_minute(entries_.back().timestamp));
      }
      point("When", when + (session_.closed_at ? ", closed" : ""));
    }
    point("Who", who());
    point("Project", markdown_inline(session_.project_name));
    point("Kind", markdown_inline(session_.session_type));
    point("Tags", tags_text(session_.tags));
    point("Holds", counts());
    out().write("\n");
  }

  /// A line of the list that heads a session, or follows a decision.
  void point(std::string_view name, const std::string& text) {
    if (!text.empty()) {
      out().print("- **{}**: {}\n", name, text);
    }
  }

  [[nodiscard]] std::string who() const {
    std::vector<std::string> people = session_.agent_ids;
    if (!session_.user_id.empty()) {
      people.insert(people.begin(), session_.user_id);
    }
    return joined(mapped(people, markdown_inline));
  }

  [[nodiscard]] std::string counts() const {
    std::map<EntryType, std::size_t> counted;
    for (const Entry& entry : entries_) {
      ++counted[entry.type];
    }
    std::vector<std::string> parts;
    for (const auto& [type, count] : counted) {
      const std::string_view name =
          count == 1 ? entry_type_name(type) : entry_type_info(type).plural;
      std::string part = type == EntryType::kConversation
                             ? format_count(count, "message", "messages")
                             : format_count(count) + " " + std::string(name);
      std::ranges::replace(part, '_', ' ');
      parts.push_back(std::move(part));
    }
    return entries_.empty() ? "no entries" : joined(parts);
  }

  void write_entry(const Entry& entry) {
    const EntryContent content(entry);
    switch (entry.type) {
      case EntryType::kConversation:
        return write_message(entry, content);
      case EntryType::kDecision:
        return write_decision(entry, content);
      case EntryType::kFinding:
        return write_finding(entry, content);
      default:
        return write_note(entry, content);
    }
  }

  /// "**assistant** (architect), 10:05" and what was said.
  void write_message(const Entry& entry, const EntryContent& content) {
    const std::string role = content.text("role");
    std::string line = fmt::format("{}**{}**", anchor(entry.id), markdown_inline(role));
    if (!entry.who.empty() && entry.who != role) {
      line += fmt::format(" ({})", markdown_inline(entry.who));
    }
    out().print("{}, {}{}\n\n{}\n", line, clock_time(entry.timestamp), marks(entry, content),
                markdown_quote(content.text("content")));
  }

  void write_decision(const Entry& entry, const EntryContent& content) {
    write_title(entry, "Decision", content.text("decision"));
    point("By", markdown_inline(content.text("made_by")) + marked_time(entry, content));
    point("Approved by", markdown_inline(joined(content.texts("approved_by"))));
    point("Impact", markdown_inline(content.text("impact")));
    point("Refers to", references_of(content, ids_));
    out().write("\n");
    write_quote("Why", content.text("rationale"));
    write_alternatives(content["alternatives_considered"]);
    for (const std::string_view key : {"consequences", "context", "notes"}) {
      const std::vector<std::string> texts = content.texts(key);
      write_quote(key, texts.size() > 1 ? "- " + joined(texts, "\n- ") : joined(texts));
    }
  }

  void write_alternatives(JsonValue alternatives) {
    std::string list;
    for (const JsonValue each : alternatives.elements()) {
      const std::string_view option = each.is_string() ? each.string() : each["option"].string();
      const std::string_view reason = each["rejected_reason"].string();
      list += fmt::format("- {}{}{}\n", markdown_inline(option), reason.empty() ? "" : ": ",
                          markdown_inline(reason));
    }
    if (!list.empty()) {
      out().print("Considered and rejected:\n\n{}\n", list);
    }
  }

  void write_finding(const Entry& entry, const EntryContent& content) {
    const std::string severity = content.text("severity");
    write_title(entry, severity.empty() ? "Finding" : "Finding, " + severity,
                content.text("description"));
    point("By", markdown_inline(content.text("discovered_by")) + marked_time(entry, content));
    point("Kind", markdown_inline(content.text("category")));
    point("Status", markdown_inline(content.text("status")));
    std::string place;
    for (const std::string_view key : {"location", "path", "file", "line"}) {
      append_part(place, content.text(key), ":");
    }
    point("Where", markdown_code(place));
    point("Refers to", references_of(content, ids_));
    out().write("\n");
    write_quote("Evidence", content.text("evidence"));
    write_quote("Recommendation", content.text("recommendation"));
  }

  /// Events, states and artifacts: a line, and what they hold.
  void write_note(const Entry& entry, const EntryContent& content) {
    const bool is_event = entry.type == EntryType::kEvent;
    const std::string what = is_event ? content.text("kind")
                             : entry.type == EntryType::kArtifact
                                 ? "artifact " + content.text("title")
                                 : "state";
    std::string line = fmt::format("{}**{}**", anchor(entry.id), markdown_inline(what));
    for (const std::string_view key : {"tool", "path"}) {
      const std::string part = markdown_code(content.text(key));
      line += (part.empty() ? "" : " ") + part;
    }
    line += entry.who.empty() ? "" : fmt::format(" ({})", markdown_inline(entry.who));
    out().print("{}, {}{}\n\n", line, clock_time(entry.timestamp), marks(entry, content));
    if (const std::string text = content.text(is_event ? "content" : "snippet"); !text.empty()) {
      out().print("{}\n", markdown_quote(text));
    }
    if (entry.type == EntryType::kAgentState) {
      out().print("{}\n", markdown_fence(content.text("state"), "json"));
    }
  }

  void write_title(const Entry& entry, std::string_view kind, std::string_view text) {
    static constexpr std::size_t kTitleWidthMax = 120;
    const std::string_view first = text.substr(0, text.find('\n'));
    out().print("#### {}{}: {}\n\n", anchor(entry.id), kind,
                markdown_inline(shortened(first, kTitleWidthMax)));
    if (first.size() < text.size() || text_width(first) > kTitleWidthMax) {
      out().print("{}\n", markdown_quote(text));
    }
  }

  void write_quote(std::string_view title, const std::string& text) {
    if (!text.empty()) {
      std::string name(title);
      name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
      out().print("{}:\n\n{}\n", name, markdown_quote(text));
    }
  }

  static std::string marked_time(const Entry& entry, const EntryContent& content) {
    return fmt::format("{}{}{}", entry.who.empty() ? "at " : ", ", clock_time(entry.timestamp),
                       marks(entry, content));
  }

  /// What is noted behind the time: tags, and whether it is pinned or sensitive.
  static std::string marks(const Entry& entry, const EntryContent& content) {
    const std::string tags = tags_text(content.texts("tags"));
    return fmt::format("{}{}{}{}", entry.pinned ? ", pinned" : "",
                       content["sensitive"].boolean() ? ", sensitive" : "",
                       tags.empty() ? "" : ", ", tags);
  }

  Session session_;
  std::vector<Entry> entries_;
  AnchorIds ids_;
  std::size_t sessions_ = 0;
};

}  // namespace

std::unique_ptr<ExportWriter> make_markdown_writer(Output& out, Timestamp now) {
  return std::make_unique<MarkdownWriter>(out, now);
}

}  // namespace bmad_mem::cli
