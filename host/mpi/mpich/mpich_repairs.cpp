#include "host/mpi/mpich/mpich_repairs.h"

#include "host/mpi/mpich/mpich_communicators.h"
#include "host/mpi/mpich/mpich_layout.h"
#include "host/mpi/mpich/mpich_requests.h"

namespace mqbridge::mpich {
namespace {

/// The DLL gives lengths in elements. For unexpected messages it gives no length, and the actual
/// values only repeat the desired ones.
void label_lengths(std::vector<Communicator>& communicators) {
  for (auto& communicator : communicators) {
    for (const OpClass op_class : op_classes) {
      for (Operation& operation : communicator.queue(op_class).operations) {
        operation.length.unit = LengthUnit::elements;
        if (operation.actual)
          operation.actual->length.reset();
        if (op_class != OpClass::unexpected)
          continue;
        operation.length = {std::nullopt, LengthUnit::unknown};
        operation.actual.reset();
      }
    }
  }
}

} // namespace

Result<void> repair(std::vector<Communicator>& communicators, const AddressSpace& space) {
  label_lengths(communicators);
  auto layout = find_layout(space);
  if (!layout)
    return forward(std::move(layout));
  if (!layout->communicator.context)
    return {}; // no DLL walks without types: mqbridge has found the communicators itself
  auto facts = correct_communicators(communicators, *layout, space);
  if (!facts)
    return forward(std::move(facts));
  return correct_operations(communicators, *facts, *layout, space);
}

} // namespace mqbridge::mpich
