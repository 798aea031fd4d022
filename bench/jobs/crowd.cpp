#include "bench/jobs/crowd.h"

#include "tests/e2e/harness/whole_stub.h"

#include <cstdlib>
#include <fmt/format.h>
#include <fstream>

namespace mqbridge::bench {

std::string Crowd::node(int number) {
  return fmt::format("node{:03}", number);
}

Crowd::Crowd(int nodes)
    : nodes_(nodes), job_({.arguments = {"mix"}, .ranks = ranks_a_node}),
      crowd_("MQBRIDGE_CROWD", directory_.path().string()),
      path_("PATH", directory_.path().string() + ":" + std::getenv("PATH")) {
  std::filesystem::create_symlink(MQBRIDGE_NODE_STUB, directory_ / "ssh");
  std::ofstream(directory_ / "dead") << dead_;
  std::ofstream(directory_ / "silent") << silent_;
  describe_processes();
  write_targets();
}

void Crowd::describe_processes() const {
  std::ofstream processes(directory_ / "processes");
  for (int rank = 0; rank < ranks_a_node; ++rank) {
    const pid_t pid = job_.pid(rank);
    const auto file = [&](const char* name) {
      return std::ofstream(directory_ / fmt::format("{}.{}", pid, name), std::ios::binary);
    };
    processes << pid << "\n";
    file("auxv") << e2e::auxiliary_vector(pid);
    file("libraries") << e2e::library_list(pid);
    file("exe") << std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid)).string();
  }
}

/// Process numbers are those of node_stub.cpp: the last digit says which process it is.
void Crowd::write_targets() const {
  static_assert(ranks_a_node == 10);
  std::ofstream targets(directory_ / "targets");
  for (int number = 0; number < nodes_; ++number) {
    for (int rank = 0; rank < ranks_a_node; ++rank)
      targets << fmt::format("{} ssh:{}:{} job={}\n", rank, node(number),
                             100'000 + 10 * number + rank, node(number));
  }
}

} // namespace mqbridge::bench
