#include "tests/support/process_table.h"

#include "tests/support/eventually.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>

namespace mqbridge::test {
namespace {

std::string read_proc(pid_t pid, std::string_view file) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/" + std::string(file));
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string status_field(pid_t pid, std::string_view name) {
  std::istringstream status(read_proc(pid, "status"));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ':') {
      const std::size_t value = line.find_first_not_of(" \t", name.size() + 1);
      return value == std::string::npos ? "" : line.substr(value);
    }
  }
  return "";
}

} // namespace

char process_state(pid_t pid) {
  const std::string state = status_field(pid, "State");
  return state.empty() ? '\0' : state.front();
}

bool is_stopped(pid_t pid) {
  const char state = process_state(pid);
  return state == 't' || state == 'T';
}

bool runs_within(pid_t pid, std::chrono::milliseconds limit) {
  // Attaching and detaching switch context too: only a process that goes on doing so runs.
  constexpr int wakes_of_a_running_one = 5;
  std::string last;
  int wakes = 0;
  return eventually(limit, [&] {
    const std::string switches = status_field(pid, "voluntary_ctxt_switches");
    if (is_stopped(pid) || switches.empty())
      wakes = 0;
    else if (switches != last)
      ++wakes;
    last = switches;
    return wakes > wakes_of_a_running_one;
  });
}

std::string process_name(pid_t pid) {
  return status_field(pid, "Name");
}

pid_t tracer_of(pid_t pid) {
  const std::string tracer = status_field(pid, "TracerPid");
  return tracer.empty() ? 0 : std::stoi(tracer);
}

std::uint64_t cpu_ticks(pid_t pid) {
  const std::string stat = read_proc(pid, "stat");
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos)
    return 0;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string skipped;
  // proc(5): state is field 3, utime 14, stime 15.
  for (int field = 3; field < 14; ++field)
    fields >> skipped;
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  fields >> user >> system;
  return user + system;
}

std::uint64_t peak_memory_kib(pid_t pid) {
  const std::string peak = status_field(pid, "VmHWM");
  return peak.empty() ? 0 : std::stoull(peak);
}

std::uint64_t mapping_of(pid_t pid, std::string_view text) {
  std::istringstream maps(read_proc(pid, "maps"));
  for (std::string line; std::getline(maps, line);) {
    if (line.find(text) != std::string::npos)
      return std::stoull(line, nullptr, 16);
  }
  return 0;
}

std::string memory_of(pid_t pid, std::uint64_t address, std::size_t size) {
  std::ifstream memory("/proc/" + std::to_string(pid) + "/mem", std::ios::binary);
  std::string bytes(size, '\0');
  memory.seekg(static_cast<std::streamoff>(address));
  memory.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(memory.gcount()));
  return bytes;
}

void PrintTo(const SleepingThread& thread, std::ostream* out) {
  *out << "call " << thread.call << std::hex << " sp 0x" << thread.stack_pointer << " pc 0x"
       << thread.program_counter << std::dec;
}

// /proc/PID/task/TID/syscall: "NUMBER SIX_ARGUMENTS SP PC", or another word.
std::map<std::int64_t, SleepingThread> sleeping_threads(pid_t pid) {
  std::map<std::int64_t, SleepingThread> all;
  std::error_code gone;
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
    std::ifstream file(task.path() / "syscall");
    std::vector<std::string> words;
    for (std::string word; file >> word;)
      words.push_back(word);
    if (words.size() != 9)
      return {};
    all[std::atoll(task.path().filename().c_str())] = {
        std::atoi(words[0].c_str()), std::strtoull(words[7].c_str(), nullptr, 16),
        std::strtoull(words[8].c_str(), nullptr, 16)};
  }
  return all;
}

std::map<int, std::string> descriptors_of(pid_t pid) {
  std::map<int, std::string> descriptors;
  std::error_code gone;
  std::filesystem::directory_iterator entry("/proc/" + std::to_string(pid) + "/fd", gone);
  for (; !gone && entry != std::filesystem::directory_iterator(); entry.increment(gone)) {
    std::error_code closed;
    const std::string file = std::filesystem::read_symlink(entry->path(), closed);
    if (!closed)
      descriptors.emplace(std::stoi(entry->path().filename()), file);
  }
  return descriptors;
}

int sockets_of(pid_t pid) {
  int sockets = 0;
  for (const auto& [descriptor, file] : descriptors_of(pid))
    sockets += file.starts_with("socket:");
  return sockets;
}

std::optional<std::string> variable_of(pid_t pid, std::string_view name) {
  std::istringstream environment(read_proc(pid, "environ"));
  const std::string begin = std::string(name) + "=";
  for (std::string entry; std::getline(environment, entry, '\0');) {
    if (entry.starts_with(begin))
      return entry.substr(begin.size());
  }
  return std::nullopt;
}

pid_t innermost_pid(pid_t pid) {
  const std::string numbers = status_field(pid, "NSpid"); // from the outermost one on
  return numbers.empty() ? 0 : std::stoi(numbers.substr(numbers.find_last_of(" \t") + 1));
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") == std::string::npos)
      pids.push_back(std::stoi(name));
  }
  return pids;
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code gone;
  const auto tasks =
      std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone);
  if (gone)
    return children;
  for (const auto& task : tasks) {
    std::ifstream list(task.path() / "children");
    for (pid_t child = 0; list >> child;)
      children.push_back(child);
  }
  return children;
}

std::vector<pid_t> descendants_of(pid_t pid) {
  std::vector<pid_t> all = children_of(pid);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<pid_t> more = children_of(all[i]);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::optional<pid_t> descendant_named(pid_t pid, std::string_view name) {
  const std::string cut(name.substr(0, 15));
  for (const pid_t candidate : descendants_of(pid)) {
    if (process_name(candidate) == cut)
      return candidate;
  }
  return std::nullopt;
}

} // namespace mqbridge::test
