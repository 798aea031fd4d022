// limit ENDPOINT RUNS
//
// The time that a stub takes to send the pages of RUNS in bulk, over the link that lies between: no
// dump that looks at these pages can take less. RUNS has a line "FIRST COUNT" for each run of pages
// of 4 KiB: the address of the first, and how many there are; "-" is stdin. The pages are read once
// to get the link going, and then timed. Pages that cannot be read are counted, no failure.

#include "bench/peers/report_line.h"
#include "rsp/client/client.h"
#include "rsp/commands/attach.h"
#include "rsp/commands/read_memory.h"
#include "rsp/guardian/guardian.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

namespace {

using namespace mqbridge;
using namespace mqbridge::peers;

constexpr std::string_view tool = "limit";
constexpr std::size_t page_size = 4096;

struct Run {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
};

Result<std::vector<Run>> read_runs(std::istream& in) {
  constexpr std::uint64_t most_pages = std::uint64_t{1} << 22;
  std::vector<Run> runs;
  std::string line;
  std::uint64_t pages = 0;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string first;
    std::uint64_t count = 0;
    std::size_t used = 0;
    Run run;
    try {
      words >> first >> count;
      run.address = std::stoull(first, &used, 0);
    } catch (const std::exception&) { // stoull: no number, or too large a one
      used = 0;
    }
    if (used == 0 || used != first.size() || words.fail() || count == 0 || count > most_pages ||
        (pages += count) > most_pages)
      return fail("runs.syntax", fmt::format("'{}' is no run of pages", line),
                  "write lines of an address and a number of pages: 0x7f0000 12");
    run.bytes = static_cast<std::size_t>(count) * page_size;
    runs.push_back(run);
  }
  if (runs.empty())
    return fail("runs.syntax", "there is no run of pages");
  return runs;
}

struct Bulk {
  Clock::duration time{};
  std::size_t bytes = 0;
  std::uint32_t checksum = 0;
};

Result<Bulk> read_bulk(rsp::Client& client, const std::vector<Run>& runs,
                       std::vector<std::byte>& into) {
  std::vector<rsp::ReadRequest> requests;
  std::size_t at = 0;
  for (const Run& run : runs) {
    requests.push_back({.address = run.address, .into = std::span(into).subspan(at, run.bytes)});
    at += run.bytes;
  }
  const auto start = Clock::now();
  if (auto read = rsp::read_memory(client, requests); !read)
    return forward(std::move(read));
  Bulk bulk{.time = Clock::now() - start};
  for (const auto& request : requests) {
    bulk.bytes += request.read;
    bulk.checksum = static_cast<std::uint32_t>(
        crc32(bulk.checksum, reinterpret_cast<const Bytef*>(request.into.data()),
              static_cast<uInt>(request.read)));
  }
  return bulk;
}

Result<void> measure(const std::string& endpoint_text, const std::vector<Run>& runs) {
  const auto own = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  auto guardian = rsp::Guardian::start(own / "../mqbridge-guardian");
  if (!guardian)
    return forward(std::move(guardian));
  auto endpoint = rsp::Endpoint::parse(endpoint_text);
  if (!endpoint)
    return forward(std::move(endpoint));
  std::size_t bytes = 0;
  for (const Run& run : runs)
    bytes += run.bytes;
  std::vector<std::byte> into(bytes);
  const auto start = Clock::now();
  auto client = rsp::Client::connect(*endpoint, {.guardian = guardian->get()});
  if (!client)
    return forward(std::move(client));
  if (auto attached = rsp::attach(**client); !attached)
    return forward(std::move(attached));
  auto cold = read_bulk(**client, runs, into);
  if (!cold)
    return forward(std::move(cold));
  auto bulk = read_bulk(**client, runs, into);
  if (!bulk)
    return forward(std::move(bulk));
  if (auto detached = rsp::detach(**client); !detached)
    return detached;
  fmt::print(R"({{"tool":"{}","walk_s":{:.6f},"total_s":{:.6f},"operations":0,)"
             R"("checksum":"{:08x}","first_s":{:.6f},"bytes":{},"bytes_asked":{},)"
             R"("round_trip_s":{:.6f}}})"
             "\n",
             tool, seconds(bulk->time), seconds(Clock::now() - start), bulk->checksum,
             seconds(cold->time), bulk->bytes, bytes, (*client)->link_estimate().round_trip);
  return {};
}

Result<void> run(const std::string& endpoint, const std::string& file) {
  std::ifstream opened;
  if (file != "-") {
    opened.open(file);
    if (!opened)
      return fail("runs.open", fmt::format("cannot read {}", file));
  }
  auto runs = read_runs(file == "-" ? std::cin : opened);
  if (!runs)
    return forward(std::move(runs));
  return measure(endpoint, *runs);
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"The time that a stub takes to send pages in bulk"};
  std::string endpoint;
  std::string runs;
  app.add_option("ENDPOINT", endpoint, "as of mqbridge dump")->required();
  app.add_option("RUNS", runs, "file of lines: address, number of pages of 4 KiB; - is stdin")
      ->required();
  CLI11_PARSE(app, argc, argv);
  if (auto measured = run(endpoint, runs); !measured)
    return complain(tool, measured.error());
  return 0;
}
