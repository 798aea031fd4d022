#pragma once

#include "host/mpi/structures.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// Texts of the target, each up to its terminating zero, wanted one by one and read together.
class Texts {
public:
  /// In bytes: a text without an end within `longest` is not known; beyond `all` none is.
  Texts(std::size_t longest, std::size_t all) : longest_(longest), left_(all) {}

  /// Nothing is wanted at an unknown address or at 0.
  void want(const Words::Value& address);
  /// What is wanted and was not read before. Errors: those of Memory; what cannot be read stays
  /// unknown.
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
