#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mqbridge::e2e {

/// An operation of a dump and where it stands.
struct FoundOperation {
  std::string communicator; ///< its name
  std::string queue;
  const nlohmann::json* operation;

  const nlohmann::json& operator[](const char* field) const;
  std::string text() const;
};

/// Belongs to the inside of a collective call, not to the program.
bool is_internal(const nlohmann::json& operation);

/// All operations of a rank, or those that are internal, or those that are not.
std::vector<FoundOperation> internal_operations(const nlohmann::json& rank);
std::vector<FoundOperation> own_operations(const nlohmann::json& rank);

/// How many receives all its queues have.
std::size_t receives_of(const nlohmann::json& rank);

} // namespace mqbridge::e2e
