#pragma once

#include "tests/support/environment_variable.h"
#include "tests/support/temp_directory.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <string>

namespace mqbridge::test {

/// Programs of Slurm's names that say what a test wants.
class SlurmThatSays {
public:
  SlurmThatSays(const std::string& squeue, const std::string& hostnames, int exit_status = 0) {
    write("squeue", squeue, exit_status);
    write("scontrol", hostnames, exit_status);
    path_.emplace("PATH", directory_.path().string() + ":" + std::getenv("PATH"));
  }
  /// Whether scontrol was started at all.
  bool expanded() const { return std::filesystem::exists(directory_.path() / "scontrol.ran"); }

private:
  void write(const std::string& name, const std::string& text, int exit_status) {
    const auto program = directory_.path() / name;
    const auto says = program.string() + ".says";
    std::ofstream(says) << text;
    std::ofstream(program) << fmt::format("#!/bin/sh\ntouch {}.ran\ncat {}\nexit {}\n",
                                          program.string(), says, exit_status);
    std::filesystem::permissions(program, std::filesystem::perms{0755});
  }

  TempDirectory directory_;
  std::optional<EnvironmentVariable> path_;
};

} // namespace mqbridge::test
