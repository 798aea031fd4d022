#pragma once

#include "host/process/address_space.h"
#include "host/process/structures.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// Texts of the target, each up to its terminating zero, requested one by one and read together.
class Texts {
public:
  /// In bytes. A text without an end within `longest` is not known; nor are texts beyond `all`.
  Texts(std::size_t longest, std::size_t all) : longest_(longest), left_(all) {}

  /// An unknown address, and 0, are ignored.
  void want(const Words::Value& address);
  /// Reads texts that were requested and not read before. Errors: those of Memory; texts that
  /// cannot be read stay unknown.
  Result<void> read(const AddressSpace& space);
  /// nullptr: not known. Valid until the next want().
  const std::string* get(const Words::Value& address) const;

private:
  using Pending = std::vector<std::uint64_t>;
  Result<void> read_piece(Pending& pending, std::size_t size, const AddressSpace& space);

  std::size_t longest_;
  std::size_t left_; ///< bytes that may still be kept
  std::map<std::uint64_t, std::optional<std::string>> texts_;
  Pending wanted_;
};

} // namespace mqbridge
