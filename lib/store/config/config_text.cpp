#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "bmad_mem/json_copy.hpp"
#include "bmad_mem/json_writer.hpp"
#include "config_table.hpp"
#include "store/config.hpp"

namespace bmad_mem {
namespace {

/// "storage" of "storage.format"; "" of "version".
std::string_view section_of(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
}

/// Writes settings in the order of the table, opening and closing objects as their keys change.
class ConfigWriter {
 public:
  ConfigWriter() { writer_.begin_object().key(kConfigRoot).begin_object(); }

  void add(std::string_view key, std::string_view value) {
    enter(section_of(key));
    writer_.key(key.substr(key.rfind('.') + 1)).raw(value);
  }

  std::string finish() {
    enter("");
    return json_pretty(writer_.end_object().end_object().take()) + '\n';
  }

 private:
  void enter(std::string_view section) {
    while (section != section_ && !section.starts_with(joined_key(section_, ""))) {
      writer_.end_object();
      section_ = section_of(section_);
    }
    while (section != section_) {
      const std::size_t start = section_.empty() ? 0 : section_.size() + 1;
      const std::size_t end = std::min(section.find('.', start), section.size());
      writer_.key(section.substr(start, end - start)).begin_object();
      section_ = section.substr(0, end);
    }
  }

  JsonWriter writer_;
  std::string_view section_;  // Points into the table.
};

/// The JSON text of one member of the config; empty for what is not written.
struct ValueText {
  Config& config;

  std::string operator()(ConfigMember<bool> member) const {
    return member(config) ? "true" : "false";
  }
  std::string operator()(ConfigMember<std::int64_t> member) const {
    return std::to_string(member(config));
  }
  std::string operator()(ConfigMember<double> member) const { return number_text(member(config)); }
  std::string operator()(ConfigMember<std::string> member) const {
    return json_quoted(member(config));
  }
  std::string operator()(ConfigMember<std::vector<std::string>> member) const {
    return list_json(member(config));
  }
  std::string operator()(ConfigMember<std::vector<LearnRule>> member) const {
    JsonWriter writer;
    writer.begin_array();
    for (const LearnRule& rule : member(config)) {
      writer.begin_object().member("agent", rule.agent).member("match", rule.match);
      writer.member("category", rule.category).member("key", rule.key);
      writer.member("value", rule.value).member("confidence", rule.confidence).end_object();
    }
    return writer.end_array().take();
  }
  std::string operator()(ConfigMember<ProjectRetention> member) const {
    JsonWriter writer;
    writer.begin_object();
    for (const auto& [project, days] : member(config)) {
      writer.key(project).begin_object();
      for (const EntryType type : kEntryTypes) {
        writer.member(entry_type_name(type), days.of(type));
      }
      writer.end_object();
    }
    return writer.end_object().take();
  }
  std::string operator()(const NoEffect& /*unused*/) const { return {}; }
  std::string operator()(ConfigMember<std::vector<RedactionPattern>> member) const {
    JsonWriter writer;
    writer.begin_array();
    for (const RedactionPattern& pattern : member(config)) {
      writer.begin_object()
          .member("type", pattern.type)
          .member("regex", pattern.regex)
          .end_object();
    }
    return writer.end_array().take();
  }
};

}  // namespace

bool is_whole_number(double number) {
  constexpr double kExactMax = 9e15;  // Just below 2^53.
  return std::trunc(number) == number && std::abs(number) < kExactMax;
}

std::string number_text(double number) {
  return is_whole_number(number) ? std::to_string(static_cast<std::int64_t>(number))
                                 : json_number(number);
}

std::string value_text(const Setting& setting, Config& config) {
  return std::visit(ValueText{config}, setting.member);
}

std::string config_text(Config config) {
  ConfigWriter writer;
  for (const Setting& setting : config_settings()) {
    if (const std::string value = value_text(setting, config); !value.empty()) {
      writer.add(setting.key, value);
    }
  }
  return writer.finish();
}

std::string default_config_text() { return config_text({}); }

}  // namespace bmad_mem
