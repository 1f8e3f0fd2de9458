#include "model_based/memory_model.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace bmad_mem::test {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

void MemoryModel::declare_entry(EntryType type, const std::string& line, const std::string& id) {
  known_[{type, line}] = id;
}

std::vector<ModelLine> MemoryModel::lines(const std::string& session, EntryType type) {
  const std::string& bytes = log(session, type);
  std::vector<ModelLine> found;
  std::size_t at = 0;
  for (std::size_t end; (end = bytes.find('\n', at)) != std::string::npos; at = end + 1) {
    ModelLine line{.text = bytes.substr(at, end - at),
                   .number = found.size() + 1,
                   .offset = at,
                   .size = end - at};
    std::string entry = line.text;
    if (entry.ends_with('\r')) {
      entry.pop_back();
    }
    // Blanks behind an entry belong to its line, and change nothing about it.
    const auto known = known_.find({type, entry.substr(0, entry.find_last_not_of(" \t\r") + 1)});
    if (is_blank(line.text)) {
      line.kind = ModelLine::Kind::kBlank;
    } else if (known != known_.end()) {
      line.kind = ModelLine::Kind::kEntry;
      line.text = entry;
      line.id = known->second;
    } else {
      line.kind = ModelLine::Kind::kDamaged;
    }
    found.push_back(std::move(line));
  }
  return found;
}

std::string MemoryModel::torn(const std::string& session, EntryType type) {
  const std::string& bytes = log(session, type);
  return bytes.substr(bytes.rfind('\n') + 1);
}

void MemoryModel::append(const std::string& session, EntryType type, std::string_view lines) {
  mend(session, type);
  log(session, type) += lines;
}

void MemoryModel::mend(const std::string& session, EntryType type) {
  const std::string end = torn(session, type);
  if (end.empty()) {
    return;
  }
  std::string& bytes = log(session, type);
  // To nlohmann/json a zero byte is the end of the text; a file system leaves some behind after a
  // power cut, and behind an entry they make its line a damaged one.
  const bool has_zero = end.find('\0') != std::string::npos;
  const auto value = nlohmann::json::parse(end, nullptr, /*allow_exceptions=*/false);
  if (!has_zero && value.is_object()) {
    bytes += '\n';
    return;
  }
  const std::size_t start = bytes.size() - end.size();
  set_aside(session, type,
            {.text = end,
             .number = static_cast<std::uint64_t>(std::ranges::count(bytes, '\n')) + 1,
             .offset = start,
             .size = end.size()});
  bytes.resize(start);
}

void MemoryModel::set_aside(const std::string& session, EntryType type, const ModelLine& line) {
  const std::string file(entry_type_info(type).log_file);
  const std::string identity =
      fmt::format("{} {} {} {}", file, line.number, line.offset, line.text);
  if (kept_[session].insert(identity).second) {
    quarantine_[session].emplace_back(file, line.text);
  }
}

void MemoryModel::repair(const std::string& session) {
  for (const EntryType type : kEntryTypes) {
    mend(session, type);
    std::string left;
    for (const ModelLine& line : lines(session, type)) {
      const std::string bytes = log(session, type).substr(line.offset, line.size);
      const bool behind_mark = line.offset == 0 && bytes.starts_with(kByteOrderMark) &&
                               known_.contains({type, bytes.substr(kByteOrderMark.size())});
      if (behind_mark) {
        left += bytes.substr(kByteOrderMark.size()) + "\n";
      } else if (line.kind == ModelLine::Kind::kDamaged) {
        set_aside(session, type, line);
      } else {
        left += bytes + "\n";
      }
    }
    log(session, type) = left;
  }
}

std::map<EntryKey, std::vector<ModelLine>> MemoryModel::entries() {
  std::map<EntryKey, std::vector<ModelLine>> found;
  for (const std::string& session : sessions_) {
    for (const EntryType type : kEntryTypes) {
      for (const ModelLine& line : lines(session, type)) {
        if (line.kind == ModelLine::Kind::kEntry) {
          found[{{session, type}, line.id}].push_back(line);
        }
      }
    }
  }
  return found;
}

}  // namespace bmad_mem::test
