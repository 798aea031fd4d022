#include "host/mpi/preload/choose_recorder.h"

#include "host/elf/elf_file.h"
#include "host/mpi/launcher_programs.h"
#include "host/mpi/mpi_support.h"
#include "host/mpi/preload/program_mpi.h"
#include "host/mpi/preload/recorder_files.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace mqbridge::preload {
namespace {

namespace fs = std::filesystem;

constexpr const char* preload_variable = "LD_PRELOAD";

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

/// The program that a word names: it is searched as the command itself, and as launchers search
/// what they start. Empty: the word names no program.
fs::path program_of(const std::string& word) {
  if (word.empty() || word.starts_with('-'))
    return {};
  if (word.find('/') == std::string::npos)
    for (const auto& directory : directories_in("PATH"))
      if (is_program(directory / word))
        return directory / word;
  return is_program(word) ? fs::path(word) : fs::path();
}

struct LauncherWord {
  std::size_t index = 0; ///< in the command
  const MpiSupport* mpi; ///< nullptr: not known
};

/// The MPI of a launcher, by the first name in its chain of links that tells it: mpirun may lead to
/// mpirun.MPI, and that to a name of the MPI's own.
const MpiSupport* mpi_of_links(fs::path program) {
  constexpr int most_links = 16;
  for (int i = 0; i < most_links && !program.empty(); ++i) {
    if (const auto* const mpi = mpi_of_launcher(program.filename().native()))
      return mpi;
    std::error_code error;
    const auto target = fs::read_symlink(program, error);
    program = error ? fs::path() : program.parent_path() / target;
  }
  return nullptr;
}

std::optional<LauncherWord> find_launcher(std::span<const std::string> command) {
  for (std::size_t i = 0; i < command.size(); ++i) {
    const auto program = program_of(command[i]);
    const auto name = program.filename().native().substr(0, kept_name_bytes);
    if (!program.empty() && launcher_role(name) == LauncherRole::front)
      return LauncherWord{i, mpi_of_links(program)};
  }
  return std::nullopt;
}

std::string by_hand_hint() {
  return fmt::format("make one, with the MPI's own compiler: {}\n"
                     "or name it: mqbridge run --record-queues --recorder /PATH ...",
                     make_line);
}

struct Found {
  std::string provider; ///< empty: an MPI that is not known
  std::string why;      ///< words for an error: where the MPI was learnt
  std::optional<ProgramMpi> program;
  fs::path file;
};

/// Finds the MPI by the command's words. If none tells it, the error says what each word is.
Result<Found> find_mpi(std::span<const std::string> command,
                       const std::optional<LauncherWord>& launcher) {
  const auto search = directories_in("LD_LIBRARY_PATH");
  std::string looked_at;
  for (const auto& word : command) {
    const auto file = program_of(word);
    if (file.empty())
      continue;
    auto mpi = mpi_of_program(file, search);
    if (mpi && mpi->way != ProgramMpi::Way::none)
      return Found{mpi->provider, fmt::format("{} needs {}", file.string(), mpi->library), *mpi,
                   file};
    looked_at += fmt::format("{}{} ({})", looked_at.empty() ? "" : ", ", file.string(),
                             mpi ? "needs no MPI library" : "no ELF file");
  }
  if (launcher && launcher->mpi != nullptr)
    return Found{std::string(launcher->mpi->facts().provider),
                 fmt::format("{} starts its jobs", command[launcher->index]),
                 std::nullopt,
                 {}};
  return fail("recorder.no_mpi",
              fmt::format("--record-queues: no word of the command tells which MPI its ranks use; "
                          "looked at: {}",
                          looked_at.empty() ? "no program" : looked_at),
              by_hand_hint());
}

Result<fs::path> find_or_make(const Found& found, const RecorderSource& source) {
  const auto mpi = found.program ? found.program->file : fs::path();
  auto owner = mpi.empty() ? Result<std::string>("") : recorder_owner(mpi);
  if (!owner)
    return forward(std::move(owner));
  if (!owner->empty())
    if (auto recorder = find_recorder(source.directories, *owner))
      return *recorder;
  if (!found.provider.empty())
    if (auto recorder = find_recorder(source.directories, found.provider))
      return *recorder;
  if (!mpi.empty()) {
    auto made = source.make(mpi);
    if (!made)
      return forward(std::move(made));
    if (*made)
      return **made;
  }
  return fail("recorder.missing",
              fmt::format("--record-queues: there is no recorder for {}; {}",
                          mpi.empty() ? found.provider : mpi.string(), found.why),
              by_hand_hint());
}

Result<fs::path> recorder_for(const Found& found, const RecorderSource& source) {
  if (found.program && found.program->way == ProgramMpi::Way::linked)
    return fail("recorder.linked",
                fmt::format("--record-queues: {} has its MPI linked into it: what is preloaded "
                            "cannot come first",
                            found.file.string()),
                "link it with the MPI's shared library, or with the recorder: docs/recorder.md");
  auto recorder = find_or_make(found, source);
  if (!recorder)
    return recorder;
  const auto platform = read_elf_platform(*recorder);
  if (!platform)
    return Failure(platform.error());
  if (found.program && found.program->platform.architecture != platform->architecture)
    return fail(
        "recorder.platform",
        fmt::format("--record-queues: {} is a program for {}, and the recorder {} is for {}",
                    found.file.string(), found.program->platform.architecture, recorder->string(),
                    platform->architecture),
        by_hand_hint());
  return recorder;
}

} // namespace

Result<std::vector<EnvironmentVariable>> recorder_environment(std::span<const std::string> command,
                                                              const RecorderSource& source) {
  const auto preloaded = variable(preload_variable);
  const auto launcher = find_launcher(command);
  std::string value = source.given;
  if (value.empty()) {
    if (preloaded.find(recorder_name) != std::string_view::npos)
      return std::vector<EnvironmentVariable>();
    auto found = find_mpi(command, launcher);
    if (!found)
      return forward(std::move(found));
    if (found->program && found->program->way == ProgramMpi::Way::recorded)
      return std::vector<EnvironmentVariable>();
    auto recorder = recorder_for(*found, source);
    if (!recorder)
      return forward(std::move(recorder));
    value = recorder->string();
  }
  if (auto checked = check_preloadable(value); !checked)
    return forward(std::move(checked));
  if (!preloaded.empty())
    value += fmt::format(":{}", preloaded);
  std::vector<EnvironmentVariable> variables{{preload_variable, std::move(value)}};
  if (launcher && launcher->mpi != nullptr)
    if (auto more = launcher->mpi->hand_on(preload_variable, command.subspan(launcher->index)))
      variables.push_back(std::move(*more));
  return variables;
}

} // namespace mqbridge::preload
