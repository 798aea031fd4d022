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
    auto requests = std::exchange(first_, {});
    const auto before = static_cast<std::ptrdiff_t>(requests.size());
    for (const MemoryRange& range : ranges)
      for (std::size_t at = 0; at < range.into.size(); at += longest_)
        requests.push_back(fmt::format("m{:x},{:x}", range.address.value + at,
                                       std::min(longest_, range.into.size() - at)));
    auto replies = stub_.burst(requests);
    if (!replies)
      return Failure(replies.error());
    auto reply = replies->begin() + before;
    first_answers_.assign(std::move_iterator(replies->begin()), std::move_iterator(reply));
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

  /// Asks them in front of what is read next.
  void ask_first(std::vector<std::string> requests) { first_ = std::move(requests); }
  /// Their answers; empty: nothing was read.
  std::vector<std::string> take_first() { return std::exchange(first_answers_, {}); }

private:
  rsp::Connection& stub_;
  std::size_t longest_ = 64;
  std::vector<std::string> first_;
  std::vector<std::string> first_answers_;
};

namespace {

constexpr std::size_t most_bytes = std::size_t{256} << 20;
/// Of /proc/PID/maps. The kernel gives whole lines that fit into a page of 4,096 bytes: a piece
/// that leaves room for two of them comes whole.
constexpr std::size_t piece = 3500;
constexpr std::size_t page_size = PageStore::page_size;

/// Appends what comes in pieces that were asked for at once. Whether the end was seen; nullopt: the
/// file cannot be read.
std::optional<bool> append_pieces(std::string& text, std::span<const std::string> replies) {
  bool cut = false;
  for (const std::string& reply : replies) {
    const auto part = rsp::parse_file_reply(reply);
    if (!part || part->result < 0 || part->attachment.size() > piece)
      return std::nullopt;
    // Nothing behind a piece that is not full: the next line would have had room in it.
    if (part->attachment.empty())
      return true;
    if (cut)
      break;
    text += part->attachment;
    cut = part->attachment.size() < piece;
  }
  return false;
}

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
  // A step reads little. The mappings are for who reads on.
  const int few = stub_.link_estimate().round_trip < least_delay ? 3 : 1;
  touch(asked->first, asked->second);
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

bool KeptMemory::has(std::optional<std::uint64_t> address) const {
  return address && kept_ && may_keep(*address, 1);
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
  if (kept_ || !cache_)
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
  if (!descriptor_) {
    std::vector<std::string> opening = {
        "vFile:setfs:0",
        fmt::format("vFile:open:{},0,0", rsp::encode_hex(mappings_paths().front())),
        "vFile:setfs:" + root_};
    for (std::string& farewell : take_farewells())
      opening.push_back(std::move(farewell));
    const auto opened = stub_.burst(opening);
    if (!opened)
      return Failure(opened.error());
    has_files_ = !(*opened)[1].empty();
    const auto file = rsp::parse_file_reply((*opened)[1]);
    if (!file || file->result < 0)
      return std::nullopt;
    descriptor_ = fmt::format("{:x}", file->result);
    auto status = stub_.request("vFile:fstat:" + *descriptor_);
    if (!status)
      return forward(std::move(status));
    is_live_ = size_in_status(*status) == 0;
  }
  auto text = read_pieces();
  // A stub that writes the file when it is opened (rr, QEMU) gives it a size. An empty one is that
  // of a program that is gone.
  if (!is_live_ || !text || !*text || (*text)->empty())
    close_mappings();
  return text;
}

Result<std::optional<std::string>> KeptMemory::read_pieces() {
  constexpr std::size_t most_text = std::size_t{16} << 20;
  std::string text;
  while (text.size() < most_text) {
    const auto replies = stub_.burst(pieces_of_mappings(text.size()));
    if (!replies)
      return Failure(replies.error());
    const auto is_whole = append_pieces(text, *replies);
    if (!is_whole)
      return std::nullopt;
    if (*is_whole) {
      pieces_ = text.size() / piece + 2;
      return std::optional(std::move(text));
    }
  }
  return std::nullopt;
}

std::vector<std::string> KeptMemory::pieces_of_mappings(std::size_t from) const {
  std::vector<std::string> requests;
  for (std::size_t i = 0; i < pieces_; ++i)
    requests.push_back(
        fmt::format("vFile:pread:{},{:x},{:x}", *descriptor_, piece, from + i * piece));
  return requests;
}

void KeptMemory::touch(std::uint64_t address, std::size_t size) {
  constexpr std::size_t most = 16;
  was_touched_ = true;
  const auto first = address / page_size;
  const auto last = (address + size - 1) / page_size;
  for (const auto page : {first, std::clamp(last, first, first + 1)}) {
    std::erase(touched_, page);
    touched_.insert(touched_.begin(), page);
  }
  touched_.resize(std::min(touched_.size(), most));
}

Result<void> KeptMemory::process_stopped() {
  const auto link = stub_.link_estimate();
  if (!std::exchange(was_touched_, false))
    touched_.clear();
  const auto bytes = static_cast<double>(touched_.size() * page_size) +
                     static_cast<double>(last_mappings_.size()) / 2; // not as digits
  const bool is_slow = link.bytes_per_second > 0 && bytes > link.round_trip * link.bytes_per_second;
  if (touched_.empty() || !last_kept_ || !descriptor_ || !stub_.no_ack() ||
      link.round_trip < least_delay || is_slow)
    return {};
  cache_->set_map(&*last_kept_);
  below_->ask_first(pieces_of_mappings(0));
  auto read = cache_->preload(runs_of(touched_));
  below_->ask_first({});
  if (!read)
    return read;
  std::string text;
  const auto is_whole = append_pieces(text, below_->take_first());
  if (!is_whole || !*is_whole || text != last_mappings_) {
    cache_->clear(); // a page may be one that others write, too
    return {};
  }
  kept_ = std::exchange(last_kept_, std::nullopt);
  mappings_ = std::move(text);
  cache_->set_map(&*kept_);
  return {};
}

void KeptMemory::close_mappings() {
  if (const auto descriptor = std::exchange(descriptor_, std::nullopt))
    farewells_.push_back(std::string(close_name) + *descriptor);
}

void KeptMemory::forget_program() {
  close_mappings();
  last_kept_.reset();
  touched_.clear();
}

void KeptMemory::set_process(std::int64_t pid) {
  if (std::exchange(pid_, pid) != pid)
    forget_program();
}

void KeptMemory::forget() {
  if (!mappings_.empty()) {
    last_kept_ = std::move(kept_);
    last_mappings_ = std::exchange(mappings_, {});
  }
  kept_.reset();
  read_singly_ = 0;
  forget_pages();
}

void KeptMemory::forget_pages() {
  if (cache_)
    cache_->clear();
}

} // namespace mqbridge
