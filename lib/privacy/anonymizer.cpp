// anonymizer.cpp - replaces names of people, hosts and places in texts and entries by pseudonyms.
#include "privacy/anonymizer.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "anonymizer_scan.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "privacy_words.hpp"
#include "replacement.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

/// Whether it is written in signs that have no blanks between words: from U+1000 on.
bool is_unspaced(std::string_view name) {
  constexpr unsigned char kThreeBytes = 0xE1;
  return static_cast<unsigned char>(byte_at(name, 0)) >= kThreeBytes;
}

constexpr std::size_t kNameSizeMin = 3;

bool is_below(std::string_view path, std::string_view folder) {
  return !folder.empty() && path.starts_with(folder) &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

/// The name behind the first slash.
std::string_view first_segment(std::string_view path) {
  assert(path.starts_with('/'));
  return path.substr(1, path.find('/', 1) - 1);
}

/// Whether what is to change is the hash of a pseudonym, which may look like a number.
bool is_done(std::string_view text, const Detection& change) {
  for (const std::string_view kind : {change.rule, std::string_view("person")}) {
    const std::size_t size = kind.size() + 1;
    if (change.begin >= size &&
        is_pseudonym(kind, text.substr(change.begin - size, size + kPseudonymDigits))) {
      return true;
    }
  }
  return false;
}

}  // namespace

Anonymizer::Anonymizer(AnonymizerOptions options)
    : options_(std::move(options)), pseudonyms_(options_.key) {
  options_.workspace.resize(options_.workspace.find_last_not_of('/') + 1);  // npos + 1 is 0.
}

void Anonymizer::add_person(std::string_view name) {
  if (!name.empty() && !kNobodyWords.contains(lower_case(name))) {
    candidates_.emplace(name);
  }
}

void Anonymizer::learn(const Session& session) {
  add_person(session.user_id);
  for (const std::string& agent : session.agent_ids) {
    agents_.insert(lower_case(agent));
  }
  JsonParser parser;
  if (const Result<JsonValue> metadata = parser.parse(session.metadata_json)) {
    learn_members(*metadata, {});
  }
}

void Anonymizer::learn(EntryType type, JsonValue entry) {
  const std::string_view agent = entry["agent_id"].string();
  if (type == EntryType::kConversation && entry["role"].string() == "user") {
    add_person(agent);
  } else if (!agent.empty()) {
    agents_.insert(lower_case(agent));
  }
  learn_members(entry, {});
}

// NOLINTNEXTLINE(misc-no-recursion): the parser bounds the depth.
void Anonymizer::learn_members(JsonValue value, std::string_view name) {
  if (value.is_string() && kPersonMembers.contains(lower_case(name))) {
    add_person(value.string());
  }
  const std::string_view text = value.is_string() ? value.string() : std::string_view();
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    add_person(name_before_address(text, at));
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
    if (agents_.contains(lower_case(name))) {
      continue;
    }
    aliases_.emplace(lower_case(name), name);
    // "user-marit" is called Marit.
    for (const std::string_view prefix : {"user-", "user_", "u-"}) {
      if (name.starts_with(prefix) && name.size() >= prefix.size() + kNameSizeMin) {
        aliases_.emplace(lower_case(name.substr(prefix.size())), name);
      }
    }
    // Marit Olsen is called Marit, and Olsen.
    const auto learn_part = [&](std::string_view part) {
      if (part.size() >= kNameSizeMin && is_capital(part) && !part.ends_with('.') &&
          !kNobodyWords.contains(lower_case(part))) {
        parts_.emplace(lower_case(part), name);
      }
    };
    for_each_word(name.contains(' ') ? std::string_view(name) : std::string_view(), learn_part);
  }
  std::erase_if(parts_, [&](const auto& part) { return agents_.contains(part.first); });
}

const std::string* Anonymizer::person_called(std::string_view name) const {
  const auto in = [](const auto& names, std::string_view key) {
    const auto found = names.find(lower_case(key));
    return found == names.end() ? nullptr : &found->second;
  };
  // A part is a word of its own in small letters; "Marits" is hers.
  const bool has_ending =
      name.size() > kNameSizeMin && (name.ends_with('s') || name.ends_with('S'));
  const std::string_view stem = has_ending ? name.substr(0, name.size() - 1) : name;
  for (const std::string_view each : {name, stem}) {
    if (const std::string* const found = in(aliases_, each)) {
      return found;
    }
    if (const std::string* const found = is_capital(each) ? in(parts_, each) : nullptr) {
      return found;
    }
  }
  return nullptr;
}

bool Anonymizer::is_person(std::string_view name) const { return person_called(name) != nullptr; }

std::string Anonymizer::person(std::string_view name) {
  const std::string* const known = person_called(name);
  return pseudonyms_.name("person", known == nullptr ? name : *known);
}

std::string Anonymizer::id(std::string_view id) {
  std::string out;
  for (std::size_t at = 0; at < id.size();) {
    const std::size_t end = run_end(id, at, [](char c) { return is_alnum(c) || !is_ascii(c); });
    const std::string_view part = id.substr(at, std::max<std::size_t>(end - at, 1));
    assert(!part.empty() && "each step moves on");
    out += part.size() >= kNameSizeMin && aliases_.contains(lower_case(part)) ? person(part)
                                                                              : std::string(part);
    at += part.size();
  }
  return is_pseudonym("person", id) ? std::string(id) : out;
}

std::string Anonymizer::retained_id(std::string_view id) {
  std::string other = this->id(id);
  if (other == id || options_.ids) {
    return other;
  }
  ++left_["id"][std::string(id)];
  return std::string(id);
}

std::string Anonymizer::json(std::string_view json) {
  const auto replace = [&](const JsonString& string) -> std::optional<std::string> {
    if (string.text.empty() || string.name.empty()) {
      return std::nullopt;
    }
    std::string other;
    const std::string member = lower_case(string.name);
    // "user_id" is the id of a person, "references" hold those of entries.
    if (string.is_id && member != "agent_id" && !kPersonMembers.contains(member)) {
      other = retained_id(string.text);
    } else if (kKeptMembers.contains(string.name)) {
      return std::nullopt;
    } else if (is_person(string.text)) {
      other = person(string.text);
    } else if (kHostMembers.contains(member) && string.text.find(' ') == std::string::npos) {
      other = kPublicHosts.contains(string.text) ? std::string(string.text)
                                                 : pseudonyms_.name("host", string.text);
    } else if (options_.all_paths && string.name == "path" && !string.text.starts_with('/')) {
      other = segments(string.text);
    } else {
      other = text(string.text);
      note_name(string.name == "tags" ? "tag" : "", other);
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
  note_name("project", other.project_name);
  for (const std::string& tag : other.tags) {
    note_name("tag", tag);
  }
  other.session_id = retained_id(other.session_id);
  other.manifest.clear();
  return other;
}

std::string Anonymizer::text(std::string_view text) {
  std::vector<Change> changes;
  find_contacts(text, changes);
  find_hosts(text, changes);
  find_paths(text, changes);
  find_homes(text, changes);
  find_people(text, changes);
  // Of changes that overlap the first counts; of those that begin together, the longest.
  std::ranges::sort(changes, [](const Change& a, const Change& b) {
    return std::pair(a.begin, b.end) < std::pair(b.begin, a.end);
  });
  std::string out;
  std::size_t copied = 0;
  for (const Change& change : changes) {
    if (change.begin < copied || is_done(text, change)) {
      continue;
    }
    assert(change.begin <= change.end && change.end <= text.size());
    out.append(text, copied, change.begin - copied)
        .append(pseudonym(change, text.substr(change.begin, change.end - change.begin)));
    copied = change.end;
  }
  out.append(text, copied);
  note_names(out);
  return out;
}

/// Two words with capitals, one behind the other, may be somebody.
void Anonymizer::note_names(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = name_end(text, i);
    const std::size_t next = end + 1;
    const std::size_t last = name_end(text, std::min(next, text.size()));
    const auto is_name = [&](std::size_t from, std::size_t to) {
      return to >= from + kNameSizeMin && is_upper(text[from]) &&
             all_are(text.substr(from + 1, to - from - 1),
                     [](char c) { return is_lower(c) || !is_ascii(c) || c == '-'; });
    };
    if (byte_at(text, end) == ' ' && last > next && is_name(i, end) && is_name(next, last)) {
      note_name("name", text.substr(i, last - i));
      i = next;  // The first may only have begun the sentence.
    } else {
      i = std::max(end, i + 1);
    }
  }
}

void Anonymizer::note_name(std::string_view kind, std::string_view text) {
  constexpr std::size_t kNotedMax = 2000;  // Of each kind; more are no help.
  if (kind.empty() || text.empty() || is_pseudonym("person", text)) {
    return;
  }
  std::map<std::string, std::uint64_t>& noted = left_[std::string(kind)];
  if (noted.size() < kNotedMax || noted.contains(std::string(text))) {
    ++noted[std::string(text)];
  }
}

std::vector<AnonymizeLeft> Anonymizer::left() const {
  constexpr std::size_t kShownMax = 20;
  std::vector<AnonymizeLeft> all;
  for (const auto& [kind, noted] : left_) {
    std::vector<AnonymizeLeft> some = mapped(noted, [&](const auto& each) {
      return AnonymizeLeft{.kind = kind, .text = each.first, .count = each.second};
    });
    std::ranges::stable_sort(some, std::greater(), &AnonymizeLeft::count);
    some.resize(std::min(some.size(), kShownMax));
    std::ranges::move(some, std::back_inserter(all));
  }
  return all;
}

void Anonymizer::find_paths(std::string_view text, std::vector<Change>& changes) const {
  const auto ends_path = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' ||
           std::string_view("\"'`<>|;,()[]{}*?:").find(c) != std::string_view::npos;
  };
  for (std::size_t i = 0; (i = text.find('/', i)) != std::string_view::npos;) {
    if (text.substr(0, i).ends_with("file:") && byte_at(text, i + 1) == '/') {
      i = text.find('/', i + 2);  // Behind the host, which few have.
      if (i == std::string_view::npos) {
        break;
      }
    }
    const std::string_view before = text.substr(0, i);
    const char last = before.empty() ? ' ' : before.back();
    const bool is_url = before.substr(before.size() - std::min<std::size_t>(before.size(), 260))
                            .contains("file://") &&
                        before.rfind("file://") + 7 >= before.find_last_of(" \t\n\"'") + 1;
    const bool begins = ends_path(last) || last == '=' || last == '@' || is_url;
    std::size_t end = run_end(text, i, [&](char c) { return !ends_path(c); });
    for (const std::string_view home : {"/home/", "/Users/"}) {
      if (text.substr(i).starts_with(home)) {
        const std::size_t name = home_name_end(text, i + home.size());
        end = name > end ? run_end(text, name, [&](char c) { return !ends_path(c); }) : end;
      }
    }
    end = end_without(text, std::min(i + 1, end), end, ".!");  // The full stop of a sentence.
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
}

/// "~marit/x": the home of somebody.
void Anonymizer::find_homes(std::string_view text, std::vector<Change>& changes) const {
  for (std::size_t i = 0; (i = text.find('~', i)) != std::string_view::npos;) {
    const std::size_t begin = ++i;
    const std::size_t end = run_end(text, begin, is_name_part);
    const char before = byte_before(text, begin - 1);
    const bool begins = begin == 1 || (!is_name_part(before) && before != '~' && before != '/');
    const std::string_view name = text.substr(begin, end - begin);
    if (begins && !is_pseudonym("person", name) && name.size() >= 2 && is_letter(name[0]) &&
        (byte_at(text, end) == '/' || is_person(name))) {
      changes.push_back({.begin = begin, .end = end, .rule = is_person(name) ? "person" : "user"});
    }
    i = std::max(i, end);
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
    assert(!segment.empty() && "slashes are copied before");
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

/// Names without blanks around them, as Chinese and Japanese have none.
void Anonymizer::find_unspaced(std::string_view text, std::vector<Change>& changes) const {
  for (const auto& [alias, name] : aliases_) {
    if (!is_unspaced(alias) || alias.contains(' ')) {
      continue;
    }
    for (std::size_t at = text.find(alias); at != std::string_view::npos;
         at = text.find(alias, at + alias.size())) {
      changes.push_back({.begin = at, .end = at + alias.size(), .rule = "person"});
    }
  }
}

void Anonymizer::find_people(std::string_view text, std::vector<Change>& changes) const {
  find_unspaced(text, changes);
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = name_end(text, i);
    if (end == i) {
      i += separator_size(text, i);
      continue;
    }
    // A name may have more words than one: the longest that is known.
    std::optional<std::size_t> known;
    for (std::size_t stop = end, words = 1; words <= 3; ++words) {
      if (stop - i >= kNameSizeMin && is_person(text.substr(i, stop - i))) {
        known = stop;
      }
      const std::size_t next = name_end(text, std::min(stop + 1, text.size()));
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
    } else {
      find_inside(text, i, end, changes);
    }
    i = end;
  }
}

/// "marit-todo", "fix_marit": a name that is part of another.
void Anonymizer::find_inside(std::string_view text, std::size_t begin, std::size_t end,
                             std::vector<Change>& changes) const {
  assert(begin <= end && end <= text.size());
  for (std::size_t at = begin; at < end;) {
    const std::size_t stop =
        std::min(run_end(text, at, [](char c) { return is_alnum(c) || !is_ascii(c); }), end);
    const bool is_whole = at == begin && stop == end;
    if (!is_whole && stop - at >= kNameSizeMin &&
        aliases_.contains(lower_case(text.substr(at, stop - at)))) {
      changes.push_back({.begin = at, .end = stop, .rule = "person"});
    }
    at = std::max(stop, at + 1);
  }
}

}  // namespace bmad_mem
