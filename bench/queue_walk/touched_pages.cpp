#include "bench/queue_walk/touched_pages.h"

#include "bench/queue_walk/own_dump.h"
#include "bench/queue_walk/stage.h"
#include "tests/support/temp_directory.h"

#include <cstdint>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace mqbridge::bench {
namespace {

constexpr std::uint64_t page_size = 4096;
constexpr std::uint64_t largest_file = std::uint64_t{1} << 31;

struct Read {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};

std::optional<std::uint64_t> hexadecimal(const std::string& text) {
  std::size_t used = 0;
  try {
    const auto value = std::stoull(text, &used, 16);
    return used == text.size() ? std::optional<std::uint64_t>(value) : std::nullopt;
  } catch (const std::exception&) { // stoull: no number, or too large a one
    return std::nullopt;
  }
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);)
    parts.push_back(part);
  return parts;
}

/// mADDRESS,SIZE, xADDRESS,SIZE and vFile:pread:DESCRIPTOR,SIZE,OFFSET; the latter only with an
/// offset that no file has except a process's memory. Reads of whole pages only: reads of the
/// objects' headers are no part of a walk.
std::optional<Read> read_of(const std::string& request) {
  constexpr std::string_view pread = "vFile:pread:";
  const bool file = request.starts_with(pread);
  if (!file && (request.empty() || (request[0] != 'm' && request[0] != 'x')))
    return std::nullopt;
  const auto words = split(request.substr(file ? pread.size() : 1), ',');
  if (words.size() != (file ? 3U : 2U))
    return std::nullopt;
  const auto address = hexadecimal(file ? words[2] : words[0]);
  const auto size = hexadecimal(words[1]);
  if (!address || !size || *size == 0 || *address % page_size != 0 || *size % page_size != 0 ||
      (file && *address < largest_file))
    return std::nullopt;
  return Read{*address, *size};
}

PageRuns runs_of(const std::set<std::uint64_t>& pages) {
  PageRuns runs;
  for (const auto page : pages) {
    if (!runs.empty() && runs.back().first + runs.back().count == page)
      ++runs.back().count;
    else
      runs.push_back({page, 1});
  }
  return runs;
}

} // namespace

PageRuns pages_of_trace(std::istream& trace) {
  std::set<std::uint64_t> pages;
  for (std::string line; std::getline(trace, line);) {
    std::istringstream words(line);
    std::string time;
    std::string endpoint;
    std::string direction;
    std::string payload;
    if (!(words >> time >> endpoint >> direction >> payload) || direction != "->")
      continue;
    if (const auto read = read_of(payload))
      for (auto page = read->address / page_size; page < (read->address + read->size) / page_size;
           ++page)
        pages.insert(page);
  }
  return runs_of(pages);
}

Result<void> write_touched_pages(Stage& stage, const Cell& cell,
                                 const std::filesystem::path& file) {
  const test::TempDirectory directory;
  auto trace = rsp::Trace::open(directory / "trace");
  if (!trace)
    return forward(std::move(trace));
  Cell near = cell;
  near.link = {};
  CacheStates states;
  const OwnDump pages(CacheMode::page, Knowledge::build, states);
  if (auto dumped = pages.run(stage, near, trace->get()); !dumped)
    return forward(std::move(dumped));
  if (auto closed = (*trace)->close(); !closed)
    return closed;
  std::ifstream in(directory / "trace");
  std::ofstream out(file);
  for (const auto& run : pages_of_trace(in))
    out << fmt::format("{:#x} {}\n", run.first * page_size, run.count);
  if (!out.flush())
    return fail("bench.runs", fmt::format("cannot write {}", file.string()));
  return {};
}

} // namespace mqbridge::bench
