#include "host/mqs/wire.h"

namespace mqbridge::wire {

std::vector<std::byte> StartMessage::encode() const {
  Encoder out;
  out.put(Kind::start).text(dll).put(checked.has_value()).put(checked.value_or(CheckedDll()));
  out.text(process_name).put(big_endian);
  for (std::int32_t size : sizes)
    out.put(size);
  out.put(world_rank)
      .put(op_classes)
      .put(ignore_welcome)
      .put(max_operations)
      .put(address_space)
      .put(own_memory)
      .put(cpu_seconds)
      .put(sandboxed);
  auto message = out.message();
  return {message.begin(), message.end()};
}

bool StartMessage::decode(std::span<const std::byte> message) {
  Decoder in(message);
  if (in.get<Kind>() != Kind::start)
    return false;
  dll = in.text();
  const bool is_checked = in.get<std::uint8_t>() != 0;
  const auto file = in.get<CheckedDll>();
  checked = is_checked ? std::optional(file) : std::nullopt;
  process_name = in.text();
  big_endian = in.get<std::uint8_t>() != 0;
  for (std::int32_t& size : sizes)
    size = in.get<std::int32_t>();
  world_rank = in.get<std::int32_t>();
  op_classes = in.get<std::uint8_t>();
  ignore_welcome = in.get<std::uint8_t>() != 0;
  max_operations = in.get<std::uint64_t>();
  address_space = in.get<std::uint64_t>();
  own_memory = in.get<std::uint64_t>();
  cpu_seconds = in.get<std::uint32_t>();
  sandboxed = in.get<std::uint8_t>() != 0;
  return in.complete();
}

} // namespace mqbridge::wire
