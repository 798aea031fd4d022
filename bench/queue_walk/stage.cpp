#include "bench/queue_walk/stage.h"

#include "rsp/packet/signal_names.h"
#include "tests/e2e/harness/foreign_platform.h"
#include "tests/e2e/harness/foreign_poster.h"
#include "tests/e2e/harness/mpich.h"
#include "tests/e2e/harness/recorder_poster.h"
#include "tests/e2e/harness/target_programs.h"
#include "tests/support/eventually.h"

#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>

namespace mqbridge::bench {
namespace {

using namespace std::chrono_literals;
using test::ChildSpec;

constexpr std::uint64_t seed = 20;
// Of one process: a whole group of contenders runs on it.
constexpr const char* lifetime_s = "7200";

std::filesystem::path inferiors() {
  return std::filesystem::path(MQBRIDGE_BINARY_DIRECTORY) / "inferiors";
}

std::string program_name(const Cell& cell) {
  constexpr std::array programs = {"many_receives", "many_receives", "debian-mpich/many_receives",
                                   "many_messages", "recorder_list"};
  return programs.at(static_cast<std::size_t>(cell.filler));
}

std::vector<std::string> arguments_of(const Cell& cell) {
  std::vector<std::string> all = {std::to_string(cell.operations)};
  if (cell.filler == Filler::recorder)
    all.insert(all.end(), {std::to_string(cell.shuffled_in), std::to_string(seed)});
  if (cell.emulated())
    all.emplace_back("signal");
  return all;
}

std::filesystem::path emulated_recorder(const Cell& cell) {
  return inferiors() /
         fmt::format("recorder_list-{}", cell.architecture == "arm" ? "armhf" : cell.architecture);
}

ChildSpec emulated_openmpi(const Cell& cell, const std::filesystem::path& directory) {
  const auto& platform = e2e::foreign_platform(cell.architecture);
  return e2e::foreign_command(platform, directory, arguments_of(cell), program_name(cell));
}

void use_ucx(ChildSpec& openmpi) {
  for (auto& [name, value] : openmpi.environment)
    if (name == "OMPI_MCA_pml")
      value = "ucx";
  for (const char* of : {"tls", "devices"}) // it has no network card
    openmpi.environment.emplace_back(fmt::format("OMPI_MCA_opal_common_ucx_{}", of), "any");
}

ChildSpec command_of(const Cell& cell, const std::filesystem::path& directory) {
  if (cell.emulated() && cell.filler == Filler::openmpi)
    return emulated_openmpi(cell, directory);
  ChildSpec spec = e2e::SingleProcess::command(program_name(cell), directory, arguments_of(cell));
  if (cell.emulated()) {
    spec.argv[0] = emulated_recorder(cell).string();
    spec.argv.insert(spec.argv.begin(), {e2e::recorder_platform(cell.architecture).emulator, "-g",
                                         (directory / e2e::stub_socket).string()});
  }
  spec.environment.emplace_back("MQBRIDGE_JOB_LIFETIME", lifetime_s);
  if (cell.filler == Filler::ucx)
    use_ucx(spec);
  return spec;
}

} // namespace

Stage::Stage(const Cell& cell) : cell_(cell) {
  if (!cell.emulated())
    for (std::size_t i = 0; i < cell.ranks; ++i)
      processes_.push_back(start());
}

std::string Stage::lacking(const Cell& cell) {
  if (cell.filler == Filler::mpich)
    return e2e::lacking_debian_mpich();
  if (!cell.emulated())
    return "";
  return cell.filler == Filler::openmpi ? e2e::lacking(e2e::foreign_platform(cell.architecture))
                                        : e2e::lacking(e2e::recorder_platform(cell.architecture));
}

std::unique_ptr<e2e::SingleProcess> Stage::start() const {
  auto process = std::make_unique<e2e::SingleProcess>(
      [this](const std::filesystem::path& directory) { return command_of(cell_, directory); });
  if (!cell_.emulated()) {
    process->await_ready();
    return process;
  }
  const auto socket = process->directory() / e2e::stub_socket;
  if (!test::eventually(10s, [&] { return std::filesystem::exists(socket); }))
    throw std::runtime_error(fmt::format("the emulator of {} does not listen", cell_.architecture));
  return process;
}

void Stage::link_to(const std::string& server, const LinkSpec& spec) {
  auto link = DelayingLink::open(server, spec);
  if (!link)
    throw std::runtime_error(link.error().message);
  links_.push_back(std::move(*link));
}

void Stage::open(const LinkSpec& link) {
  close();
  if (cell_.emulated()) {
    processes_.clear();
    processes_.push_back(start());
    link_to("unix:" + (processes_.front()->directory() / e2e::stub_socket).string(), link);
    return;
  }
  while (servers_.size() < processes_.size())
    servers_.push_back(std::make_unique<test::GdbServer>(test::ServerMode::multi,
                                                         processes_[servers_.size()]->pid()));
  for (const auto& server : servers_)
    link_to(fmt::format("127.0.0.1:{}", server->port()), link);
}

void Stage::open_for_peer(const LinkSpec& link) {
  close();
  peers_server_.emplace(test::ServerMode::attach_once, pid());
  link_to(peers_server_->endpoint(), link);
}

void Stage::close() {
  links_.clear();
  peers_server_.reset();
}

std::optional<double> Stage::stub_cpu() const {
  if (servers_.empty())
    return std::nullopt;
  double seconds = 0;
  for (const auto& server : servers_) {
    // Its first number: nanoseconds on a processor. Those of /proc/PID/stat are hundredths.
    std::ifstream schedstat(fmt::format("/proc/{}/schedstat", server->pid()));
    double nanoseconds = 0;
    if (!(schedstat >> nanoseconds))
      return std::nullopt;
    seconds += nanoseconds / 1e9;
  }
  return seconds;
}

std::vector<TargetSpec> Stage::targets() const {
  std::vector<TargetSpec> all;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const auto process = cell_.emulated() ? "" : servers_[i]->process_suffix();
    auto parsed = TargetSpec::parse(fmt::format("{}={}{}", i, links_[i]->endpoint(), process));
    if (!parsed)
      throw std::runtime_error(parsed.error().message);
    all.push_back(std::move(*parsed));
  }
  return all;
}

void Stage::complete(DumpOptions& options) const {
  if (!cell_.emulated())
    return;
  options.run_until = rsp::RunUntil{rsp::parse_signal("SIGUSR1")};
  if (cell_.filler == Filler::openmpi)
    options.paths.sysroots = {e2e::files_of(e2e::foreign_platform(cell_.architecture))};
}

std::string Stage::program() const {
  return (inferiors() / program_name(cell_)).string();
}

} // namespace mqbridge::bench
