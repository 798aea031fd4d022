#include "host/bridge/kept_memory.h"

#include "host/bridge/requests.h"
#include "host/memory/memory_map_parser.h"
#include "rsp/packet/file_reply.h"
#include "rsp/packet/hex.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace mqbridge {

/// The stub's own `m`, which shows no breakpoint: a file of /proc does.
class KeptMemory::Below final : public Memory {
public:
  explicit Below(rsp::Connection& stub) : stub_(stub) {}

  void set_longest(std::size_t bytes) { longest_ = bytes; }

  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    std::vector<std::string> requests;
    for (const MemoryRange& range : ranges)
      for (std::size_t at = 0; at < range.into.size(); at += longest_)
        requests.push_back(fmt::format("m{:x},{:x}", range.address.value + at,
                                       std::min(longest_, range.into.size() - at)));
    const auto replies = stub_.burst(requests);
    if (!replies)
      return Failure(replies.error());
    auto reply = replies->begin();
    for (MemoryRange& range : ranges) {
      range.read = 0;
      bool whole = true;
      for (std::size_t at = 0; at < range.into.size(); at += longest_, ++reply) {
        const auto wanted = std::min(longest_, range.into.size() - at);
        const auto size = std::min(reply->size() / 2, wanted);
        if (whole && !rsp::is_error_reply(*reply) &&
            rsp::decode_hex(std::string_view(*reply).substr(0, 2 * size),
                            range.into.subspan(at, size)))
          range.read += size;
        whole = whole && range.read == at + wanted;
      }
    }
    return {};
  }

private:
  rsp::Connection& stub_;
  std::size_t longest_ = 64;
};

namespace {

constexpr std::size_t most_bytes = std::size_t{256} << 20;

/// The lines of /proc/PID/maps whose memory only the process itself writes.
std::string private_lines(std::string_view maps) {
  std::string lines;
  while (!maps.empty()) {
    const auto end = std::min(maps.find('\n'), maps.size() - 1);
    const auto line = maps.substr(0, end + 1);
    maps.remove_prefix(end + 1);
    constexpr std::size_t sharing = 4; // " rw-p"
    const auto mode = line.find(' ');
    const bool is_private =
        mode != line.npos && line.size() > mode + sharing && line[mode + sharing] == 'p';
    if (is_private && line.find(" /dev/") == line.npos && line.find("[vvar") == line.npos)
      lines += line;
  }
  return lines;
}

} // namespace

KeptMemory::KeptMemory(rsp::Connection& stub) : stub_(stub), below_(std::make_unique<Below>(stub)) {
  auto store = PageStore::create(most_bytes);
  if (!store)
    return;
  store_ = std::move(*store);
  cache_.emplace(*below_, *store_, PageCache::Options{.explore = false});
  cache_->set_link([this] { return stub_.link_estimate(); });
}

KeptMemory::~KeptMemory() = default;

Memory& KeptMemory::of_stub() {
  return *below_;
}

void KeptMemory::set_features(const rsp::Features& features) {
  below_->set_longest(features.max_hex_read());
}

Result<std::string> KeptMemory::answer(const std::string& packet) {
  const auto asked = parse_two_numbers(std::string_view(packet).substr(1));
  if (!cache_ || !asked || asked->second == 0)
    return stub_.request(packet);
  // A step reads little. To know the mappings costs three round trips: they are for who reads on.
  constexpr int few = 3;
  if (!kept_ && read_singly_++ < few)
    return stub_.request(packet);
  if (auto known = know_mappings(); !known)
    return forward(std::move(known));
  if (!may_keep(asked->first, asked->second))
    return stub_.request(packet);
  std::string bytes(asked->second, '\0');
  const auto read =
      cache_->read(TargetAddress{asked->first}, std::as_writable_bytes(std::span(bytes)));
  if (!read)
    return Failure(read.error());
  // What is not whole is the stub's own answer.
  return *read == bytes.size() ? Result<std::string>(rsp::encode_hex(bytes))
                               : stub_.request(packet);
}

bool KeptMemory::may_keep(std::uint64_t address, std::size_t size) const {
  if (size > most_bytes / 2 || address + size < address)
    return false;
  for (std::uint64_t at = address; at < address + size;) {
    const auto* range = kept_->find(TargetAddress{at});
    if (range == nullptr)
      return false;
    if (range->last.value >= address + size - 1)
      return true;
    at = range->last.value + 1;
  }
  return true;
}

Result<void> KeptMemory::know_mappings() {
  if (kept_)
    return {};
  kept_.emplace();
  cache_->set_map(&*kept_);
  if (pid_ == 0 || !has_files_)
    return {};
  auto text = read_mappings();
  if (!text)
    return Failure(text.error());
  if (!*text)
    return {};
  auto map = parse_memory_map(private_lines(**text), true, Platform());
  if (!map)
    return {};
  mappings_ = std::move(**text);
  kept_ = std::move(*map);
  cache_->set_map(&*kept_);
  return {};
}

std::vector<std::string> KeptMemory::mappings_paths() const {
  return {fmt::format("/proc/{}/maps", pid_), fmt::format("/proc/{0}/task/{0}/maps", pid_)};
}

/// The text of /proc/PID/maps; nullopt: it cannot be read as a whole.
Result<std::optional<std::string>> KeptMemory::read_mappings() {
  const std::vector<std::string> opening = {
      "vFile:setfs:0", fmt::format("vFile:open:{},0,0", rsp::encode_hex(mappings_paths().front()))};
  const auto opened = stub_.burst(opening);
  if (!opened)
    return Failure(opened.error());
  has_files_ = !opened->back().empty();
  std::vector<std::string> closing = {"vFile:setfs:" + root_};
  std::optional<std::string> whole;
  const auto file = rsp::parse_file_reply(opened->back());
  if (file && file->result >= 0) {
    auto text = read_all(fmt::format("{:x}", file->result));
    if (!text)
      return text;
    whole = std::move(*text);
    closing.push_back(fmt::format("vFile:close:{:x}", file->result));
  }
  const auto closed = stub_.burst(closing);
  return closed ? Result<std::optional<std::string>>(std::move(whole)) : Failure(closed.error());
}

Result<std::optional<std::string>> KeptMemory::read_all(const std::string& descriptor) {
  // The kernel gives a page of such a file at a time; several are asked for together.
  constexpr std::size_t piece = 4000;
  constexpr std::size_t at_once = 8;
  constexpr std::size_t most_text = std::size_t{16} << 20;
  std::string text;
  while (text.size() < most_text) {
    std::vector<std::string> requests;
    for (std::size_t i = 0; i < at_once; ++i)
      requests.push_back(
          fmt::format("vFile:pread:{},{:x},{:x}", descriptor, piece, text.size() + i * piece));
    const auto replies = stub_.burst(requests);
    if (!replies)
      return Failure(replies.error());
    for (const std::string& reply : *replies) {
      const auto part = rsp::parse_file_reply(reply);
      if (!part || part->result < 0)
        return std::nullopt;
      if (part->attachment.empty())
        return std::optional(std::move(text));
      text += part->attachment;
      if (part->attachment.size() < piece)
        break;
    }
  }
  return std::nullopt;
}

void KeptMemory::forget() {
  kept_.reset();
  read_singly_ = 0;
  mappings_.clear();
  forget_pages();
}

void KeptMemory::forget_pages() {
  if (cache_)
    cache_->clear();
}

} // namespace mqbridge
