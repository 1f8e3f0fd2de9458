// rule_file.cpp - parses a rules file in the form of gitleaks' configuration.
#include "rule_file.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>

// toml++ 3.3 asserts what a file can break, takes it for granted in a release that clang makes, and
// reports it a line further on in any case.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")
// Again: the assert of toml++ is that of a debug build.
#include <cassert>

#include "bmad_mem/text.hpp"
#include "privacy_words.hpp"

namespace bmad_mem {
namespace {

/// The newest version of gitleaks whose configuration this was compared with.
constexpr std::array<int, 3> kKnownVersion = {8, 30, 0};

std::array<int, 3> version_of(std::string_view text) {
  std::array<int, 3> version = {};
  std::size_t part = 0;
  for (const char c : text) {
    assert(part < version.size());
    if (is_digit(c) && version[part] < 100'000) {
      version[part] = version[part] * 10 + (c - '0');
    } else if (c == '.' && ++part == version.size()) {
      break;
    }
  }
  return version;
}

/// Reads one file. The first error ends it.
class Reader {
 public:
  explicit Reader(const std::string& name) : parsed_(RE2::Options(RE2::Quiet), RE2::UNANCHORED) {
    file_.name = name;
  }

  Result<RuleFile> read(std::string_view text) {
    try {
      const toml::table root = toml::parse(text);
      BMAD_TRY(read_root(root));
    } catch (const toml::parse_error& error) {
      return Error{
          .code = ErrorCode::E_INVALID_FORMAT,
          .message = fmt::format("is no TOML: {}", shown_in_message(error.description(), 120)),
          .path = file_.name,
          .line = error.source().begin.line,
          .column = error.source().begin.column};
    }
    return std::move(file_);
  }

 private:
  [[nodiscard]] Error error_at(const toml::node& at, std::string message,
                               std::string_view field = {}) const {
    return {.code = ErrorCode::E_SCHEMA_INVALID,
            .message = std::move(message),
            .path = file_.name,
            .line = at.source().begin.line,
            .field = std::string(field)};
  }
  void warn(const toml::node& at, std::string message, std::string_view field = {}) {
    file_.warnings.push_back(error_at(at, std::move(message), field));
  }
  void note(const toml::node& at, std::string message, std::string_view field) {
    file_.notes.push_back(error_at(at, std::move(message), field));
  }

  void warn_of_unknown(const toml::table& table, const WordList& names) {
    for (const auto& [key, value] : table) {
      if (!names.contains(key.str())) {
        warn(value, "no such key is known; the rest of the file is used",
             shown_in_message(key.str()));
      }
    }
  }

  template <typename T>
  Status read_value(const toml::table& table, std::string_view key, std::string_view what,
                    T& out) const {
    if (const toml::node* const node = table.get(key)) {
      const auto value = node->value_exact<T>();
      if (!value) {
        return error_at(*node, fmt::format("must be {}", what), key);
      }
      out = *value;
    }
    return {};
  }
  Status read_text(const toml::table& table, std::string_view key, std::string& out) const {
    return read_value(table, key, "a string", out);
  }

  template <typename Text>
  Status read_texts(const toml::table& table, std::string_view key, std::vector<Text>& out) const {
    const toml::node* const node = table.get(key);
    if (node == nullptr) {
      return {};
    }
    const toml::array* const array = node->as_array();
    if (array == nullptr) {
      return error_at(*node, "must be an array of strings", key);
    }
    for (const toml::node& each : *array) {
      const auto text = each.value_exact<std::string>();
      if (!text) {
        return error_at(each, "must be an array of strings", key);
      }
      out.emplace_back(*text);
    }
    return {};
  }

  /// The same in lower case, without those that are empty.
  Status read_words(const toml::table& table, std::string_view key,
                    std::vector<std::string>& out) const {
    BMAD_TRY(read_texts(table, key, out));
    std::ranges::transform(out, out.begin(), lower_ascii);
    std::erase(out, std::string());
    return {};
  }

  /// Calls `use` for each table of the array `key`, or for the one table that older files have.
  template <typename Use>
  Status for_each_table(const toml::table& table, std::string_view key, const Use& use) const {
    const toml::node* const node = table.get(key);
    if (node == nullptr) {
      return {};
    }
    if (const toml::table* const one = node->as_table()) {
      return use(*one);
    }
    const toml::array* const array = node->as_array();
    if (array == nullptr) {
      return error_at(*node, "must be tables", key);
    }
    for (const toml::node& each : *array) {
      if (!each.is_table()) {
        return error_at(each, "must be tables", key);
      }
      BMAD_TRY(use(*each.as_table()));
    }
    return {};
  }

  /// Parses it only: to compile all patterns of a file would take a tenth of a second.
  Status check_regex(const toml::node& at, const std::string& regex, std::string_view key) {
    std::string why;
    if (parsed_.Add(regex, &why) < 0) {
      return error_at(at,
                      fmt::format("the regex doesn't compile: {}; see "
                                  "https://github.com/google/re2/wiki/Syntax",
                                  shown_in_message(why)),
                      key);
    }
    return {};
  }
  Status check_regexes(const toml::table& table, std::string_view key,
                       const std::vector<LazyPattern>& regexes) {
    const toml::array* const array = table[key].as_array();
    for (std::size_t i = 0; i < regexes.size(); ++i) {
      assert(array != nullptr && i < array->size() && "read_texts() read them from it");
      BMAD_TRY(check_regex(*array->get(i), regexes[i].text(), key));
    }
    return {};
  }

  Status read_allow(const toml::table& table, Allows& out) {
    warn_of_unknown(table, kAllowlistMembers);
    Allow allow;
    std::string condition = "OR";
    std::string target;
    std::vector<std::string> commits;
    BMAD_TRY(read_text(table, "condition", condition));
    BMAD_TRY(read_text(table, "regexTarget", target));
    BMAD_TRY(read_texts(table, "commits", commits));
    BMAD_TRY(read_texts(table, "targetRules", allow.rules));
    BMAD_TRY(read_texts(table, "paths", allow.paths));
    BMAD_TRY(read_texts(table, "regexes", allow.regexes));
    BMAD_TRY(read_words(table, "stopwords", allow.stopwords));
    BMAD_TRY(check_regexes(table, "paths", allow.paths));
    BMAD_TRY(check_regexes(table, "regexes", allow.regexes));
    condition = lower_ascii(condition);
    allow.needs_all = condition == "and" || condition == "&&";
    if (!allow.needs_all && condition != "or" && condition != "||") {
      return error_at(*table.get("condition"), "must be \"OR\" or \"AND\"", "condition");
    }
    target = lower_ascii(target);
    if (!target.empty() && target != "secret" && target != "match" && target != "line") {
      return error_at(*table.get("regexTarget"), "must be \"secret\", \"match\" or \"line\"",
                      "regexTarget");
    }
    allow.target = target == "match"  ? AllowTarget::kMatch
                   : target == "line" ? AllowTarget::kLine
                                      : AllowTarget::kSecret;
    allow.has_commits = !commits.empty();
    const bool is_empty = allow.paths.empty() && allow.regexes.empty() && allow.stopwords.empty();
    if (is_empty) {
      warn(table, "an allow list without paths, regexes and stopwords allows nothing here",
           "allowlists");
    } else {
      out.push_back(std::move(allow));
    }
    return {};
  }
  Status read_allows(const toml::table& table, Allows& out) {
    const auto read = [&](const toml::table& each) { return read_allow(each, out); };
    BMAD_TRY(for_each_table(table, "allowlists", read));
    return for_each_table(table, "allowlist", read);
  }

  Status read_entropy(const toml::table& table, RuleSpec& rule) const {
    if (const toml::node* const node = table.get("entropy")) {
      const auto value = node->value<double>();
      if (!node->is_number() || !(*value >= 0 && *value <= 8)) {
        return error_at(*node, "must be a number from 0 to 8", "entropy");
      }
      rule.entropy = value;
    }
    return {};
  }

  Status read_group(const toml::table& table, RuleSpec& rule) const {
    std::int64_t group = 0;
    BMAD_TRY(read_value(table, "secretGroup", "a whole number", group));
    constexpr std::int64_t kGroupMax = 99;
    if (group < 0 || group > kGroupMax) {
      return error_at(*table.get("secretGroup"), "must be a number from 0 to 99", "secretGroup");
    }
    // The only pattern that has to be compiled to be judged.
    if (group > 0 && !rule.regex.text().empty() &&
        group > rule.regex.get().NumberOfCapturingGroups()) {
      return error_at(*table.get("secretGroup"), "the regex has no such group", "secretGroup");
    }
    rule.secret_group = static_cast<int>(group);
    return {};
  }

  Status read_rule(const toml::table& table) {
    warn_of_unknown(table, kRuleMembers);
    RuleSpec rule{.line = table.source().begin.line};
    std::string path;
    std::string regex;
    BMAD_TRY(read_text(table, "id", rule.id));
    BMAD_TRY(read_text(table, "description", rule.description));
    BMAD_TRY(read_text(table, "regex", regex));
    BMAD_TRY(read_text(table, "path", path));
    BMAD_TRY(read_text(table, "replace", rule.replace));
    BMAD_TRY(read_words(table, "keywords", rule.keywords));
    BMAD_TRY(read_texts(table, "examples", rule.examples));
    BMAD_TRY(read_texts(table, "innocent", rule.innocent));
    BMAD_TRY(read_value(table, "skipReport", "true or false", rule.is_helper));
    BMAD_TRY(check_id(table, "id", rule.id));
    if (!rule.replace.empty()) {
      BMAD_TRY(check_id(table, "replace", rule.replace));
    }
    if (!ids_.insert(rule.id).second) {
      return error_at(*table.get("id"),
                      fmt::format("'{}' is the id of another rule", shown_in_message(rule.id)),
                      "id");
    }
    if (const toml::node* const node = table.get("regex")) {
      BMAD_TRY(check_regex(*node, regex, "regex"));
    }
    rule.regex = LazyPattern(std::move(regex));
    BMAD_TRY(read_entropy(table, rule));
    BMAD_TRY(read_group(table, rule));
    BMAD_TRY(read_allows(table, rule.allows));
    rule.has_path = !path.empty();
    warn_of_limits(table, rule);
    file_.rules.push_back(std::move(rule));
    if (file_.rules.size() > kRulesMax) {
      return path_error(ErrorCode::E_SIZE_LIMIT, file_.name,
                        fmt::format("has more than {} rules; none of them is used", kRulesMax));
    }
    return {};
  }

  /// What stands in placeholders and ids: nothing that would end these.
  Status check_id(const toml::table& table, std::string_view key, const std::string& id) const {
    constexpr std::size_t kIdSizeMax = 64;
    const bool is_one =
        !id.empty() && id.size() <= kIdSizeMax &&
        std::ranges::all_of(id, [](char c) { return is_word_byte(c) || c == '-' || c == '.'; });
    if (is_one) {
      return {};
    }
    const toml::node* const node = table.get(key);
    return error_at(node == nullptr ? table : *node,
                    "must be 1 to 64 letters, digits, '-', '_' and '.'", key);
  }

  void warn_of_limits(const toml::table& table, const RuleSpec& rule) {
    if (rule.has_path) {
      note(table,
           rule.regex.text().empty()
               ? fmt::format("rule '{}' goes by paths only, which texts have none of: it has "
                             "no effect",
                             rule.id)
               : fmt::format("rule '{}' applies to every text, whatever its path", rule.id),
           "path");
    }
    if (const toml::node* const required = table.get("required")) {
      note(*required,
           fmt::format("rule '{}' applies also where the rules that it requires find nothing",
                       rule.id),
           "required");
    }
    std::string kind;
    if (read_text(table, "kind", kind) && kind == "assigned") {
      warn(
          table,
          fmt::format("rule '{}' is matched as a text: rules by a name are built in only", rule.id),
          "kind");
    }
  }

  Status read_extend(const toml::table& root) {
    const toml::node* const node = root.get("extend");
    if (node == nullptr) {
      return {};
    }
    const toml::table* const extend = node->as_table();
    if (extend == nullptr) {
      return error_at(*node, "must be a table", "extend");
    }
    warn_of_unknown(*extend, kExtendMembers);
    BMAD_TRY(read_text(*extend, "path", file_.base));
    BMAD_TRY(read_value(*extend, "useDefault", "true or false", file_.uses_default));
    BMAD_TRY(read_texts(*extend, "disabledRules", file_.disabled));
    if (file_.uses_default && !file_.base.empty()) {
      return error_at(*node, "has both path and useDefault; a file extends one thing", "extend");
    }
    return {};
  }

  Status read_root(const toml::table& root) {
    warn_of_unknown(root, kRuleFileMembers);
    std::string minimum;
    BMAD_TRY(read_text(root, "minVersion", minimum));
    if (version_of(minimum) > kKnownVersion) {
      warn(*root.get("minVersion"),
           fmt::format("wants {}, and the form of {}.{} is known; what is newer has no effect",
                       shown_in_message(minimum), kKnownVersion[0], kKnownVersion[1]),
           "minVersion");
    }
    BMAD_TRY(read_extend(root));
    BMAD_TRY(
        for_each_table(root, "rules", [&](const toml::table& each) { return read_rule(each); }));
    return read_allows(root, file_.allows);
  }

  RuleFile file_;
  std::set<std::string, std::less<>> ids_;
  RE2::Set parsed_;
};

}  // namespace

std::string shown_in_message(std::string_view text, std::size_t size_max) {
  assert(size_max > 0);
  std::string shown(text.substr(0, size_max));
  std::ranges::replace_if(shown, [](char c) { return c < ' ' || c > '~'; }, '?');
  return shown + (text.size() > size_max ? "..." : "");
}

Result<RuleFile> parse_rule_file(std::string_view text, const std::string& name) {
  return Reader(name).read(text);
}

}  // namespace bmad_mem
