#include "http/api/shapes.hpp"

#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/json.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {

std::optional<RawJson> unread(const MemoryManager& memory) {
  const std::vector<Error> problems = memory.problems();
  return problems.empty() ? std::nullopt
                          : std::optional(raw_json(json_value(shaped(shape::problem, problems))));
}

std::optional<std::uint64_t> closed_lines(const MemoryManager& memory, const EntryFilter& filter) {
  const Result<std::uint64_t> closed = memory.closed_entries(filter);
  return closed ? if_some(*closed) : sealed_lines(memory, filter.sessions);
}

std::optional<std::uint64_t> sealed_lines(const MemoryManager& memory,
                                          const std::vector<std::string>& sessions) {
  return if_some(memory.sealed_lines(sessions).value_or(0));
}

std::vector<std::string> references_of(const KnowledgeItem& item) {
  const ParsedJson entry(item.json);
  const auto ids = entry ? entry_references(*entry) : std::vector<std::string_view>();
  return {ids.begin(), ids.end()};
}

RawJson session_json(const MemoryManager& memory, const Session& session,
                     std::optional<std::uint64_t> entries) {
  return raw_json(
      session.problem
          ? json_object(shaped(shape::damaged_session, session))
          : json_object(shaped(shape::session_with_all, session,
                               session_state_name(memory.session_state(session)), entries)));
}

}  // namespace bmad_mem::cli
