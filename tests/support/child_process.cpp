#include "tests/support/child_process.h"

#include "tests/support/eventually.h"
#include "tests/support/process_table.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

extern char** environ;

namespace mqbridge::test {
namespace {

using namespace std::chrono_literals;

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// "NAME=value" strings: the test's own environment with the child's changes in place of what they
// change.
std::vector<std::string> environment_of(const ChildSpec& spec) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    bool replaced = false;
    for (const auto& [name, value] : spec.environment)
      replaced = replaced || text.starts_with(name + "=");
    if (!replaced)
      all.emplace_back(text);
  }
  for (const auto& [name, value] : spec.environment)
    all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Runs between fork and exec: system calls only.
[[noreturn]] void become(char** argv, char** environment, const char* out, const char* err) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int input = open("/dev/null", O_RDONLY);
  const int output = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int errors = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (input < 0 || output < 0 || errors < 0 || dup2(input, 0) < 0 || dup2(output, 1) < 0 ||
      dup2(errors, 2) < 0)
    _exit(126);
  // What the test has open is none of the child's business: a kept socket would never see its end.
  // At the exec, which the test waits for.
  close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  execvpe(argv[0], argv, environment);
  _exit(127);
}

// fork() that returns to the test only when the child has become its program: until then a
// debugger, or a reader of /proc, would meet a copy of the test.
template <class Become>
pid_t fork_and_exec(Become become_program) {
  int until_exec[2];
  if (pipe2(until_exec, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe2");
  const pid_t pid = fork();
  const int error = errno;
  if (pid == 0)
    become_program();
  close(until_exec[1]);
  char nothing = 0;
  while (pid > 0 && read(until_exec[0], &nothing, 1) < 0 && errno == EINTR) {
  }
  close(until_exec[0]);
  if (pid < 0)
    throw std::system_error(error, std::generic_category(), "fork");
  return pid;
}

Ending ending_of(int status) {
  Ending ending;
  if (WIFSIGNALED(status))
    ending.signal = WTERMSIG(status);
  else
    ending.code = WEXITSTATUS(status);
  return ending;
}

void reap(pid_t pid) {
  // A grandchild comes to us by way of its dead parents, so not at once.
  eventually(5s, [pid] {
    const pid_t waited = waitpid(pid, nullptr, WNOHANG);
    return waited == pid || (waited < 0 && process_state(pid) == '\0');
  });
}

} // namespace

ChildProcess::ChildProcess(const ChildSpec& spec) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::vector<std::string> arguments = spec.argv;
  std::vector<std::string> environment = environment_of(spec);
  std::vector<char*> argv = pointers(arguments);
  std::vector<char*> envp = pointers(environment);
  const std::string out = (files_ / "out").string();
  const std::string err = (files_ / "err").string();
  pid_ = fork_and_exec([&] { become(argv.data(), envp.data(), out.c_str(), err.c_str()); });
}

ChildProcess::~ChildProcess() {
  std::vector<pid_t> family = ending_ ? std::vector<pid_t>{} : descendants_of(pid_);
  signal(SIGKILL);
  for (const pid_t member : family)
    kill(member, SIGKILL);
  if (!ending_)
    reap(pid_);
  for (const pid_t member : family)
    reap(member);
}

void ChildProcess::signal(int number) const {
  if (!ending_)
    kill(pid_, number);
}

std::optional<Ending> ChildProcess::wait(std::chrono::milliseconds timeout) {
  eventually(timeout, [this] {
    int status = 0;
    if (!ending_ && waitpid(pid_, &status, WNOHANG) == pid_)
      ending_ = ending_of(status);
    return ending_.has_value();
  });
  return ending_;
}

std::string ChildProcess::out() const {
  return read_file(files_ / "out");
}

std::string ChildProcess::err() const {
  return read_file(files_ / "err");
}

std::vector<pid_t> orphans(const std::string& name) {
  std::vector<pid_t> living;
  for (const pid_t child : children_of(getpid())) {
    if (process_name(child) != name.substr(0, 15))
      continue;
    if (process_state(child) == 'Z')
      waitpid(child, nullptr, WNOHANG);
    else
      living.push_back(child);
  }
  return living;
}

void kill_and_reap(pid_t pid) {
  kill(pid, SIGKILL);
  reap(pid);
}

} // namespace mqbridge::test
