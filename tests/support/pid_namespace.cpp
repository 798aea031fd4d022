#include "tests/support/pid_namespace.h"

#include "tests/support/eventually.h"
#include "tests/support/process_table.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace mqbridge::test {
namespace {

using namespace std::chrono_literals;

std::string namespace_of(pid_t pid) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/ns/pid", error);
}

} // namespace

std::vector<std::string> in_own_pid_namespace(const std::vector<std::string>& more) {
  std::vector<std::string> words = {"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

PidNamespace::PidNamespace(pid_t unshare) {
  const auto started = [&] {
    const auto children = children_of(unshare);
    first_ = children.empty() ? 0 : children.front();
    id_ = namespace_of(first_);
    return !id_.empty() && process_name(first_) != "unshare";
  };
  if (!eventually(10s, started))
    throw std::runtime_error("unshare starts nothing");
}

pid_t PidNamespace::pid_here(pid_t inside) const {
  const auto all = members();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](pid_t pid) { return innermost_pid(pid) == inside; });
  return found == all.end() ? 0 : *found;
}

std::vector<pid_t> PidNamespace::members() const {
  std::vector<pid_t> pids = all_processes();
  std::erase_if(pids, [this](pid_t pid) { return namespace_of(pid) != id_; });
  return pids;
}

std::vector<pid_t> PidNamespace::named(std::string_view name) const {
  std::vector<pid_t> pids = members();
  std::erase_if(pids, [&](pid_t pid) {
    return process_name(pid) != name.substr(0, 15) || process_state(pid) == 'Z';
  });
  return pids;
}

} // namespace mqbridge::test
