#include "model_based/operations.hpp"

#include <ostream>
#include <string_view>

#include <fmt/format.h>

namespace bmad_mem::test {
namespace {

using rc::gen::element;
using rc::gen::inRange;

/// Members of a good entry of each type besides id and timestamp, in the order of its log's lines.
/// {} is where the text goes. Written down by hand, so that the model does not repeat the engine.
std::string_view members(EntryType type) {
  switch (type) {
    case EntryType::kConversation:
      return R"("role":"user","content":"{}")";
    case EntryType::kDecision:
      return R"("decision":"{}","rationale":"because","impact":"high")";
    case EntryType::kFinding:
      return R"("description":"{}","status":"open")";
    case EntryType::kPreference:
      return R"("key":"style","value":"{}")";
    case EntryType::kFact:
      return R"("category":"any","content":"{}","confidence":0.50)";
    case EntryType::kEvent:
      return R"("kind":"tool_use","tool":"bash","content":"{}")";
    case EntryType::kAgentState:
      return R"("agent_id":"dev","state":{{"note":"{}","open":[1,2.0,[]]}})";
    case EntryType::kArtifact:
      return R"("path":"a.md","title":"{}")";
  }
  return {};
}

/// A good line with `blank` between its tokens.
std::string spread_out(std::string_view line, std::string_view blank) {
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    out += c;
    if (c == '\\') {
      out += line[++i];
    } else if (c == '"') {
      in_string = !in_string;
    }
    if (!in_string && (c == ',' || c == ':' || c == '{' || c == '[')) {
      out += blank;
    }
  }
  return out;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

/// What can be wrong with an entry. Each takes a good line and spoils it.
std::string spoiled(const std::string& line, int how) {
  const std::string_view kFactor = "\"decay_factor\":1.0";
  switch (how) {
    case 0:
      return line.substr(0, line.size() / 2);
    case 1:
      return line + "}";
    case 2:
      return replaced(line, kFactor, "\"decay_factor\":\"much\"");
    case 3:
      return replaced(line, kFactor, "\"decay_factor\":1e400");
    case 4:
      return replaced(line, kFactor, "\"n\":18446744073709551616");
    case 5:
      return replaced(line, kFactor, "\"n\":1,\"n\":2");
    case 6:
      return replaced(line, kFactor, "\"n\":\"\\u0000\"");
    case 7:
      return replaced(line, kFactor, "\"n\":\"\xFF\"");
    case 8:
      return replaced(line, kFactor, "\"n\":" + std::string(64, '[') + std::string(64, ']'));
    case 9:
      return replaced(line, "\"id\":\"", "\"id\":\"../");
    case 10:
      return replaced(line, "T10:", "T25:");
    case 11:
      return "\xEF\xBB\xBF" + line;
    case 12:
      return "[" + line + "]";
    case 13:
      return replaced(line, kFactor, "\"pinned\":null");
    default:
      return "{}";
  }
}
constexpr int kWaysToSpoil = 15;

rc::Gen<Candidate> any_candidate(EntryType type) {
  return rc::gen::exec([type] {
    // Few ids, so that entries get versions; any number of words, so that a search finds one.
    const int number = *inRange(0, 6);
    const int word = *inRange(0, 1'000'000);
    const std::string extra = *element<std::string>(
        "", R"(,"tags":["one","caf\u00e9"])", R"(,"pinned":true)", R"(,"x":{"deep":[null,1.00]})");
    const std::string text = *element<std::string>("", " caf\xC3\xA9", R"( \"quoted\" \\ \n)",
                                                   " \xF0\x9F\x98\x80", " {not} [json], \\u0041");
    Candidate candidate;
    candidate.id = fmt::format("{}-{}", entry_type_name(type), number);
    candidate.word = fmt::format("word{:06}", word);
    const bool is_unknown = extra.starts_with(",\"x\"");
    candidate.line = fmt::format(
        R"({{"id":"{}","timestamp":"2026-01-{:02}T10:00:00Z",{}{}{},"decay_factor":1.0}})",
        candidate.id, number + 1, fmt::format(fmt::runtime(members(type)), candidate.word + text),
        // Tags come before what every type may have, and that before unknown members.
        is_unknown ? "" : extra, is_unknown ? extra : "");
    candidate.good = *inRange(0, 4) != 0;
    const std::string blank = *element<std::string>("", " ", "\n\t ");
    candidate.input = candidate.good ? spread_out(candidate.line, blank)
                                     : spoiled(candidate.line, *inRange(0, kWaysToSpoil));
    return candidate;
  });
}

/// What a person, a merge or a disk may put at the end of a log.
rc::Gen<std::string> any_edit(EntryType type) {
  return rc::gen::exec([type] {
    const Candidate entry = *any_candidate(type);
    return *element<std::string>(
        entry.line + "\n", entry.line + "\r\n", entry.line, "\xEF\xBB\xBF" + entry.line + "\n",
        "\n", "  \r\n", "{}\n", "{}", "broken\n", "broken", "<<<<<<< HEAD\n", "\xFF\xFE\n", "\xC3",
        std::string("\0\0\0", 3), std::string("a\0b\n", 4), "{\"id\":\"x\"", "[]\n", "7");
  });
}

}  // namespace

rc::Gen<Operation> any_operation() {
  return rc::gen::exec([] {
    using Kind = Operation::Kind;
    Operation operation;
    operation.kind = *rc::gen::weightedElement<Kind>({{2, Kind::kCreateSession},
                                                      {10, Kind::kAdd},
                                                      {5, Kind::kAddBatch},
                                                      {1, Kind::kClose},
                                                      {2, Kind::kReopen},
                                                      {4, Kind::kEditLog},
                                                      {2, Kind::kCutLog},
                                                      {2, Kind::kRepair}});
    operation.session = *inRange<std::uint8_t>(0, 2);
    operation.type = *element(EntryType::kConversation, EntryType::kFact, EntryType::kFact,
                              EntryType::kDecision, EntryType::kFinding, EntryType::kPreference,
                              EntryType::kEvent, EntryType::kAgentState, EntryType::kArtifact);
    const int candidates = operation.kind == Kind::kAddBatch ? *inRange(0, 6) : 1;
    for (int i = 0; i < candidates; ++i) {
      operation.candidates.push_back(*any_candidate(operation.type));
    }
    operation.keep_going = *rc::gen::arbitrary<bool>();
    operation.known =
        *element(KnownEntries::kAppendVersion, KnownEntries::kSkipIdentical, KnownEntries::kSkipId);
    operation.edit = *any_edit(operation.type);
    operation.amount = *inRange<std::uint16_t>(1, 250);
    return operation;
  });
}

std::ostream& operator<<(std::ostream& out, const Operation& operation) {
  static constexpr std::string_view kNames[] = {
      "create session", "add", "add batch", "close", "reopen", "edit log", "cut log", "repair"};
  out << "\n  " << kNames[static_cast<std::size_t>(operation.kind)] << " s"
      << static_cast<int>(operation.session) << " " << entry_type_name(operation.type);
  switch (operation.kind) {
    case Operation::Kind::kAddBatch:
      out << " keep_going " << operation.keep_going << " known "
          << static_cast<int>(operation.known);
      [[fallthrough]];
    case Operation::Kind::kAdd:
      for (const Candidate& candidate : operation.candidates) {
        out << "\n    " << (candidate.good ? "good " : "bad  ") << candidate.input;
      }
      break;
    case Operation::Kind::kEditLog:
      out << " " << operation.edit;
      break;
    case Operation::Kind::kCutLog:
      out << " " << operation.amount;
      break;
    default:
      break;
  }
  return out;
}

}  // namespace bmad_mem::test
