#include "host/mpi/launch_environment.h"

#include "host/mpi/mpi_support.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>

namespace mqbridge {
namespace {

using Variables = std::map<std::string_view, std::string_view>;

/// The value of a variable that is there and not empty.
std::optional<std::string_view> value_of(const Variables& variables, std::string_view name) {
  const auto found = variables.find(name);
  return found != variables.end() && !found->second.empty() ? std::optional(found->second)
                                                            : std::nullopt;
}

std::optional<std::string_view> first_of(const Variables& variables, Names names) {
  for (const auto name : names)
    if (const auto value = value_of(variables, name))
      return value;
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

/// The variable of each MPI that has one of its own, then the `common` ones.
std::vector<std::string_view> own_and(std::string_view LauncherFacts::*variable,
                                      std::initializer_list<std::string_view> common) {
  std::vector<std::string_view> names;
  for (const auto* mpi : known_mpis())
    if (const auto own = mpi->facts().launcher.*variable; !own.empty())
      names.push_back(own);
  names.insert(names.end(), common);
  return names;
}

} // namespace

std::span<const std::string_view> rank_variables() {
  static const auto names =
      own_and(&LauncherFacts::rank_variable, {"PMIX_RANK", "PMI_RANK", rank_variable_of_slurm});
  return names;
}

LaunchEnvironment parse_environment(std::string_view environ) {
  Variables variables;
  while (!environ.empty()) {
    const auto entry = environ.substr(0, environ.find('\0'));
    environ.remove_prefix(std::min(entry.size() + 1, environ.size()));
    if (const auto equals = entry.find('='); equals != std::string_view::npos)
      variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  LaunchEnvironment result;
  static const auto sizes = own_and(&LauncherFacts::size_variable, {"PMI_SIZE", "SLURM_NTASKS"});
  static constexpr auto jobs = std::to_array<std::string_view>({"PMIX_NAMESPACE", "PMI_JOBID"});
  for (const auto name : rank_variables()) {
    if (const auto value = value_of(variables, name)) {
      result.rank = number(value);
      result.rank_variable = name;
      break;
    }
  }
  result.size = number(first_of(variables, sizes));
  result.slurm_job = value_of(variables, "SLURM_JOB_ID");
  result.slurm_step = value_of(variables, "SLURM_STEP_ID");
  if (result.slurm_job && !result.slurm_step) // Slurm's name for what the script itself starts
    result.slurm_step = "batch";
  result.slurm_node = value_of(variables, "SLURMD_NODENAME");
  result.job = first_of(variables, jobs);
  if (!result.job && result.slurm_job) {
    result.job = fmt::format("{}.{}", *result.slurm_job, *result.slurm_step);
    result.job_is_step = true;
  }
  return result;
}

} // namespace mqbridge
