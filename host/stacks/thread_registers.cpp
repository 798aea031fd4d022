#include "host/stacks/thread_registers.h"

#include "host/memory/reader.h"

#include <array>
#include <cstddef>
#include <span>

namespace mqbridge {

const RegisterPlaces& register_places(const ProcessThread& thread, const Platform& platform) {
  static constexpr RegisterPlaces unknown;
  const auto& architecture = architecture_of(platform);
  const auto all = thread.layout == RegisterLayout::gdb
                       ? std::span<const RegisterPlaces>(architecture.live_registers)
                       : std::span(&architecture.core_registers, 1);
  const auto size = thread.registers ? thread.registers->size() : 0;
  for (const auto& places : all)
    if (places.program_counter + std::size_t{places.size} <= size)
      return places;
  return unknown;
}

std::optional<std::uint64_t> register_at(const ProcessThread& thread, const Platform& platform,
                                         std::size_t offset, std::size_t size) {
  std::array<std::byte, sizeof(std::uint64_t)> bytes;
  if (!thread.registers || size == 0 || size > sizeof(std::uint64_t) ||
      offset + size > thread.registers->size())
    return std::nullopt;
  for (std::size_t i = 0; i < size; ++i) {
    const auto& byte = (*thread.registers)[offset + i];
    if (!byte)
      return std::nullopt;
    bytes[i] = *byte;
  }
  return decode_unsigned(std::span(bytes).first(size), platform.byte_order);
}

std::optional<std::uint64_t> program_counter(const ProcessThread& thread,
                                             const Platform& platform) {
  const auto& places = register_places(thread, platform);
  return register_at(thread, platform, places.program_counter, places.size);
}

std::optional<std::uint64_t> stack_pointer(const ProcessThread& thread, const Platform& platform) {
  const auto number = stack_pointer_number(platform);
  const auto place = number ? register_place(thread, platform, *number) : std::nullopt;
  return place ? register_at(thread, platform, place->offset, place->size) : std::nullopt;
}

std::optional<RegisterRun> register_place(const ProcessThread& thread, const Platform& platform,
                                          std::uint16_t number) {
  for (const auto& run : register_places(thread, platform).runs)
    if (number >= run.number && number < run.number + run.count)
      return RegisterRun{number, 1,
                         static_cast<std::uint16_t>(run.offset + run.size * (number - run.number)),
                         run.size};
  return std::nullopt;
}

std::optional<std::uint64_t> thread_pointer(const ProcessThread& thread, const Platform& platform) {
  const auto& places = register_places(thread, platform);
  return places.thread_pointer == 0
             ? std::nullopt
             : register_at(thread, platform, places.thread_pointer, places.size);
}

std::vector<DwarfRegister> dwarf_registers(const ProcessThread& thread, const Platform& platform) {
  std::vector<DwarfRegister> registers;
  for (const auto& run : register_places(thread, platform).runs)
    for (std::uint16_t i = 0; i < run.count; ++i)
      if (const auto value =
              register_at(thread, platform, run.offset + std::size_t{run.size} * i, run.size))
        registers.push_back({static_cast<std::uint16_t>(run.number + i), *value});
  return registers;
}

std::optional<std::uint16_t> stack_pointer_number(const Platform& platform) {
  return architecture_of(platform).stack_pointer;
}

} // namespace mqbridge
