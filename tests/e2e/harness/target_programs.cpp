#include "tests/e2e/harness/target_programs.h"

#include "rsp/unique_fd.h"
#include "tests/e2e/harness/mqbridge_run.h"

#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <sstream>
#include <stdexcept>
#include <sys/file.h>

namespace mqbridge::e2e {
namespace {

namespace fs = std::filesystem;

constexpr const char* stamp = ".stamp"; // docker/targets.sh

fs::path targets_directory() {
  if (const char* directory = std::getenv("MQBRIDGE_TARGETS"))
    return directory;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  return (cache != nullptr ? fs::path(cache) : fs::path(home != nullptr ? home : "/") / ".cache") /
         "mqbridge/targets";
}

bool is_up_to_date(const fs::path& program, const fs::path& files) {
  std::error_code error;
  const auto made = fs::last_write_time(program, error);
  if (error || fs::last_write_time(files / stamp) > made)
    return false;
  for (const auto& source : fs::directory_iterator(MQBRIDGE_INFERIOR_SOURCES)) {
    if (source.last_write_time() > made)
      return false;
  }
  return true;
}

} // namespace

fs::path target_files(const std::string& target) {
  return targets_directory() / target;
}

std::string lacking_target(const std::string& target) {
  const auto files = target_files(target);
  if (fs::exists(files / stamp))
    return "";
  return fmt::format("no {}: ./dev targets {}", files.string(), target);
}

fs::path program_for(const std::string& target, const std::string& name,
                     const std::function<test::ChildSpec(const fs::path& output)>& compile) {
  const auto directory = fs::path(MQBRIDGE_BINARY_DIRECTORY) / "inferiors" / target;
  const auto program = directory / name;
  fs::create_directories(directory);
  const rsp::UniqueFd lock(open((directory / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (flock(lock.get(), LOCK_EX) != 0)
    throw std::runtime_error(fmt::format("cannot lock {}", directory.string()));
  if (is_up_to_date(program, target_files(target)))
    return program;
  const auto partial = directory / (name + ".partial");
  const Outcome compiled = run_program(compile(partial));
  if (compiled.status() != 0)
    throw std::runtime_error(compiled.err);
  fs::rename(partial, program);
  return program;
}

std::vector<std::string> inferior_sources(const std::string& name) {
  std::istringstream files(name == "oracle_poster" ? MQBRIDGE_POSTER_SOURCES
                           : name == "mpi_calls"   ? MQBRIDGE_CALLS_SOURCES
                           : name == "verdict"     ? MQBRIDGE_VERDICT_SOURCES
                           : name == "handles"     ? MQBRIDGE_HANDLES_SOURCES
                                                   : name + ".c job_files.c");
  std::vector<std::string> sources;
  for (std::string file; std::getline(files, file, ' ');)
    sources.push_back((fs::path(MQBRIDGE_INFERIOR_SOURCES) / file).string());
  return sources;
}

} // namespace mqbridge::e2e
