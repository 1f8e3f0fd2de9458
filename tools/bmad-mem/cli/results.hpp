// results.hpp - results as JSON, for every interface: --json, HTTP bodies, structured MCP answers.
//
//   lib/operations/table/results.toml ──> result_shapes.hpp ──> shape::finding
//   json_object("dry_run", true, "findings", shaped(shape::finding, report.findings))
//   {"dry_run":true,"findings":[{"file":…},…]}
//
// A shape names the members of a result; the C++ type of a member says how its value is written.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/result.hpp"
#include "bmad_mem/text.hpp"

namespace bmad_mem::cli {

/// The error as JSON, without what is unknown: {"code":…,"message":…,"path":…,"line":…,…}.
std::string error_as_json(const Error& error);

/// JSON text that is written as it is.
struct RawJson {
  std::string text;
};

/// A number with `count` decimals: more would differ from machine to machine and say nothing.
inline RawJson fixed_decimals(double number, int count) {
  return {fmt::format("{:.{}f}", number, count)};
}
inline RawJson rounded(double number) { return fixed_decimals(number, 4); }
inline RawJson raw_json(std::string_view text) { return {std::string(text)}; }
constexpr bool negated(bool value) { return !value; }
inline std::uint64_t size_of(const auto& all) { return all.size(); }

template <typename Value>
using ByName = std::vector<std::pair<std::string_view, Value>>;

/// {"conversation":2,…}: every type, in the order of the enum.
template <typename Value>
ByName<Value> all_by_type(const std::array<Value, kEntryTypeCount>& values) {
  ByName<Value> out;
  for (const EntryType type : kEntryTypes) {
    out.emplace_back(entry_type_name(type), values[static_cast<std::size_t>(type)]);
  }
  return out;
}

/// The same without zeros.
template <typename Value>
ByName<Value> some_by_type(const std::array<Value, kEntryTypeCount>& values) {
  ByName<Value> out = all_by_type(values);
  std::erase_if(out, [](const auto& each) { return each.second == Value(); });
  return out;
}

/// The same, each rounded.
inline ByName<RawJson> rounded_by_type(const std::array<double, kEntryTypeCount>& values) {
  ByName<RawJson> out;
  for (const auto& [name, value] : some_by_type(values)) {
    out.emplace_back(name, rounded(value));
  }
  return out;
}

/// Each element under the name of its type.
auto by_type(const auto& all) {
  ByName<std::ranges::range_value_t<decltype(all)>> out;
  for (const auto& each : all) {
    out.emplace_back(entry_type_name(each.type), each);
  }
  return out;
}

/// The value, if `holds`.
template <typename Value>
std::optional<Value> only_if(bool holds, const Value& value) {
  return holds ? std::optional(value) : std::nullopt;
}

/// `value` written by a shape: an object, or an array of objects. Must not outlive `value`.
template <typename Shape, typename Value, typename... With>
struct Shaped {
  using ValueType = Value;

  const Shape& shape;
  const Value& value;
  std::tuple<const With&...> with;

  template <typename Other>
  [[nodiscard]] Shaped<Shape, Other, With...> of(const Other& other) const {
    return {shape, other, with};
  }

  /// Writes the members of the value.
  void operator()(JsonWriter& json) const {
    std::apply([&](const auto&... more) { shape(json, value, more...); }, with);
  }
};

template <typename Shape, typename Value, typename... With>
Shaped<Shape, Value, With...> shaped(const Shape& shape, const Value& value, const With&... with) {
  return {shape, value, std::tuple<const With&...>(with...)};
}

template <typename T>
constexpr bool kIsShaped = false;
template <typename... Parts>
constexpr bool kIsShaped<Shaped<Parts...>> = true;
template <typename T>
constexpr bool kIsShapedOptional = false;
template <typename Shape, typename Value, typename... With>
constexpr bool kIsShapedOptional<Shaped<Shape, std::optional<Value>, With...>> = true;

/// Whether it is written as an object: a map, or pairs.
template <typename T>
concept HasNames = std::ranges::range<T> && requires(std::ranges::range_value_t<T> each) {
  each.first;
  each.second;
};

void put(JsonWriter& json, std::string_view name, const auto& value);
void put_each(JsonWriter& json, const auto& all);

/// Writes one value: after a key, or into an array.
void put_value(JsonWriter& json, const auto& value) {
  using T = std::remove_cvref_t<decltype(value)>;
  if constexpr (kIsShaped<T>) {
    if constexpr (HasNames<typename T::ValueType>) {
      json.begin_object();
      for (const auto& [name, each] : value.value) {
        put(json, name, value.of(each));
      }
      json.end_object();
    } else if constexpr (std::ranges::range<typename T::ValueType>) {
      json.begin_array();
      for (const auto& each : value.value) {
        put_value(json, value.of(each));
      }
      json.end_array();
    } else {
      json.begin_object();
      value(json);
      json.end_object();
    }
  } else if constexpr (std::invocable<T, JsonWriter&>) {
    json.begin_object();
    value(json);
    json.end_object();
  } else if constexpr (std::same_as<T, RawJson>) {
    json.raw(value.text);
  } else if constexpr (std::same_as<T, Timestamp>) {
    json.string(format_rfc3339(value));
  } else if constexpr (std::same_as<T, Error>) {
    json.raw(error_as_json(value));
  } else if constexpr (std::convertible_to<T, std::string_view>) {
    json.string(value);
  } else if constexpr (std::same_as<T, bool>) {
    json.boolean(value);
  } else if constexpr (std::integral<T>) {
    json.raw(std::to_string(value));
  } else if constexpr (std::floating_point<T>) {
    json.real(value);
  } else if constexpr (HasNames<T>) {
    json.begin_object();
    put_each(json, value);
    json.end_object();
  } else {
    json.begin_array();
    for (const auto& each : value) {
      put_value(json, each);
    }
    json.end_array();
  }
}

template <typename T>
constexpr bool kIsOptional = false;
template <typename T>
constexpr bool kIsOptional<std::optional<T>> = true;

/// Whether there is a value: not an empty one, 0, false or a time that never comes.
bool is_some(const auto& value) {
  using T = std::remove_cvref_t<decltype(value)>;
  if constexpr (kIsShaped<T>) {
    return is_some(value.value);
  } else if constexpr (std::same_as<T, Timestamp>) {
    return value != Timestamp::max();
  } else if constexpr (std::ranges::range<T>) {
    return !std::ranges::empty(value);
  } else if constexpr (kIsOptional<T>) {
    return value.has_value();
  } else {
    return value != T{};
  }
}

/// The value, if there is one.
template <typename Value>
std::optional<Value> if_some(const Value& value) {
  return only_if(is_some(value), value);
}

/// A member `name`; nothing for an absent value.
void put(JsonWriter& json, std::string_view name, const auto& value) {
  using T = std::remove_cvref_t<decltype(value)>;
  if constexpr (kIsOptional<T>) {
    if (value) {
      put(json, name, *value);
    }
  } else if constexpr (kIsShapedOptional<T>) {
    if (value.value) {
      put(json, name, value.of(*value.value));
    }
  } else {
    json.key(name);
    put_value(json, value);
  }
}

/// The members of a map, or of pairs.
void put_each(JsonWriter& json, const auto& all) {
  for (const auto& [name, each] : all) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(name)>, EntryType>) {
      put(json, entry_type_name(name), each);
    } else {
      put(json, name, each);
    }
  }
}

/// Members by name and value; what has no name adds members of its own: a shaped value, or a
/// function that takes the writer.
inline void put_all(JsonWriter& /*json*/) {}
template <typename First, typename... Rest>
void put_all(JsonWriter& json, const First& first, const Rest&... rest) {
  if constexpr (std::invocable<First, JsonWriter&>) {
    first(json);
    put_all(json, rest...);
  } else {
    [&](const auto& value, const auto&... others) {
      put(json, first, value);
      put_all(json, others...);
    }(rest...);
  }
}

/// An object inside of another one, of these members.
auto object_of(const auto&... members) {
  return [&](JsonWriter& json) { put_all(json, members...); };
}

/// One value as JSON.
std::string json_value(const auto& value) {
  JsonWriter json;
  put_value(json, value);
  return json.take();
}

/// These members without braces.
std::string json_members_of(const auto&... members) {
  JsonWriter json;
  put_all(json, members...);
  return json.take();
}

/// The object of these members, see put_all().
std::string json_object(const auto&... members) { return json_value(object_of(members...)); }

/// The same as a value, for a list that is filled.
RawJson raw_object(const auto&... members) { return {json_object(members...)}; }

}  // namespace bmad_mem::cli
