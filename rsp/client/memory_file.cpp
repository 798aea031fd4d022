#include "rsp/client/memory_file.h"

#include "rsp/client/client.h"
#include "rsp/client/quirks.h"
#include "rsp/packet/file_reply.h"
#include "rsp/packet/hex.h"

#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace mqbridge::rsp {
namespace {

/// Bytes after which it pays to open the file.
constexpr std::size_t worthwhile = std::size_t{1} << 20;
/// Pieces shorter than this cost the stub the same either way.
constexpr std::size_t shortest_piece = 2048;
constexpr std::uint64_t high = std::uint64_t{1} << 31;

} // namespace

void MemoryFile::begin_burst(Client& client, std::size_t bytes) {
  checking_ = false; // the answer to a check got lost with its burst
  const Features& features = client.features();
  const auto process = client.held_process();
  if (!quirks_of(features.kind).has_memory_file || !features.vfile || !features.no_ack ||
      !process || wrong_ || descriptor_)
    return;
  read_ += bytes;
  if (open_.empty()) {
    if (read_ < worthwhile)
      return;
    open_ = fmt::format("vFile:open:{},0,0", encode_hex(fmt::format("/proc/{}/mem", *process)));
    client.send_along("vFile:setfs:0");
    client.ask_ahead(open_);
    return;
  }
  take_descriptor(client);
}

void MemoryFile::take_descriptor(Client& client) {
  const auto answer = client.answer_ahead(open_);
  const auto reply = answer ? parse_file_reply(*answer) : std::nullopt;
  wrong_ = !reply || reply->result < 0;
  if (!wrong_)
    descriptor_ = static_cast<std::uint64_t>(reply->result);
}

bool MemoryFile::is_high(std::uint64_t address, std::size_t length) const {
  return address >= high || length > high - address;
}

bool MemoryFile::serves(std::uint64_t address, std::size_t length) const {
  return right_ && !wrong_ && length >= shortest_piece &&
         (high_works_ || !is_high(address, length));
}

bool MemoryFile::begin_check(std::uint64_t address, std::size_t length) {
  if (!descriptor_ || checking_ || wrong_ || length < shortest_piece)
    return false;
  checking_ = is_high(address, length) ? !high_works_ && !high_refused_ : !right_;
  return checking_;
}

void MemoryFile::append_request(std::string& payload, std::uint64_t address,
                                std::size_t length) const {
  fmt::format_to(std::back_inserter(payload), "vFile:pread:{:x},{:x},{:x}", descriptor_.value_or(0),
                 length, address);
}

void MemoryFile::take_check(std::uint64_t address, std::size_t length, std::string_view reply,
                            const std::function<bool(std::string_view bytes)>& is_there) {
  checking_ = false;
  const bool at_high = is_high(address, length);
  const auto answer = parse_file_reply(reply);
  if (answer && answer->result < 0 && at_high) {
    high_refused_ = true;
    return;
  }
  const bool same = answer && answer->attachment.size() == length && is_there(answer->attachment);
  (same ? right_ : wrong_) = true;
  high_works_ |= same && at_high;
}

std::optional<std::string> MemoryFile::leave(Client& client) {
  if (!open_.empty() && !descriptor_)
    take_descriptor(client);
  const auto descriptor = std::exchange(*this, MemoryFile()).descriptor_;
  return descriptor ? std::optional(fmt::format("vFile:close:{:x}", *descriptor)) : std::nullopt;
}

} // namespace mqbridge::rsp
