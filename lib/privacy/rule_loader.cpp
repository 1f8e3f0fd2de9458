// rule_loader.cpp - reads rules files and the files that they extend into one list of rules.
#include <algorithm>
#include <cassert>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/process.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/text.hpp"
#include "privacy/secret_rule.hpp"
#include "rule_file.hpp"
#include "store/layout.hpp"
#include "store/posix_file_system.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

constexpr const char* kProjectRules = ".gitleaks.toml";
constexpr int kExtendsMax = 4;

const SecretRule* built_in(std::string_view id) {
  return find_by(secret_rules(), id, &SecretRule::id);
}

bool is_known_id(std::string_view id) {
  return std::ranges::any_of(secret_rule_list(),
                             [&](const SecretRuleInfo& each) { return each.id == id; });
}

/// The members that `rule` has replace those of `known`; lists grow.
void merge_rule(RuleSpec rule, RuleSpec& known) {
  assert(rule.id == known.id);
  const auto replace = [](std::string& with, std::string& what) {
    if (!with.empty()) {
      what = std::move(with);
    }
  };
  const auto extend = [](auto& with, auto& what) {
    std::ranges::move(with, std::back_inserter(what));
  };
  replace(rule.description, known.description);
  known.regex = rule.regex.text().empty() ? known.regex : rule.regex;
  replace(rule.replace, known.replace);
  known.secret_group = rule.secret_group != 0 ? rule.secret_group : known.secret_group;
  known.entropy = rule.entropy ? rule.entropy : known.entropy;
  extend(rule.keywords, known.keywords);
  extend(rule.allows, known.allows);
  extend(rule.examples, known.examples);
  extend(rule.innocent, known.innocent);
}

bool is_always_run(const RuleSpec& rule) {
  return !rule.regex.text().empty() && rule.keywords.empty() && !rule.is_helper;
}

bool has_project_rules(const RuleSources& sources) {
  if (sources.project.empty()) {
    return false;
  }
  const Result<std::unique_ptr<FileSystem>> project = open_posix_file_system(sources.project);
  return project && (*project)->info(kProjectRules);
}

class RuleLoader {
 public:
  explicit RuleLoader(const RuleSources& sources) : sources_(sources) {}

  LoadedRules run(const std::vector<AllowedText>& allowed) {
    if (allowed.empty() || trusts()) {
      loaded_.allowed = allowed;
    } else {
      leave_out("config.json", "privacy.allow");
    }
    for (const std::string& path : sources_.files) {
      load_file(path);
    }
    if (!is_among(sources_.files, std::string_view(kProjectRules)) && has_project_rules(sources_)) {
      load_file(kProjectRules);
    }
    if (!sources_.policy.empty()) {
      use(policy(), kHubPolicyFile);
    }
    return std::move(loaded_);
  }

  Result<LoadedRules> run_one(const std::string& path) {
    BMAD_TRY_ASSIGN(RuleFile file, resolve(path));
    BMAD_TRY(take(std::move(file)));
    return std::move(loaded_);
  }

 private:
  [[nodiscard]] bool trusts() const {
    if (!trusts_) {
      trusts_ = sources_.trusted && (!sources_.is_trusted || sources_.is_trusted());
    }
    return *trusts_;
  }

  void refuse(Error error) { loaded_.problems.push_back(std::move(error)); }

  void leave_out(const std::string& path, std::string_view what) {
    refuse(path_error(ErrorCode::E_ACCESS_DENIED, path,
                      fmt::format("{} has no effect until you trust this with `bmad-mem trust`; "
                                  "rules that only add something are used",
                                  what)));
  }

  [[nodiscard]] Result<RuleFile> read(const std::string& path) const {
    std::string folder = sources_.project;
    std::string name = with_home(path);
    if (name.starts_with('/') || ("/" + name + "/").contains("/../")) {
      if (sources_.is_foreign || !sources_.trusted) {
        return path_error(ErrorCode::E_ACCESS_DENIED, path,
                          "a memory that is not trusted has rules from its own project only");
      }
      const std::string whole = name.starts_with('/') ? name : folder + "/" + name;
      const std::size_t slash = whole.rfind('/');
      assert(slash != std::string::npos);
      folder = whole.substr(0, std::max<std::size_t>(slash, 1));
      name = whole.substr(slash + 1);
    }
    Result<std::unique_ptr<FileSystem>> files = open_posix_file_system(folder);
    if (!files) {
      files.error().code = ErrorCode::E_STORAGE_IO;
      files.error().message = "the folder of the rules file cannot be opened";
      return files.error();
    }
    BMAD_TRY_ASSIGN(const std::string text, read_file(**files, name, kRuleFileSizeMax));
    return parse_rule_file(text, path);
  }

  /// The file and what it extends, as one.
  Result<RuleFile> resolve(const std::string& path, int depth = 0) {
    assert(depth <= kExtendsMax && "each step goes one file deeper");
    BMAD_TRY_ASSIGN(RuleFile file, read(path));
    std::ranges::copy(file.warnings, std::back_inserter(loaded_.problems));
    std::ranges::copy(file.notes, std::back_inserter(loaded_.notes));
    if (file.base.empty()) {
      return file;
    }
    if (depth == kExtendsMax) {
      return Error{.code = ErrorCode::E_SCHEMA_INVALID,
                   .message = fmt::format("is one of more than {} files that extend one another",
                                          kExtendsMax),
                   .path = file.name,
                   .field = "extend.path"};
    }
    BMAD_TRY_ASSIGN(RuleFile base, resolve(file.base, depth + 1));
    std::erase_if(base.rules,
                  [&](const RuleSpec& rule) { return is_among(file.disabled, rule.id); });
    for (RuleSpec& rule : file.rules) {
      const auto known = std::ranges::find(base.rules, rule.id, &RuleSpec::id);
      if (known == base.rules.end()) {
        base.rules.push_back(std::move(rule));
      } else {
        merge_rule(std::move(rule), *known);
      }
    }
    std::ranges::move(file.allows, std::back_inserter(base.allows));
    std::ranges::move(file.disabled, std::back_inserter(base.disabled));
    base.name = file.name;
    return base;
  }

  /// The rules of a hub, without what they allow, disable and change.
  [[nodiscard]] Result<RuleFile> policy() const {
    BMAD_TRY_ASSIGN(RuleFile file, parse_rule_file(sources_.policy, kHubPolicyFile));
    std::erase_if(file.rules, [](const RuleSpec& rule) { return rule.regex.text().empty(); });
    return RuleFile{.name = std::move(file.name), .rules = std::move(file.rules)};
  }

  void load_file(const std::string& path) {
    const std::size_t said = loaded_.problems.size();
    Result<RuleFile> file = resolve(path);
    if (!file) {
      loaded_.problems.resize(said);  // What is refused needs no warnings.
    }
    use(std::move(file), path);
  }

  void use(Result<RuleFile> file, const std::string& path) {
    const std::size_t said = loaded_.problems.size();
    Status taken = file ? take(*std::move(file)) : Status(std::move(file).error());
    if (!taken) {
      loaded_.problems.resize(said);  // What is refused needs no warnings.
      Error error = std::move(taken).error();
      error.path = error.path.empty() ? path : error.path;
      error.message += "; nothing of this file is used, the built-in rules go on";
      refuse(std::move(error));
    }
  }

  Status take(RuleFile file) {
    const auto always = static_cast<std::size_t>(std::ranges::count_if(file.rules, is_always_run));
    for (const RuleSpec& rule : file.rules) {
      keywords_ += rule.keywords.size();
    }
    if (loaded_.rules.size() + file.rules.size() > kRulesMax ||
        always_ + always > kRulesAlwaysMax || keywords_ > kRuleKeywordsMax) {
      return path_error(ErrorCode::E_SIZE_LIMIT, file.name,
                        fmt::format("has too many rules: all files together may have {} with {} "
                                    "keywords, and {} of them without any",
                                    kRulesMax, kRuleKeywordsMax, kRulesAlwaysMax));
    }
    assert(keywords_ <= kRuleKeywordsMax && "their index has numbers of 16 bits");
    always_ += always;
    if (trusts()) {
      take_exceptions(file);
    } else if (!file.allows.empty() || (file.uses_default && !file.disabled.empty())) {
      leave_out(file.name, "what it allows or disables");
    }
    for (RuleSpec& rule : file.rules) {
      if (!rule.is_helper) {
        take_rule(std::move(rule), file);
      }
    }
    return {};
  }

  void take_exceptions(RuleFile& file) {
    for (Allow& allow : file.allows) {
      for (const std::string& rule : allow.rules) {
        loaded_.changes[rule].allows.push_back(allow);
      }
      if (allow.rules.empty()) {
        loaded_.allows.push_back(std::move(allow));
      }
    }
    for (const std::string& id : file.disabled) {
      if (file.uses_default && is_known_id(id)) {
        loaded_.disabled.emplace(id, file.name);
      } else if (file.uses_default) {
        refuse(path_error(ErrorCode::E_SCHEMA_INVALID, file.name,
                          fmt::format("disables the rule '{}', which there is not; "
                                      "`bmad-mem redact --rules` lists all",
                                      shown_in_message(id))));
      }
    }
  }

  void take_rule(RuleSpec rule, const RuleFile& file) {
    assert(!rule.id.empty() && !rule.is_helper && "check_id() and take() see to it");
    if (rule.regex.text().empty()) {
      take_change(std::move(rule), file);
      return;
    }
    const SecretRule* const known = file.uses_default ? built_in(rule.id) : nullptr;
    if (known != nullptr && trusts()) {
      for_each_word(known->keywords,
                    [&](std::string_view word) { rule.keywords.push_back(lower_ascii(word)); });
      if (!rule.entropy && known->entropy_min > 0) {
        rule.entropy = known->entropy_min;
      }
      rule.description = rule.description.empty() ? std::string(known->what) : rule.description;
      loaded_.disabled.emplace(rule.id, file.name);
    }
    rule.origin = file.name;
    rule.is_strange = !trusts();
    loaded_.rules.push_back(std::move(rule));
  }

  /// A rule without a regex changes one that is known, or means nothing.
  void take_change(RuleSpec rule, const RuleFile& file) {
    if (!file.uses_default || !is_known_id(rule.id)) {
      if (!rule.has_path) {  // Else it was said.
        refuse(
            {.code = ErrorCode::E_SCHEMA_INVALID,
             .message = fmt::format("rule '{}' has no regex and changes no known rule: it has no "
                                    "effect",
                                    rule.id),
             .path = file.name,
             .line = rule.line});
      }
      return;
    }
    if (!trusts()) {
      leave_out(file.name, fmt::format("its change of the rule '{}'", rule.id));
      return;
    }
    RuleChange& change = loaded_.changes[rule.id];
    change.entropy = rule.entropy ? rule.entropy : change.entropy;
    std::ranges::move(rule.allows, std::back_inserter(change.allows));
  }

  const RuleSources& sources_;
  mutable std::optional<bool> trusts_;
  LoadedRules loaded_;
  std::size_t always_ = 0;
  std::size_t keywords_ = 0;
};

}  // namespace

bool has_rules(const RuleSources& sources) {
  return !sources.allowed.empty() || !sources.files.empty() || !sources.policy.empty() ||
         has_project_rules(sources);
}

LoadedRules load_rules(const RuleSources& sources, const std::vector<AllowedText>& allowed) {
  return RuleLoader(sources).run(allowed);
}

Result<LoadedRules> load_rules_file(const std::string& path) {
  const RuleSources sources{.project = "."};
  return RuleLoader(sources).run_one(path);
}

}  // namespace bmad_mem
