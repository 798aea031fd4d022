#include "host/service/look_run.h"

#include "host/service/look_summary.h"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace mqbridge {
namespace {

/// The last error of mqbridge, or else what was said last; without control characters.
std::string last_words(std::string_view said) {
  constexpr std::size_t most = 600;
  const auto error = said.rfind("mqbridge: ");
  std::string words(error != said.npos ? said.substr(error, most)
                                       : said.substr(said.size() - std::min(said.size(), most)));
  for (char& sign : words)
    if (static_cast<unsigned char>(sign) < ' ')
      sign = ' ';
  return words.substr(0, words.find_last_not_of(' ') + 1);
}

/// Where memory runs out, a look dies before its job and its service do.
void bound(pid_t pid, const LookLimits& limits) {
  const rlimit memory{limits.memory, limits.memory};
  ::prlimit(pid, RLIMIT_DATA, &memory, nullptr);
  constexpr std::string_view more_likely = "500";
  const FileDescriptor score(
      ::open(fmt::format("/proc/{}/oom_score_adj", pid).c_str(), O_WRONLY | O_CLOEXEC));
  static_cast<void>(::write(score.get(), more_likely.data(), more_likely.size()));
}

} // namespace

Result<std::unique_ptr<LookRun>> LookRun::start(const std::vector<std::string>& argv,
                                                std::string job, std::string id,
                                                std::unique_ptr<LookWriter> writer,
                                                const LookLimits& limits) {
  auto command = StartedCommand::start(argv);
  if (!command)
    return forward(std::move(command));
  command->close_input();
  bound(command->pid(), limits);
  return std::unique_ptr<LookRun>(
      new LookRun(std::move(*command), std::move(job), std::move(id), std::move(writer), limits));
}

LookRun::LookRun(StartedCommand command, std::string job, std::string id,
                 std::unique_ptr<LookWriter> writer, const LookLimits& limits)
    : command_(std::move(command)), job_(std::move(job)), id_(std::move(id)),
      writer_(std::move(writer)), limits_(limits) {}

void LookRun::look() {
  if (is_cancelled_)
    end("it was cancelled");
  constexpr int most_pieces = 64; // others want to be looked after, too
  for (int i = 0; i < most_pieces; ++i) {
    const std::string text = command_.read_output();
    if (text.empty())
      break;
    bytes_ += text.size();
    lines_.add(text);
    if (bytes_ <= limits_.document)
      writer_->append(text);
    else
      end("its document is too long");
  }
  ranks_ = lines_.ranks();
  command_.read_error();
  const auto age = Clock::now() - started_;
  if (age > limits_.time)
    end(fmt::format("it has taken longer than {} s", limits_.time.count()));
  constexpr std::chrono::seconds to_let_go{20};
  if (!why_.empty() && age > limits_.time + to_let_go && !std::exchange(is_killed_, true))
    command_.signal(SIGKILL); // the guardians let its targets go
}

void LookRun::end(std::string why) {
  if (!why_.empty())
    return;
  why_ = std::move(why);
  limits_.time = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - started_);
  command_.signal(SIGTERM);
}

bool LookRun::is_over() {
  constexpr std::chrono::seconds for_its_rest{1}; // a program that it has left may keep the pipe
  if (!command_.has_ended())
    return false;
  if (!ended_)
    ended_ = Clock::now();
  return command_.output() < 0 || Clock::now() - *ended_ > for_its_rest;
}

Result<nlohmann::json> LookRun::finish() {
  constexpr int partial = 1; // docs/reference/cli.md
  LookFacts facts{
      .id = id_,
      .job = job_,
      .taken_at = time_text(began_),
      .duration_ms =
          std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - started_).count(),
      .error = {}};
  const auto status = command_.exit_status();
  const bool is_fine = why_.empty() && status && *status <= partial;
  if (!is_fine) {
    const std::string words = last_words(command_.said());
    facts.error = !why_.empty() ? why_ : words.empty() ? "mqbridge " + command_.ending() : words;
  }
  nlohmann::json summary = summary_of(facts, lines_);
  if (auto stored = writer_->finish(summary); !stored)
    return Failure(stored.error());
  return summary;
}

} // namespace mqbridge
