#pragma once

#include "host/mpi/mpi_library.h"
#include "host/mpi/unshown.h"
#include "host/mqs/queues.h"
#include "tests/mqs/test_target.h"

#include <map>
#include <string>
#include <vector>

namespace mqbridge {

enum class MpichVersion { v4_0, v4_1 };

/// What an operation has in the process, beside its place in a list.
struct MpichRequest {
  std::int64_t tag = 0;
  std::int64_t rank = 0;
  std::uint64_t count = 1;
  std::uint64_t datatype = 0x4c00010d; ///< handle; this one is MPI_CHAR's
  std::uint64_t datatype_object = 0;   ///< address
  std::uint64_t counter = 1;           ///< 0: complete
  std::uint64_t bytes = 0;             ///< of the status
  std::uint64_t system_buffer = 0;
  std::uint64_t kind = 1;         ///< MPIR_Request_kind_t; 3 and 4 are persistent
  std::uint64_t real_request = 0; ///< address, of a persistent one that is started
  bool own_counter = false;       ///< `counter` stands in the request itself
};

/// An MPICH process that is only bytes, and what its debug DLL says of it. Not the real layouts:
/// the repairs must take them from the types.
class FakeMpich {
public:
  FakeMpich(const Platform& platform, MpichVersion version);

  /// A communicator of these ranks of MPI_COMM_WORLD, which is the first one; `own` is this
  /// process's rank in it. The index is its place in `communicators` until repair().
  std::size_t communicator(const std::string& name, std::int64_t own, std::vector<int> members);

  /// Puts an operation at the end of the process's list of its class, and says it as the DLL does.
  Operation& operation(OpClass op_class, std::size_t communicator, const MpichRequest& request);

  /// Puts an operation of the MPI's own, whose context id differs by `bits` from the
  /// communicator's, at the end of the list: the DLL does not say it. The request's address.
  std::uint64_t inside(OpClass op_class, std::size_t communicator, std::int64_t bits,
                       const MpichRequest& request);

  /// A table of a communicator that has a number for each rank: intranode_table, internode_table.
  void set_ranks(std::size_t communicator, const std::string& field,
                 const std::vector<std::int64_t>& ranks);

  /// A request that is in no list, and its address.
  std::uint64_t put_request(const MpichRequest& request);

  /// A datatype that a program made, and its address.
  std::uint64_t datatype(std::uint64_t handle, std::uint64_t size);
  void datatype_at(std::uint64_t address, std::uint64_t handle, std::uint64_t size);

  /// An integer or pointer of an object, by its type and field.
  void set(std::uint64_t object, const std::string& type, const std::string& field,
           std::uint64_t value);
  std::uint64_t object(std::size_t communicator) const;
  /// Where a communicator's table of connections is: of its remote side, if it has two.
  std::uint64_t table_of(std::size_t communicator) const { return tables_.at(communicator); }
  void set_table(std::size_t communicator, const std::string& field, std::uint64_t table);
  void set_symbol(const char* name, std::uint64_t value, int size);
  /// What the last element of a list points to, instead of to nothing.
  void set_next_of_last(OpClass op_class, std::uint64_t next);
  std::uint64_t last_of(OpClass op_class) const;

  /// Puts everything into `memory`.
  void write();
  /// write() and the repairs.
  Result<void> repair();
  /// repair(), and then what the DLL does not show.
  Result<UnshownOutcome> add_insides(const UnshownRequest& request);

  Platform platform;
  FakeMemory memory;
  ImageSet images;
  std::shared_ptr<FakeTypes> types = std::make_shared<FakeTypes>();
  std::vector<Communicator> communicators;

private:
  struct List {
    std::uint64_t head = 0;
    std::vector<std::uint64_t> elements;
  };

  void add_types();
  std::uint64_t offset(const std::string& type, const std::string& field) const;
  std::uint64_t place(std::uint64_t size);
  std::uint64_t place_type(const std::string& type);
  std::uint64_t table(const std::vector<int>& members);
  void link(OpClass op_class, std::uint64_t element);
  std::uint64_t list_request(OpClass op_class, std::int64_t context, const MpichRequest& request);
  std::string element_type(OpClass op_class) const;
  void put(std::uint64_t address, std::uint64_t value, int size);

  MpichVersion version_;
  std::uint64_t next_ = 0x100000;
  std::map<std::uint64_t, std::vector<std::uint8_t>> objects_;
  std::vector<std::int64_t> contexts_; ///< as the next, by communicator
  std::vector<std::uint64_t> tables_;
  std::array<List, 3> lists_;
};

} // namespace mqbridge
