#pragma once

#include "host/memory/platform.h"
#include "host/mpi/type_carrier.h"
#include "host/types/types.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge::openmpi {

/// Whether mqbridge itself runs on such a machine; another one takes a cross compiler.
bool is_this_machine(const Platform& platform);

/// The command that makes a type carrier for `platform`, and the option to use it: "mqbridge types
/// make ... then: --types ompi.types.so". `more`: further options, each with a space behind it.
std::string carrier_line(const Platform& platform, std::string_view more = {});

/// make_type_carrier() for Open MPI. `request.source` is for ob1_types(), which are private to ob1.
Result<void> make_carrier(const CarrierRequest& request);

/// Compares types of a carrier or pack with the installation of `library`; nullopt: with the one
/// that is installed. Errors: those of `types`, of ElfFile::open, types.no_library.
Result<TypesFileCheck> check_carrier(TypeSource& types,
                                     const std::optional<std::filesystem::path>& library);

} // namespace mqbridge::openmpi
