#include "host/mpi/preload/compile_recorder.h"

#include "host/disk/command_output.h"
#include "host/mpi/preload/program_mpi.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <system_error>
#include <utility>

namespace mqbridge::preload {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes compile_limit{5};
/// Of what a compiler says. Most errors follow from the first one.
constexpr std::size_t most_said = 2000;

Result<void> compile(const std::vector<std::string>& command, std::string_view what,
                     const std::stop_token& stop) {
  auto ran = run_command(command, compile_limit, most_said, stop);
  if (!ran)
    return forward(std::move(ran));
  if (ran->exit_status == 0)
    return {};
  return fail("recorder.compile",
              fmt::format("{} cannot compile {}:\n{}", command.front(), what, ran->text),
              "name the compiler of an MPI 3.1 or newer: mqbridge recorder make --mpicc MPICC");
}

/// The files of `directory` that a compiler takes, in the order of their names.
std::vector<std::string> sources_in(const fs::path& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error))
    if (entry.path().extension() == ".c")
      files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

} // namespace

Result<CheckProgram> compile_check(const std::vector<std::string>& compiler,
                                   const fs::path& sources, const std::stop_token& stop) {
  const auto source = sources / "dll/recorder/check/posted.c";
  if (std::error_code error; !fs::exists(source, error))
    return fail("recorder.sources",
                fmt::format("the recorder's sources are not there: {}", source.string()),
                "they belong to the installation: install mqbridge again, as a whole");
  auto directory = TemporaryDirectory::make();
  if (!directory)
    return forward(std::move(directory));
  const auto file = directory->path() / "posted";
  auto command = compiler;
  for (const auto& word : {std::string("-D_GNU_SOURCE"), fmt::format("-DCHECK_TAG={}", check_tag),
                           source.string(), std::string("-o"), file.string()})
    command.push_back(word);
  if (auto done = compile(command, "a small MPI program", stop); !done)
    return forward(std::move(done));
  auto mpi = mpi_of_program(file, directories_in("LD_LIBRARY_PATH"));
  if (!mpi)
    return forward(std::move(mpi));
  if (mpi->file.empty())
    return fail("recorder.linked",
                fmt::format("no shared library of an MPI comes with what {} links: a recorder that "
                            "is preloaded cannot come before the MPI",
                            compiler.front()),
                "link the recorder with the program: \"Linked\" in docs/recorder.md");
  return CheckProgram{std::move(*directory), file, mpi->file};
}

Result<void> compile_recorder(const std::vector<std::string>& compiler, const fs::path& sources,
                              const fs::path& output, const std::stop_token& stop) {
  auto command = compiler;
  for (const auto* option : {"-std=c17", "-D_GNU_SOURCE", "-O2", "-fPIC", "-fexceptions",
                             "-fvisibility=hidden", "-shared"})
    command.emplace_back(option);
  command.push_back("-I" + sources.string());
  for (const auto* folder : {"dll/recorder", "dll/recorder/mpi"})
    std::ranges::move(sources_in(sources / folder), std::back_inserter(command));
  for (const auto& word :
       {std::string("-o"), output.string(), std::string("-Wl,--as-needed,-z,nodelete"),
        std::string("-ldl"), std::string("-lpthread")})
    command.push_back(word);
  return compile(command, "the recorder", stop);
}

} // namespace mqbridge::preload
