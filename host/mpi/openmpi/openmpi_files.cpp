#include "host/mpi/openmpi/openmpi_files.h"

#include "host/disk/command_output.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <sstream>
#include <sys/utsname.h>
#include <system_error>

namespace mqbridge::openmpi {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::seconds query_limit{20};

bool present(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// A program's answer to a question about itself; empty if it cannot be run or does not know.
std::string ask(std::vector<std::string> command, const std::string& question) {
  command.push_back(question);
  const auto answer = run_command(command, query_limit);
  return answer && answer->exit_status == 0 ? answer->text : std::string();
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

std::string own_machine() {
  utsname names{};
  return ::uname(&names) == 0 ? names.machine : "";
}

// `directory` may be .../include or .../include/openmpi.
std::optional<Headers> headers_in(const fs::path& directory) {
  const fs::path internal = "ompi/communicator/communicator.h";
  if (present(directory / "openmpi" / internal))
    return Headers{{directory / "openmpi", directory}, directory};
  if (present(directory / internal))
    return Headers{{directory, directory.parent_path()}, directory.parent_path()};
  return std::nullopt;
}

std::vector<fs::path> usual_places(const std::vector<std::string>& compiler) {
  std::vector<fs::path> places;
  const auto target = words_of(ask(compiler, "-print-multiarch"));
  const auto machine = own_machine();
  // mpicc knows this machine's Open MPI only; a cross compiler needs the headers of its target.
  if (target.empty() || target[0].starts_with(machine)) {
    for (const auto& word : words_of(ask({"mpicc"}, "--showme:incdirs")))
      places.emplace_back(word);
  }
  if (!target.empty())
    places.push_back(fs::path("/usr/lib") / target[0] / "openmpi/include");
  if (target.empty()) {
    places.push_back("/usr/include/openmpi-" + machine);
    places.emplace_back("/usr/lib64/openmpi/include");
    places.emplace_back("/usr/local/include");
    places.emplace_back("/usr/include");
  }
  return places;
}

/// Open MPI's headers include those of PMIx, which distributions keep in a directory of its own
/// beside Open MPI's.
std::vector<fs::path> pmix_places(const Headers& headers) {
  std::vector<fs::path> places;
  for (const auto* place : {"pmix2/include", "pmix/include"})
    if (auto path = headers.root.parent_path().parent_path() / place; present(path / "pmix.h"))
      places.push_back(std::move(path));
  return places;
}

std::shared_ptr<const ElfFile> open_first(const std::vector<fs::path>& paths) {
  for (const auto& path : paths)
    if (auto file = ElfFile::open(path))
      return *file;
  return nullptr;
}

// The plugin is beside libmpi itself, or beside the link to it in a directory of the distribution.
std::vector<fs::path> ob1_places(const std::vector<fs::path>& library_directories) {
  std::vector<fs::path> places;
  for (const auto& directory : library_directories)
    for (const auto* plugins :
         {"openmpi", "openmpi/lib/openmpi3", "openmpi/lib/openmpi", "openmpi3"})
      places.push_back(directory / plugins / "mca_pml_ob1.so");
  return places;
}

/// "4.1.4", from the lines that begin with these three keys. Empty: not all of them are there.
std::string version_in(const fs::path& file, const std::array<std::string_view, 3>& keys) {
  std::ifstream lines(file);
  std::array<std::string, 3> numbers;
  for (std::string line; std::getline(lines, line);) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (line.starts_with(keys[i]))
        numbers[i] = line.substr(keys[i].size());
    }
  }
  const bool all = std::ranges::none_of(numbers, [](const auto& text) { return text.empty(); });
  return all ? fmt::format("{}", fmt::join(numbers, ".")) : std::string();
}

std::string version_of(const Headers& headers) {
  for (const auto& directory : headers.search) {
    auto version = version_in(directory / "mpi.h",
                              {"#define OMPI_MAJOR_VERSION ", "#define OMPI_MINOR_VERSION ",
                               "#define OMPI_RELEASE_VERSION "});
    if (!version.empty())
      return version;
  }
  return "(mpi.h does not say)";
}

/// Whether it has what the headers are made of that configure makes.
bool is_whole(const fs::path& source) {
  return present(source / "opal/include/opal_config_bottom.h") &&
         (present(source / "ompi/include/mpi.h") || present(source / "ompi/include/mpi.h.in"));
}

} // namespace

Result<Headers> find_headers(const std::vector<fs::path>& given,
                             const std::vector<std::string>& compiler) {
  const auto places = given.empty() ? usual_places(compiler) : given;
  std::vector<std::string> tried;
  for (const auto& place : places) {
    if (auto headers = headers_in(place)) {
      // Open MPI's headers may include others, which may be in the other places that were given.
      headers->search.insert(headers->search.end(), given.begin(), given.end());
      const auto pmix = pmix_places(*headers);
      headers->search.insert(headers->search.end(), pmix.begin(), pmix.end());
      return *headers;
    }
    tried.push_back(place.string());
  }
  return fail(
      "types.no_headers",
      fmt::format("no internal headers of Open MPI (ompi/communicator/communicator.h) in: {}",
                  fmt::join(tried, ", ")),
      "apt install libopenmpi-dev   (elsewhere: build Open MPI with --with-devel-headers, "
      "then --include PREFIX/include)");
}

std::string source_version(const fs::path& source) {
  return version_in(source / "VERSION", {"major=", "minor=", "release="});
}

Result<Headers> find_headers_with(const fs::path& source, const std::vector<fs::path>& given,
                                  const std::vector<std::string>& compiler) {
  const auto version = source_version(source);
  constexpr std::string_view private_header = "ompi/mca/pml/ob1/pml_ob1_comm.h";
  if (version.empty() || !present(source / private_header)) {
    return fail("types.no_source",
                fmt::format("{} is no source of Open MPI: it has no {}", source.string(),
                            version.empty() ? "VERSION" : private_header),
                "unpack the source of the MPI's own version, and give its directory: --source DIR");
  }
  auto headers = find_headers(given, compiler);
  const auto headers_are = headers ? version_of(*headers) : std::string();
  if (headers && version == headers_are) {
    headers->source = source;
    return headers;
  }
  // Directories that were given may hold what the source lacks, such as PMIx's headers.
  if (is_whole(source) && (given.empty() || !headers))
    return Headers{given, source, source, true};
  if (!headers)
    return headers;
  return fail("types.source_version",
              fmt::format("the source in {} is that of Open MPI {}, the headers in {} are those "
                          "of {}",
                          source.string(), version, headers->root.string(), headers_are),
              fmt::format("give the source of {} with --source DIR", headers_are));
}

Result<fs::path> find_library(const Headers& headers) {
  const auto above = headers.root.parent_path();
  std::vector<std::string> tried;
  for (const auto& directory : {above / "lib", above / "lib64", above.parent_path()}) {
    for (const auto* name : {"libmpi.so", "libmpi.so.40"}) {
      std::error_code error;
      auto library = fs::canonical(directory / name, error);
      if (!error)
        return library;
      tried.push_back((directory / name).string());
    }
  }
  return fail("types.no_library",
              fmt::format("a pack is keyed by the build-id of libmpi, and there is none at: {}",
                          fmt::join(tried, ", ")),
              "name the library itself, or make a carrier (an output that does not end in .types)");
}

Result<Libraries> open_libraries(const fs::path& libmpi) {
  auto first = ElfFile::open(libmpi);
  if (!first)
    return forward(std::move(first));
  Libraries libraries = {*first};
  std::error_code error;
  const auto real = fs::canonical(libmpi, error);
  for (const auto& name : (*first)->needed()) {
    // Only bare file names are looked for; DT_NEEDED may hold paths, too.
    if (!name.starts_with("libopen-") || name.find('/') != std::string::npos)
      continue;
    if (auto beside = open_first({libmpi.parent_path() / name, real.parent_path() / name}))
      libraries.push_back(std::move(beside));
  }
  if (auto plugin = open_first(ob1_places({libmpi.parent_path(), real.parent_path()})))
    libraries.push_back(std::move(plugin));
  return libraries;
}

std::optional<std::string> library_version(const ElfFile& libmpi) {
  const auto* symbol = libmpi.find_symbol("ompi_version_string");
  if (symbol == nullptr || symbol->size < 2 || symbol->size > 256)
    return std::nullopt;
  std::string version(symbol->size, '\0');
  const auto read = libmpi.read(symbol->address, std::as_writable_bytes(std::span(version)));
  version.resize(read);
  version.resize(std::min(version.find('\0'), version.size()));
  if (version.empty())
    return std::nullopt;
  return version;
}

} // namespace mqbridge::openmpi
