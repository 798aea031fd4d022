#include "host/job/node_search.h"

#include "host/codes.h"
#include "host/job/job_book.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <memory>
#include <thread>
#include <utility>

namespace mqbridge {
namespace {

/// Nodes that are looked through at once: each is a process of this host (ssh, srun) and a thread.
constexpr std::size_t nodes_at_once = 64;
/// For one node, once it has answered.
constexpr std::chrono::seconds time_for_a_node{30};

Result<NodeScan> scan_through_server(const Node& node, const SharedTools& tools,
                                     Launchers& launchers, const std::stop_token& stop) {
  const auto endpoint = launchers.server_on(node, fmt::format("node {}", node.name()));
  auto client = rsp::Client::connect(endpoint, {.connect_timeout = tools.options.connect_timeout,
                                                .silence_timeout = tools.options.silence_timeout,
                                                .trace = tools.options.trace,
                                                .stop = stop});
  if (!client)
    return forward(std::move(client));
  (*client)->set_detach_packet(""); // it holds nothing
  (*client)->set_deadline(std::chrono::steady_clock::now() + time_for_a_node);
  const std::stop_callback cancel(stop, [&] { (*client)->cancel(); });
  StubFiles files(**client);
  return scan_node(files, shown_name(node));
}

Result<NodeScan> scan(const Node& node, const SharedTools& tools, Launchers& launchers,
                      const std::stop_token& stop) {
  if (stop.stop_requested())
    return fail(codes::interrupted, "interrupted before its processes were looked at");
  try {
    if (node.launcher != Launcher::local)
      return scan_through_server(node, tools, launchers, stop);
    LocalFiles files;
    return scan_node(files, shown_name(node));
  } catch (const std::exception& exception) {
    return fail("internal", fmt::format("the search for ranks ended early: {}", exception.what()));
  }
}

} // namespace

std::vector<Result<NodeScan>> scan_nodes(std::span<const Node> nodes, const SharedTools& tools,
                                         Launchers& launchers, std::stop_token stop) {
  std::vector<Result<NodeScan>> scans(nodes.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (auto i = next++; i < nodes.size(); i = next++)
      scans[i] = scan(nodes[i], tools, launchers, stop);
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < std::min(nodes.size(), nodes_at_once); ++i)
    threads.emplace_back(work);
  work();
  threads.clear(); // joins
  return scans;
}

} // namespace mqbridge
