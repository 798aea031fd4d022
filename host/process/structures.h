#pragma once

#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge {

/// An integer or pointer in a structure of the target. Size 0: not known.
struct Field {
  std::uint64_t offset = 0;
  std::size_t size = 0;

  explicit operator bool() const { return size > 0; }
  std::uint64_t end() const { return offset + size; }
};

/// Finds fields by name, and remembers the first error. One for each process: layouts differ.
class Fields {
public:
  /// The largest structure that is read: a bound for offsets, which come from a file.
  static constexpr std::uint64_t max_structure = 64 * 1024;

  explicit Fields(ImageSet& images) : images_(images) {}

  /// The field `field` of `type`, which has `size` bytes. `outer`: where the `type` is in the
  /// structure that is meant. Not known if type, field or `outer` is not.
  Field find(std::string_view type, std::string_view field, int size, Field outer = {0, 1});

  /// The same with the size of the field's own type: 1 to 8 bytes, or it is not known.
  Field find_as_typed(std::string_view type, std::string_view field, Field outer = {0, 1});

  /// The error of the first look-up that failed: dwarf.corrupt.
  const std::optional<Error>& error() const { return error_; }

private:
  const TypeField* look_up(std::string_view type, std::string_view field);

  ImageSet& images_;
  std::optional<Error> error_;
};

/// Integers and pointers at known addresses, requested one by one and read together.
class Words {
public:
  using Value = std::optional<std::uint64_t>; ///< nullopt: not known

  /// These fields of each base, read in one call. Errors: as read().
  static Result<Words> of(std::span<const std::uint64_t> bases, std::initializer_list<Field> fields,
                          const AddressSpace& space);

  /// An unknown or null base, and an unknown field, are ignored.
  void want(const Value& base, const Field& field);
  /// Reads everything that was requested, in one call. Errors: those of Memory; words that cannot
  /// be read stay unknown.
  Result<void> read(const AddressSpace& space);
  Value get(const Value& base, const Field& field) const;

private:
  std::map<std::pair<std::uint64_t, std::size_t>, Value> words_; ///< by address and size
};

/// Structures of one size, read together.
class Structures {
public:
  /// Errors: those of Memory. What could not be read has no values.
  static Result<Structures> read(const std::vector<TargetAddress>& addresses, std::size_t size,
                                 const AddressSpace& space);

  /// How many structures of this size to read at once: many, so that round trips do not matter, but
  /// only as many as there is memory for, since sizes come from a file.
  static std::size_t at_once(std::size_t size);

  /// An integer or pointer of the structure at `addresses[index]`.
  Words::Value value(std::size_t index, const Field& field) const;

private:
  std::size_t size_ = 0;
  ByteOrder order_ = ByteOrder::little;
  std::vector<std::byte> bytes_;
  std::vector<std::size_t> readable_; ///< bytes from the start of each
};

} // namespace mqbridge
