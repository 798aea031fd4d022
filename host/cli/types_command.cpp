#include "host/cli/execute.h"
#include "host/cli/output.h"
#include "host/codes.h"
#include "host/elf/elf_reader.h"
#include "host/mpi/openmpi/type_carrier.h"
#include "host/mpi/openmpi/types_check.h"
#include "host/report/printable.h"
#include "host/report/table.h"
#include "host/types/type_pack.h"
#include "host/types/types_file.h"

#include <cstdint>
#include <fmt/format.h>
#include <sstream>

namespace mqbridge {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;)
    words.push_back(word);
  return words;
}

/// What a file holds: all types of a pack; of a carrier those that mqbridge asks for.
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
  for (const auto name : openmpi::needed_types()) {
    auto layout = (*source)->find(name);
    if (!layout)
      return forward(std::move(layout));
    if (*layout)
      contents.types.push_back(**layout);
    else
      contents.missing.emplace_back(name);
  }
  for (const auto& more : {openmpi::ob1_types(), openmpi::tool_types()}) {
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
  contents.heading =
      fmt::format("type pack {}: {} {}, {} build-id {}, {} {}-endian, {}-byte pointers",
                  path.string(), pack->mpi, pack->version, pack->library,
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

Result<std::filesystem::path> installed_libmpi() {
  auto headers = openmpi::find_headers({}, {"cc"});
  if (!headers)
    return fail("types.no_library", "no installed MPI library was found",
                "name it: --library /path/of/libmpi.so.40");
  return openmpi::find_library(*headers);
}

struct Checked {
  std::filesystem::path library;
  openmpi::TypeComparison comparison;
  std::optional<openmpi::TypeComparison> ob1 = {}; ///< nullopt: the file has no types of ob1
};

Result<Checked> check(const TypesCheckCommand& command) {
  auto types = open_types_file(command.file, indexer_of(command.sandbox));
  if (!types)
    return forward(std::move(types));
  auto library =
      command.library ? Result<std::filesystem::path>(*command.library) : installed_libmpi();
  if (!library)
    return forward(std::move(library));
  auto libraries = openmpi::open_libraries(*library);
  if (!libraries)
    return forward(std::move(libraries));
  auto comparison = openmpi::check_types(**types, *libraries);
  if (!comparison)
    return forward(std::move(comparison));
  Checked checked{*library, std::move(*comparison)};
  auto ob1 = (*types)->find("mca_pml_ob1_comm_t");
  if (!ob1)
    return forward(std::move(ob1));
  if (*ob1 == nullptr)
    return checked;
  auto of_ob1 = openmpi::check_ob1_types(**types, *libraries);
  if (!of_ob1)
    return forward(std::move(of_ob1));
  checked.ob1 = std::move(*of_ob1);
  return checked;
}

/// What it finds wrong, a line each.
std::string faults_text(const openmpi::TypeComparison& comparison) {
  std::string text;
  for (const std::string& mismatch : comparison.mismatches)
    text += "differs: " + printable(mismatch) + "\n";
  for (const std::string& missing : comparison.missing)
    text += "not there: " + printable(missing) + "\n";
  for (const std::string& unstated : comparison.unstated)
    text += "not compared: " + printable(unstated) + ": no mca_pml_ob1.so beside the library\n";
  return text;
}

/// What was made, as a look into the file shows it.
std::string made_text(const TypesMakeCommand& command) {
  const bool pack = command.output.extension() == ".types";
  const auto contents =
      pack ? read_pack(command.output) : read_carrier(command.output, command.sandbox);
  const std::string what =
      contents ? fmt::format("{}; {} types", contents->heading, contents->types.size())
               : command.output.string();
  return printable(fmt::format("made {}", what)) + "\n" +
         printable(fmt::format("to use it: mqbridge dump --types {} TARGET...",
                               command.output.string())) +
         "\n";
}

/// Wrong types are what a check finds; a file that cannot be used at all is an error like any
/// other.
int failed(const Error& error) {
  print_error(error);
  return exit_partial;
}

} // namespace

int execute(const TypesMakeCommand& command, const Installation& installation) {
  CarrierRequest request;
  request.mpi = command.mpi;
  request.compiler = words_of(command.compiler);
  request.include_directories = command.include_directories;
  request.source = command.source;
  request.library = command.library;
  request.output = command.output;
  request.indexer = indexer_of(command.sandbox);
  const auto made = make_type_carrier(request);
  if (made && !command.source)
    print_error(
        {codes::types_partial,
         "without Open MPI's own source the types of ob1 are not in it: unexpected messages, "
         "and what a rank inside a collective or MPI_Probe waits for, will not be read",
         "unpack the source of the same version, and add: --source DIR"});
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
  const auto checked = check(command);
  if (!checked)
    return failed(checked.error());
  const auto& [library, comparison, ob1] = *checked;
  const int compared = comparison.compared + (ob1 ? ob1->compared : 0);
  const std::string names =
      printable(fmt::format("{} and {}", command.file.string(), library.string()));
  if (comparison.fits() && (!ob1 || ob1->fits()))
    return print(fmt::format("ok: {}: {} sizes compared, all agree{}\n", names, compared,
                             ob1 ? "" : "; the types of ob1 are not there"),
                 exit_ok, installation);
  const int printed = print(faults_text(comparison) + (ob1 ? faults_text(*ob1) : std::string()),
                            exit_partial, installation);
  print_error({"types.mismatch", fmt::format("{} do not fit ({} sizes compared)", names, compared),
               fmt::format("mqbridge types make --mpi openmpi {}-o ompi.types",
                           ob1 ? "--source DIR " : "")});
  return printed;
}

} // namespace mqbridge
