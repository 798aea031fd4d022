#include "tests/fuzz/stub_session.h"

#include "rsp/commands/attach.h"
#include "rsp/commands/background_file.h"
#include "rsp/commands/processes.h"
#include "rsp/commands/qxfer.h"
#include "rsp/commands/read_memory.h"
#include "rsp/commands/refused_attach.h"
#include "rsp/commands/remote_file.h"
#include "rsp/commands/run_until.h"
#include "rsp/commands/threads.h"
#include "rsp/commands/vfile.h"
#include "tests/fuzz/fuzz_input.h"

#include <array>
#include <vector>

namespace mqbridge::test {
namespace {

template <class T>
void check(const Result<T>& result) {
  require(result || (!result.error().code.empty() && !result.error().message.empty()));
}

/// Three ranges: two that touch, one beyond 2 GiB.
void read_ranges(rsp::Client& client, std::size_t size, const rsp::ReadOptions& options) {
  std::vector<std::byte> bytes(3 * size);
  const auto piece = [&](std::size_t index) {
    return std::span(bytes).subspan(index * size, size);
  };
  std::array requests = {rsp::ReadRequest{0x1000, piece(0)},
                         rsp::ReadRequest{0x1000 + size, piece(1)},
                         rsp::ReadRequest{0x7fff00000000, piece(2)}};
  check(rsp::read_memory(client, requests, options));
  for (const auto& request : requests)
    require(request.read <= request.into.size());
}

void read_files(rsp::Client& client) {
  const std::array paths = {rsp::RemotePath{"/bin/true", 7}, rsp::RemotePath{"/none"}};
  const auto opened = rsp::open_files(client, paths);
  check(opened);
  if (!opened)
    return;
  require(opened->size() == paths.size());
  std::vector<rsp::RemoteFile> files;
  for (const auto& file : *opened) {
    check(file);
    if (file)
      files.push_back(*file);
  }
  if (!files.empty()) {
    const auto bytes = rsp::read_file_at(client, files.front(), 0, 100);
    check(bytes);
    require(!bytes || bytes->size() <= 100);
  }
  check(rsp::close_files(client, files));
}

void read_in_background(rsp::Client& client) {
  if (!client.asks_ahead())
    return;
  rsp::BackgroundFile file(client, "/proc/7/maps",
                           {.size = 600, .one_read = 200, .cut_short = 100, .limit = 2000});
  file.advance();
  check(rsp::read_threads(client)); // it comes along
  check(file.finish());
  require(file.text().size() <= 4000);
}

void attach_and_run(rsp::Client& client) {
  auto attachment = rsp::attach(client);
  check(attachment);
  if (!attachment)
    return;
  check(rsp::run_until(client, {.signal = 10}, *attachment));
  check(rsp::detach(client));
}

} // namespace

void play_session_part(char part, rsp::Client& client) {
  switch (part) {
  case 'a':
    check(rsp::attach(client));
    check(rsp::detach(client));
    break;
  case 't':
    check(rsp::read_threads(client));
    break;
  case 'p':
    check(rsp::read_processes(client));
    static_cast<void>(
        rsp::describe_processes(client, std::array<std::string_view, 1>{"PMIX_RANK"}));
    break;
  case 'o':
    check(rsp::read_object(client, "libraries-svr4", ""));
    check(rsp::read_object(client, "features", "target.xml"));
    break;
  case 'f':
    check(rsp::read_file(client, "/proc/self/maps", 3000));
    break;
  case 'F':
    read_files(client);
    break;
  case 'm':
    read_ranges(client, 64, {});
    break;
  case 'M':
    read_ranges(client, std::size_t{512} << 10, {.grain = 4096});
    break;
  case 'B':
    read_in_background(client);
    break;
  case 'r':
    require(!rsp::explain_refused_attach(client, 7, "E01").code.empty());
    break;
  case 'R':
    attach_and_run(client);
    break;
  default:
    break;
  }
}

} // namespace mqbridge::test
