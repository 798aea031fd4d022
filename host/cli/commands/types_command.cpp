#include "host/cli/commands/execute.h"
#include "host/cli/terminal/output.h"
#include "host/codes.h"
#include "host/elf/elf_reader.h"
#include "host/mpi/type_carrier.h"
#include "host/report/fitted_text.h"
#include "host/report/table.h"
#include "host/types/type_pack.h"
#include "host/types/types_file.h"

#include <cstdint>
#include <fmt/format.h>

namespace mqbridge {
namespace {

/// The contents of a file: all types of a pack; of a carrier the types that mqbridge needs.
struct Contents {
  std::string heading;
  std::vector<TypeLayout> types;
  std::vector<std::string> missing;
};

IndexerOptions indexer_of(bool sandbox) {
  IndexerOptions options;
  options.sandboxed = sandbox;
  return options;
}

Result<Contents> read_carrier(const std::filesystem::path& path, bool sandbox) {
  auto source = open_types_file(path, indexer_of(sandbox));
  if (!source)
    return forward(std::move(source));
  Contents contents;
  contents.heading = fmt::format("type carrier {}", path.string());
  const auto wanted = mpi_of_carriers().carrier_types();
  for (const auto name : wanted.needed) {
    auto layout = (*source)->find(name);
    if (!layout)
      return forward(std::move(layout));
    if (*layout)
      contents.types.push_back(**layout);
    else
      contents.missing.emplace_back(name);
  }
  for (const Names more : wanted.optional) {
    for (const auto name : more) {
      auto layout = (*source)->find(name);
      if (!layout)
        return forward(std::move(layout));
      if (*layout)
        contents.types.push_back(**layout);
    }
  }
  return contents;
}

Result<Contents> read_pack(const std::filesystem::path& path) {
  auto pack = read_type_pack(path);
  if (!pack)
    return forward(std::move(pack));
  Contents contents;
  contents.heading = fmt::format(
      "type pack {}: {} {}, {}build-id {}, {} {}-endian, {}-byte pointers", path.string(),
      pack->mpi, pack->version, pack->library.empty() ? "" : pack->library + " ",
      pack->build_id.empty() ? "any" : pack->build_id, pack->architecture,
      pack->byte_order == ByteOrder::little ? "little" : "big", pack->pointer_size);
  contents.types = std::move(pack->types);
  return contents;
}

std::vector<std::vector<Cell>> rows_of(const std::vector<TypeLayout>& types) {
  std::vector<std::vector<Cell>> rows;
  for (const TypeLayout& type : types) {
    rows.push_back({{printable(type.name)}, {fmt::format("{}", type.size)}});
    for (const TypeField& field : type.fields)
      rows.push_back({{},
                      {field.size == 0 ? "?" : fmt::format("{}", field.size)},
                      {fmt::format("{}", field.offset)},
                      {printable(field.name)}});
  }
  return rows;
}

std::string contents_text(const Contents& contents) {
  const Paint plain(false);
  Table table({{"TYPE"}, {"SIZE", Align::right}, {"OFFSET", Align::right}, {"FIELD"}}, 100);
  const auto rows = rows_of(contents.types);
  for (const auto& row : rows)
    table.fit(row);
  std::string text = printable(contents.heading) + "\n\n" + table.titles(plain) + "\n";
  for (const auto& row : rows)
    text += table.line(row, plain) + "\n";
  for (const std::string& name : contents.missing)
    text += "not there: " + printable(name) + "\n";
  return text;
}

int print(const std::string& text, int status, const Installation& installation) {
  const int printed = execute(PrintCommand{text}, installation);
  return printed == exit_ok ? status : printed;
}

/// Words about the file that was made, from a look into it.
std::string made_text(const TypesMakeCommand& command) {
  const bool pack = command.output.extension() == ".types";
  const auto contents =
      pack ? read_pack(command.output) : read_carrier(command.output, command.sandbox);
  const std::string what =
      contents ? fmt::format("{}; {} types", contents->heading, contents->types.size())
               : command.output.string();
  return printable(fmt::format("made {}", what)) + "\n" +
         fmt::format("to use it: mqbridge dump --types {} TARGET...\n",
                     pasteable(command.output.string()));
}

/// Wrong types are the result of a check; a file that cannot be used at all is an error like any
/// other.
int failed(const Error& error) {
  print_error(error);
  return exit_partial;
}

} // namespace

int execute(const TypesMakeCommand& command, const Installation& installation) {
  CarrierRequest request;
  request.mpi = command.mpi;
  request.compiler = command.compiler;
  request.include_directories = command.include_directories;
  request.source = command.source;
  request.library = command.library;
  request.output = command.output;
  request.indexer = indexer_of(command.sandbox);
  const auto made = make_type_carrier(request);
  if (made && !command.source) {
    const auto without = mpi_of_carriers(command.mpi).facts().carriers.without_source;
    if (!without.empty())
      print_error({codes::types_partial, std::string(without),
                   "unpack the source of the same version, and add: --source DIR"});
  }
  if (made)
    return print(made_text(command), exit_ok, installation);
  print_error(made.error());
  if (made.error().code == codes::types_unknown_mpi)
    return exit_usage;
  return made.error().code == codes::output_write ? exit_output : exit_partial;
}

int execute(const TypesShowCommand& command, const Installation& installation) {
  const auto file = open_regular_file(command.file);
  const auto contents =
      file && is_elf(*file) ? read_carrier(command.file, command.sandbox) : read_pack(command.file);
  if (!contents)
    return failed(contents.error());
  return print(contents_text(*contents), exit_ok, installation);
}

int execute(const TypesCheckCommand& command, const Installation& installation) {
  const auto types = open_types_file(command.file, indexer_of(command.sandbox));
  if (!types)
    return failed(types.error());
  const auto check = mpi_of_carriers().check_carrier(**types, command.library);
  if (!check)
    return failed(check.error());
  const std::string names =
      printable(fmt::format("{} and {}", command.file.string(), check->library.string()));
  if (check->fit)
    return print(fmt::format("ok: {}: {} sizes compared, all agree{}\n", names, check->compared,
                             check->lacking.empty()
                                 ? ""
                                 : fmt::format("; {} are not there", check->lacking)),
                 exit_ok, installation);
  std::string faults;
  for (const std::string& fault : check->faults)
    faults += printable(fault) + "\n";
  const int printed = print(faults, exit_partial, installation);
  print_error({"types.mismatch",
               fmt::format("{} do not fit ({} sizes compared)", names, check->compared),
               check->make_line});
  return printed;
}

} // namespace mqbridge
