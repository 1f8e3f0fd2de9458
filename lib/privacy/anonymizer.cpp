#include "privacy/anonymizer.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "bmad_mem/text.hpp"
#include "json_strings.hpp"
#include "privacy/personal.hpp"
#include "privacy_words.hpp"

namespace bmad_mem {
namespace {

/// Of a name: that of a person, a folder or a host.
bool is_name_part(char c) { return is_word_byte(c) || c == '-' || !is_ascii(c); }

/// Members whose value names a person.
constexpr std::array<std::string_view, 11> kPersonNames = {
    "user",     "user_id",  "username", "user_name",   "author",       "owner",
    "assignee", "reviewer", "made_by",  "approved_by", "discovered_by"};
/// Members whose value names a machine.
constexpr std::array<std::string_view, 4> kHostNames = {"host", "hostname", "server", "machine"};
/// Members whose value is one of our own words, an id or a time.
constexpr std::array<std::string_view, 16> kKept = {
    "id",         "timestamp",     "updated_at",        "session_id",
    "type",       "role",          "severity",          "impact",
    "status",     "learned_from",  "references",        "kind",
    "created_at", "last_accessed", "last_decay_update", "parent_message_id"};
/// Words that stand for nobody.
constexpr std::array<std::string_view, 14> kNobody = {
    "user", "assistant", "system", "tool", "agent", "admin", "root",
    "me",   "human",     "team",   "test", "bot",   "all",   "unknown"};
/// Hosts that are nobody's.
constexpr std::array<std::string_view, 7> kPublicHosts = {
    "localhost",   "127.0.0.1",   "0.0.0.0",        "example.com",
    "example.org", "example.net", "example.invalid"};
constexpr std::size_t kNameSizeMin = 3;

/// Where the address begins and ends that has its "@" at `at`; empty when there is none. Any
/// address of a host with a dot, also of one that only exists inside a company.
std::pair<std::size_t, std::size_t> address_at(std::string_view text, std::size_t at) {
  const auto is_local = [](char c) {
    return is_alnum(c) || std::string_view("._%+-").find(c) != std::string_view::npos;
  };
  std::size_t begin = at;
  while (begin > 0 && is_local(text[begin - 1])) {
    --begin;
  }
  std::size_t end = at + 1;
  while (end < text.size() && (is_alnum(text[end]) || text[end] == '-' || text[end] == '.')) {
    ++end;
  }
  while (end > at + 1 && !is_alnum(text[end - 1])) {
    --end;
  }
  const bool has_dot = text.substr(at, end - at).find('.') != std::string_view::npos;
  return begin < at && has_dot ? std::pair(begin, end) : std::pair(at, at);
}

/// Whether an address of a private network begins `text`, and how long it is; 0 when none does.
std::size_t private_ip_size(std::string_view text) {
  std::array<unsigned, 4> parts{};
  std::size_t at = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t begin = at;
    while (at < text.size() && at < begin + 3 && is_digit(text[at])) {
      parts.at(i) = parts.at(i) * 10 + static_cast<unsigned>(text[at] - '0');
      ++at;
    }
    const bool dotted = i == 3 || (at < text.size() && text[at] == '.');
    if (at == begin || parts.at(i) > 255 || !dotted) {
      return 0;
    }
    at += i == 3 ? 0 : 1;
  }
  const bool goes_on = at < text.size() && (is_alnum(text[at]) || text[at] == '_');
  const bool is_private = parts[0] == 10 || (parts[0] == 192 && parts[1] == 168) ||
                          (parts[0] == 172 && parts[1] >= 16 && parts[1] < 32);
  return is_private && !goes_on ? at : 0;
}

}  // namespace

Anonymizer::Anonymizer(AnonymizerOptions options)
    : options_(std::move(options)), pseudonyms_(options_.key) {
  while (options_.workspace.ends_with('/')) {
    options_.workspace.pop_back();
  }
}

void Anonymizer::add_person(std::string_view name) {
  if (!name.empty() && !is_among(kNobody, lower_ascii(name))) {
    candidates_.emplace(name);
  }
}

void Anonymizer::learn(const Session& session) {
  add_person(session.user_id);
  for (const std::string& agent : session.agent_ids) {
    agents_.insert(lower_ascii(agent));
  }
}

void Anonymizer::learn(EntryType type, JsonValue entry) {
  const std::string_view agent = entry["agent_id"].string();
  if (type == EntryType::kConversation && entry["role"].string() == "user") {
    add_person(agent);
  } else if (!agent.empty()) {
    agents_.insert(lower_ascii(agent));
  }
  learn_members(entry, {});
}

// NOLINTNEXTLINE(misc-no-recursion): the parser bounds the depth.
void Anonymizer::learn_members(JsonValue value, std::string_view name) {
  if (value.is_string() && is_among(kPersonNames, name)) {
    add_person(value.string());
  }
  for (const JsonValue element : value.elements()) {
    learn_members(element, name);
  }
  for (const JsonMember& member : value.members()) {
    learn_members(member.value, member.key);
  }
}

void Anonymizer::finish_learning() {
  for (const std::string& name : candidates_) {
    if (agents_.contains(lower_ascii(name))) {
      continue;
    }
    aliases_.emplace(lower_ascii(name), name);
    // "user-marit" is called Marit.
    for (const std::string_view prefix : {"user-", "user_", "u-"}) {
      if (name.starts_with(prefix) && name.size() >= prefix.size() + kNameSizeMin) {
        aliases_.emplace(lower_ascii(name.substr(prefix.size())), name);
      }
    }
  }
}

bool Anonymizer::is_person(std::string_view name) const {
  return aliases_.contains(lower_ascii(name));
}

std::string Anonymizer::person(std::string_view name) {
  const auto known = aliases_.find(lower_ascii(name));
  return pseudonyms_.name("person", known == aliases_.end() ? name : known->second);
}

std::string Anonymizer::json(std::string_view json) {
  const auto replace = [&](const JsonString& string) -> std::optional<std::string> {
    if (string.text.empty() || string.name.empty() || is_among(kKept, string.name)) {
      return std::nullopt;
    }
    // "user_id" is the id of a person, "references" hold those of entries.
    if (string.is_id && string.name != "agent_id" && !is_among(kPersonNames, string.name)) {
      return std::nullopt;
    }
    std::string other;
    if (is_person(string.text)) {
      other = person(string.text);
    } else if (is_among(kHostNames, string.name) && string.text.find(' ') == std::string::npos) {
      other = is_among(kPublicHosts, string.text) ? std::string(string.text)
                                                  : pseudonyms_.name("host", string.text);
    } else if (options_.all_paths && string.name == "path" && !string.text.starts_with('/')) {
      other = segments(string.text);
    } else {
      other = text(string.text);
    }
    return other == string.text ? std::nullopt : std::optional(std::move(other));
  };
  return replace_json_strings(json, replace).value_or(std::string(json));
}

Session Anonymizer::session(const Session& session) {
  Session other = session;
  const auto name = [&](std::string& text) {
    text = is_person(text) ? person(text) : this->text(text);
  };
  name(other.user_id);
  name(other.project_name);
  name(other.session_type);
  std::ranges::for_each(other.agent_ids, name);
  std::ranges::for_each(other.tags, name);
  other.manifest.clear();
  return other;
}

std::string Anonymizer::text(std::string_view text) {
  std::vector<Change> changes;
  find_contacts(text, changes);
  find_private_contacts(text, changes);
  find_hosts(text, changes);
  find_paths(text, changes);
  find_people(text, changes);
  // Of changes that overlap the first counts; of those that begin together, the longest.
  std::ranges::sort(changes, [](const Change& a, const Change& b) {
    return std::pair(a.begin, b.end) < std::pair(b.begin, a.end);
  });
  std::string out;
  std::size_t copied = 0;
  for (const Change& change : changes) {
    if (change.begin >= copied) {
      out.append(text, copied, change.begin - copied)
          .append(pseudonym(change.kind, text.substr(change.begin, change.end - change.begin)));
      copied = change.end;
    }
  }
  return out.append(text, copied);
}

void Anonymizer::find_contacts(std::string_view text, std::vector<Change>& changes) {
  PersonalPolicies policies{};
  policies[static_cast<std::size_t>(PersonalKind::kEmail)] = PersonalPolicy::kRedact;
  policies[static_cast<std::size_t>(PersonalKind::kIp)] = PersonalPolicy::kRedact;
  Detections found;
  find_personal(text, policies, found);
  for (const Detection& each : found) {
    const std::string_view part = text.substr(each.begin, each.end - each.begin);
    if (each.rule == personal_kind_name(PersonalKind::kEmail)) {
      changes.push_back({each.begin, each.end, "email"});
    } else if (!is_among(kPublicHosts, part)) {
      changes.push_back({each.begin, each.end, "ip"});
    }
  }
}

void Anonymizer::find_private_contacts(std::string_view text, std::vector<Change>& changes) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '@') {
      const auto [begin, end] = address_at(text, i);
      // In "https://name:password@host" there is no address.
      if (begin < end && (begin == 0 || (text[begin - 1] != ':' && text[begin - 1] != '/'))) {
        changes.push_back({begin, end, "email"});
      }
    } else if (text[i] >= '1' && text[i] <= '9' &&
               (i == 0 || (!is_alnum(text[i - 1]) && text[i - 1] != '.'))) {
      if (const std::size_t size = private_ip_size(text.substr(i)); size > 0) {
        changes.push_back({i, i + size, "ip"});
      }
    }
  }
}

void Anonymizer::find_hosts(std::string_view text, std::vector<Change>& changes) {
  static constexpr std::array<std::string_view, 7> kPrivateEnds = {
      ".internal", ".local", ".lan", ".corp", ".intranet", ".home", ".localdomain"};
  const auto is_host_char = [](char c) { return is_alnum(c) || c == '-' || c == '.'; };
  for (std::size_t i = 0; i < text.size();) {
    if (!is_host_char(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_host_char(text[end])) {
      ++end;
    }
    std::size_t last = end;
    while (last > i && !is_alnum(text[last - 1])) {
      --last;
    }
    const std::string_view word = text.substr(i, last - i);
    const std::string_view before = text.substr(0, i);
    // In "https://name:password@host" the host stands behind the sign.
    const bool in_address = (before.ends_with("://") && !before.ends_with("file://")) ||
                            (before.ends_with('@') && word.find('.') != std::string_view::npos);
    const bool is_private = std::ranges::any_of(kPrivateEnds, [&](std::string_view suffix) {
      return word.size() > suffix.size() && lower_ascii(word).ends_with(suffix);
    });
    const bool is_login = end < text.size() && text[end] == '@';
    if ((in_address || is_private) && !is_login && !word.empty() &&
        !is_among(kPublicHosts, lower_ascii(word)) && !is_pseudonym("ip", word)) {
      changes.push_back({i, last, "host"});
    }
    i = end;
  }
}

void Anonymizer::find_paths(std::string_view text, std::vector<Change>& changes) const {
  const auto ends_path = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' ||
           std::string_view("\"'`<>|;,()[]{}*?:").find(c) != std::string_view::npos;
  };
  for (std::size_t i = 0; (i = text.find('/', i)) != std::string_view::npos;) {
    const std::string_view before = text.substr(0, i);
    const char last = before.empty() ? ' ' : before.back();
    const bool begins =
        ends_path(last) || last == '=' || last == '@' || before.ends_with("file://");
    std::size_t end = i;
    while (end < text.size() && !ends_path(text[end])) {
      ++end;
    }
    while (end > i + 1 && (text[end - 1] == '.' || text[end - 1] == '!')) {
      --end;  // The full stop of a sentence.
    }
    const std::string_view whole = text.substr(i, end - i);
    if (begins) {
      if (names_place(whole)) {
        changes.push_back({i, end, "path"});
      }
      i = end;
    } else {
      ++i;
    }
    i = std::max(i, before.size() + 1);
  }
  // C:\Users\marit\...
  for (std::size_t i = 0; (i = text.find("\\Users\\", i)) != std::string_view::npos;) {
    i += 7;
    const std::size_t end = std::min(text.find_first_of("\\\"' \t\r\n", i), text.size());
    if (end > i) {
      changes.push_back({i, end, "user"});
    }
    i = end;
  }
}

std::string Anonymizer::pseudonym(std::string_view kind, std::string_view part) {
  if (kind == "email") {
    return pseudonyms_.email(part);
  }
  if (kind == "path") {
    return path(part);
  }
  return kind == "person" ? person(part) : pseudonyms_.name(kind, part);
}

namespace {

bool is_below(std::string_view path, std::string_view folder) {
  return !folder.empty() && path.starts_with(folder) &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

/// The name behind the first slash.
std::string_view first_segment(std::string_view path) {
  return path.substr(1, path.find('/', 1) - 1);
}

}  // namespace

bool Anonymizer::names_place(std::string_view path) const {
  if (is_below(path, options_.workspace)) {
    return true;
  }
  const std::string_view root = first_segment(path);
  return kPathRoots.contains(root) && path.size() > root.size() + 2;
}

std::string Anonymizer::path(std::string_view path) {
  if (is_below(path, options_.workspace)) {
    const std::string_view below = path.substr(options_.workspace.size());
    return "/workspace" + (options_.all_paths ? segments(below) : std::string(below));
  }
  const std::string_view root = first_segment(path);
  std::string_view rest = path.substr(1 + root.size());
  if (root != "home" && root != "Users") {
    return "/" + std::string(root) + segments(rest);
  }
  const std::string_view user = first_segment(rest);
  rest.remove_prefix(1 + user.size());
  return "/home/" + (user.empty() ? "" : pseudonyms_.name("user", user)) + segments(rest);
}

/// Each name between slashes becomes a pseudonym; the last one keeps what is behind its last dot.
std::string Anonymizer::segments(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    if (path.front() == '/') {
      out += '/';
      path.remove_prefix(1);
      continue;
    }
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    const std::size_t dot = segment.rfind('.');
    const bool has_end =
        path.empty() && dot != std::string_view::npos && dot > 0 && segment.size() - dot <= 6;
    const std::string_view stem = has_end ? segment.substr(0, dot) : segment;
    out +=
        segment == "." || segment == ".." ? std::string(segment) : pseudonyms_.name("path", stem);
    out += has_end ? segment.substr(dot) : std::string_view();
  }
  return out;
}

void Anonymizer::find_people(std::string_view text, std::vector<Change>& changes) const {
  for (std::size_t i = 0; i < text.size();) {
    if (!is_name_part(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_name_part(text[end])) {
      ++end;
    }
    // A name may have more words than one: the longest that is known.
    std::optional<std::size_t> known;
    for (std::size_t stop = end, words = 1; words <= 3; ++words) {
      if (stop - i >= kNameSizeMin && is_person(text.substr(i, stop - i))) {
        known = stop;
      }
      if (stop + 1 >= text.size() || (text[stop] != ' ' && text[stop] != '.') ||
          !is_name_part(text[stop + 1])) {
        break;
      }
      ++stop;
      while (stop < text.size() && is_name_part(text[stop])) {
        ++stop;
      }
    }
    const char before = i == 0 ? ' ' : text[i - 1];
    const char behind = end < text.size() ? text[end] : ' ';
    const bool is_mention = before == '@' && (i == 1 || !is_name_part(text[i - 2])) &&
                            behind != '/' && behind != '(' &&
                            !is_among(kNobody, text.substr(i, end - i));
    if (known || is_mention) {
      const std::size_t stop = known.value_or(end);
      changes.push_back({i, stop, "person"});
      end = stop;
    }
    i = end;
  }
}

}  // namespace bmad_mem
