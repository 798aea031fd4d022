#pragma once

#include "dll/mpidbg_interface.h"
#include "host/mqs/handle_wire.h"
#include "host/mqs/handles.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

/// The lists of one handle, by wire::HandleList. nullopt: the DLL did not give it.
class HandleLists {
public:
  using Numbers = std::vector<std::int64_t>;

  std::optional<Numbers>& operator[](wire::HandleList list) {
    return lists_[static_cast<std::size_t>(list)];
  }

private:
  std::array<std::optional<Numbers>, wire::handle_lists> lists_;
};

/// The DLL's description of a handle, as far as it makes sense: ranks outside of their group,
/// groups of another size than their communicator and values outside of their enumeration count as
/// not known. `lists` and `attributes` are moved from. Pure.
CommunicatorHandle communicator_of(const wire::CommFields& fields, std::string name,
                                   HandleLists& lists, std::vector<HandleAttribute> attributes,
                                   int pointer_size);
/// The caller fills in the site, which is shared.
RequestHandle request_of(const wire::RequestFields& fields,
                         const mpidbg_request_description& description, int pointer_size);
ErrhandlerHandle errhandler_of(const wire::ErrhandlerFields& fields, std::string name,
                               HandleLists& lists, int pointer_size);
StatusHandle status_of(const wire::StatusFields& fields,
                       const mpidbg_status_description& description, int pointer_size);

} // namespace mqbridge
