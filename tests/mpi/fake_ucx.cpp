#include "tests/mpi/fake_ucx.h"

#include <utility>

namespace mqbridge {
namespace {

constexpr std::uint64_t other_table = 0x11'0000;
constexpr std::uint64_t name = 0x4'1000;
constexpr std::uint64_t first_element = 0x5'0038;
constexpr std::uint64_t request_bytes = 272;
constexpr std::uint64_t element_bytes = 8 + request_bytes + FakeUcx::mpi_bytes;
constexpr std::uint64_t stride = 448;
constexpr std::uint64_t most_elements = 16;
constexpr std::uint64_t first_on_stack = 0x7ff0'0000;

std::uint64_t bucket_of_tag(std::uint64_t tag) {
  return (tag % 0x1'0000'0000) % 1021 ^ (tag / 0x1'0000'0000) % 1021;
}

} // namespace

void FakeUcx::word(std::uint64_t at, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t place = platform.byte_order == ByteOrder::big ? size - 1 - i : i;
    const auto byte = static_cast<std::uint8_t>(value >> (8 * i));
    if (written_)
      memory.change({at + place}, {byte});
    else
      bytes_[at + place] = byte;
  }
}

void FakeUcx::zero(std::uint64_t at, std::size_t size) {
  for (std::size_t i = 0; i < size; i += 8)
    word(at + i, 0);
}

std::uint64_t FakeUcx::make(const UcxRequestSpec& spec, bool is_send) {
  std::uint64_t request = first_on_stack + 0x1000 * stacks_;
  if (spec.on_stack) {
    ++stacks_;
    zero(request - 512, 1024);
  } else {
    const std::uint64_t element = first_element + stride * made_++;
    zero(element, stride);
    word(element, pool());
    request = element + 8;
  }
  const bool old = version_ == UcxVersion::v1_13;
  // The new protocols are not the default of the old version. A call that blocks has no callback.
  const std::uint32_t callback = spec.on_stack || spec.of_ucx ? 0 : 1U << 6;
  const std::uint32_t kind = !is_send ? 1U << 17 : (old ? 1U << 14 : 1U << 2) | callback;
  word(request + 4, spec.flags | kind, 4);
  if (is_send) {
    word(request + 24, spec.endpoint);
    word(request + (old ? 32 : 112), spec.buffer);
    word(request + (old ? 48 : 96), spec.length);
    word(request + 56, spec.callback);
    word(request + 168, spec.before_tag);
    word(request + 224, code);
    word(request + 176, spec.tag);
    return request;
  }
  const std::uint64_t tag = request + (old ? 192 : 176);
  word(request + (old ? 32 : 56), spec.buffer);
  word(request + (old ? 48 : 40), spec.length);
  word(request + (old ? 112 : 96), worker);
  word(tag, spec.tag);
  word(tag + 8, spec.mask);
  word(tag + 16, turn_++);
  word(tag + 24, spec.callback);
  word(tag + 32, spec.message_tag);
  word(tag + 40, spec.message_length);
  return request;
}

std::uint64_t FakeUcx::post(const UcxRequestSpec& spec) {
  const std::uint64_t request = make(spec, false);
  queues_[spec.mask == ~std::uint64_t{0} ? bucket_of_tag(spec.tag) : ucx::PostedQueue::wildcard]
      .push_back(link_of(request));
  return request;
}

std::uint64_t FakeUcx::receive(const UcxRequestSpec& spec) {
  return make(spec, false);
}

std::uint64_t FakeUcx::send(const UcxRequestSpec& spec) {
  return make(spec, true);
}

void FakeUcx::arrive(std::uint64_t tag, std::uint64_t flags, std::uint32_t come,
                     std::uint32_t payload_at, const std::vector<std::uint64_t>& words) {
  const std::uint64_t link = first_message + 0x100 * messages_.size() + 16;
  zero(link - 16, 0x100);
  word(link + 16, come, 4);
  word(link + 20, payload_at, 4);
  word(link + 24, flags, 2);
  word(link + 32, tag);
  for (std::size_t i = 0; i < words.size(); ++i)
    word(link + 40 + 8 * i, words[i]);
  messages_.push_back(link);
}

void FakeUcx::write() {
  zero(object, object_bytes);
  word(object + 40, context);
  word(object + 48, worker);
  zero(worker, 4096);
  word(worker + 104, context);
  // An object beside it that leads nowhere.
  word(object + 16, 0x9'0000);
  word(object + 24, 0x9'1000);

  const std::uint64_t ring = matching() + 48;
  std::uint64_t posted = 0;
  const auto write_queue = [&](std::uint64_t at, const std::vector<std::uint64_t>& links) {
    word(at, links.empty() ? 0xdead : links.front());
    word(at + 8, links.empty() ? at : links.back());
    word(at + 16, links.size(), 4);
    for (std::size_t i = 0; i < links.size(); ++i)
      word(links[i], i + 1 < links.size() ? links[i + 1] : 0xbad);
    posted += links.size();
  };
  write_queue(matching(), queues_[ucx::PostedQueue::wildcard]);
  for (std::uint64_t bucket = 0; bucket < 1024; ++bucket) {
    zero(posted_table + 24 * bucket, 24);
    write_queue(posted_table + 24 * bucket, queues_[bucket]);
  }
  word(matching() + 24, posted_table);
  word(matching() + 32, turn_);
  word(matching() + 40, posted, 4);
  word(matching() + 64, other_table);
  word(matching() + 120, matching() + 112);
  std::uint64_t previous = ring;
  for (const std::uint64_t link : messages_) {
    word(link, previous);
    word(previous + 8, link);
    previous = link;
  }
  word(ring, previous);
  word(previous + 8, ring);

  word(pool(), first_element);
  word(pool() + 8, described);
  zero(described, 96);
  word(described, element_bytes);
  word(described + 8, 64);
  word(described + 16, 8);
  word(described + (version_ == UcxVersion::v1_13 ? 40 : 64), chunk);
  word(described + (version_ == UcxVersion::v1_13 ? 56 : 80), name);
  zero(name, 16);
  std::uint64_t at = name;
  for (const char c : std::string("ucp_requests"))
    word(at++, static_cast<std::uint8_t>(c), 1);
  word(chunk, 0);
  word(chunk + 8, first_element);
  word(chunk + 16, most_elements, 4);
  for (std::uint64_t element = made_; element < most_elements; ++element)
    zero(first_element + stride * element, stride);

  std::vector<std::uint8_t> piece;
  std::uint64_t first = bytes_.begin()->first;
  for (const auto& [address, byte] : bytes_) {
    if (address != first + piece.size()) {
      memory.put({first}, std::exchange(piece, {}));
      first = address;
    }
    piece.push_back(byte);
  }
  memory.put({first}, piece);
  written_ = true;
}

} // namespace mqbridge
