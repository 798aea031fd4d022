#include "host/mpi/openmpi/known_objects.h"

#include "host/codes.h"
#include "host/memory/reader.h"
#include "host/process/structures.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <string_view>

namespace mqbridge::openmpi {
namespace {

/// A field of one of Open MPI's own objects. What it holds follows from ompi_comm_init(),
/// ompi_group_init() and ompi_request_init(), and from the table of datatypes. Their pages come
/// with the first burst (openmpi_facts.cpp, roots): another object costs its page.
struct KnownField {
  std::string_view object; ///< a symbol
  std::string_view type, field;
  std::int64_t value = 0;
  std::string_view address_of = {};                   ///< a symbol: it holds this address instead
  std::string_view inner_type = {}, inner_field = {}; ///< in `field`, which is a structure
  std::uint64_t mask = ~std::uint64_t{0};             ///< of the bits that are known
};

constexpr std::int64_t any = -1;           // MPI_ANY_SOURCE, MPI_ANY_TAG
constexpr std::int64_t nobody = -2;        // MPI_PROC_NULL
constexpr std::int64_t place_of_null = 2;  // in the table of communicators
constexpr std::int64_t of_the_library = 6; // OMPI_GROUP_INTRINSIC, OMPI_GROUP_DENSE

constexpr KnownField known_fields[] = {
    {"ompi_mpi_comm_null", "ompi_communicator_t", "c_my_rank", nobody},
    // The first one before Open MPI 5, where the context id is a structure; the second one since.
    {"ompi_mpi_comm_null", "ompi_communicator_t", "c_contextid", place_of_null},
    {"ompi_mpi_comm_null", "ompi_communicator_t", "c_index", place_of_null},
    {"ompi_mpi_comm_null", "ompi_communicator_t", "c_local_group", 0, "ompi_mpi_group_null"},
    {"ompi_mpi_comm_null", "ompi_communicator_t", "c_remote_group", 0, "ompi_mpi_group_null"},
    {"ompi_mpi_group_null", "ompi_group_t", "grp_my_rank", nobody},
    {"ompi_mpi_group_null", "ompi_group_t", "grp_proc_count", 0},
    {.object = "ompi_mpi_group_null",
     .type = "ompi_group_t",
     .field = "grp_flags",
     .value = of_the_library,
     .mask = of_the_library},
    {"ompi_request_null", "ompi_request_t", "req_state", 1},
    {"ompi_request_null", "ompi_request_t", "req_complete", 1},
    {"ompi_request_null", "ompi_request_t", "req_status", any, "", "ompi_status_public_t",
     "MPI_SOURCE"},
    {"ompi_request_null", "ompi_request_t", "req_status", any, "", "ompi_status_public_t",
     "MPI_TAG"},
    {"ompi_mpi_double", "ompi_datatype_t", "super", 8, "", "opal_datatype_t", "size"},
};

class Reading {
public:
  Reading(const TypeFinder& find, const AddressSpace& space) : find_(find), space_(space) {}

  Result<std::vector<std::string>> run() {
    find_unused();
    for (const KnownField& known : known_fields)
      words_.want(address(known.object), place(known));
    if (error_)
      return Failure(*error_);
    if (auto done = words_.read(space_); !done)
      return forward(std::move(done));
    for (const KnownField& known : known_fields)
      compare(known);
    if (auto done = compare_name(); !done)
      return forward(std::move(done));
    return std::move(misread_);
  }

private:
  Words::Value address(std::string_view symbol) const {
    const auto found = space_.images.find_symbol(symbol);
    return found && !unused_.contains(symbol) ? Words::Value(found->address.value) : std::nullopt;
  }

  /// A program may have copies of the library's objects (R_*_COPY), which are used in the place of
  /// these. If its file is missing, so are its symbols: the library's own object is found then, and
  /// has nothing in it.
  void find_unused() {
    constexpr std::size_t most_bytes = 256;
    const auto& images = space_.images.images();
    if (images.empty() || images.front().file)
      return;
    for (const KnownField& known : known_fields) {
      const auto found = space_.images.find_symbol(known.object);
      if (!found)
        continue;
      std::vector<std::byte> bytes(std::min<std::size_t>(found->size, most_bytes));
      if (read_exact(space_.memory, found->address, bytes) &&
          std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; }))
        unused_.insert(known.object);
    }
  }

  const TypeField* look_up(std::string_view type, std::string_view field) {
    auto layout = find_(type);
    if (!layout && !error_)
      error_ = std::move(layout).error();
    return layout && *layout != nullptr ? (*layout)->find_field(field) : nullptr;
  }

  Field place(std::string_view type, std::string_view field, std::uint64_t outer = 0) {
    const TypeField* found = look_up(type, field);
    if (found == nullptr || found->size < 1 || found->size > sizeof(std::uint64_t) ||
        found->offset > Fields::max_structure)
      return {};
    return {outer + found->offset, found->size};
  }

  Field place(const KnownField& known) {
    if (known.inner_type.empty())
      return place(known.type, known.field);
    const TypeField* outer = look_up(known.type, known.field);
    return outer == nullptr || outer->offset > Fields::max_structure
               ? Field()
               : place(known.inner_type, known.inner_field, outer->offset);
  }

  void compare(const KnownField& known) {
    const Field field = place(known);
    const auto is = words_.get(address(known.object), field);
    const auto wanted = known.address_of.empty()
                            ? Words::Value(static_cast<std::uint64_t>(known.value))
                            : address(known.address_of);
    if (!is || !wanted)
      return;
    const auto bits = known.mask & ~std::uint64_t{0} >> (64 - 8 * field.size);
    if ((*is & bits) != (*wanted & bits))
      misread_.push_back(fmt::format("{}.{}: {} has {:#x} there, should be {:#x}",
                                     known.inner_type.empty() ? known.type : known.inner_type,
                                     known.inner_field.empty() ? known.field : known.inner_field,
                                     known.object, *is & bits, *wanted & bits));
  }

  /// Before Open MPI 5, whose names are elsewhere: they would take another round trip.
  Result<void> compare_name() {
    constexpr std::string_view wanted = "MPI_COMM_NULL";
    const TypeField* name = look_up("ompi_communicator_t", "c_name");
    const auto object = address("ompi_mpi_comm_null");
    if (name == nullptr || !object || name->size <= sizeof(std::uint64_t))
      return {};
    const auto text = read_string(space_.memory, {*object + name->offset}, wanted.size() + 1);
    if (!text && text.error().code == codes::memory_unreadable)
      return {};
    if (!text)
      return Failure(text.error());
    if (*text != wanted)
      misread_.push_back("ompi_communicator_t.c_name: ompi_mpi_comm_null has another name there");
    return {};
  }

  const TypeFinder& find_;
  const AddressSpace& space_;
  Words words_;
  std::set<std::string_view> unused_; ///< objects
  std::optional<Error> error_;
  std::vector<std::string> misread_;
};

} // namespace

Result<std::vector<std::string>> misread_objects(const TypeFinder& find,
                                                 const AddressSpace& space) {
  return Reading(find, space).run();
}

} // namespace mqbridge::openmpi
