#pragma once

#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
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
  /// No structure that is looked into is longer: a bound for offsets that come from a file.
  static constexpr std::uint64_t max_structure = 64 * 1024;

  explicit Fields(ImageSet& images) : images_(images) {}

  /// `size` bytes at `field` of `type`, which stands at `outer` of the structure that is meant. Not
  /// known where the type or the field is not, or `outer` is not.
  Field find(std::string_view type, std::string_view field, int size, Field outer = {0, 1});

  /// The same, as long as its type says: 1 to 8 bytes, or it is not known.
  Field find_as_typed(std::string_view type, std::string_view field, Field outer = {0, 1});

  /// dwarf.corrupt, of the first look-up that failed.
  const std::optional<Error>& error() const { return error_; }

private:
  const TypeField* look_up(std::string_view type, std::string_view field);

  ImageSet& images_;
  std::optional<Error> error_;
};

/// Integers and pointers at known addresses, wanted one by one and read together.
class Words {
public:
  using Value = std::optional<std::uint64_t>; ///< nullopt: not known

  /// Nothing is wanted of an unknown or null base, or an unknown field.
  void want(const Value& base, const Field& field);
  /// All that is wanted, in one call. Errors: those of Memory; what cannot be read stays unknown.
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

  /// How many of this size to read at once: many, so that round trips do not count, and no more
  /// than memory is there for, as sizes come from a file.
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
