// anonymizer.hpp - entries without the people, hosts and places in them.
//
//   1. learn() from everything: who is a person, who an agent
//   2. json() and text(): each gets its pseudonym, wherever it is named
//
// Ids, references, types and times stay, so the entries still fit together and are still entries.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_value.hpp"
#include "bmad_mem/reports.hpp"
#include "privacy/pseudonyms.hpp"

namespace bmad_mem {

struct AnonymizerOptions {
  PseudonymKey key{};
  /// The folder of the project, absolute: below it names stay readable. May be empty.
  std::string workspace;
  bool all_paths = false;  ///< Below the workspace too.
};

class Anonymizer {
 public:
  explicit Anonymizer(AnonymizerOptions options);

  void learn(const Session& session);
  void learn(EntryType type, JsonValue entry);
  /// Must follow the last learn() and come before what is below.
  void finish_learning();

  /// A JSON object with pseudonyms in its strings; what needs none keeps its bytes.
  std::string json(std::string_view json);
  std::string text(std::string_view text);
  /// `session` with pseudonyms in all that describes it. Its id stays.
  Session session(const Session& session);

  [[nodiscard]] const Pseudonyms& pseudonyms() const { return pseudonyms_; }

 private:
  /// A part of a text that gets a pseudonym: a name, an "email", or a whole "path".
  struct Change {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string_view kind;
  };

  void learn_members(JsonValue value, std::string_view name);
  void add_person(std::string_view name);
  [[nodiscard]] bool is_person(std::string_view name) const;
  std::string person(std::string_view name);
  static void find_contacts(std::string_view text, std::vector<Change>& changes);
  static void find_private_contacts(std::string_view text, std::vector<Change>& changes);
  static void find_hosts(std::string_view text, std::vector<Change>& changes);
  void find_paths(std::string_view text, std::vector<Change>& changes) const;
  void find_people(std::string_view text, std::vector<Change>& changes) const;
  /// Whether path() changes it.
  [[nodiscard]] bool names_place(std::string_view path) const;
  std::string path(std::string_view path);
  std::string pseudonym(std::string_view kind, std::string_view part);
  std::string segments(std::string_view path);

  AnonymizerOptions options_;
  Pseudonyms pseudonyms_;
  std::set<std::string, std::less<>> candidates_;
  std::set<std::string, std::less<>> agents_;
  /// What people are called in texts, in lower case, and who it is.
  std::map<std::string, std::string, std::less<>> aliases_;
};

}  // namespace bmad_mem
