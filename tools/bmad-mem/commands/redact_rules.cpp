#include "commands/redact_rules.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/settings.hpp"
#include "bmad_mem/text.hpp"
#include "bmad_mem/trust.hpp"
#include "cli/entry_options.hpp"
#include "cli/text.hpp"
#include "install/json_edit.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

constexpr const char* kAllowKey = "privacy.allow";

Result<std::vector<std::string>> allowed_items(const MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const std::vector<SettingInfo> settings, list_settings(memory, kAllowKey));
  BMAD_TRY_ASSIGN(const ParsedJson list, parse_json(settings.front().value));
  return json_strings(*list);
}

Status store_allowed(MemoryManager& memory, const std::vector<std::string>& items) {
  return edit_settings(
      memory, {{kAllowKey, items.empty() ? std::nullopt : std::optional(json_value(items))}},
      with_setting);
}

/// The texts in `text` that are found by `rule`, or by any when it is empty; adds to `places` where
/// they stand. Where nothing is found, all of it, if it can be a secret elsewhere, beside a name.
std::set<std::string> texts_to_allow(const SecretScanner& scanner, std::string_view text,
                                     std::string_view rule, std::vector<SecretPlace>& places) {
  std::set<std::string> texts;
  const auto take = [&](const SecretScanner& from) {
    std::vector<SecretPlace> found = from.find(text);
    std::erase_if(found,
                  [&](const SecretPlace& place) { return !rule.empty() && place.rule != rule; });
    for (const SecretPlace& place : found) {
      texts.emplace(text.substr(place.begin, place.end - place.begin));
    }
    return found;
  };
  places = take(scanner);
  if (texts.empty()) {
    take(SecretScanner());  // What is allowed already.
  }
  constexpr std::size_t kTextSizeMax = 4096;
  const std::string_view whole = trimmed(text);
  if (texts.empty() && !whole.empty() && whole.size() <= kTextSizeMax && !whole.contains('\n')) {
    texts.emplace(whole);
  }
  return texts;
}

void print_trial(Tool& tool, const std::string& name, std::string_view text,
                 const RuleTrial& trial) {
  TextPosition position(text);
  std::vector<RawJson> places;
  for (const SecretPlace& place : trial.places) {
    position.move_to(place.begin);
    places.push_back(raw_json(json_object("line", position.line(), "column", position.column(),
                                          "bytes", place.end - place.begin)));
  }
  show(tool, "rule_trial", shaped(shape::rule_trial, trial), "path", name, "places", places);
}

}  // namespace

void TextPosition::move_to(std::size_t at) {
  const std::string_view passed = text_.substr(at_, at - at_);
  line_ += static_cast<std::uint64_t>(std::ranges::count(passed, '\n'));
  line_begin_ = passed.contains('\n') ? at_ + passed.rfind('\n') + 1 : line_begin_;
  at_ = at;
}

void report_places(Tool& tool, const std::string& name, std::string_view text,
                   const std::vector<SecretPlace>& places, Found& found) {
  TextPosition position(text);
  for (const SecretPlace& place : places) {
    position.move_to(place.begin);
    ++(place.is_certain ? found.secrets : found.near);
    const std::uint64_t line = position.line();
    const std::uint64_t column = position.column();
    show(tool, "secret", shaped(shape::secret, place, name, line, column), "explains",
         tool.args().has("explain"));
  }
}

Result<std::string> read_named(const std::string& name) {
  return name == "-" ? read_stdin() : read_whole_file(name);
}

Result<SecretScanner> scanner_here(Tool& tool) {
  Result<MemoryManager> memory = tool.open();
  if (memory) {
    return memory->scanner();
  }
  if (memory.error().code != ErrorCode::E_SESSION_NOT_FOUND || tool.args().has("root")) {
    return std::move(memory).error();
  }
  return SecretScanner();
}

Result<ExitStatus> list_rules(Tool& tool) {
  BMAD_TRY_ASSIGN(const SecretScanner scanner, scanner_here(tool));
  const auto rules = scanner.rules();
  show_all(tool, "secret_rules", shape::secret_rule, rules);
  return describe(tool, "more_of_rules", "exceptions", scanner.exceptions(), "rules", rules.size(),
                  "version", secret_rules_version());
}

Result<ExitStatus> try_rules(Tool& tool) {
  const std::string path(tool.args().value("test"));
  std::vector<std::string> names = tool.args().positionals();
  if (names.empty()) {
    names.emplace_back();  // The examples alone.
  }
  bool is_good = true;
  bool is_first = true;
  for (const std::string& name : names) {
    std::string text;
    if (!name.empty()) {
      BMAD_TRY_ASSIGN(text, read_named(name));
    }
    BMAD_TRY_ASSIGN(const RulesTrial trial, try_rules_file(path, text));
    for (const Error& warning : is_first ? trial.warnings : std::vector<Error>()) {
      tool.note(warning.to_string());
    }
    for (const RuleTrial& rule : trial.rules) {
      print_trial(tool, name == "-" ? "stdin" : name, text, rule);
      is_good = is_good && rule.failures.empty();
    }
    is_first = false;
    if (trial.rules.empty()) {
      tool.note("no rule of its own in the file");
    }
  }
  return is_good ? ExitStatus::kDone : ExitStatus::kFailed;
}

Result<ExitStatus> allow_findings(Tool& tool) {
  const Arguments& args = tool.args();
  const std::string rule(args.value("rule"));
  const std::string path(args.value("path"));
  const std::vector<std::string> names = args.positionals();
  if (names.empty() && rule.empty() && path.empty()) {
    return tool.wrong_usage("say what to allow: FILE or - for a text, --rule ID, --path GLOB");
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const SecretScanner scanner, memory.scanner());
  if (!rule.empty() && std::ranges::none_of(scanner.rules(), [&](const SecretRuleInfo& each) {
        return each.id == rule;
      })) {
    return bad_value(
        "rule",
        fmt::format("there is no rule '{}'; `bmad-mem redact --rules` lists all", printable(rule)));
  }
  const std::string where = path.empty() ? std::string() : " path=" + path;
  const std::string by = rule.empty() ? std::string() : "rule=" + rule;
  std::vector<std::string> found;
  for (const std::string& name : names) {
    BMAD_TRY_ASSIGN(const std::string text, read_named(name));
    std::vector<SecretPlace> places;
    for (const std::string& each : texts_to_allow(scanner, text, rule, places)) {
      found.push_back(fmt::format("{}{}{}{}", by, by.empty() ? "" : " ", allow_item(each), where));
    }
    Found counted;
    report_places(tool, name == "-" ? "stdin" : name, text, places, counted);
  }
  if (names.empty()) {
    found.emplace_back(trimmed(by + where));
  }
  BMAD_TRY_ASSIGN(std::vector<std::string> items, allowed_items(memory));
  std::uint64_t added = 0;
  for (std::string& item : found) {
    if (!is_among(items, item)) {
      items.push_back(std::move(item));
      ++added;
    }
  }
  if (added > 0) {
    BMAD_TRY(store_allowed(memory, items));
  }
  const TrustReport trust = memory.trust_report();
  const bool holds = !trust.is_foreign() && !trust.config_changed;
  show(tool, "allowed", object_of("added", added, "holds", only_if(!holds, false)), "found",
       found.size(), "waits", !holds);
  return found.empty() ? ExitStatus::kFailed : ExitStatus::kDone;
}

Result<ExitStatus> list_allowed(Tool& tool) {
  BMAD_TRY_ASSIGN(const MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::vector<std::string> items, allowed_items(memory));
  std::vector<RawJson> lines;
  for (const std::string& item : items) {
    lines.push_back(raw_json(json_object("number", lines.size() + 1, "item", item)));
  }
  return print_lines(tool, "allowed_items", lines);
}

Result<ExitStatus> disallow(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::vector<std::string> items, allowed_items(memory));
  std::set<std::size_t> gone;
  for (const std::string& text : tool.args().all("disallow")) {
    const std::size_t number = number_in<std::size_t>(text).value_or(0);
    if (number < 1 || number > items.size()) {
      return bad_value("disallow",
                       fmt::format("'{}' is no number of the list; `bmad-mem redact --allowed` "
                                   "shows it",
                                   printable(text)));
    }
    gone.insert(number - 1);
  }
  std::vector<std::string> left;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!gone.contains(i)) {
      left.push_back(items[i]);
    }
  }
  BMAD_TRY(store_allowed(memory, left));
  return show(tool, "disallowed", object_of("removed", gone.size()));
}

}  // namespace bmad_mem::cli
