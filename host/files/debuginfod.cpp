#include "host/files/debuginfod.h"

#include "host/codes.h"
#include "host/disk/library_function.h"
#include "host/limits.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <fmt/format.h>
#include <future>
#include <thread>
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

/// The library is loaded once and never unloaded: libcurl and its TLS library leave threads and
/// handlers behind.
const Library& library() {
  static const Library loaded = [] {
    Library functions;
    void* handle = ::dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
      return functions;
    load_function(handle, "debuginfod_begin", functions.begin);
    load_function(handle, "debuginfod_end", functions.end);
    load_function(handle, "debuginfod_find_debuginfo", functions.find_debuginfo);
    load_function(handle, "debuginfod_find_executable", functions.find_executable);
    load_function(handle, "debuginfod_set_progressfn", functions.set_progress);
    load_function(handle, "debuginfod_set_user_data", functions.set_user_data);
    load_function(handle, "debuginfod_get_user_data", functions.get_user_data);
    return functions;
  }();
  return loaded;
}

/// What the servers say to one question.
struct Outcome {
  int descriptor = -ENOENT; ///< negative: why there is no file
  std::string path = {};
};

/// One question to the servers. It is asked in a thread of its own: from elfutils 0.192 on
/// libdebuginfod calls tick() only once a server answers, and waits for that as long as
/// DEBUGINFOD_TIMEOUT says. Where nobody waits any longer the thread ends at the next tick(), or
/// then.
class Question {
public:
  /// Asks. `kind` and `build_id` (hexadecimal) say for what.
  static std::shared_ptr<Question> begin(Debuginfod::Kind kind, const std::string& build_id) {
    const auto question = std::make_shared<Question>();
    question->outcome = question->answer_.get_future();
    std::thread([question, kind, build_id] {
      question->answer_.set_value(question->ask(kind, build_id));
    }).detach();
    return question;
  }

  std::future<Outcome> outcome;
  std::atomic<long> bytes = 0; ///< so far
  std::atomic<long> of = 0;    ///< 0: not known
  std::atomic<bool> unwanted = false;

private:
  Outcome ask(Debuginfod::Kind kind, const std::string& build_id) {
    // Its caller has seen that they are there. NOLINTBEGIN(clang-analyzer-core.CallAndMessage)
    const auto& functions = library();
    const std::unique_ptr<debuginfod_client, decltype(functions.end)> client(functions.begin(),
                                                                             functions.end);
    if (!client)
      return {-ENOMEM};
    functions.set_user_data(client.get(), this);
    functions.set_progress(client.get(), &Question::tick);
    const auto* id = reinterpret_cast<const unsigned char*>(build_id.c_str());
    const auto find =
        kind == Debuginfod::Kind::executable ? functions.find_executable : functions.find_debuginfo;
    char* path = nullptr;
    const int descriptor = find(client.get(), id, 0, &path); // 0: `id` is hexadecimal
    const std::unique_ptr<char, decltype(&std::free)> owned(path, &std::free);
    if (descriptor < 0)
      return {descriptor};
    ::close(descriptor);
    return {descriptor, path};
    // NOLINTEND(clang-analyzer-core.CallAndMessage)
  }

  /// Before the first byte, `a` counts these calls; then it is the number of bytes so far, and `b`
  /// that of all bytes if the server has told it.
  static int tick(debuginfod_client* client, long a, long b) noexcept {
    // Called by a library that has it. NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage)
    auto& question = *static_cast<Question*>(library().get_user_data(client));
    if (b > 0 || a > question.last_ + 1) {
      question.bytes = a;
      question.of = b > 0 ? b : 0;
    }
    question.last_ = a;
    return question.unwanted ? 1 : 0;
  }

  std::promise<Outcome> answer_;
  long last_ = 0;
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
  const auto question = Question::begin(kind, build_id);
  const auto start = Clock::now();
  auto heard = start;
  for (long bytes = 0;
       question->outcome.wait_for(limits::between_looks) == std::future_status::timeout;) {
    const auto now = Clock::now();
    if (const long so_far = question->bytes; so_far != bytes) {
      bytes = so_far;
      heard = now;
    }
    const bool refused = progress && !progress(static_cast<std::uint64_t>(bytes),
                                               static_cast<std::uint64_t>(question->of.load()));
    const bool late = now - heard > limits_.silence || now - start > limits_.total;
    question->unwanted = refused || late;
    if (refused)
      return given_up(build_id);
    if (late)
      return fail(
          "debuginfod.timeout",
          fmt::format("debuginfod: no answer from {} in time (build-id {})", servers(), build_id),
          leave_out);
  }
  const Outcome answer = question->outcome.get();
  if (answer.descriptor >= 0)
    return std::filesystem::path(answer.path);
  const int outcome = answer.descriptor;
  if (outcome == -ENOENT)
    return std::nullopt;
  return fail(
      "debuginfod.failed",
      fmt::format("debuginfod: {}: {} (build-id {})", servers(), std::strerror(-outcome), build_id),
      leave_out);
}

} // namespace mqbridge
