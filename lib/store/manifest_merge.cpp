// manifest_merge.cpp - merging manifests member by member, as text, so that what we don't know
// keeps its bytes.
//
//   member            both sides changed it
//   agent_ids, tags   sets: what either added is in, what either removed is out
//   updated_at, …     the later time; created_at: the earlier
//   statistics        ours + theirs - base, since the other files can't be seen from here
//   objects           member by member
//   anything else     that of the side with the later updated_at, then the greater text
#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/object_text.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/log_merge.hpp"
#include "bmad_mem/text.hpp"
#include "store/manifest.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kEmptyObject = "{}";

/// One value in three versions, as compact JSON; empty where there is none.
struct ThreeTexts {
  std::string_view base;
  std::string_view ours;
  std::string_view theirs;
};

bool is_object(std::string_view raw) { return raw.starts_with('{'); }

/// The time in the JSON string `raw`; nothing when there is none.
std::optional<Timestamp> time_of(std::string_view raw) {
  const ParsedJson value(raw);
  return value ? try_parse_rfc3339(value->string()) : std::nullopt;
}

std::optional<std::int64_t> count_of(std::string_view raw) {
  if (raw.empty()) {
    return 0;
  }
  const ParsedJson value(raw);
  return value && value->kind() == JsonKind::kInteger ? std::optional(value->integer())
                                                      : std::nullopt;
}

/// The elements of the array `raw`, as texts; nothing when it is no array of strings.
std::optional<std::vector<std::string>> strings_of(std::string_view raw) {
  const ParsedJson value(raw.empty() ? "[]" : raw);
  return value && is_string_list(*value) ? std::optional(json_strings(*value)) : std::nullopt;
}

/// What stays of the base in its order, then what was added, sorted: the same for both sides.
std::string merged_set(const std::vector<std::string>& base, const std::vector<std::string>& ours,
                       const std::vector<std::string>& theirs) {
  const std::set<std::string> in_base(base.begin(), base.end());
  const std::set<std::string> in_ours(ours.begin(), ours.end());
  const std::set<std::string> in_theirs(theirs.begin(), theirs.end());
  std::set<std::string> added;
  for (const auto* side : {&in_ours, &in_theirs}) {
    std::ranges::set_difference(*side, in_base, std::inserter(added, added.end()));
  }
  std::vector<std::string> merged;
  for (const std::string& each : base) {
    if (in_ours.contains(each) && in_theirs.contains(each) && !is_among(merged, each)) {
      merged.push_back(each);
    }
  }
  merged.insert(merged.end(), added.begin(), added.end());
  return list_json(merged);
}

class ManifestMerge {
 public:
  /// `ours_is_later`: by updated_at; nothing when neither is.
  explicit ManifestMerge(std::optional<bool> ours_is_later) : ours_is_later_(ours_is_later) {}

  /// The members of three objects as one object.
  std::string object(const std::string& path, const ThreeTexts& of) const {
    assert(is_object(of.ours) && is_object(of.theirs));
    const ObjectText base(of.base);
    const ObjectText ours(of.ours);
    const ObjectText theirs(of.theirs);
    std::vector<std::string> keys = base.keys();
    std::set<std::string> added;
    for (const ObjectText* side : {&ours, &theirs}) {
      std::ranges::copy_if(side->keys(), std::inserter(added, added.end()),
                           [&](const std::string& key) { return !base.has(key); });
    }
    keys.insert(keys.end(), added.begin(), added.end());
    ObjectText merged("");
    for (const std::string& key : keys) {
      std::string value =
          member(path.empty() ? key : fmt::format("{}.{}", path, key),
                 {.base = base.raw(key), .ours = ours.raw(key), .theirs = theirs.raw(key)});
      if (!value.empty()) {
        merged.set(key, std::move(value));
      }
    }
    return in_order(path, merged);
  }

 private:
  /// As Manifest::to_text() orders the members that we know.
  static std::string in_order(const std::string& path, const ObjectText& object) {
    constexpr std::array<std::string_view, 7> kFirst = {
        "title",          "project_name",    "session_type",  "tags",
        "total_messages", "total_decisions", "total_findings"};
    constexpr std::array<std::string_view, 3> kLast = {"size_bytes", "compacted_bytes",
                                                       "last_accessed"};
    const bool is_ours = path == "metadata" || path == "statistics";
    return is_ours ? object.to_line(kFirst, kLast) : object.to_line();
  }

  /// Empty: there is no such member any more.
  [[nodiscard]] std::string member(const std::string& path, const ThreeTexts& of) const {
    if (of.theirs == of.base) {
      return std::string(of.ours);
    }
    if (of.ours == of.base) {
      return std::string(of.theirs);
    }
    // Before what is equal: one message each is two.
    if (std::optional<std::string> count = as_count(path, of)) {
      return std::move(*count);
    }
    // Equal statistics of manifests from one time are of one close, else of two.
    if (of.ours == of.theirs && (path != "statistics" || !ours_is_later_)) {
      return std::string(of.ours);
    }
    if (is_object(of.ours) && is_object(of.theirs)) {
      return object(path, of);
    }
    for (const auto rule : {&ManifestMerge::as_time, &ManifestMerge::as_set}) {
      if (std::optional<std::string> merged = (this->*rule)(path, of)) {
        return std::move(*merged);
      }
    }
    if (ours_is_later_) {
      return std::string(*ours_is_later_ ? of.ours : of.theirs);
    }
    return std::string(std::max(of.ours, of.theirs));
  }

  [[nodiscard]] std::optional<std::string> as_time(const std::string& path,
                                                   const ThreeTexts& of) const {
    const bool is_earlier = path == "created_at";
    if (!is_earlier && path != "updated_at" && path != "statistics.last_accessed") {
      return std::nullopt;
    }
    const std::optional<Timestamp> ours = time_of(of.ours);
    const std::optional<Timestamp> theirs = time_of(of.theirs);
    if (!ours || !theirs || *ours == *theirs) {
      return std::nullopt;
    }
    return std::string((*ours < *theirs) == is_earlier ? of.ours : of.theirs);
  }

  [[nodiscard]] std::optional<std::string> as_set(const std::string& path,
                                                  const ThreeTexts& of) const {
    if (path != "agent_ids" && path != "metadata.tags") {
      return std::nullopt;
    }
    const std::optional<std::vector<std::string>> base = strings_of(of.base);
    const std::optional<std::vector<std::string>> ours = strings_of(of.ours);
    const std::optional<std::vector<std::string>> theirs = strings_of(of.theirs);
    if (!base || !ours || !theirs) {
      return std::nullopt;
    }
    return merged_set(*base, *ours, *theirs);
  }

  static std::optional<std::string> as_count(const std::string& path, const ThreeTexts& of) {
    constexpr std::int64_t kSane = std::int64_t{1} << 60U;  // No sum of three can overflow.
    if (!path.starts_with("statistics.total_") && path != "statistics.size_bytes") {
      return std::nullopt;
    }
    const std::optional<std::int64_t> base = count_of(of.base);
    const std::optional<std::int64_t> ours = count_of(of.ours);
    const std::optional<std::int64_t> theirs = count_of(of.theirs);
    const auto is_sane = [&](const std::optional<std::int64_t>& count) {
      return count && *count >= 0 && *count < kSane;
    };
    if (!is_sane(base) || !is_sane(ours) || !is_sane(theirs)) {
      return std::nullopt;
    }
    return std::to_string(std::max<std::int64_t>(0, *ours + *theirs - *base));
  }

  std::optional<bool> ours_is_later_;
};

/// `text` as one compact object. An empty base is one without members.
Result<std::string> compact_object(std::string_view text, const char* side, bool may_be_empty) {
  if (may_be_empty && text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return std::string(kEmptyObject);
  }
  const ParsedJson value(text);
  if (!value || !value->is_object()) {
    Error error = value ? Error{.message = "is not a JSON object"} : value.error();
    error.code = ErrorCode::E_SESSION_CORRUPT;
    error.path = side;
    error.message += "; correct this side's manifest, then merge again";
    return error;
  }
  return ObjectText(*value, text).to_line();
}

std::optional<bool> is_ours_later(const ObjectText& ours, const ObjectText& theirs) {
  const std::optional<Timestamp> our_time = time_of(ours.raw("updated_at"));
  const std::optional<Timestamp> their_time = time_of(theirs.raw("updated_at"));
  return our_time == their_time ? std::nullopt : std::optional(our_time > their_time);
}

}  // namespace

Result<std::string> merge_manifests(std::string_view base, std::string_view ours,
                                    std::string_view theirs) {
  if (ours == theirs || base == theirs) {
    return std::string(ours);
  }
  if (base == ours) {
    return std::string(theirs);
  }
  BMAD_TRY_ASSIGN(const std::string old_object, compact_object(base, "base", true));
  BMAD_TRY_ASSIGN(const std::string our_object, compact_object(ours, "ours", false));
  BMAD_TRY_ASSIGN(const std::string their_object, compact_object(theirs, "theirs", false));
  const ObjectText our_members(our_object);
  const ObjectText their_members(their_object);
  if (our_members.raw("session_id") != their_members.raw("session_id")) {
    return Error{
        .code = ErrorCode::E_SESSION_CORRUPT,
        .message = fmt::format("the sides are manifests of different sessions, {} and {}; "
                               "keep one of them",
                               our_members.raw("session_id"), their_members.raw("session_id")),
        .path = "theirs",
        .field = "session_id"};
  }
  const ManifestMerge merge(is_ours_later(our_members, their_members));
  const std::string merged =
      merge.object("", {.base = old_object, .ours = our_object, .theirs = their_object});
  assert(is_object(merged));
  return json_pretty(ObjectText(merged).to_line(kManifestOrder)) + '\n';
}

bool looks_like_manifest(std::string_view text) {
  const ParsedJson value(text);
  return value && (*value)["session_id"].is_string() && !(*value)["id"].present();
}

}  // namespace bmad_mem
