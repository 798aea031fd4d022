#include "host/job/node_search.h"

#include "host/codes.h"
#include "host/dump/target/node_server.h"
#include "host/job/job_book.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

namespace mqbridge {
namespace {

/// Nodes that are looked through at once: each is a process of this host (ssh, srun) and a thread.
constexpr std::size_t nodes_at_once = 64;
/// Time for one node, once it has answered.
constexpr std::chrono::seconds time_for_a_node{30};

Result<NodeScan> scan_through_server(const Node& node, const SharedTools& tools,
                                     const std::stop_token& stop) {
  auto client = start_server(tools.launchers.server_on(node, node.name()), node, tools, stop);
  if (!client)
    return forward(std::move(client));
  (*client)->released(); // it is attached to nothing
  (*client)->set_deadline(std::chrono::steady_clock::now() + time_for_a_node);
  const std::stop_callback cancel(stop, [&] { (*client)->cancel(); });
  StubFiles files(**client);
  return scan_node(files, shown_name(node));
}

Result<NodeScan> scan(const Node& node, const SharedTools& tools, const std::stop_token& stop) {
  if (stop.stop_requested())
    return fail(codes::interrupted, "interrupted before its processes were looked at");
  try {
    if (node.launcher != Launcher::local)
      return scan_through_server(node, tools, stop);
    LocalFiles files;
    return scan_node(files, shown_name(node));
  } catch (const std::exception& exception) {
    return fail("internal", fmt::format("the search for ranks ended early: {}", exception.what()));
  }
}

} // namespace

std::vector<Result<NodeScan>> scan_nodes(std::span<const Node> nodes, const SharedTools& tools,
                                         std::stop_token stop) {
  std::vector<Result<NodeScan>> scans(nodes.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (auto i = next++; i < nodes.size(); i = next++)
      scans[i] = scan(nodes[i], tools, stop);
  };
  std::vector<std::jthread> threads;
  try {
    for (std::size_t i = 1; i < std::min(nodes.size(), nodes_at_once); ++i)
      threads.emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads can be started: the ones that run do all the work.
  }
  work();
  threads.clear(); // joins
  return scans;
}

} // namespace mqbridge
