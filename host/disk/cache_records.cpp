#include "host/disk/cache_records.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;

/// The header of a record, in the byte order of this host. If hosts of both orders share a
/// directory, each takes the other's records for damaged. The key follows, then the contents.
struct Header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t key_size;
  std::uint64_t contents_size;
  std::uint64_t checksum; ///< of this header with 0 here, of the key, and of the contents
};
static_assert(sizeof(Header) == 32, "no padding is written");

constexpr std::array<char, 8> magic = {'m', 'q', 'b', 'r', 'e', 'c', '\r', '\n'};

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::uint64_t checksum_of(Header header, std::string_view key,
                          std::span<const std::byte> contents) {
  header.checksum = 0;
  const std::array parts = {checksum(std::as_bytes(std::span(&header, 1))), checksum(bytes_of(key)),
                            checksum(contents)};
  return checksum(std::as_bytes(std::span(parts)));
}

/// Keys are longer than file names may be, and may hold any character. If two keys had the same
/// name, each would only replace the other's record: the header holds the whole key.
std::string name_of(std::string_view key) {
  return fmt::format("{:016x}", checksum(bytes_of(key)));
}

bool read_all(int fd, std::span<std::byte> into) {
  while (!into.empty()) {
    const auto count = ::read(fd, into.data(), into.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    into = into.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

} // namespace

CacheRecords::CacheRecords(RecordKind kind) : CacheRecords(kind, cache_root()) {}

CacheRecords::CacheRecords(RecordKind kind, const std::optional<fs::path>& root) : kind_(kind) {
  if (!root) {
    unusable_ = Error{"files.store", "neither XDG_CACHE_HOME nor HOME names a directory",
                      "export XDG_CACHE_HOME=/var/tmp/$USER-cache"};
    return;
  }
  auto opened = CacheDirectory::open(*root / kind.folder, kind.limit);
  if (opened)
    directory_ = std::move(*opened);
  else
    unusable_ = std::move(opened).error();
}

std::optional<std::vector<std::byte>> CacheRecords::load(std::string_view key) const {
  if (!directory_)
    return std::nullopt;
  const auto place = directory_->path() / name_of(key);
  const FileDescriptor fd(::open(place.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  Header header{};
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      !read_all(fd.get(), std::as_writable_bytes(std::span(&header, 1))))
    return std::nullopt;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (header.magic != magic || header.version != kind_.version || header.key_size != key.size() ||
      size < sizeof header + key.size() ||
      header.contents_size != size - sizeof header - key.size() ||
      header.contents_size > kind_.limit) // before anything of that size is allocated
    return std::nullopt;
  std::string stored_key(key.size(), '\0');
  std::vector<std::byte> contents(header.contents_size);
  if (!read_all(fd.get(), std::as_writable_bytes(std::span(stored_key))) || stored_key != key ||
      !read_all(fd.get(), contents) || header.checksum != checksum_of(header, key, contents))
    return std::nullopt;
  directory_->touch(place);
  return contents;
}

bool CacheRecords::store(std::string_view key, std::span<const std::byte> contents) const {
  if (!directory_ || contents.size() > kind_.limit)
    return false;
  auto file = directory_->begin();
  if (!file)
    return false;
  Header header{magic, kind_.version, static_cast<std::uint32_t>(key.size()), contents.size(), 0};
  header.checksum = checksum_of(header, key, contents);
  for (const auto part : {std::as_bytes(std::span(&header, 1)), bytes_of(key), contents}) {
    const std::string_view text(reinterpret_cast<const char*>(part.data()), part.size());
    if (auto done = file->append(text); !done)
      return false;
  }
  return directory_->put(std::move(*file), name_of(key)).has_value();
}

} // namespace mqbridge
