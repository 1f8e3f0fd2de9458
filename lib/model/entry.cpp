// entry.cpp - reads the fields that the rest of the engine asks of an entry, and its links.
#include "model/entry.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>

#include "base/object_text.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/json.hpp"
#include "entry_spec.hpp"
#include "value_text.hpp"

namespace bmad_mem {
namespace {

/// Gathers the strings of lists, each once.
class IdList {
 public:
  void add(JsonValue value) {
    if (value.is_string() && !value.string().empty() &&
        std::ranges::find(ids_, value.string()) == ids_.end()) {
      ids_.push_back(value.string());
    }
  }
  void add_list(JsonValue list) {
    for (const JsonValue element : list.elements()) {
      add(element);
    }
  }
  std::vector<std::string_view> take() { return std::move(ids_); }

 private:
  std::vector<std::string_view> ids_;
};

/// What holds the links of a kind, in the entry that stores them.
constexpr std::array<std::string_view, kLinkKinds.size()> kLinkMembers = {
    "solves", "causes", "superseded_by", "refines"};

/// Adds what `member` of an entry lists as references.
void add_cited(const JsonMember& member, IdList& ids) {
  if (member.key == kLinksField) {
    for (const std::string_view name : kLinkMembers) {
      ids.add_list(member.value[name]);
    }
  } else if (member.key == "references") {
    ids.add_list(member.value);
    for (const JsonMember& list : member.value.members()) {
      ids.add_list(list.value);
    }
  } else if (member.key == "metadata") {
    ids.add_list(member.value["references"]);
  }
}

bool makes_severe(std::string_view key, JsonValue value) {
  const std::string_view text = value.string();
  return (key == "severity" && text == "critical") ||
         (key == "impact" && (text == "high" || text == "critical"));
}

bool makes_approved(std::string_view key, JsonValue value) {
  const JsonElements approvers = value.elements();
  return key == "approved_by" && approvers.begin() != approvers.end();
}

/// What an entry says about its decay. `bmad-mem decay` overwrites decay_factor with that of the
/// moment; computing today's from it would let the entry decay twice.
struct StoredFactors {
  double written = 1;
  std::optional<double> initial;
  bool is_snapshot = false;

  [[nodiscard]] double at_start() const { return initial.value_or(is_snapshot ? 1 : written); }
};

/// 3.0 is a count too.
std::uint64_t count_of(JsonValue value) {
  const double number = value.number();
  return number >= 0 && number <= kCountMax ? static_cast<std::uint64_t>(number) : 0;
}

}  // namespace

EntryHead entry_head(EntryType type, JsonValue entry) {
  const std::string_view who_field = entry_spec(type).who_field;
  EntryHead head;
  std::string_view agent;
  std::string_view own_topic;
  StoredFactors factors;
  for (const JsonMember& member : entry.members()) {
    const std::string_view key = member.key;
    if (key == "id") {
      head.id = member.value.string();
    } else if (key == "timestamp") {
      head.timestamp = try_parse_rfc3339(member.value.string()).value_or(Timestamp{});
    } else if (key == "agent_id") {
      agent = member.value.string();
    } else if (key == who_field) {
      head.who = member.value.string();
    } else if (key == "context") {
      head.topic = member.value["topic"].string();
      head.conversation_id = member.value["conversation_id"].string();
    } else if (key == "topic") {
      own_topic = member.value.string();
    } else if (key == "tags") {
      head.tags = member.value;
    } else if (key == "pinned") {
      head.pinned = member.value.boolean();
    } else if (key == kSensitiveField) {
      head.sensitive = member.value.boolean();
    } else if (key == kLinksField) {
      head.superseded = is_superseded(member.value);
    } else if (key == "decay_factor") {
      factors.written = member.value.number(1.0);
    } else if (key == "initial_decay_factor") {
      factors.initial = member.value.number(1.0);
    } else if (key == "last_decay_update") {
      factors.is_snapshot = true;
    } else if (key == "access_count") {
      head.access_count = count_of(member.value);
    } else if (key == "role") {
      head.role = member.value.string();
    } else if (key == "last_accessed") {
      head.last_accessed = try_parse_rfc3339(member.value.string());
    } else if (key == kExpiresField) {
      head.expires_at = try_parse_rfc3339(member.value.string());
    } else {
      head.severe = head.severe || makes_severe(key, member.value);
      head.approved = head.approved || makes_approved(key, member.value);
    }
  }
  head.who = head.who.empty() ? agent : head.who;
  head.topic = head.topic.empty() ? own_topic : head.topic;
  head.decay_factor = factors.at_start();
  return head;
}

std::string_view entry_id(JsonValue entry) { return entry["id"].string(); }

std::string entry_id_in(JsonParser& parser, std::string_view line) {
  const Result<JsonValue> entry = parser.parse(line);
  return entry ? std::string(entry_id(*entry)) : std::string();
}

bool is_encrypted(JsonValue line) {
  return !line[kEncryptedField].string().empty() && !entry_id(line).empty() &&
         try_parse_rfc3339(line["timestamp"].string());
}

Timestamp entry_timestamp(JsonValue entry) {
  return try_parse_rfc3339(entry["timestamp"].string()).value_or(Timestamp{});
}

Timestamp entry_version_time(JsonValue entry) {
  const std::optional<Timestamp> updated = try_parse_rfc3339(entry["updated_at"].string());
  return updated ? *updated : entry_timestamp(entry);
}

Timestamp entry_written_time(JsonValue entry) {
  const Timestamp stated = entry_version_time(entry);
  return std::max(stated, try_parse_rfc3339(entry[kWrittenField].string()).value_or(stated));
}

Timestamp next_version_time(JsonValue entry, Timestamp now) {
  return std::max(now, entry_written_time(entry) + std::chrono::milliseconds(1));
}

Result<std::string> as_next_version(std::string_view old, std::string_view line, Timestamp now) {
  BMAD_TRY_ASSIGN(const ParsedJson before, parse_json(old));
  BMAD_TRY_ASSIGN(const ParsedJson entry, parse_json(line));
  ObjectText object(*entry, line);
  if (entry_version_time(*entry) > entry_written_time(*before)) {
    object.remove(kWrittenField);
  } else {
    object.set_string(kWrittenField, format_rfc3339(next_version_time(*before, now)));
  }
  return object.to_line();
}

std::string_view entry_who(EntryType type, JsonValue entry) {
  const std::string_view who = entry[entry_spec(type).who_field].string();
  return who.empty() ? entry["agent_id"].string() : who;
}

std::string_view entry_topic(JsonValue entry) {
  const std::string_view topic = entry["context"]["topic"].string();
  return topic.empty() ? entry["topic"].string() : topic;
}

std::string_view entry_workspace(JsonValue entry) {
  std::string_view folder = entry["workspace"].string();
  folder = folder.empty() ? entry["metadata"]["workspace"].string() : folder;
  while (folder.size() > 1 && folder.ends_with('/')) {
    folder.remove_suffix(1);
  }
  return folder;
}

double importance_of(EntryType type, bool severe, bool approved) {
  constexpr double kSevereBoost = 1.3;
  constexpr double kApprovedBoost = 1.2;
  const double importance = entry_type_info(type).importance * (severe ? kSevereBoost : 1) *
                            (approved ? kApprovedBoost : 1);
  assert(importance > 0);
  return std::min(importance, 1.0);
}

void entry_searchable_text(EntryType type, JsonValue entry, std::string& out, char between) {
  const ObjectShape& shape = entry_shape(type);
  std::array<JsonValue, kFieldCountMax> values;
  bool is_outside = false;
  for (const JsonMember& member : entry.members()) {
    const std::size_t index = shape.find(member.key);
    if (index != ObjectShape::kNone && shape.fields[index].searchable) {
      values[index] = member.value;
    } else if (member.key == kOutsideWorkspaceField) {
      is_outside = member.value.boolean();
    }
  }
  for (std::size_t i = 0; i < shape.fields.size(); ++i) {
    const Field& field = shape.fields[i];
    if (!is_outside || !field.of_file) {
      append_value_words(values[i], field.kind == FieldKind::kAnything, between, out);
    }
  }
}

std::string entry_headline(EntryType type, JsonValue entry, std::size_t width_max) {
  const EntrySpec& spec = entry_spec(type);
  std::string marks;
  std::string text;
  for (const auto& [before, field, after, is_mark] : spec.headline) {
    const JsonValue value = field.empty() ? JsonValue() : entry[field];
    assert(!is_mark || spec.shape.find(field) != ObjectShape::kNone);
    if (!value.present() || (value.is_string() && value.string().empty())) {
      continue;
    }
    if (!is_mark) {
      text += before;
      append_value_shown(value, text);
      text += after;
    } else if (value.string() != spec.shape.fields[spec.shape.find(field)].assumed) {
      marks += marks.empty() ? "[" : ", ";
      append_value_shown(value, marks);
    }
  }
  if (!marks.empty()) {
    text.insert(0, marks + "] ");
  }
  return one_line(text, std::max<std::size_t>(width_max, 1));
}

std::string_view link_kind_name(LinkKind kind) {
  return kind == LinkKind::kSupersedes ? "supersedes" : link_member(kind);
}

std::optional<LinkKind> try_parse_link_kind(std::string_view name) {
  const auto* const found = std::ranges::find(kLinkKinds, name, link_kind_name);
  return found == kLinkKinds.end() ? std::nullopt : std::optional(*found);
}

std::string_view link_member(LinkKind kind) { return kLinkMembers[static_cast<std::size_t>(kind)]; }

bool is_stored_in_target(LinkKind kind) { return kind == LinkKind::kSupersedes; }

std::vector<TypedLink> typed_links(JsonValue entry) {
  std::vector<TypedLink> links;
  const JsonValue all = entry[kLinksField];
  for (const LinkKind kind : kLinkKinds) {
    IdList ids;
    ids.add_list(all[link_member(kind)]);
    for (const std::string_view id : ids.take()) {
      links.push_back({.kind = kind, .is_target = is_stored_in_target(kind), .id = id});
    }
  }
  return links;
}

bool is_superseded(JsonValue links) {
  return std::ranges::any_of(links[link_member(LinkKind::kSupersedes)].elements(),
                             [](JsonValue id) { return !id.string().empty(); });
}

std::vector<std::string_view> entry_references(JsonValue entry) {
  IdList ids;
  for (const JsonMember& member : entry.members()) {
    add_cited(member, ids);
    if (member.key == "context") {
      ids.add(member.value["parent_message_id"]);
    }
  }
  return ids.take();
}

std::vector<std::string_view> entry_citations(JsonValue entry) {
  IdList ids;
  for (const JsonMember& member : entry.members()) {
    add_cited(member, ids);
  }
  return ids.take();
}

}  // namespace bmad_mem
