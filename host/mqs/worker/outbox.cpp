#include "host/mqs/worker/outbox.h"

#include <cstring>

namespace mqbridge::worker {

Outbox::Outbox(Channel& channel, wire::SharedState& shared) : channel_(channel), shared_(shared) {
  start_batch();
}

void Outbox::start_batch() {
  wire::Encoder header;
  header.put(wire::Kind::batch).put(sequence_++);
  header_size_ = static_cast<std::uint32_t>(header.message().size());
  // The batch is emptied first: the parent must never see the new number in front of the old items.
  shared_.batch_size.store(0, std::memory_order_release);
  std::memcpy(shared_.batch, header.message().data(), header_size_);
  shared_.batch_size.store(header_size_, std::memory_order_release);
}

void Outbox::add(const wire::Encoder& item) {
  const auto bytes = item.message();
  const auto length = static_cast<std::uint32_t>(bytes.size());
  std::uint32_t size = shared_.batch_size.load(std::memory_order_relaxed);
  if (size + sizeof length + length > wire::max_message) {
    flush();
    size = header_size_;
  }
  std::memcpy(shared_.batch + size, &length, sizeof length);
  std::memcpy(shared_.batch + size + sizeof length, bytes.data(), length);
  shared_.batch_size.store(size + static_cast<std::uint32_t>(sizeof length) + length,
                           std::memory_order_release);
}

void Outbox::note(std::string_view text) {
  add(wire::Encoder().put(wire::Item::note).text(text));
}

void Outbox::flush() {
  const std::uint32_t size = shared_.batch_size.load(std::memory_order_relaxed);
  if (size == header_size_)
    return;
  channel_.send({shared_.batch, size});
  start_batch();
}

} // namespace mqbridge::worker
