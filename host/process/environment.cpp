#include "host/process/environment.h"

#include "host/limits.h"
#include "rsp/codes.h"
#include "rsp/commands/vfile.h"

#include <charconv>
#include <fmt/format.h>
#include <initializer_list>
#include <map>

namespace mqbridge {
namespace {

using Variables = std::map<std::string_view, std::string_view>;

std::optional<std::string_view> first_of(const Variables& variables,
                                         std::initializer_list<std::string_view> names) {
  for (const auto name : names)
    if (const auto found = variables.find(name); found != variables.end() && !found->second.empty())
      return found->second;
  return std::nullopt;
}

std::optional<std::int64_t> number(std::optional<std::string_view> text) {
  if (!text)
    return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size() || value < 0)
    return std::nullopt;
  return value;
}

} // namespace

LaunchEnvironment parse_environment(std::string_view environ) {
  Variables variables;
  while (!environ.empty()) {
    const auto entry = environ.substr(0, environ.find('\0'));
    environ.remove_prefix(std::min(entry.size() + 1, environ.size()));
    if (const auto equals = entry.find('='); equals != std::string_view::npos)
      variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  LaunchEnvironment result;
  result.rank = number(
      first_of(variables, {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}));
  result.size = number(first_of(variables, {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}));
  if (const auto job = first_of(variables, {"PMIX_NAMESPACE", "PMI_JOBID"})) {
    result.job = std::string(*job);
  } else if (const auto slurm = first_of(variables, {"SLURM_JOB_ID"})) {
    result.job = fmt::format("{}.{}", *slurm, first_of(variables, {"SLURM_STEP_ID"}).value_or("0"));
  }
  return result;
}

Result<LaunchEnvironment> read_environment(rsp::Client& client, std::int64_t pid) {
  if (!client.features().vfile || pid <= 0)
    return LaunchEnvironment{};
  auto bytes = rsp::read_file(client, fmt::format("/proc/{}/environ", pid), limits::environment);
  if (bytes)
    return parse_environment(*bytes);
  if (bytes.error().code.starts_with(codes::of_vfile))
    return LaunchEnvironment{};
  return forward(std::move(bytes));
}

} // namespace mqbridge
