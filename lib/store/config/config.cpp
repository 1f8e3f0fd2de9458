// config.cpp - reads config.json: checks each value, and finds out which ones are set.
#include "store/config.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/cron.hpp"
#include "base/json_cursor.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "config_table.hpp"
#include "store/layout.hpp"
#include "store/manifest.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint64_t kConfigSizeMax = 1U << 20U;
constexpr double kBytesPerMegabyte = 1024.0 * 1024.0;

/// In the order of EntryType.
constexpr std::array<std::int64_t RetentionDays::*, kEntryTypeCount> kRetentionMembers = {
    &RetentionDays::conversation, &RetentionDays::decision, &RetentionDays::finding,
    &RetentionDays::preference,   &RetentionDays::fact,     &RetentionDays::event,
    &RetentionDays::agent_state,  &RetentionDays::artifact};
/// Of a type that a project does not name, until all is read.
constexpr std::int64_t kAsOthers = -1;

/// What stands there instead, to follow "not".
std::string shown(JsonValue value) {
  constexpr std::size_t kShownMax = 40;
  if (value.is_string()) {
    return json_quoted(utf8_prefix(value.string(), kShownMax));
  }
  return value.is_number() ? number_text(value.number())
                           : std::string(json_kind_name(value.kind()));
}

/// `value` as JSON text; empty for an array, an object and null.
std::string scalar_text(JsonValue value) {
  if (value.kind() == JsonKind::kBoolean) {
    return value.boolean() ? "true" : "false";
  }
  return value.is_string() || value.is_number() ? shown(value) : std::string();
}

/// A key as it is shown on a terminal: one with control characters in it is quoted.
std::string one_line(std::string_view key) {
  const bool is_plain = std::ranges::none_of(
      key, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; });
  return is_plain ? std::string(key) : json_quoted(key);
}

// Elements of lists: false when `value` is none of that kind.

bool read_element(JsonValue value, std::string& text) {
  text = value.string();
  return value.is_string();
}

bool read_element(JsonValue value, RedactionPattern& pattern) {
  pattern.type = value["type"].string();
  pattern.regex = value["regex"].string();
  return !pattern.type.empty() && !pattern.regex.empty();
}

/// The words for categories are checked by who uses them.
bool read_element(JsonValue value, LearnRule& rule) {
  rule.agent = value["agent"].string();
  rule.match = value["match"].string();
  rule.category = value["category"].string();
  rule.key = value["key"].string();
  rule.value = value["value"].string();
  if (const JsonValue confidence = value["confidence"]; confidence.present()) {
    rule.confidence = confidence.number(-1);
  }
  return !rule.match.empty() && !rule.category.empty() && !rule.key.empty() &&
         !rule.value.empty() && rule.confidence >= 0 && rule.confidence <= 1;
}

/// Sets one member of the config; false when the value isn't of its kind or in its range.
struct Assign {
  Config& config;
  const Setting& setting;
  JsonValue value;

  bool operator()(ConfigMember<bool> member) const {
    if (value.kind() != JsonKind::kBoolean) {
      return false;
    }
    member(config) = value.boolean();
    return true;
  }
  bool operator()(ConfigMember<std::int64_t> member) const {
    if (!in_range() || !is_whole_number(value.number())) {
      return false;
    }
    member(config) = static_cast<std::int64_t>(value.number());
    return true;
  }
  bool operator()(ConfigMember<double> member) const {
    if (!in_range()) {
      return false;
    }
    member(config) = value.number();
    return true;
  }
  bool operator()(ConfigMember<std::string> member) const {
    const bool is_choice =
        setting.choices[0].empty() ||
        std::ranges::find(setting.choices, value.string()) != setting.choices.end();
    if (!value.is_string() || !is_choice || (value.string().empty() && !setting.may_be_empty)) {
      return false;
    }
    member(config) = value.string();
    return true;
  }
  template <typename T>
  bool operator()(ConfigMember<std::vector<T>> member) const {
    std::vector<T>& all = member(config);
    all.clear();
    for (const JsonValue each : value.elements()) {
      if (!read_element(each, all.emplace_back())) {
        return false;
      }
    }
    return value.is_array() && (all.empty() || all.front() != T());  // No command is "".
  }
  bool operator()(ConfigMember<ProjectRetention> member) const {
    if (!value.is_object()) {
      return false;
    }
    ProjectRetention& projects = member(config);
    projects.clear();
    for (const JsonMember& project : value.members()) {
      std::optional<RetentionDays> days = days_of_project(project.value);
      if (!days || project.key.empty()) {
        return false;
      }
      projects.insert_or_assign(std::string(project.key), *days);
    }
    return true;
  }
  bool operator()(const NoEffect& /*unused*/) const { return true; }
  [[nodiscard]] std::optional<RetentionDays> days_of_project(JsonValue types) const {
    RetentionDays days;
    for (const auto member : kRetentionMembers) {
      days.*member = kAsOthers;
    }
    for (const JsonMember& each : types.members()) {
      const auto type = std::ranges::find(kEntryTypes, each.key, entry_type_name);
      const double number = each.value.number(-1);
      if (type == kEntryTypes.end() || number < setting.min || number > setting.max ||
          !is_whole_number(number)) {
        return std::nullopt;
      }
      days.*kRetentionMembers[static_cast<std::size_t>(*type)] = static_cast<std::int64_t>(number);
    }
    return types.is_object() ? std::optional(days) : std::nullopt;
  }
  [[nodiscard]] bool in_range() const {
    return value.is_number() && value.number() >= setting.min && value.number() <= setting.max;
  }
};

/// Goes through a parsed file and fills in a LoadedConfig.
class ConfigReader {
 public:
  ConfigReader(std::string_view text, const std::string& display_path)
      : text_(text), display_path_(display_path) {}

  Result<LoadedConfig> read(JsonValue root, const SettingChanges& changes) {
    if (!root.is_object()) {
      return refused("", fmt::format("must be an object, not {}", shown(root)));
    }
    BMAD_TRY(read_version(root[kConfigRoot], changes));
    for (const JsonMember& member : root.members()) {
      if (member.key == kConfigRoot) {
        BMAD_TRY(read_section("", kConfigRoot, member.value));
      } else if (member.key != kSchemaKey) {
        warn(member.key, suggested_outer_key(member.key));
      }
    }
    BMAD_TRY(settle_trigger());
    BMAD_TRY(check_encoder());
    BMAD_TRY(check_hub());
    settle_retention();
    settle_version();
    return std::move(loaded_);
  }

 private:
  /// `section` is one that is_section() knows, so it nests no deeper than the table.
  Status read_section(std::string_view section, std::string_view full, JsonValue value) {
    if (!value.is_object()) {
      return refused(full, fmt::format("must be an object, not {}", shown(value)));
    }
    assert(section.empty() || is_section(section));
    for (const JsonMember& member : value.members()) {
      const std::string key = joined_key(section, member.key);
      const bool is_one_name = member.key.find('.') == std::string_view::npos;
      if (const Setting* setting = find_setting(key); setting != nullptr && is_one_name) {
        BMAD_TRY(read_setting(*setting, member.value));
      } else if (is_one_name && is_section(key)) {
        BMAD_TRY(read_section(key, full_key(key), member.value));
      } else {
        warn(full_key(key), suggested_key(section, member.key));
      }
    }
    return {};
  }

  /// What says of all others whether they are set, wherever in the file it is.
  Status read_version(JsonValue section, const SettingChanges& changes) {
    for (const std::string_view key : {kDefaultsKey, kOnPurposeKey}) {
      if (const JsonValue value = section[key]; value.present()) {
        BMAD_TRY(read_setting(*find_setting(key), value));
      }
    }
    version_ = section[kDefaultsKey].present() ? loaded_.config.defaults_version : kFirstVersion;
    const std::vector<std::string>& listed = loaded_.config.set_on_purpose;
    on_purpose_.insert(listed.begin(), listed.end());
    for (const std::string& key : on_purpose_) {
      if (find_setting(key) == nullptr) {
        warn(full_key(kOnPurposeKey) + ": " + key, std::string(nearest_setting(key)));
      }
    }
    for (const auto& [key, value] : changes) {
      on_purpose_.erase(key);
      if (value) {
        on_purpose_.insert(key);
      }
    }
    return {};
  }

  Status read_setting(const Setting& setting, JsonValue value) {
    const bool is_on_purpose = on_purpose_.contains(setting.key);
    const std::string_view former = former_default(setting.key, version_);
    if (!is_on_purpose && !former.empty() && scalar_text(value) == former) {
      loaded_.renewals[std::string(setting.key)] = value_text(setting, loaded_.config);
      return {};
    }
    if (!std::visit(Assign{loaded_.config, setting, value}, setting.member)) {
      if (setting.key == kVersion && is_newer_version(value.string())) {
        return newer(value.string());
      }
      const std::string allowed = allowed_values(setting);
      const std::string given = shown(value);
      // "an array", and of something else.
      const bool has_wrong_part =
          allowed.starts_with(given) || (value.is_array() && allowed.starts_with("a program"));
      return refused(full_key(setting.key),
                     has_wrong_part ? fmt::format("must be {}, and a part of it is not", allowed)
                                    : fmt::format("must be {}, not {}", allowed, given));
    }
    if (setting.key == kSchedule) {
      if (const Result<Cron> cron = parse_cron(value.string()); !cron) {
        return refused(full_key(setting.key),
                       fmt::format("is no schedule at column {}: {}", cron.error().column,
                                   cron.error().message));
      }
    }
    if (const auto* nothing = std::get_if<NoEffect>(&setting.member);
        nothing != nullptr && scalar_text(value) != nothing->usual) {
      loaded_.warnings.push_back(fmt::format("{} has no effect: {}; remove the key",
                                             full_key(setting.key), nothing->reason));
    }
    const auto is_default = [&] {  // Asked of few: each start reads all settings.
      return value_text(setting, loaded_.config) == value_text(setting, defaults_);
    };
    if ((is_on_purpose || !former.empty()) && is_default()) {
      listed_.emplace(setting.key);
    }
    trigger_is_set_ = trigger_is_set_ ||
                      (setting.key == kTrigger && (is_on_purpose || is_newer() || !is_default()));
    return {};
  }

  [[nodiscard]] Error newer(std::string_view version) const {
    Error error = refused(full_key(kVersion),
                          fmt::format("is {}, and this bmad-mem reads 1.0; install a newer "
                                      "bmad-mem",
                                      version));
    error.code = ErrorCode::E_NEWER_VERSION;
    return error;
  }

  /// A trigger above the limit would never be reached; one that isn't set follows the limit.
  Status settle_trigger() {
    const double size_max = loaded_.config.storage.max_session_size_mb;
    double& trigger = loaded_.config.compaction.trigger_threshold_mb;
    if (!trigger_is_set_) {
      trigger = loaded_.config.usual_trigger_mb();
    } else if (trigger == loaded_.config.usual_trigger_mb()) {
      listed_.emplace(kTrigger);
    } else if (trigger > size_max) {
      return refused(full_key(kTrigger),
                     fmt::format("must be at most memory_config.storage.max_session_size_mb, which "
                                 "is {}, not {}; `bmad-mem config set {} --default` makes it "
                                 "follow that limit",
                                 number_text(size_max), number_text(trigger), kTrigger));
    }
    return {};
  }

  /// The file is in git: no address, and no password, belongs there.
  [[nodiscard]] Status check_hub() const {
    const std::string& service = loaded_.config.hub.service;
    if (service.find_first_of(":/@= ") == std::string::npos) {
      return {};
    }
    return refused(full_key("hub.service"),
                   "must be the name of a service in pg_service.conf, and no address; passwords "
                   "belong into ~/.pgpass");
  }

  /// There is one encoder: none of two is left out silently.
  [[nodiscard]] Status check_encoder() const {
    const EncoderConfig& encoder = loaded_.config.encoder;
    std::string_view first;
    for (const auto& [key, is_given] : {std::pair("encoder.path", !encoder.path.empty()),
                                        std::pair("encoder.command", !encoder.command.empty()),
                                        std::pair("encoder.url", !encoder.url.empty())}) {
      if (is_given && !first.empty()) {
        return refused(full_key(key),
                       fmt::format("names a second encoder beside {}; take one away, as `bmad-mem "
                                   "config set {} --default` does",
                                   full_key(first), first));
      }
      first = is_given ? key : first;
    }
    return {};
  }

  /// What a project does not say is as for all others, wherever in the file that stands.
  void settle_retention() {
    PrivacyConfig& privacy = loaded_.config.privacy;
    for (auto& [project, days] : privacy.project_retention_days) {
      for (const auto member : kRetentionMembers) {
        days.*member = days.*member == kAsOthers ? privacy.retention_days.*member : days.*member;
      }
    }
  }

  /// The file's list and version as they would be written.
  void settle_version() {
    Config& config = loaded_.config;
    const auto& kept = is_newer() ? on_purpose_ : listed_;
    if (std::vector<std::string> listed(kept.begin(), kept.end());
        listed != config.set_on_purpose) {
      config.set_on_purpose = std::move(listed);
      loaded_.renewals[std::string(kOnPurposeKey)] =
          value_text(*find_setting(kOnPurposeKey), config);
    }
    if (is_newer()) {
      loaded_.warnings.push_back(fmt::format(
          "{} is {}, and this bmad-mem knows the defaults up to {}: all values hold as they are; "
          "install a newer bmad-mem",
          full_key(kDefaultsKey), version_, kDefaultsVersion));
    } else if (version_ < kDefaultsVersion) {
      loaded_.renewals[std::string(kDefaultsKey)] = std::to_string(kDefaultsVersion);
      config.defaults_version = kDefaultsVersion;
    }
  }

  [[nodiscard]] bool is_newer() const { return version_ > kDefaultsVersion; }

  void warn(std::string_view key, const std::string& meant) {
    constexpr std::size_t kShownMax = 200;
    std::string warning =
        fmt::format("{} is not a known key", one_line(utf8_prefix(key, kShownMax)));
    if (!meant.empty()) {
      warning += fmt::format("; did you mean {}?", meant);
    }
    loaded_.warnings.push_back(std::move(warning));
  }

  [[nodiscard]] Error refused(std::string_view field, std::string reason) const {
    const TextPosition position = position_of_member(text_, field);
    return Error{.code = ErrorCode::E_SCHEMA_INVALID,
                 .message = std::move(reason),
                 .path = display_path_,
                 .line = position.line,
                 .column = position.column,
                 .field = std::string(field)};
  }

  static constexpr std::string_view kSchemaKey = "$schema";  // Editors look for it; we don't.
  static constexpr std::string_view kVersion = "version";
  static constexpr std::int64_t kFirstVersion = 1;  // Of 0.1, whose files don't say it.
  static constexpr std::string_view kSchedule = "privacy.purge_schedule_cron";
  static constexpr std::string_view kTrigger = "compaction.trigger_threshold_mb";

  std::string_view text_;
  const std::string& display_path_;
  LoadedConfig loaded_;
  Config defaults_;
  std::int64_t version_ = kDefaultsVersion;
  std::set<std::string, std::less<>> on_purpose_;  // What the file says.
  std::set<std::string, std::less<>> listed_;      // What its values don't say.
  bool trigger_is_set_ = false;
};

std::uint64_t to_bytes(double megabytes) {
  assert(megabytes >= 0);
  return static_cast<std::uint64_t>(megabytes * kBytesPerMegabyte);
}

}  // namespace

std::string allowed_values(const Setting& setting) {
  if (std::holds_alternative<ConfigMember<bool>>(setting.member)) {
    return "true or false";
  }
  if (std::holds_alternative<ConfigMember<std::string>>(setting.member)) {
    if (setting.choices[0].empty()) {
      return setting.may_be_empty ? "a string" : "a string that isn't empty";
    }
    std::string choices = json_quoted(setting.choices[0]);
    for (std::size_t i = 1; i < setting.choices.size() && !setting.choices[i].empty(); ++i) {
      const bool is_last = i + 1 == setting.choices.size() || setting.choices[i + 1].empty();
      choices += (is_last ? " or " : ", ") + json_quoted(setting.choices[i]);
    }
    return choices;
  }
  if (std::holds_alternative<ConfigMember<std::vector<RedactionPattern>>>(setting.member)) {
    return R"(an array of objects like {"type":"ticket","regex":"TICKET-[0-9]+"})";
  }
  if (std::holds_alternative<ConfigMember<std::vector<std::string>>>(setting.member)) {
    if (!setting.key.ends_with("command")) {
      return R"(an array of strings, like ["first","second"])";
    }
    return R"(a program and its arguments, like ["claude","-p"])";
  }
  if (std::holds_alternative<ConfigMember<std::vector<LearnRule>>>(setting.member)) {
    return "an array of objects with the strings match, category, key and value, perhaps agent, "
           "and a confidence from 0 to 1";
  }
  if (std::holds_alternative<ConfigMember<ProjectRetention>>(setting.member)) {
    return fmt::format(
        R"(an object of projects, such as {{"payments":{{"conversation":30}}}}, with types of )"
        "entries and whole numbers from 0 to {}",
        number_text(setting.max));
  }
  const bool takes_whole = std::holds_alternative<ConfigMember<std::int64_t>>(setting.member);
  return fmt::format("a {}number from {} to {}", takes_whole ? "whole " : "",
                     number_text(setting.min), number_text(setting.max));
}

std::int64_t RetentionDays::of(EntryType type) const {
  assert(static_cast<std::size_t>(type) < kRetentionMembers.size());
  return this->*kRetentionMembers[static_cast<std::size_t>(type)];
}

std::uint64_t Config::max_session_size_bytes() const {
  return to_bytes(storage.max_session_size_mb);
}

std::uint64_t Config::compaction_trigger_bytes() const {
  return to_bytes(compaction.trigger_threshold_mb);
}

std::uint64_t Config::compaction_start_bytes() const {
  const auto size_max = static_cast<double>(max_session_size_bytes());
  return std::min(compaction_trigger_bytes(),
                  static_cast<std::uint64_t>(compaction.force_threshold * size_max));
}

std::uint64_t Config::index_cache_size_bytes() const { return to_bytes(indexing.cache_size_mb); }

Result<LoadedConfig> parse_config(std::string_view text, const std::string& display_path,
                                  const SettingChanges& changes) {
  const ParsedJson root(text);
  if (!root) {
    return problem_in_file(root.error(), text, display_path);
  }
  return ConfigReader(text, display_path).read(*root, changes);
}

Result<LoadedConfig> load_config(FileSystem& files) {
  BMAD_TRY_ASSIGN(const auto text, if_there(read_file(files, kConfigFile, kConfigSizeMax)));
  if (!text) {
    return LoadedConfig{};
  }
  BMAD_TRY_ASSIGN(LoadedConfig loaded, parse_config(*text, files.display_path(kConfigFile)));
  loaded.text = *text;
  return loaded;
}

}  // namespace bmad_mem
