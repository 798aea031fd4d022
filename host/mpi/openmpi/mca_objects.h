#pragma once

#include "host/mpi/openmpi/mca_tables.h"
#include "host/process/address_space.h"
#include "host/process/structures.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace mqbridge::openmpi {

/// The objects of a table of Open MPI's that are there, by index, read together.
struct McaObjects {
  /// `size`: bytes of an object. Errors: those of Memory.
  static Result<McaObjects> read(const McaTables::Table& table, std::size_t size,
                                 const AddressSpace& space) {
    McaObjects made;
    std::vector<TargetAddress> addresses;
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (table[i] == 0)
        continue;
      made.place.emplace(i, addresses.size());
      addresses.push_back({table[i]});
    }
    auto structures = Structures::read(addresses, size, space);
    if (!structures)
      return forward(std::move(structures));
    made.structures = std::move(*structures);
    return made;
  }

  Words::Value get(std::uint64_t index, const Field& field) const {
    const auto found = place.find(index);
    return found != place.end() ? structures.value(found->second, field) : std::nullopt;
  }

  std::map<std::uint64_t, std::size_t> place; ///< in `structures`, by index in the table
  Structures structures;
};

} // namespace mqbridge::openmpi
