#include "privacy/anonymizer.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/text.hpp"
#include "finders.hpp"
#include "privacy_words.hpp"
#include "replacement.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

/// Of a name: that of a person, a folder or a host.
bool is_name_part(char c) { return is_word_byte(c) || c == '-' || !is_ascii(c); }

constexpr std::size_t kNameSizeMin = 3;

bool is_host_char(char c) { return is_alnum(c) || c == '-' || c == '.'; }

/// The last place from `at` on where an alphanumeric run of `text` before `end` ends.
std::size_t word_end(std::string_view text, std::size_t at, std::size_t end) {
  return run_begin(text, end, [](char c) { return !is_alnum(c); }, end - at);
}

/// Whether an address of a private network begins `text`, and how long it is; 0 when none does.
std::size_t private_ip_size(std::string_view text) {
  std::array<unsigned, 4> parts{};
  std::size_t at = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t end = run_end(text, at, is_digit, 3);
    for (const char c : text.substr(at, end - at)) {
      parts[i] = parts[i] * 10 + static_cast<unsigned>(c - '0');
    }
    const bool is_last = i + 1 == parts.size();
    if (end == at || parts[i] > 255 || (!is_last && byte_at(text, end) != '.')) {
      return 0;
    }
    at = is_last ? end : end + 1;
  }
  const bool is_private = parts[0] == 10 || (parts[0] == 192 && parts[1] == 168) ||
                          (parts[0] == 172 && parts[1] >= 16 && parts[1] < 32);
  return is_private && !is_word_byte(byte_at(text, at)) ? at : 0;
}

using Changes = std::vector<Detection>;

/// Public addresses: of mail, and of the internet.
void find_contacts(std::string_view text, Changes& changes) {
  PersonalPolicies policies{};
  policies[static_cast<std::size_t>(PersonalKind::kEmail)] = PersonalPolicy::kRedact;
  policies[static_cast<std::size_t>(PersonalKind::kIp)] = PersonalPolicy::kRedact;
  Detections found;
  find_personal(text, policies, found);
  std::ranges::copy_if(found, std::back_inserter(changes), [&](const Detection& each) {
    return each.rule == "email" ||
           !kPublicHosts.contains(text.substr(each.begin, each.end - each.begin));
  });
}

/// The address of mail that has its "@" at `at`, of any host with a dot, also of one that only
/// exists inside a company.
void find_private_email(std::string_view text, std::size_t at, Changes& changes) {
  const auto is_local = [](char c) { return is_alnum(c) || std::string_view("._%+-").contains(c); };
  const std::size_t begin = run_begin(text, at, is_local, at);
  const std::size_t end = word_end(text, at + 1, run_end(text, at + 1, is_host_char));
  const char before = byte_before(text, begin);
  // In "https://name:password@host" there is no address.
  if (begin < at && text.substr(at, end - at).contains('.') && before != ':' && before != '/') {
    changes.push_back({.begin = begin, .end = end, .rule = "email"});
  }
}

void find_private_contacts(std::string_view text, Changes& changes) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char before = byte_before(text, i);
    if (text[i] == '@') {
      find_private_email(text, i, changes);
    } else if (text[i] >= '1' && text[i] <= '9' && !is_alnum(before) && before != '.') {
      if (const std::size_t size = private_ip_size(text.substr(i)); size > 0) {
        changes.push_back({.begin = i, .end = i + size, .rule = "ip"});
      }
    }
  }
}

void find_hosts(std::string_view text, Changes& changes) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = run_end(text, i, is_host_char);
    if (end == i) {
      ++i;
      continue;
    }
    const std::size_t last = word_end(text, i, end);
    const std::string_view word = text.substr(i, last - i);
    const std::string lower = lower_ascii(word);
    const std::string_view before = text.substr(0, i);
    // In "https://name:password@host" the host stands behind the sign.
    const bool in_address = (before.ends_with("://") && !before.ends_with("file://")) ||
                            (before.ends_with('@') && word.contains('.'));
    const bool is_private = kPrivateHostEnds.any([&](std::string_view suffix) {
      return lower.size() > suffix.size() && lower.ends_with(suffix);
    });
    if ((in_address || is_private) && byte_at(text, end) != '@' && !word.empty() &&
        !kPublicHosts.contains(lower) && !is_pseudonym("ip", word)) {
      changes.push_back({.begin = i, .end = last, .rule = "host"});
    }
    i = end;
  }
}

bool is_below(std::string_view path, std::string_view folder) {
  return !folder.empty() && path.starts_with(folder) &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

/// The name behind the first slash.
std::string_view first_segment(std::string_view path) {
  return path.substr(1, path.find('/', 1) - 1);
}

/// Digits of the hash in a pseudonym.
constexpr std::size_t kPseudonymDigits = 8;

/// Upper and lower case are the same thing.
std::string hash_of(const RedactionKey& key, std::string_view kind, std::string_view text) {
  return keyed_hash(fmt::format("{}\n{}", kind, lower_ascii(text)), key)
      .substr(0, kPseudonymDigits);
}

}  // namespace

bool is_pseudonym(std::string_view kind, std::string_view text) {
  if (!text.starts_with(kind) || text.size() != kind.size() + 1 + kPseudonymDigits ||
      text[kind.size()] != '-') {
    return false;
  }
  return std::ranges::all_of(text.substr(kind.size() + 1),
                             [](char c) { return is_hex_digit(c) && !is_upper(c); });
}

std::string Pseudonyms::name(std::string_view kind, std::string_view original) {
  if (is_pseudonym(kind, original)) {
    return std::string(original);
  }
  std::string& given = given_[std::string(kind)][lower_ascii(original)];
  if (given.empty()) {
    given = fmt::format("{}-{}", kind, hash_of(key_, kind, original));
  }
  return given;
}

std::string Pseudonyms::email(std::string_view address) {
  static constexpr std::string_view kDomain = "@example.invalid";
  if (address.ends_with(kDomain) &&
      is_pseudonym("user", address.substr(0, address.size() - kDomain.size()))) {
    return std::string(address);
  }
  std::string& given = given_["email"][lower_ascii(address)];
  if (given.empty()) {
    given = fmt::format("user-{}{}", hash_of(key_, "email", address), kDomain);
  }
  return given;
}

std::map<std::string, std::size_t, std::less<>> Pseudonyms::counts() const {
  std::map<std::string, std::size_t, std::less<>> counts;
  for (const auto& [kind, names] : given_) {
    counts[kind] = names.size();
  }
  return counts;
}

Anonymizer::Anonymizer(AnonymizerOptions options)
    : options_(std::move(options)), pseudonyms_(options_.key) {
  while (options_.workspace.ends_with('/')) {
    options_.workspace.pop_back();
  }
}

void Anonymizer::add_person(std::string_view name) {
  if (!name.empty() && !kNobodyWords.contains(lower_ascii(name))) {
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
  if (value.is_string() && kPersonMembers.contains(name)) {
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
    if (string.text.empty() || string.name.empty() || kKeptMembers.contains(string.name)) {
      return std::nullopt;
    }
    // "user_id" is the id of a person, "references" hold those of entries.
    if (string.is_id && string.name != "agent_id" && !kPersonMembers.contains(string.name)) {
      return std::nullopt;
    }
    std::string other;
    if (is_person(string.text)) {
      other = person(string.text);
    } else if (kHostMembers.contains(string.name) && string.text.find(' ') == std::string::npos) {
      other = kPublicHosts.contains(string.text) ? std::string(string.text)
                                                 : pseudonyms_.name("host", string.text);
    } else if (options_.all_paths && string.name == "path" && !string.text.starts_with('/')) {
      other = segments(string.text);
    } else {
      other = text(string.text);
    }
    return other == string.text ? std::nullopt : std::optional(std::move(other));
  };
  thread_local JsonParser parser;  // Its buffers cost more to make than an entry to parse.
  const Result<JsonValue> root = parser.parse(json);
  return (root ? replace_json_strings(*root, json, replace) : std::nullopt)
      .value_or(std::string(json));
}

Session Anonymizer::session(const Session& session) {
  Session other = session;
  const auto name = [&](std::string& text) {
    text = is_person(text) ? person(text) : this->text(text);
  };
  name(other.user_id);
  name(other.project_name);
  name(other.session_type);
  other.title = text(other.title);
  other.first_request = text(other.first_request);
  if (!other.metadata_json.empty()) {
    other.metadata_json = json(other.metadata_json);
  }
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
          .append(pseudonym(change, text.substr(change.begin, change.end - change.begin)));
      copied = change.end;
    }
  }
  return out.append(text, copied);
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
    std::size_t end = run_end(text, i, [&](char c) { return !ends_path(c); });
    while (end > i + 1 && (text[end - 1] == '.' || text[end - 1] == '!')) {
      --end;  // The full stop of a sentence.
    }
    const std::string_view whole = text.substr(i, end - i);
    if (begins) {
      if (names_place(whole)) {
        changes.push_back({.begin = i, .end = end, .rule = "path"});
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
      changes.push_back({.begin = i, .end = end, .rule = "user"});
    }
    i = end;
  }
}

std::string Anonymizer::pseudonym(const Change& change, std::string_view part) {
  if (change.rule == "email") {
    return pseudonyms_.email(part);
  }
  if (change.rule == "path") {
    return path(part);
  }
  return change.rule == "person" ? person(part) : pseudonyms_.name(change.rule, part);
}

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
    std::size_t end = run_end(text, i, is_name_part);
    if (end == i) {
      ++i;
      continue;
    }
    // A name may have more words than one: the longest that is known.
    std::optional<std::size_t> known;
    for (std::size_t stop = end, words = 1; words <= 3; ++words) {
      if (stop - i >= kNameSizeMin && is_person(text.substr(i, stop - i))) {
        known = stop;
      }
      const std::size_t next = run_end(text, std::min(stop + 1, text.size()), is_name_part);
      if ((byte_at(text, stop) != ' ' && byte_at(text, stop) != '.') || next == stop + 1) {
        break;
      }
      stop = next;
    }
    const char behind = byte_at(text, end);
    const bool is_mention = byte_before(text, i) == '@' && (i == 1 || !is_name_part(text[i - 2])) &&
                            behind != '/' && behind != '(' &&
                            !kNobodyWords.contains(text.substr(i, end - i));
    if (known || is_mention) {
      const std::size_t stop = known.value_or(end);
      changes.push_back({.begin = i, .end = stop, .rule = "person"});
      end = stop;
    }
    i = end;
  }
}

}  // namespace bmad_mem
