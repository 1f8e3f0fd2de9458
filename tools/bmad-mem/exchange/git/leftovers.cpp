#include "exchange/git/leftovers.hpp"

#include <set>

#include "bmad_mem/json_writer.hpp"

namespace bmad_mem::cli {
namespace {

void print_leftovers(Tool& tool, std::span<const Leftover> found) {
  for (const Leftover& each : found) {
    if (tool.json()) {
      JsonWriter json;
      json.begin_object().key("left").begin_object();
      json.member("place", each.place).member("detail", each.detail).member("remedy", each.remedy);
      json.end_object().end_object();
      tool.out().print("{}\n", json.text());
    } else {
      tool.out().print("{} {}: {}\n", tool.style().red("left:"), printable(each.place),
                       printable(each.detail));
    }
  }
  if (tool.json()) {
    return;
  }
  std::set<std::string_view> remedies;  // Once each, although many places may need the same.
  for (const Leftover& each : found) {
    if (remedies.insert(each.remedy).second) {
      tool.out().print("  {}\n", printable(each.remedy));
    }
  }
}

void print_verdict(Tool& tool, std::size_t left, const std::string& obstacle) {
  if (tool.json()) {
    JsonWriter json;
    json.begin_object().key("verified").begin_object();
    json.member("left", static_cast<std::uint64_t>(left)).member("not_looked_at", obstacle);
    json.end_object().end_object();
    tool.out().print("{}\n", json.text());
    return;
  }
  if (!obstacle.empty()) {
    tool.note(obstacle);
  }
  if (left == 0) {
    tool.out().print("{}: nothing is left{}\n", tool.style().green("verified"),
                     obstacle.empty() ? ", neither in a file nor in git" : " in any file");
  }
}

}  // namespace

ExitStatus print_git_search(Tool& tool, const GitSearch& search) {
  print_leftovers(tool, search.found);
  print_verdict(tool, search.found.size(), search.obstacle);
  return search.found.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

Result<ExitStatus> verify_gone(Tool& tool, const MemoryManager& memory, std::string_view text) {
  BMAD_TRY_ASSIGN(const std::vector<Leftover> files, memory.find_text(text));
  GitSearch search = search_git_history(memory.root(), text);
  search.found.insert(search.found.begin(), files.begin(), files.end());
  return print_git_search(tool, search);
}

}  // namespace bmad_mem::cli
