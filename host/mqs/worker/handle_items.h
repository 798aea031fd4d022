#pragma once

#include "dll/mpidbg_interface.h"
#include "host/mqs/handle_wire.h"
#include "host/mqs/worker/outbox.h"

#include <cstdint>
#include <string_view>

namespace mqbridge::worker {

/// A copy of a description without its pointers. The DLL filled in `size` bytes: members behind
/// these are zero, and their bits of `known` are cleared.
mpidbg_comm_description cut_to_size(const mpidbg_comm_description* from);
mpidbg_request_description cut_to_size(const mpidbg_request_description* from);
mpidbg_status_description cut_to_size(const mpidbg_status_description* from);

/// Puts a DLL's answers into an outbox. Impossible counts are reported, and not followed; a pointer
/// that leads nowhere ends this process.
class HandleItems {
public:
  explicit HandleItems(Outbox& outbox) : outbox_(outbox) {}

  /// `description`: null without one; cut to size.
  void communicator(std::uint64_t handle, const mpidbg_comm_info_t& info,
                    std::uint64_t capabilities, const mpidbg_comm_description* description,
                    bool is_owner = false);
  void request(std::uint64_t handle, const mpidbg_request_info_t& info,
               const mpidbg_request_description* description);
  void errhandler(std::uint64_t handle, const mpidbg_errhandler_info_t& info,
                  std::uint64_t capabilities, bool extended);
  void status(std::uint64_t address, const mpidbg_status_info_t& info,
              const mpidbg_status_description* description);
  void refused(const wire::AskedHandle& asked, std::string_view why);
  void list_end(std::uint8_t kind, wire::ListEnd end);

private:
  template <class Number>
  void list(wire::HandleList id, std::int64_t count, const Number* numbers);
  /// The same if an empty list is an answer, too.
  template <class Number>
  void known_list(wire::HandleList id, std::int64_t count, const Number* numbers,
                  bool null_is_none = true);
  void topology(const mpidbg_comm_info_t& info, const mpidbg_comm_description* description);
  void groups(const mpidbg_comm_info_t& info);
  void group(wire::HandleList id, std::int64_t count, const mpidbg_process_t* processes);
  void attributes(const mpidbg_comm_info_t& info, bool known);
  /// False: `count` is no possible count; a note says so.
  bool plausible(std::int64_t count, std::string_view of);
  void send(wire::HandleList id, std::size_t count, auto number_at);

  Outbox& outbox_;
  std::uint64_t total_ = 0; ///< elements of all lists
};

} // namespace mqbridge::worker
