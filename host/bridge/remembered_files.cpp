#include "host/bridge/remembered_files.h"

#include "host/bridge/guesses.h"
#include "rsp/packet/file_reply.h"
#include "rsp/packet/hex.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <span>
#include <vector>

namespace mqbridge {
namespace {

constexpr RecordKind records_kind{"gdb-files", 1, std::uint64_t{2} << 30};

} // namespace

std::size_t size_of_piece(std::size_t number, std::size_t size, std::size_t piece_size) {
  return number > size / piece_size ? 0 : std::min(piece_size, size - number * piece_size);
}

RememberedFiles::RememberedFiles(const std::optional<std::filesystem::path>& cache)
    : records_(records_kind, cache) {}

/// A build-id alone proves nothing: anybody can copy it into another file. Of what fstat says
/// (gdb's manual, "struct stat") the time of the last access is left out.
std::string RememberedFiles::key(std::string_view beginning, std::string_view status,
                                 std::size_t piece_size) {
  constexpr std::size_t accessed = 52;
  constexpr std::size_t modified = 56;
  const auto reply = rsp::parse_file_reply(status);
  const std::string build_id = build_id_in(beginning);
  if (build_id.empty() || !reply || reply->attachment.size() < modified)
    return {};
  return fmt::format("{} {}{} {}", build_id, rsp::encode_hex(reply->attachment.substr(0, accessed)),
                     rsp::encode_hex(reply->attachment.substr(modified)), piece_size);
}

/// A record has the pieces one after the other, each behind its number.
std::size_t RememberedFiles::recall(const std::string& key, std::size_t size,
                                    std::size_t piece_size, Pieces& pieces) const {
  const auto record = records_.load(key);
  std::span<const std::byte> rest;
  if (record)
    rest = *record;
  std::size_t recalled = 0;
  for (std::size_t number = 0; rest.size() > sizeof number; ++recalled) {
    std::memcpy(&number, rest.data(), sizeof number);
    rest = rest.subspan(sizeof number);
    const auto bytes = size_of_piece(number, size, piece_size);
    if (bytes == 0 || bytes > rest.size())
      break;
    pieces[number].assign(reinterpret_cast<const char*>(rest.data()), bytes);
    rest = rest.subspan(bytes);
  }
  return recalled;
}

void RememberedFiles::keep(const std::string& key, std::size_t size, std::size_t piece_size,
                           const Pieces& pieces) const {
  std::vector<std::byte> record;
  for (const auto& [number, bytes] : pieces)
    if (!bytes.empty() && bytes.size() == size_of_piece(number, size, piece_size)) {
      const auto label = std::as_bytes(std::span(&number, 1));
      const auto data = std::as_bytes(std::span(bytes));
      record.insert(record.end(), label.begin(), label.end());
      record.insert(record.end(), data.begin(), data.end());
    }
  records_.store(key, record);
}

} // namespace mqbridge
