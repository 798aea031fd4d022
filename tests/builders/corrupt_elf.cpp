#include "tests/builders/corrupt_elf.h"

#include "tests/support/faults_tried.h"

#include <chrono>
#include <fstream>
#include <gtest/gtest.h>

namespace mqbridge::test {
namespace {

constexpr std::chrono::seconds most_time{5};
constexpr std::uint64_t most_memory = std::uint64_t{256} << 20;

/// From /proc/self/status, in bytes; 0 where it is not told.
std::uint64_t status_field(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ':'))
      return std::stoull(line.substr(name.size() + 1)) * 1024;
  return 0;
}

} // namespace

void expect_bounded(const std::string& what, const std::function<void()>& action) {
  std::ofstream("/proc/self/clear_refs") << 5; // the peak is what is used now: proc(5)
  const auto before = status_field("VmRSS");
  const auto started = std::chrono::steady_clock::now();
  action();
  faults_tried(1);
  EXPECT_LT(std::chrono::steady_clock::now() - started, most_time) << what;
  EXPECT_LT(status_field("VmHWM"), before + most_memory) << what;
}

} // namespace mqbridge::test
