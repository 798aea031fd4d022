#include "host/process/live/process_files.h"

#include "host/limits.h"
#include "host/memory/memory_map_parser.h"
#include "rsp/codes.h"
#include "rsp/commands/vfile.h"
#include "rsp/exchange/connection.h"

#include <fmt/format.h>
#include <string_view>

namespace mqbridge {
namespace {

/// A page of the kernel's, and the bytes of it that the longest usual line may leave empty.
constexpr std::size_t maps_read = 4096;
constexpr std::size_t maps_cut_short = 512;
/// An object has five mappings, each with a line of some hundred bytes; other mappings belong to no
/// object.
constexpr std::size_t maps_of_an_object = 700;
constexpr std::size_t maps_of_none = 4096;

/// Reads it in exchanges of its own. An environment is a help, never needed: the only error is a
/// lost connection.
Result<std::string> read_environment(rsp::Client& client, std::int64_t pid) {
  if (!client.features().vfile || pid <= 0)
    return std::string();
  auto bytes = rsp::read_file(client, fmt::format("/proc/{}/environ", pid), limits::environment);
  if (!bytes && bytes.error().code.starts_with(codes::of_vfile))
    return std::string();
  return bytes;
}

} // namespace

ProcessFiles::ProcessFiles(rsp::Client& client, std::int64_t pid) : client_(client), pid_(pid) {
  const bool is_serial = client.connection().link().bytes_per_second != 0;
  if (!client.features().vfile || pid <= 0 || !client.asks_ahead() || is_serial)
    return;
  maps_.emplace(client, fmt::format("/proc/{}/maps", pid),
                rsp::BackgroundFile::Expectation{.size = maps_of_none,
                                                 .one_read = maps_read,
                                                 .cut_short = maps_cut_short,
                                                 .limit = limits::maps});
  environ_.emplace(client, fmt::format("/proc/{}/environ", pid),
                   rsp::BackgroundFile::Expectation{.limit = limits::environment});
}

void ProcessFiles::expect_objects(std::size_t count) {
  if (maps_)
    maps_->expect_size(maps_of_none + count * maps_of_an_object);
}

void ProcessFiles::advance() {
  if (maps_)
    maps_->advance();
  if (environ_)
    environ_->advance();
}

void ProcessFiles::give_up() {
  if (maps_)
    maps_->give_up();
  if (environ_)
    environ_->give_up();
}

std::optional<MemoryMap> ProcessFiles::take_new_map(const Platform& platform) {
  if (!maps_ || told_all_ || (maps_->text().size() == told_ && !maps_->complete()))
    return std::nullopt;
  told_ = maps_->text().size();
  told_all_ = maps_->complete();
  auto map = parse_memory_map(maps_->text(), maps_->complete(), platform);
  return map ? std::optional(std::move(*map)) : std::nullopt;
}

Result<std::string> ProcessFiles::environment() {
  if (!environ_)
    return read_environment(client_, pid_);
  // If all bytes have come, the end need not have been seen. But a stub may also give fewer because
  // its packet was full; as a rule the text then ends in the middle of a variable.
  environ_->advance();
  if (!environ_->ran_short() || !environ_->text().ends_with('\0'))
    if (auto done = environ_->finish(); !done)
      return forward(std::move(done));
  const std::string_view text = environ_->text();
  return std::string(environ_->complete() ? text : text.substr(0, text.rfind('\0') + 1));
}

} // namespace mqbridge
