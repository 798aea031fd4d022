#include "host/mpi/openmpi/openmpi_files.h"

#include "host/disk/run_command.h"

#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
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

// What a program prints when asked about itself; empty if it cannot be run or does not know.
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

} // namespace

Result<Headers> find_headers(const std::vector<fs::path>& given,
                             const std::vector<std::string>& compiler) {
  const auto places = given.empty() ? usual_places(compiler) : given;
  std::vector<std::string> tried;
  for (const auto& place : places) {
    if (auto headers = headers_in(place)) {
      // What Open MPI's headers include themselves may lie in the other places that were given.
      headers->search.insert(headers->search.end(), given.begin(), given.end());
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
    // A bare file name: what else DT_NEEDED may hold is not looked for.
    if (!name.starts_with("libopen-") || name.find('/') != std::string::npos)
      continue;
    for (const auto& directory : {libmpi.parent_path(), real.parent_path()}) {
      auto beside = ElfFile::open(directory / name);
      if (!beside)
        continue;
      libraries.push_back(*beside);
      break;
    }
  }
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
