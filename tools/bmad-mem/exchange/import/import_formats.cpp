// import_formats.cpp - the rows of the tables of formats, with who reads their files.
#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "cli/text.hpp"
#include "exchange/import/document_elements.hpp"
#include "exchange/import/format_table.hpp"
#include "exchange/import/import_files.hpp"
#include "exchange/import/importer.hpp"

namespace bmad_mem::cli {
namespace {

/// What the table can't say is read by these.
constexpr std::pair<std::string_view, const ImportReader*> kCodeReaders[] = {
    {"entries", &kOwnEntriesReader},
    {"export", &kOwnExportReader},
    {"aider", &kAiderReader},
    {"server-memory", &kServerMemoryReader},
};

/// Who reads `row` with its steps, or where it has none those of `first_row`.
ImportReader reader_of_row(JsonValue row, JsonValue first_row) {
  const auto steps = std::make_shared<const RecordSteps>(
      read_format(row, (row["steps"].present() ? row : first_row)["steps"]));
  ImportReader reader{
      .looks_like =
          [row](std::string_view beginning) { return is_recognised(row["recognise"], beginning); },
      .make =
          [steps, has_changes = row["changes"].boolean()](const ImportContext& context) {
            auto importer = make_table_importer(context, *steps);
            return has_changes ? make_changed_document_importer(context, std::move(importer))
                               : std::move(importer);
          },
      .records_member = row["elements"].string()};
  reader.commands = read_texts(row["commands"]);
  if (row["tables"].present()) {
    for (const JsonValue tables : row["tables"].elements()) {
      reader.tables.push_back(read_texts(tables));
    }
    reader.read_database = [steps](const ImportContext& context, const Database& database) {
      return make_table_importer(context, *steps, &database)->finish();
    };
  }
  if (row["document"].present()) {
    reader.is_document = [is_one = read_conditions(row["document"])](std::string_view beginning) {
      const ParsedJson first = first_record(beginning);
      return !first || ValueFinder().holds(is_one, {*first});
    };
  }
  return reader;
}

/// The first row of that name.
JsonValue first_of(JsonValue table, std::string_view name) {
  JsonValue found;
  for (const JsonValue row : table["format"].elements()) {
    found = !found.present() && row["name"].string() == name ? row : found;
  }
  return found;
}

/// The rows of `table`, which has their texts.
std::vector<ImportRow> read_rows(JsonValue table) {
  std::vector<ImportRow> rows;
  for (const JsonValue row : table["format"].elements()) {
    ImportRow& format = rows.emplace_back();
    format.name = row["name"].string();
    format.title = row["title"].string();
    for (const JsonValue place : row["places"].elements()) {
      format.places.push_back(
          {.at = read_texts(place["at"]), .by = place["by"].string(), .as = place["as"].string()});
    }
    format.files = read_texts(row["files"]);
    format.beside = read_texts(row["beside"]);
    format.is_source = row["source"].boolean(true);
    const auto* const known = std::ranges::find(kCodeReaders, format.name,
                                                [](const auto& reader) { return reader.first; });
    if (row["records"].present()) {
      static_cast<ImportReader&>(format) = reader_of_row(row, first_of(table, format.name));
    } else if (known != std::end(kCodeReaders)) {
      static_cast<ImportReader&>(format) = *known->second;
    }
    if (!format.is_listed()) {
      const auto first = std::ranges::find(rows, format.name, &ImportRow::name);
      assert(first != rows.end() - 1);
      first->files.insert(first->files.end(), format.files.begin(), format.files.end());
    }
  }
  return rows;
}

}  // namespace

std::span<const ImportRow> import_rows() {
  static const ParsedJson kTable(formats_json());
  assert(kTable);
  static const std::vector<ImportRow> kRows = read_rows(*kTable);
  return kRows;
}

ImportFormat find_import_format(std::string_view name) {
  return find_by(import_rows(), name, &ImportRow::name);
}

std::string import_names(bool all) {
  const auto is_shown = [&](const ImportRow& row) {
    return row.is_listed() && (all || row.is_source);
  };
  std::vector<std::string_view> names = mapped_if(import_rows(), is_shown, &ImportRow::name);
  assert(!names.empty());
  const std::string_view last = names.back();
  names.pop_back();
  return fmt::format("{} or {}", joined(names), last);
}

}  // namespace bmad_mem::cli
