#include "bench/queue_walk/peer_run.h"

#include "bench/queue_walk/stage.h"
#include "bench/queue_walk/touched_pages.h"
#include "rsp/seconds.h"
#include "tests/support/child_process.h"
#include "tests/support/real_stub.h"

#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

namespace mqbridge::bench {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using nlohmann::json;

constexpr auto longest_run = 15min;

std::string script(const std::string& name) {
  return std::string(MQBRIDGE_PEER_SCRIPTS) + "/" + name;
}

std::string program(const std::string& name) {
  return std::string(MQBRIDGE_BINARY_DIRECTORY) + "/bench/" + name;
}

Result<std::string> output_of(const Words& argv) {
  test::ChildProcess child({argv});
  const auto ending = child.wait(longest_run);
  if (!ending)
    return fail("bench.peer", fmt::format("{} did not end", argv[1]));
  if (ending->code != 0)
    return fail("bench.peer", fmt::format("{}: {}", argv[1], child.err()));
  return child.out();
}

/// Adds the link's figures of a peer to those that the peer itself states.
void add_link(Measured& cost, const DelayingLink& link, const LinkSpec& spec) {
  const auto connections = link.connections();
  cost.wall_s += static_cast<double>(connections) * in_seconds(spec.round_trip);
  cost.round_trips = link.turns() + connections;
  cost.bytes = link.to_client();
}

/// Over the link, with the process held by a stub already: what these clients expect.
Result<Attempt> run_remote(Stage& stage, const Cell& cell, Words argv) {
  stage.open_for_peer(cell.link);
  const auto& link = *stage.links().front();
  argv.insert(argv.end(), {"--remote", link.endpoint(), "--program", stage.program()});
  const auto line = output_of(argv);
  if (!line)
    return fail(line.error().code, line.error().message);
  auto attempt = parse_peer_line(*line);
  if (attempt)
    add_link(attempt->cost, link, cell.link);
  return attempt;
}

Result<Attempt> run_on_node(Stage& stage, Words argv) {
  stage.close();
  argv.insert(argv.end(), {"--pid", std::to_string(stage.pid())});
  if (argv.front() == "python3")
    argv.insert(argv.end(), {"--program", stage.program()});
  const auto line = output_of(argv);
  return line ? parse_peer_line(*line) : fail(line.error().code, line.error().message);
}

/// `directory`: for the lists of pages. Of a process once: whatever the link is, they are the same.
Result<Attempt> run_limit(Stage& stage, const Cell& cell, const fs::path& directory) {
  const auto runs = directory / fmt::format("pages-{}-{}", cell.operations, stage.pid());
  if (auto written = fs::exists(runs) ? Result<void>{} : write_touched_pages(stage, cell, runs);
      !written)
    return forward(std::move(written));
  stage.open(cell.link);
  const auto line = output_of({program("limit"), stage.targets().front().text(), runs.string()});
  if (!line)
    return fail(line.error().code, line.error().message);
  auto attempt = parse_peer_line(*line);
  if (!attempt)
    return attempt;
  add_link(attempt->cost, *stage.links().front(), cell.link);
  attempt->answer = {}; // pages, no queues
  return attempt;
}

bool native(const Cell& cell) {
  return !cell.emulated() && cell.ranks == 1;
}

/// A peer that runs on the node does not use the link: it is shown for one link only.
bool shown_once(const Cell& cell) {
  const Cell base;
  return native(cell) && cell.link.round_trip == base.link.round_trip &&
         cell.link.bytes_per_second == base.link.bytes_per_second;
}

class Peers {
public:
  explicit Peers(const PeerTools& tools) : tools_(tools) {}

  void add_remote(const std::string& name, Filler filler, const Words& argv) {
    all_.push_back(
        {"peer:" + name,
         [filler](const Cell& cell) { return native(cell) && cell.filler == filler; },
         [argv](Stage& stage, const Cell& cell) { return run_remote(stage, cell, argv); }});
  }
  void add_on_node(const std::string& name, Filler filler, const Words& argv) {
    all_.push_back(
        {"node:" + name,
         [filler](const Cell& cell) { return shown_once(cell) && cell.filler == filler; },
         [argv](Stage& stage, const Cell&) { return run_on_node(stage, argv); }});
  }
  void add_limit() {
    all_.push_back(
        {"limit", native,
         [directory = tools_.type_carrier.parent_path()](Stage& stage, const Cell& cell) {
           return run_limit(stage, cell, directory);
         }});
  }

  Words openmpi_words() const {
    return {"--dll", tools_.debug_dll.string(), "--types", tools_.type_carrier.string()};
  }
  std::vector<Contender> take() { return std::move(all_); }

private:
  PeerTools tools_;
  std::vector<Contender> all_;
};

Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

} // namespace

Result<PeerTools> PeerTools::prepare(const fs::path& directory) {
  PeerTools tools;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/usr/lib", ignored))
    if (const auto dll = entry.path() / "openmpi/lib/openmpi3/libompi_dbg_msgq.so"; fs::exists(dll))
      tools.debug_dll = dll;
  if (tools.debug_dll.empty())
    return fail("bench.peers", "there is no debug DLL of Open MPI", "apt install openmpi-bin");
  tools.type_carrier = directory / "ompi.types.so";
  const auto made = output_of({std::string(MQBRIDGE_BINARY_DIRECTORY) + "/mqbridge", "types",
                               "make", "--mpi", "openmpi", "-o", tools.type_carrier.string()});
  if (!made)
    return fail("bench.peers", made.error().message, "apt install libopenmpi-dev gcc");
  return tools;
}

std::vector<Contender> peer_contenders(const PeerTools& tools, std::vector<std::string>& left_out) {
  Peers peers(tools);
  const auto lacks = [&left_out](const std::string& name, const std::string& packages) {
    if (auto lacking = test::lacking_program(name, packages); !lacking.empty()) {
      left_out.push_back(lacking);
      return true;
    }
    return false;
  };
  const Words openmpi = peers.openmpi_words();
  const Words libraries = {"--library", "libmpi.so", "--library", "libopen-pal"};
  const Words gdb_host = joined({"python3", script("gdb_mqd_host.py")}, joined(openmpi, libraries));
  if (!lacks("gdb", "gdb")) {
    for (const char* cache : {"none", "gdb", "pages"}) {
      const Words cached = {"--cache", cache};
      peers.add_remote(fmt::format("gdb_mqd_host/cache:{}", cache), Filler::openmpi,
                       joined(gdb_host, cached));
      peers.add_remote(fmt::format("gdb_list/cache:{}", cache), Filler::recorder,
                       joined({"python3", script("gdb_list.py")}, cached));
    }
    peers.add_on_node("gdb_mqd_host", Filler::openmpi, gdb_host);
  }
  if (!lacks("lldb", "lldb python3-lldb"))
    peers.add_remote("lldb_list", Filler::recorder, {"python3", script("lldb_list.py")});
  peers.add_on_node("local_walk", Filler::openmpi, joined({program("local_walk")}, openmpi));
  peers.add_on_node("local_walk", Filler::recorder, {program("local_walk")});
  peers.add_limit();
  return peers.take();
}

Result<Attempt> parse_peer_line(std::string_view line) {
  const auto parsed = json::parse(line, nullptr, false);
  const auto is_number = [&](const char* name) {
    return parsed.contains(name) && parsed[name].is_number() && parsed[name].get<double>() >= 0;
  };
  if (!parsed.is_object() || !is_number("walk_s") || !is_number("total_s") ||
      !is_number("operations") || !parsed.contains("checksum") || !parsed["checksum"].is_string())
    return fail("bench.peer", fmt::format("no line of a peer: {}", line.substr(0, 200)),
                "bench/peers/README.md says what a peer prints");
  Attempt attempt;
  attempt.cost.walk_s = parsed["walk_s"];
  // What was done first, to get the link going, is not part of what is measured.
  attempt.cost.wall_s = parsed["total_s"].get<double>() -
                        (is_number("first_s") ? parsed["first_s"].get<double>() : 0);
  attempt.answer = {parsed["operations"], parsed["checksum"]};
  return attempt;
}

} // namespace mqbridge::bench
