#include "host/service/notice.h"

#include "host/disk/command_output.h"
#include "host/service/shown_document.h"

#include <chrono>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge {
namespace {

std::string replaced(std::string word, std::string_view name, const std::string& value) {
  for (auto at = word.find(name); at != word.npos; at = word.find(name, at + value.size()))
    word.replace(at, name.size(), value);
  return word;
}

} // namespace

Result<void> run_notice(const std::string& program, const ServiceJob& job, FileDescriptor document,
                        const std::filesystem::path& report, const std::stop_token& stop) {
  if (auto written = write_shown(program, std::move(document), std::nullopt, "html", report, stop);
      !written)
    return written;
  std::vector<std::string> argv;
  for (const std::string& word : job.on_deadlock)
    argv.push_back(replaced(replaced(word, "{job}", job.name), "{report}", report.string()));
  constexpr std::chrono::seconds limit{60};
  constexpr std::size_t most_said = 1000;
  const auto run = run_command(argv, limit, most_said, stop);
  if (!run)
    return Failure(run.error());
  if (run->exit_status != 0)
    return fail("service.command",
                fmt::format("job {}: {} has ended with status {}: {}", job.name, argv.front(),
                            run->exit_status, run->text),
                "on_deadlock of the job, in the configuration");
  return {};
}

} // namespace mqbridge
