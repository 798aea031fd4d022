#include "host/service/service_config.h"

#include "host/disk/toml_file.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <string_view>

namespace mqbridge {
namespace {

bool is_letter(char sign) {
  return (sign >= 'a' && sign <= 'z') || (sign >= 'A' && sign <= 'Z') ||
         (sign >= '0' && sign <= '9');
}

/// "90", "10m", "1.5h".
std::optional<std::chrono::seconds> parse_duration(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  constexpr std::pair<std::string_view, double> units[] = {
      {"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86'400}};
  const auto* const found =
      std::ranges::find(units, unit, &std::pair<std::string_view, double>::first);
  constexpr double most = 86'400.0 * 3650;
  if (error != std::errc() || found == std::end(units) ||
      !(number >= 1 && number * found->second <= most))
    return std::nullopt;
  return std::chrono::seconds(static_cast<std::int64_t>(number * found->second));
}

/// A key with a number.
struct Limit {
  std::string_view key;
  double least;
  double most;
  bool is_whole;
  void (*set)(ServiceConfig&, double);
};

template <class Number>
Number whole(double number) {
  return static_cast<Number>(number);
}

constexpr Limit limits[] = {
    {"looks_at_once", 1, 64, true,
     [](ServiceConfig& to, double number) { to.looks_at_once = whole<std::size_t>(number); }},
    {"look_seconds", 1, 86'400, true,
     [](ServiceConfig& to, double number) {
       to.look.time = std::chrono::seconds(whole<int>(number));
     }},
    {"hold_seconds", 1, 3600, true,
     [](ServiceConfig& to, double number) {
       to.look.hold = std::chrono::seconds(whole<int>(number));
     }},
    {"look_mib", 64, 1 << 20, true,
     [](ServiceConfig& to, double number) { to.look.memory = whole<std::uint64_t>(number) << 20; }},
    {"most_load", 0, 100, false, [](ServiceConfig& to, double number) { to.most_load = number; }},
    {"keep_looks", 1, 100'000, true,
     [](ServiceConfig& to, double number) { to.history.looks = whole<std::size_t>(number); }},
    {"keep_days", 1, 3650, true,
     [](ServiceConfig& to, double number) {
       to.history.age = std::chrono::hours(24 * whole<int>(number));
     }},
    {"keep_mib", 1, 1 << 20, true,
     [](ServiceConfig& to, double number) {
       to.history.bytes = whole<std::uint64_t>(number) << 20;
     }},
};

class Reader {
public:
  explicit Reader(const std::filesystem::path& path) : faults_(path) {}

  Result<ServiceConfig> read(const toml::table& root) {
    for (const auto& [key, value] : root) {
      const auto read = key.str() == "job" ? read_jobs(value) : read_limit(key, value);
      if (!read)
        return Failure(read.error());
    }
    return std::move(config_);
  }

private:
  Result<void> read_limit(const toml::key& key, const toml::node& value) {
    const auto* const limit = std::ranges::find(limits, key.str(), &Limit::key);
    if (limit == std::end(limits))
      return faults_.unknown_key(key,
                                 "looks_at_once, look_seconds, look_mib, hold_seconds, most_load, "
                                 "keep_looks, keep_days, keep_mib, [[job]]");
    const auto number = value.value<double>();
    const bool is_in = number && *number >= limit->least && *number <= limit->most; // NaN is not
    if (!is_in || (limit->is_whole && !value.is_integer()))
      return faults_.wrong_value(value, key.str(),
                                 fmt::format("a {}number from {} to {}",
                                             limit->is_whole ? "whole " : "", limit->least,
                                             limit->most));
    limit->set(config_, *number);
    return {};
  }

  Result<void> read_jobs(const toml::node& value) {
    const toml::array* const jobs = value.as_array();
    if (jobs == nullptr)
      return faults_.wrong_value(value, "job", "a list of tables: [[job]]");
    for (const toml::node& item : *jobs) {
      const toml::table* const job = item.as_table();
      if (job == nullptr)
        return faults_.wrong_value(item, "job", "a list of tables: [[job]]");
      if (auto read = read_job(*job); !read)
        return read;
    }
    return {};
  }

  Result<void> read_job(const toml::table& table) {
    ServiceJob job{.name = {}, .words = {}, .is_configured = true};
    int targets = 0;
    bool has_cpu = false;
    pid_t launcher = 0; // on this host
    for (const auto& [key, value] : table) {
      const std::string name(key.str());
      const auto* const text = value.as_string();
      const std::string said = text != nullptr      ? text->get()
                               : value.is_integer() ? std::to_string(value.as_integer()->get())
                                                    : std::string();
      if (name == "name") {
        if (!is_job_name(said))
          return faults_.wrong_value(value, name, "a name of letters, digits, '.', '-' and '_'");
        job.name = said;
      } else if (name == "every") {
        job.every = parse_duration(said);
        if (!job.every)
          return faults_.wrong_value(value, name, "a duration, such as \"10m\"");
      } else if (name == "mpirun" || name == "slurm" || name == "targets" || name == "launcher" ||
                 name == "launcher-args") {
        if (said.empty())
          return faults_.wrong_value(value, name, "what stands behind --" + name);
        if (name == "targets" && said.front() != '/')
          return faults_.wrong_value(value, name, "the absolute path of a file");
        targets += name.starts_with("launcher") ? 0 : 1;
        if (name == "mpirun" && words_of_job(name, said))
          std::from_chars(said.data(), said.data() + said.size(), launcher);
        job.words.push_back(fmt::format("--{}={}", name, said));
      } else if (name == "output") {
        job.output = said;
        if (!job.output.is_absolute())
          return faults_.wrong_value(value, name, "the absolute path of a file");
      } else if (name == "cpu") {
        if (!value.is_boolean())
          return faults_.wrong_value(value, name, "true or false");
        has_cpu = value.as_boolean()->get();
      } else if (name == "quiet") {
        const auto quiet = parse_duration(said);
        if (!quiet)
          return faults_.wrong_value(value, name, "a duration, such as \"10m\"");
        job.quiet = *quiet;
      } else if (name == "after_looks") {
        const auto looks = value.value<int>();
        if (!looks || *looks < 1 || *looks > 1000)
          return faults_.wrong_value(value, name, "a number from 1 to 1000");
        job.after_looks = static_cast<std::size_t>(*looks);
      } else if (name == "on_deadlock") {
        job.on_deadlock = words_in(value);
        if (job.on_deadlock.empty())
          return faults_.wrong_value(
              value, name, "a command as a list: [\"mail\", \"-s\", \"{job} hangs\", ...]");
      } else {
        return faults_.unknown_key(key,
                                   "a job has name, one of mpirun, slurm and targets, and every, "
                                   "output, cpu, quiet, on_deadlock, after_looks, launcher, "
                                   "launcher-args");
      }
    }
    if (job.name.empty() || targets != 1)
      return faults_.wrong_value(table, "job",
                                 "a job with a name, and one of mpirun, slurm and targets");
    if (has_cpu && launcher == 0)
      return faults_.wrong_value(table, "cpu", "the mpirun of this host: mpirun = 4711");
    job.cpu_of = has_cpu ? launcher : 0;
    if (std::ranges::find(config_.jobs, job.name, &ServiceJob::name) != config_.jobs.end())
      return faults_.wrong_value(table, "name", "a name that no other job has");
    config_.jobs.push_back(std::move(job));
    return {};
  }

  /// Empty: it is no list of texts.
  static std::vector<std::string> words_in(const toml::node& value) {
    std::vector<std::string> words;
    const toml::array* const list = value.as_array();
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const auto* const word = list->get_as<std::string>(i);
      if (word == nullptr)
        return {};
      words.push_back(word->get());
    }
    return words;
  }

  TomlFaults faults_;
  ServiceConfig config_;
};

} // namespace

bool is_job_name(std::string_view name) {
  constexpr std::size_t longest = 64;
  return !name.empty() && name.size() <= longest && is_letter(name.front()) &&
         std::ranges::all_of(name, [](char sign) {
           return is_letter(sign) || sign == '.' || sign == '_' || sign == '-';
         });
}

std::optional<std::vector<std::string>> words_of_job(const std::string& how,
                                                     const std::string& number) {
  const bool is_number =
      !number.empty() && number.size() <= 19 &&
      std::ranges::all_of(number, [](char sign) { return (sign >= '0' && sign <= '9'); });
  if (!is_number || (how != "mpirun" && how != "slurm"))
    return std::nullopt;
  return std::vector<std::string>{"--" + how + "=" + number};
}

Result<ServiceConfig> read_service_config(const std::filesystem::path& path) {
  const auto root = read_toml(path, "[[job]], and below it name = \"weather\" and mpirun = 4711");
  return root ? Reader(path).read(*root) : Result<ServiceConfig>(Failure(root.error()));
}

} // namespace mqbridge
