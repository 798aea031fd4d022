#include "host/cli/output.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace mqbridge {
namespace {

Failure cannot_open(const std::string& name, int error) {
  return fail("output.open", fmt::format("{}: {}", name, std::strerror(error)),
              "name a file in a directory that you can write to after -o");
}

/// Descriptors of this process and devices: what stands there is not a file to replace.
bool is_written_directly(const std::string& name, const struct stat* status) {
  if (name.starts_with("/dev/") || name.starts_with("/proc/"))
    return true;
  return status && !S_ISREG(status->st_mode);
}

} // namespace

Result<Output> Output::open(const std::string& path) {
  if (path.empty() || path == "-")
    return standard();
  return open_file(path);
}

Output Output::standard() {
  return Output(STDOUT_FILENO, "standard output");
}

Result<Output> Output::open_file(const std::string& name) {
  struct stat status {};
  const bool exists = ::stat(name.c_str(), &status) == 0;
  if (!exists && errno != ENOENT)
    return cannot_open(name, errno);
  if (exists && S_ISDIR(status.st_mode))
    return cannot_open(name, EISDIR);
  if (is_written_directly(name, exists ? &status : nullptr)) {
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0)
      return cannot_open(name, errno);
    return Output(descriptor, name);
  }
  // A link stays a link: the file that it names is replaced. Renaming would also replace a file
  // that is write-protected, which is not what its owner asked for.
  std::error_code ignored;
  const auto target =
      exists ? std::filesystem::canonical(name, ignored) : std::filesystem::path(name);
  if (exists && ::access(target.c_str(), W_OK) != 0)
    return cannot_open(name, errno);
  auto output = open_temporary(target, name);
  if (output && exists)
    ::fchmod(output->descriptor_, status.st_mode & 07777);
  return output;
}

Result<Output> Output::open_temporary(const std::filesystem::path& target,
                                      const std::string& name) {
  std::random_device random;
  for (int attempt = 0;; ++attempt) {
    std::filesystem::path temporary = target;
    temporary += fmt::format(".{:08x}.tmp", random());
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      Output output(descriptor, name);
      output.target_ = target;
      output.temporary_ = std::move(temporary);
      return output;
    }
    if (errno != EEXIST || attempt == 100)
      return cannot_open(name, errno);
  }
}

Output::Output(Output&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), name_(std::move(other.name_)),
      target_(std::move(other.target_)), temporary_(std::exchange(other.temporary_, {})),
      buffer_(std::move(other.buffer_)), begun_(other.begun_.load()), error_(other.error_) {}

Output::~Output() {
  discard();
  if (descriptor_ > STDERR_FILENO)
    ::close(descriptor_);
}

void Output::write(std::string_view text) {
  constexpr std::size_t most_buffered = std::size_t{64} * 1024;
  if (error_ != 0)
    return;
  buffer_ += text;
  if (buffer_.size() < most_buffered)
    return;
  const std::size_t lines = buffer_.rfind('\n') + 1; // 0: a line without end is cut anywhere
  const std::string rest = lines > 0 ? buffer_.substr(lines) : std::string();
  buffer_.resize(buffer_.size() - rest.size());
  flush();
  buffer_ = rest;
}

/// A pipe takes so much at once or nothing; a file of -o is whole or not there.
void Output::flush() {
  std::string_view text = buffer_;
  if (!text.empty() && temporary_.empty())
    begun_.store(true);
  const bool in_pieces = text.size() > PIPE_BUF && is_pipe();
  while (error_ == 0 && !text.empty()) {
    auto piece = text.substr(0, in_pieces ? PIPE_BUF : text.npos);
    if (const auto lines = piece.rfind('\n') + 1; lines > 0)
      piece = piece.substr(0, lines);
    write_out(piece);
    text.remove_prefix(piece.size());
  }
  buffer_.clear();
}

bool Output::is_pipe() const {
  struct stat status {};
  return ::fstat(descriptor_, &status) == 0 && S_ISFIFO(status.st_mode);
}

void Output::write_out(std::string_view text) {
  while (error_ == 0 && !text.empty()) {
    const ssize_t count = ::write(descriptor_, text.data(), text.size());
    if (count >= 0)
      text.remove_prefix(static_cast<std::size_t>(count));
    else if (errno != EINTR)
      error_ = errno;
  }
}

Result<void> Output::close() {
  flush();
  begun_.store(false);
  if (error_ == 0 && !temporary_.empty()) {
    // Some file systems (NFS, quotas) tell that there is no room only here.
    if (::fsync(descriptor_) != 0 && errno != EINVAL)
      error_ = errno;
    if (::close(std::exchange(descriptor_, -1)) != 0 && error_ == 0)
      error_ = errno;
    if (error_ == 0 && ::rename(temporary_.c_str(), target_.c_str()) != 0)
      error_ = errno;
    if (error_ == 0)
      temporary_.clear();
  }
  if (error_ == 0)
    return {};
  return fail("output.write", fmt::format("{}: {}", name_, std::strerror(error_)),
              error_ == ENOSPC || error_ == EDQUOT ? "make room, or name a file elsewhere after -o"
                                                   : "name a file that can be written after -o");
}

bool Output::reader_gone() const {
  return error_ == EPIPE;
}

bool Output::is_terminal() const {
  return ::isatty(descriptor_) == 1;
}

void Output::discard() const noexcept {
  if (!temporary_.empty())
    ::unlink(temporary_.c_str());
}

} // namespace mqbridge
