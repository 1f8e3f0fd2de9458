#include "cli/decay_view.hpp"

#include <algorithm>
#include <cstddef>

#include "bmad_mem/rfc3339.hpp"
#include "cli/table.hpp"

namespace bmad_mem::cli {

void print_histogram(Tool& tool, const DecayReport& report) {
  constexpr std::size_t kWidth = 30;
  const std::uint64_t most = *std::ranges::max_element(report.histogram);
  std::size_t width = 0;
  for (const std::uint64_t count : report.histogram) {
    width = std::max(width, format_count(count).size());
  }
  for (std::size_t i = report.histogram.size(); i-- > 0;) {
    const std::uint64_t count = report.histogram[i];
    const double share = most == 0 ? 0 : static_cast<double>(count) / static_cast<double>(most);
    std::string line =
        fmt::format("  {:.1f} to {:.1f}  {}  {}", static_cast<double>(i) / 10,
                    static_cast<double>(i + 1) / 10, padded_left(format_count(count), width),
                    count == 0 ? std::string() : block_bar(share, kWidth));
    line.erase(line.find_last_not_of(' ') + 1);
    tool.out().print("{}\n", line);
  }
}

void add_decay(JsonWriter& json, const DecayReport& report) {
  json.member("model", report.model).member("as_of", format_rfc3339(report.as_of));
  json.member("entries", report.entries).key("histogram").begin_array();
  for (const std::uint64_t count : report.histogram) {
    json.integer(static_cast<std::int64_t>(count));
  }
  json.end_array().key("mean").begin_object();
  for (const EntryType type : kEntryTypes) {
    if (const double mean = report.mean[static_cast<std::size_t>(type)]; mean > 0) {
      json.key(entry_type_name(type)).raw(fmt::format("{:.4f}", mean));
    }
  }
  json.end_object();
}

void print_decay_table(Tool& tool, std::span<const DecayTableLine> lines) {
  if (tool.json()) {
    for (const DecayTableLine& line : lines) {
      JsonWriter json;
      json.begin_object().member("model", line.model).member("is_used", line.is_used);
      json.member("type", entry_type_name(line.type)).key("factors").begin_object();
      for (std::size_t i = 0; i < line.factors.size(); ++i) {
        json.key(fmt::format("{}", kDecayTableAges[i])).raw(fmt::format("{:.4f}", line.factors[i]));
      }
      json.end_object().end_object();
      tool.out().print("{}\n", json.text());
    }
    return;
  }
  std::vector<TableRow> rows;
  const auto flush = [&] {
    if (!rows.empty()) {
      print_table(tool, rows);
    }
    rows.clear();
  };
  std::string_view model;
  for (const DecayTableLine& line : lines) {
    if (line.model != model) {
      flush();
      tool.out().write(model.empty() ? "" : "\n");
      model = line.model;
      rows.push_back({line.is_used ? line.model + " (used)" : line.model});
      for (const int days : kDecayTableAges) {
        rows.front().push_back(days == 1 ? "1 day" : fmt::format("{} days", days));
      }
    }
    rows.push_back({std::string(entry_type_name(line.type))});
    for (const double factor : line.factors) {
      rows.back().push_back(fmt::format("{:.2f}", factor));
    }
  }
  flush();
}

}  // namespace bmad_mem::cli
