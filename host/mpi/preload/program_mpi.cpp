#include "host/mpi/preload/program_mpi.h"

#include "dll/recorder/layout.h"
#include "host/disk/file_name.h"
#include "host/disk/text_file.h"
#include "host/elf/elf_file.h"
#include "host/elf/elf_reader.h"
#include "host/mpi/mpi_support.h"
#include "host/mpi/preload/recorder_files.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <system_error>
#include <utility>

namespace mqbridge::preload {
namespace {

namespace fs = std::filesystem;

/// Libraries that are looked at. Big applications bring a few hundred.
constexpr std::size_t max_libraries = 1024;

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

std::string with_origin(std::string path, const fs::path& object) {
  const std::string origin = object.parent_path();
  for (const std::string_view token : {"${ORIGIN}", "$ORIGIN"})
    for (auto at = path.find(token); at != std::string::npos;
         at = path.find(token, at + origin.size()))
      path.replace(at, token.size(), origin);
  return path;
}

/// The directories that /etc/ld.so.conf.d names, and the default ones.
std::vector<fs::path> system_directories() {
  std::vector<fs::path> directories;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/etc/ld.so.conf.d", error)) {
    const auto text = read_text_file(entry.path().native());
    for (const auto& line : text ? split(*text, '\n') : std::vector<std::string>())
      if (line.starts_with('/'))
        directories.emplace_back(line);
  }
  for (const auto* const directory : {"/lib64", "/usr/lib64", "/lib", "/usr/lib"})
    directories.emplace_back(directory);
  return directories;
}

/// The libraries that ld.so would load, breadth first as it does.
class Libraries {
public:
  Libraries(const Platform& platform, const std::vector<fs::path>& search)
      : platform_(platform), search_(search), system_(system_directories()) {}

  struct Mpi {
    std::string name; ///< the first one of a known MPI, or the recorder, that is needed
    fs::path file;    ///< the first one that defines what an MPI defines, and tools of it do not
  };

  Mpi find_mpi(const fs::path& program) {
    Mpi mpi;
    objects_ = {program};
    for (std::size_t i = 0; i < objects_.size() && i < max_libraries; ++i) {
      if (i > 0 && defines_mpi(objects_[i])) {
        mpi.file = objects_[i];
        return mpi;
      }
      const auto reader = ElfReader::open(objects_[i]);
      const auto dynamic = reader ? reader->dynamic() : Result<ElfDynamic>(ElfDynamic());
      if (!dynamic)
        continue;
      for (const auto& name : dynamic->needed) {
        const bool is_recorder = name.ends_with(recorder_name);
        if (mpi.name.empty() && (is_recorder || mpi_of_library(name) != nullptr))
          mpi.name = name;
        if (is_recorder)
          return mpi;
        if (seen_.insert(name).second)
          add(fs::path(objects_[i]), *dynamic, name); // a copy: add() moves the objects
      }
    }
    return mpi;
  }

private:
  static bool defines_mpi(const fs::path& object) {
    const auto elf = ElfFile::open(object);
    return elf && (*elf)->find_symbol("PMPI_Init") != nullptr;
  }

  void add(const fs::path& object, const ElfDynamic& dynamic, const std::string& name) {
    if (name.find('/') != std::string::npos)
      return (void)try_file(with_origin(name, object));
    std::vector<fs::path> places = search_;
    for (const auto& paths : dynamic.search_paths)
      for (const auto& place : split(paths, ':'))
        places.emplace_back(with_origin(place, object));
    places.insert(places.end(), system_.begin(), system_.end());
    (void)std::ranges::any_of(places,
                              [&](const fs::path& place) { return try_file(place / name); });
  }

  bool try_file(const fs::path& path) {
    const auto platform = read_elf_platform(path);
    if (!platform || platform->architecture != platform_.architecture)
      return false;
    objects_.push_back(path);
    return true;
  }

  const Platform& platform_;
  const std::vector<fs::path>& search_;
  const std::vector<fs::path> system_;
  std::vector<fs::path> objects_;
  std::set<std::string> seen_;
};

} // namespace

const MpiSupport* mpi_of_library(std::string_view path) {
  const auto name = file_name(path);
  const auto end = name.find(".so.");
  if (end == std::string_view::npos)
    return nullptr;
  const auto stem = name.substr(0, end);
  auto number = name.substr(end + 4);
  number = number.substr(0, number.find('.'));
  const MpiSupport* owner = nullptr;
  int owners = 0;
  for (const auto* mpi : known_mpis()) {
    const auto& libraries = mpi->facts().libraries;
    if (std::ranges::count(libraries.of_programs, stem) == 0)
      continue;
    if (!number.empty() && libraries.number == number)
      return mpi;
    ++owners;
    if (owner == nullptr || libraries.number.empty())
      owner = mpi;
  }
  return owners > 1 && number.empty() ? nullptr : owner;
}

std::vector<fs::path> directories_in(const char* variable) {
  const char* const paths = std::getenv(variable);
  std::vector<fs::path> directories;
  if (paths != nullptr && *paths != '\0')
    for (auto& path : split(paths, ':'))
      directories.emplace_back(std::move(path));
  return directories;
}

Result<ProgramMpi> mpi_of_program(const fs::path& program, const std::vector<fs::path>& search) {
  auto elf = ElfFile::open(program);
  if (!elf)
    return forward(std::move(elf));
  ProgramMpi mpi;
  mpi.platform = (*elf)->platform();
  auto found = Libraries(mpi.platform, search).find_mpi(program);
  mpi.library = found.name.empty() ? found.file.filename().string() : std::move(found.name);
  mpi.file = std::move(found.file);
  if (const auto* const known = mpi_of_library(mpi.library))
    mpi.provider = known->facts().provider;
  if ((*elf)->find_symbol(MQR_ROOT_SYMBOL) != nullptr || mpi.library.ends_with(recorder_name))
    mpi.way = ProgramMpi::Way::recorded;
  else if ((*elf)->find_symbol("MPI_Init") != nullptr)
    mpi.way = ProgramMpi::Way::linked;
  else if (!mpi.library.empty())
    mpi.way = ProgramMpi::Way::library;
  return mpi;
}

} // namespace mqbridge::preload
