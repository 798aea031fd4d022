#pragma once

#include "tests/support/child_process.h"
#include "tests/support/temp_directory.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <sys/types.h>

namespace mqbridge::e2e {

/// `mqbridge serve --open`, with places of its own, and one job: "ring".
class OwnService {
public:
  /// `more`: of the job, in TOML. Throws std::runtime_error with its words if it does not begin.
  explicit OwnService(pid_t launcher, const std::string& more = "");
  /// Again, once it has ended.
  void start();
  /// What it reads when it starts, or is told to by SIGHUP.
  void configure(const std::string& text) const;

  test::ChildProcess& process() { return *process_; }
  std::string socket() const { return "unix:" + (directory_ / "socket").string(); }
  std::string link() const; ///< for one visit
  /// Its state, as `mqbridge jobs --format json` has it; null: there is none.
  nlohmann::json job() const;

private:
  test::TempDirectory directory_;
  std::optional<test::ChildProcess> process_;
};

} // namespace mqbridge::e2e
