// registry.cpp - the list of entry types, and what can be said by looking through it.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "entry_spec.hpp"
#include "nearest.hpp"
#include "value_text.hpp"

namespace bmad_mem {
namespace {

// In the order of EntryType.
constexpr std::array<const EntrySpec*, kEntryTypeCount> kSpecs = {
    &kConversationSpec, &kDecisionSpec, &kFindingSpec,    &kPreferenceSpec,
    &kFactSpec,         &kEventSpec,    &kAgentStateSpec, &kArtifactSpec,
};

/// Whether two names are the same but for '-' against '_'.
bool same_name(std::string_view a, std::string_view b) {
  const auto dashed = [](char c) { return c == '_' ? '-' : c; };
  return std::ranges::equal(a, b, {}, dashed, dashed);
}

std::optional<EntryType> find_type(auto&& matches) {
  for (const EntryType type : kEntryTypes) {
    if (matches(entry_type_info(type))) {
      return type;
    }
  }
  return std::nullopt;
}

}  // namespace

const EntrySpec& entry_spec(EntryType type) { return *kSpecs[static_cast<std::size_t>(type)]; }

const EntryTypeInfo& entry_type_info(EntryType type) { return entry_spec(type).info; }

const ObjectShape& entry_shape(EntryType type) { return entry_spec(type).shape; }

std::string_view entry_type_name(EntryType type) { return entry_type_info(type).name; }

std::optional<EntryType> try_parse_entry_type(std::string_view text) {
  return find_type([&](const EntryTypeInfo& info) {
    return same_name(text, info.name) || same_name(text, info.plural) ||
           same_name(text, info.log_name);
  });
}

Result<EntryType> parse_entry_type(std::string_view text) {
  if (const std::optional<EntryType> type = try_parse_entry_type(text)) {
    return *type;
  }
  std::array<std::string_view, kEntryTypeCount> names;
  std::ranges::transform(kEntryTypes, names.begin(), entry_type_name);
  std::string message = fmt::format("\"{}\" is not a type of entry; the types are {}",
                                    one_line(text, 40), fmt::join(names, ", "));
  if (const std::string_view nearest = nearest_word(text, names); !nearest.empty()) {
    message += fmt::format("; did you mean {}?", nearest);
  }
  return Error{.code = ErrorCode::E_INVALID_FORMAT, .message = std::move(message), .field = "type"};
}

std::optional<EntryType> entry_type_of_log_file(std::string_view file_name) {
  return find_type([&](const EntryTypeInfo& info) { return file_name == info.log_file; });
}

std::optional<EntryType> entry_type_of_id(std::string_view id) {
  return find_type([&](const EntryTypeInfo& info) { return id.starts_with(info.id_prefix); });
}

}  // namespace bmad_mem
