#include "host/service/shown_document.h"

#include "host/disk/command_output.h"
#include "host/disk/output_file.h"
#include "host/service/look_store.h"

#include <chrono>
#include <utility>

namespace mqbridge {

Result<void> write_shown(const std::string& program, FileDescriptor document,
                         const std::string& format, const std::filesystem::path& output,
                         const std::stop_token& stop) {
  auto text = unpacked_document(std::move(document), most_unpacked);
  if (!text)
    return forward(std::move(text));
  const auto directory = TemporaryDirectory::make();
  if (!directory)
    return Failure(directory.error());
  const std::string path = directory->path() / "look.ndjson";
  if (auto written = write_file(path, *text); !written)
    return written;
  *text = {};
  constexpr std::chrono::seconds limit{60};
  constexpr std::size_t most_said = 4096;
  constexpr int partial = 1; // docs/reference/cli.md
  const auto run = run_command(
      {program, "show", path, "--color", "never", "--format", format, "-o", output.string()}, limit,
      most_said, stop);
  if (!run)
    return Failure(run.error());
  if (run->exit_status > partial)
    return fail("service.report", run->text, "ask for the document itself");
  return {};
}

} // namespace mqbridge
