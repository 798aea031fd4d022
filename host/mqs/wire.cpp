#include "host/mqs/wire.h"

#include <algorithm>

namespace mqbridge::wire {
namespace {

/// Nothing but zeros without one. Member by member: it has padding, and a bool.
void put(Encoder& out, const std::optional<CheckedDll>& checked) {
  const CheckedDll dll = checked.value_or(CheckedDll());
  out.put(checked.has_value()).put(dll.device).put(dll.inode).put(dll.size);
  out.put(dll.changed_s).put(dll.changed_ns).put(dll.uses_origin);
}

std::optional<CheckedDll> get_checked(Decoder& in) {
  const bool is_checked = in.get<std::uint8_t>() != 0;
  CheckedDll dll;
  dll.device = in.get<std::uint64_t>();
  dll.inode = in.get<std::uint64_t>();
  dll.size = in.get<std::uint64_t>();
  dll.changed_s = in.get<std::int64_t>();
  dll.changed_ns = in.get<std::int64_t>();
  dll.uses_origin = in.get<std::uint8_t>() != 0;
  return is_checked ? std::optional(dll) : std::nullopt;
}

void put(Encoder& out, const std::optional<std::vector<AskedHandle>>& handles) {
  out.put(handles.has_value());
  if (!handles)
    return;
  out.put(static_cast<std::uint32_t>(handles->size()));
  for (const AskedHandle& handle : *handles)
    out.put(handle.value).put(handle.kind).put(handle.fortran);
}

/// Those that are missing show by `in`, which is not complete then.
std::optional<std::vector<AskedHandle>> get_handles(Decoder& in) {
  if (in.get<std::uint8_t>() == 0)
    return std::nullopt;
  const std::size_t count = std::min<std::size_t>(in.get<std::uint32_t>(), max_asked_handles);
  std::vector<AskedHandle> handles(count);
  for (AskedHandle& handle : handles) {
    handle.value = in.get<std::uint64_t>();
    handle.kind = in.get<std::uint8_t>();
    handle.fortran = in.get<std::uint8_t>() != 0;
  }
  return handles;
}

std::vector<std::byte> copy_of(const Encoder& out) {
  const auto message = out.message();
  return {message.begin(), message.end()};
}

} // namespace

std::vector<std::byte> StartMessage::encode() const {
  Encoder out;
  out.put(Kind::start).text(dll);
  put(out, checked);
  out.text(process_name).put(big_endian);
  for (std::int32_t size : sizes)
    out.put(size);
  out.put(world_rank)
      .put(op_classes)
      .put(ignore_welcome)
      .put(of_job)
      .put(max_operations)
      .put(address_space)
      .put(own_memory)
      .put(cpu_seconds)
      .put(sandboxed);
  put(out, handles);
  return copy_of(out);
}

bool StartMessage::decode(std::span<const std::byte> message) {
  Decoder in(message);
  if (in.get<Kind>() != Kind::start)
    return false;
  dll = in.text();
  checked = get_checked(in);
  process_name = in.text();
  big_endian = in.get<std::uint8_t>() != 0;
  for (std::int32_t& size : sizes)
    size = in.get<std::int32_t>();
  world_rank = in.get<std::int32_t>();
  op_classes = in.get<std::uint8_t>();
  ignore_welcome = in.get<std::uint8_t>() != 0;
  of_job = in.get<std::uint8_t>() != 0;
  max_operations = in.get<std::uint64_t>();
  address_space = in.get<std::uint64_t>();
  own_memory = in.get<std::uint64_t>();
  cpu_seconds = in.get<std::uint32_t>();
  sandboxed = in.get<std::uint8_t>() != 0;
  handles = get_handles(in);
  return in.complete();
}

std::vector<std::byte> LoadingMessage::encode() const {
  return copy_of(Encoder().put(Kind::loading).put(loader).text(gap));
}

bool LoadingMessage::decode(std::span<const std::byte> message) {
  Decoder in(message);
  if (in.get<Kind>() != Kind::loading)
    return false;
  loader = in.get<std::int32_t>();
  gap = in.text();
  return in.complete();
}

} // namespace mqbridge::wire
