#include "host/cli/terminal/output.h"

#include "host/codes.h"
#include "host/disk/file_descriptor.h"
#include "host/disk/output_file.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace mqbridge {
namespace {

Failure cannot_open_output(const std::string& name, int error) {
  return fail("output.open", fmt::format("{}: {}", name, std::strerror(error)),
              "name a file in a directory that you can write to after -o");
}

/// The descriptor of this process that such a name means. If the name were opened anew, a file
/// would be overwritten from its beginning.
std::optional<int> own_descriptor(std::string_view name) {
  if (name == "/dev/stdout")
    return STDOUT_FILENO;
  if (name == "/dev/stderr")
    return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!name.starts_with(folder))
      continue;
    const auto number = name.substr(folder.size());
    int descriptor = -1;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), descriptor);
    if (error == std::errc() && end == number.data() + number.size() && descriptor >= 0)
      return descriptor;
  }
  return std::nullopt;
}

/// Whether rename(2) failed because the file is a mount point, or the file system cannot rename.
bool cannot_be_renamed(int error) {
  return error == EBUSY || error == EXDEV || error == EPERM || error == ENOSYS ||
         error == EOPNOTSUPP;
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
    return cannot_open_output(name, errno);
  if (exists && S_ISDIR(status.st_mode))
    return cannot_open_output(name, EISDIR);
  const auto own = own_descriptor(name);
  if (own || (exists && !S_ISREG(status.st_mode))) {
    const int descriptor = own ? ::fcntl(*own, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                               : ::open(name.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0)
      return cannot_open_output(name, errno);
    return Output(descriptor, name);
  }
  // A link stays a link: the file that it names is replaced. Renaming would also replace a file
  // that is write-protected, which is not what its owner asked for.
  std::error_code ignored;
  const auto target =
      exists ? std::filesystem::canonical(name, ignored) : std::filesystem::path(name);
  if (exists && ::access(target.c_str(), W_OK) != 0)
    return cannot_open_output(name, errno);
  // Until the file has its final mode, which may be narrow, only its owner may read it.
  auto output = open_temporary(target, name, exists ? 0600 : 0666);
  if (output && exists)
    ::fchmod(output->descriptor_, status.st_mode & 07777);
  return output;
}

Result<Output> Output::open_temporary(const std::filesystem::path& target, const std::string& name,
                                      mode_t mode) {
  std::filesystem::path temporary;
  const int descriptor = create_beside(target, temporary, mode);
  if (descriptor < 0)
    return cannot_open_output(name, errno);
  Output output(descriptor, name);
  output.target_ = target;
  output.temporary_ = std::move(temporary);
  return output;
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
    if (error_ == 0)
      error_ = replace();
  }
  if (error_ == 0)
    return {};
  if (begun_.load())
    return fail(codes::output_write,
                fmt::format("{}: {}; all that it was to hold is in {}", name_,
                            std::strerror(error_), temporary_.string()),
                fmt::format("when there is room: cp {} {}", pasteable(temporary_.string()),
                            pasteable(name_)));
  return fail(codes::output_write, fmt::format("{}: {}", name_, std::strerror(error_)),
              error_ == ENOSPC || error_ == EDQUOT ? "make room, or name a file elsewhere after -o"
                                                   : "name a file that can be written after -o");
}

/// 0, or an errno.
int Output::replace() {
  if (::rename(temporary_.c_str(), target_.c_str()) == 0) {
    temporary_.clear();
    return 0;
  }
  return cannot_be_renamed(errno) ? overwrite() : errno;
}

/// Replaces the contents of a file that cannot be renamed to. From the first byte on, only the
/// temporary file has the whole contents. 0, or an errno.
int Output::overwrite() {
  const FileDescriptor from(::open(temporary_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!from)
    return errno;
  // No link: what had been one was resolved when it was opened.
  const FileDescriptor to(::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW));
  if (!to)
    return errno;
  begun_.store(true);
  if (::ftruncate(to.get(), 0) != 0)
    return errno;
  constexpr std::size_t most_at_once = std::size_t{1} << 30;
  ssize_t count = 0;
  while ((count = ::sendfile(to.get(), from.get(), nullptr, most_at_once)) > 0) {
  }
  if (count < 0 || (::fsync(to.get()) != 0 && errno != EINVAL))
    return errno;
  begun_.store(false);
  return 0;
}

bool Output::reader_gone() const {
  return error_ == EPIPE;
}

bool Output::is_terminal() const {
  return ::isatty(descriptor_) == 1;
}

void Output::discard() const noexcept {
  if (!temporary_.empty() && !begun_.load())
    ::unlink(temporary_.c_str());
}

bool wants_color(When when, const Output& output) {
  if (when != When::automatic)
    return when == When::always;
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool refused = no_color && *no_color != '\0';
  return output.is_terminal() && !refused && terminal && std::string_view(terminal) != "dumb";
}

std::size_t text_width(const Output& output) {
  constexpr std::size_t usual = 100;
  constexpr std::size_t least = 60; // below that tables make no sense
  winsize size{};
  if (!output.is_terminal() || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return usual;
  return std::max<std::size_t>(size.ws_col, least);
}

} // namespace mqbridge
