#pragma once

#include "host/mpi/recorder/record.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mqbridge::recorder {

/// Entries of one size in a Block (struct mqr_part). They lie within it.
struct Part {
  std::size_t at = 0;
  std::size_t count = 0;
  std::size_t size = 0;
};

/// The beginning of a block, and its largest size.
struct BlockShape {
  std::string_view name; ///< for messages: "the recorder's list of variables"
  std::uint32_t magic;
  std::size_t header; ///< bytes
  std::size_t most;   ///< bytes
};

/// A block of dll/recorder/variables_layout.h, read as a whole. Whatever it holds, nothing beyond
/// its end is looked at.
class Block {
public:
  /// Errors: variables.corrupt; those of Memory.
  static Result<Block> read(const AddressSpace& space, std::uint64_t address,
                            const BlockShape& shape);

  Record header() const { return {bytes_, order_}; }
  ByteOrder order() const { return order_; }

  /// The part whose description is at `offset` of the header. At most `most` entries, of `known`
  /// bytes or more. Error: variables.corrupt.
  Result<Part> part(std::size_t offset, std::size_t known, std::size_t most) const;
  /// The i-th entry, which there must be.
  Record entry(const Part& part, std::size_t i) const;
  /// nullopt: some of them are outside of the part.
  std::optional<std::span<const std::byte>> bytes(const Part& part, std::uint64_t at,
                                                  std::uint64_t count) const;
  /// All of it, as one part of bytes.
  Part whole() const { return {0, bytes_.size(), 1}; }

  /// "... is damaged: ..."
  Error damage(std::string_view what) const;

private:
  Block(std::string_view name, std::vector<std::byte> bytes, ByteOrder order)
      : name_(name), bytes_(std::move(bytes)), order_(order) {}

  std::string_view name_;
  std::vector<std::byte> bytes_;
  ByteOrder order_;
};

} // namespace mqbridge::recorder
