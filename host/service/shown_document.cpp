#include "host/service/shown_document.h"

#include "host/disk/command_output.h"
#include "host/disk/output_file.h"
#include "host/service/look_store.h"

#include <chrono>
#include <utility>
#include <vector>

namespace mqbridge {

namespace {

Result<std::string> unpack_into(const std::filesystem::path& path, FileDescriptor document) {
  const auto text = unpacked_document(std::move(document), most_unpacked);
  auto written = text ? write_file(path, *text) : Result<void>(Failure(text.error()));
  return written ? Result<std::string>(path.string()) : Failure(written.error());
}

} // namespace

Result<void> write_shown(const std::string& program, FileDescriptor document,
                         std::optional<FileDescriptor> before, const std::string& format,
                         const std::filesystem::path& output, const std::stop_token& stop) {
  const auto directory = TemporaryDirectory::make();
  if (!directory)
    return Failure(directory.error());
  const auto look = unpack_into(directory->path() / "look.ndjson", std::move(document));
  if (!look)
    return Failure(look.error());
  std::vector<std::string> argv = {program,        before ? "analyze" : "show",
                                   *look,          "--color",
                                   "never",        "--format",
                                   format,         "-o",
                                   output.string()};
  if (before) {
    const auto earlier = unpack_into(directory->path() / "before.ndjson", std::move(*before));
    if (!earlier)
      return Failure(earlier.error());
    argv.insert(argv.end(), {"--before", *earlier});
  }
  constexpr std::chrono::seconds limit{60};
  constexpr std::size_t most_said = 4096;
  constexpr int partial = 1; // docs/reference/cli.md
  const auto run = run_command(argv, limit, most_said, stop);
  if (!run)
    return Failure(run.error());
  if (run->exit_status > partial)
    return fail("service.report", run->text, "ask for the document itself");
  return {};
}

} // namespace mqbridge
