#include "rsp/packet/trace.h"

#include "rsp/unique_fd.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <iterator>
#include <mutex>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace mqbridge::rsp {
namespace {

Error write_error(const std::filesystem::path& file, int error) {
  return {"trace.write",
          fmt::format("cannot write the trace {}: {}", file.string(),
                      std::generic_category().message(error)),
          "check the path, its permissions and the space left (df)"};
}

/// Makes the file readable for its owner alone, even if there was a file before: it will hold bytes
/// of a process's memory. A device or a FIFO stays as it is. False: it failed, with errno.
bool make_private(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0)
    return false;
  if (!S_ISREG(status.st_mode))
    return true;
  return ::fchmod(descriptor, 0600) == 0 && ::ftruncate(descriptor, 0) == 0;
}

std::FILE* open_private(const std::filesystem::path& file) {
  UniqueFd descriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!descriptor || !make_private(descriptor.get()))
    return nullptr;
  std::FILE* const opened = ::fdopen(descriptor.get(), "w");
  if (opened != nullptr)
    static_cast<void>(descriptor.release());
  return opened;
}

void append_readable(std::string& line, std::string_view payload) {
  for (const char byte : payload) {
    if (byte >= 0x20 && byte < 0x7f && byte != '\\')
      line += byte;
    else
      fmt::format_to(std::back_inserter(line), "\\x{:02x}", static_cast<unsigned char>(byte));
  }
}

} // namespace

struct Trace::Impl {
  std::filesystem::path path;
  std::FILE* file = nullptr;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::mutex mutex;
  int first_error = 0;

  void line(std::string_view endpoint, std::string_view sign, std::string_view text);
  void note_error() {
    if (first_error == 0)
      first_error = errno;
  }
};

Trace::Trace(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Trace::~Trace() {
  if (impl_->file != nullptr)
    (void)close();
}

Result<std::unique_ptr<Trace>> Trace::open(const std::filesystem::path& file) {
  auto impl = std::make_unique<Impl>();
  impl->path = file;
  impl->file = open_private(file);
  if (impl->file == nullptr)
    return Failure(write_error(file, errno));
  return std::unique_ptr<Trace>(new Trace(std::move(impl)));
}

void Trace::Impl::line(std::string_view endpoint, std::string_view sign, std::string_view text) {
  const std::lock_guard lock(mutex);
  if (file == nullptr || first_error != 0)
    return;
  // The time is taken under the lock: the lines are in order of time.
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - start;
  std::string whole = fmt::format("{:12.6f} {} {} ", since.count(), endpoint, sign);
  append_readable(whole, text);
  whole += '\n';
  // The file is flushed after each line: users want a trace most when the program ended badly.
  if (std::fwrite(whole.data(), 1, whole.size(), file) != whole.size() || std::fflush(file) != 0)
    note_error();
}

void Trace::packet(std::string_view endpoint, Direction direction, std::string_view payload) {
  impl_->line(endpoint, direction == Direction::sent ? "->" : "<-", payload);
}

void Trace::phase(std::string_view endpoint, std::string_view name) {
  impl_->line(endpoint, "==", name);
}

Result<void> Trace::close() {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->file != nullptr && std::fclose(impl_->file) != 0)
    impl_->note_error();
  impl_->file = nullptr;
  if (impl_->first_error != 0)
    return Failure(write_error(impl_->path, impl_->first_error));
  return {};
}

} // namespace mqbridge::rsp
