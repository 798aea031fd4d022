#include "host/mpi/openmpi/openmpi_repairs.h"

#include "dll/mqs_interface.h"
#include "host/mpi/openmpi/openmpi_communicators.h"
#include "host/mpi/openmpi/openmpi_requests.h"
#include "host/mqs/interpret.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace mqbridge::openmpi {
namespace {

/// Open MPI's DLL returns mqs_ok for a request of another kind, and fills nothing in: then even the
/// first line, which it writes for every operation, is empty.
bool is_unfilled(const Operation& operation) {
  return operation.text.empty() && operation.raw.desired_local_rank == MQS_INVALID_PROCESS;
}

constexpr std::string_view unknown_type = "Unknown type of request";

/// "Send: 0x5570...", "Receive: 0x...", "Unknown type of request 0x...": Open MPI's DLL gives the
/// request's address in its first line. The address of a 32-bit target may be sign-extended.
std::optional<TargetAddress> request_address(std::string_view line, int pointer_size) {
  constexpr std::string_view before_address = " 0x";
  const auto prefix = line.rfind(before_address);
  if (prefix == std::string_view::npos)
    return std::nullopt;
  line.remove_prefix(prefix + before_address.size());
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  if (error != std::errc() || end != line.data() + line.size())
    return std::nullopt;
  if (value == 0)
    return std::nullopt;
  return at_pointer_width(value, pointer_size);
}

/// Leaves out the lines behind the first one. Open MPI's DLL writes "Data: N instances of MPI
/// datatype" and a name there: N is the datatype's size, and the name is cut to 4 letters. If the
/// DLL takes the request for complete (never on big-endian targets), it writes "Data transfer
/// completed" instead, which is the status.
void leave_out_data_lines(Operation& operation) {
  if (operation.text.size() < 2 || !operation.text[1].starts_with("Data"))
    return;
  operation.text.show_only(1);
  operation.repairs.add(Repair::text);
}

/// The request's address. The debug DLL does not know the type of the requests that MPI_Mprobe and
/// MPI_Improbe make: its line is hidden, and the request itself tells its kind.
std::optional<TargetAddress> read_first_line(Operation& operation, int pointer_size) {
  if (operation.text.empty())
    return std::nullopt;
  const std::string line = operation.text.front();
  if (line.starts_with(unknown_type)) {
    operation.kind = OpKind::unknown;
    operation.text.show_only(0);
    operation.repairs.add(Repair::text);
  }
  return request_address(line, pointer_size);
}

} // namespace

Result<void> repair(std::vector<Communicator>& communicators, const AddressSpace& space) {
  std::vector<Operation*> with_request;
  for (auto& communicator : communicators) {
    for (Queue& queue : communicator.queues) {
      const std::size_t unfilled = erase_if(queue.operations, is_unfilled);
      if (queue.total)
        *queue.total -= unfilled;
      for (Operation& operation : queue.operations) {
        operation.request = read_first_line(operation, space.platform.pointer_size);
        leave_out_data_lines(operation);
        if (operation.request)
          with_request.push_back(&operation);
        else
          forget_status(operation); // there is nothing to read it from
      }
    }
  }
  // The requests come first: they tell the message that came; the communicators know its sender.
  auto requests = correct_from_requests(with_request, space);
  auto done = correct_communicators(communicators, space);
  return requests ? done : requests;
}

} // namespace mqbridge::openmpi
