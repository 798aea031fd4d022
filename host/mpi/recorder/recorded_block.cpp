#include "host/mpi/recorder/recorded_block.h"

#include <fmt/format.h>

namespace mqbridge::recorder {
namespace {

Error damaged(std::string_view name, std::string_view what) {
  return {"variables.corrupt", fmt::format("{} is damaged: {}", name, what),
          "has the program written over memory that is not its own? valgrind or "
          "-fsanitize=address tell"};
}

} // namespace

Result<Block> Block::read(const AddressSpace& space, std::uint64_t address,
                          const BlockShape& shape) {
  const auto order = space.platform.byte_order;
  std::vector<std::byte> bytes(shape.header);
  if (auto done = read_exact(space.memory, {address}, bytes); !done)
    return forward(std::move(done));
  const Record header(bytes, order);
  const std::size_t size = header.u32(offsetof(mqr_variables, size));
  if (header.u32(offsetof(mqr_variables, magic)) != shape.magic)
    return Failure(damaged(shape.name, fmt::format("at {:#x} lies something else", address)));
  if (size < shape.header || size > shape.most)
    return Failure(damaged(shape.name, fmt::format("it claims to have {} bytes", size)));
  bytes.resize(size);
  if (auto done = read_exact(space.memory, {address}, bytes); !done)
    return forward(std::move(done));
  return Block(shape.name, std::move(bytes), order);
}

Error Block::damage(std::string_view what) const {
  return damaged(name_, what);
}

Result<Part> Block::part(std::size_t offset, std::size_t known, std::size_t most) const {
  const auto record = header();
  const Part part = {record.u32(offset + offsetof(mqr_part, at)),
                     record.u32(offset + offsetof(mqr_part, count)),
                     record.u32(offset + offsetof(mqr_part, size))};
  if (part.size < known)
    return Failure(damage(fmt::format("entries of {} bytes, not {}", part.size, known)));
  if (part.count > most)
    return Failure(
        damage(fmt::format("{} entries in a part that has at most {}", part.count, most)));
  if (part.at > bytes_.size() || part.count > (bytes_.size() - part.at) / part.size)
    return Failure(damage("a part reaches beyond its end"));
  return part;
}

Record Block::entry(const Part& part, std::size_t i) const {
  return {std::span(bytes_).subspan(part.at + i * part.size, part.size), order_};
}

std::optional<std::span<const std::byte>> Block::bytes(const Part& part, std::uint64_t at,
                                                       std::uint64_t count) const {
  const std::uint64_t there = part.count * part.size;
  if (at > there || count > there - at)
    return std::nullopt;
  return std::span(bytes_).subspan(part.at + at, count);
}

} // namespace mqbridge::recorder
