#include "host/files/debuginfod.h"

#include "host/codes.h"
#include "host/limits.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <fmt/format.h>
#include <unistd.h>

namespace mqbridge {
namespace {

using Clock = std::chrono::steady_clock;

/// The functions of libdebuginfod that are called.
struct Library {
  decltype(&debuginfod_begin) begin = nullptr;
  decltype(&debuginfod_end) end = nullptr;
  decltype(&debuginfod_find_debuginfo) find_debuginfo = nullptr;
  decltype(&debuginfod_find_executable) find_executable = nullptr;
  decltype(&debuginfod_set_progressfn) set_progress = nullptr;
  decltype(&debuginfod_set_user_data) set_user_data = nullptr;
  decltype(&debuginfod_get_user_data) get_user_data = nullptr;

  bool complete() const {
    return begin && end && find_debuginfo && find_executable && set_progress && set_user_data &&
           get_user_data;
  }
};

template <class Function>
void load(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
}

/// The library is loaded once and never unloaded: libcurl and its TLS library leave threads and
/// handlers behind.
const Library& library() {
  static const Library loaded = [] {
    Library functions;
    void* handle = ::dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
      return functions;
    load(handle, "debuginfod_begin", functions.begin);
    load(handle, "debuginfod_end", functions.end);
    load(handle, "debuginfod_find_debuginfo", functions.find_debuginfo);
    load(handle, "debuginfod_find_executable", functions.find_executable);
    load(handle, "debuginfod_set_progressfn", functions.set_progress);
    load(handle, "debuginfod_set_user_data", functions.set_user_data);
    load(handle, "debuginfod_get_user_data", functions.get_user_data);
    return functions;
  }();
  return loaded;
}

/// Watches one question that is under way. libdebuginfod calls tick() at least once a second.
class Watch {
public:
  Watch(const DebuginfodLimits& limits, const Debuginfod::Progress& progress)
      : limits_(limits), progress_(progress) {}

  static int tick(debuginfod_client* client, long a, long b) noexcept {
    // Called by a library that has it. NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage)
    auto* watch = static_cast<Watch*>(library().get_user_data(client));
    try {
      return watch->goes_on(a, b) ? 0 : 1;
    } catch (...) { // nothing may leave through C
      watch->refused_ = true;
      return 1;
    }
  }

  bool timed_out() const { return timed_out_; }
  bool refused() const { return refused_; }

private:
  bool goes_on(long a, long b) {
    const auto now = Clock::now();
    // Before the first byte, `a` counts these calls; then it is the number of bytes so far,
    // and `b` that of all bytes if the server has told it.
    const bool bytes = b > 0 || a > last_ + 1;
    if (bytes && a != last_)
      heard_ = now;
    last_ = a;
    refused_ = progress_ && !progress_(bytes ? static_cast<std::uint64_t>(a) : 0,
                                       static_cast<std::uint64_t>(b > 0 ? b : 0));
    timed_out_ = now - heard_ > limits_.silence || now - start_ > limits_.total;
    return !refused_ && !timed_out_;
  }

  const DebuginfodLimits& limits_;
  const Debuginfod::Progress& progress_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point heard_ = start_;
  long last_ = 0;
  bool timed_out_ = false;
  bool refused_ = false;
};

const char* servers() {
  const char* urls = std::getenv(DEBUGINFOD_URLS_ENV_VAR);
  return urls == nullptr ? "" : urls;
}

Failure given_up(std::string_view build_id) {
  return fail(codes::debuginfod_given_up,
              fmt::format("debuginfod: {} was not waited for", build_id),
              "give it more time: --max-stop S; or do without: unset DEBUGINFOD_URLS");
}

constexpr const char* leave_out = "to do without debuginfod: unset DEBUGINFOD_URLS";

} // namespace

std::unique_ptr<Debuginfod> Debuginfod::from_environment(DebuginfodLimits limits) {
  return *servers() == '\0' ? nullptr : std::unique_ptr<Debuginfod>(new Debuginfod(limits));
}

Debuginfod::Answer Debuginfod::find(Kind kind, std::string_view build_id,
                                    const Progress& progress) {
  std::unique_lock lock(mutex_, std::defer_lock);
  while (!lock.try_lock_for(limits::between_looks))
    if (progress && !progress(0, 0))
      return given_up(build_id);
  const std::pair key(kind, std::string(build_id));
  if (const auto known = answers_.find(key); known != answers_.end())
    return known->second;
  if (given_up_ || build_id.empty())
    return std::nullopt;
  auto answer = ask(kind, key.second, progress);
  if (answer)
    answers_.emplace(key, answer);
  else
    given_up_ = answer.error().code != codes::debuginfod_given_up;
  return answer;
}

Debuginfod::Answer Debuginfod::ask(Kind kind, const std::string& build_id,
                                   const Progress& progress) const {
  const auto& functions = library();
  if (!functions.complete())
    return fail("debuginfod.library",
                fmt::format("DEBUGINFOD_URLS is set, but {} cannot be loaded", DEBUGINFOD_SONAME),
                "apt install libdebuginfod1");
  const std::unique_ptr<debuginfod_client, decltype(functions.end)> client(functions.begin(),
                                                                           functions.end);
  if (!client)
    return fail("debuginfod.failed", "debuginfod: no client could be made", leave_out);
  Watch watch(limits_, progress);
  functions.set_user_data(client.get(), &watch);
  functions.set_progress(client.get(), &Watch::tick);
  char* path = nullptr;
  const auto* id = reinterpret_cast<const unsigned char*>(build_id.c_str());
  const auto find = kind == Kind::executable ? functions.find_executable : functions.find_debuginfo;
  const int outcome = find(client.get(), id, 0, &path); // 0: `id` is hexadecimal
  const std::unique_ptr<char, decltype(&std::free)> owned(path, &std::free);
  if (outcome >= 0) {
    ::close(outcome);
    return std::filesystem::path(path);
  }
  if (watch.refused())
    return given_up(build_id);
  if (watch.timed_out())
    return fail(
        "debuginfod.timeout",
        fmt::format("debuginfod: no answer from {} in time (build-id {})", servers(), build_id),
        leave_out);
  if (outcome == -ENOENT)
    return std::nullopt;
  return fail(
      "debuginfod.failed",
      fmt::format("debuginfod: {}: {} (build-id {})", servers(), std::strerror(-outcome), build_id),
      leave_out);
}

} // namespace mqbridge
