#include "host/mpi/mpi_support.h"
#include "host/mpi/mpich/mpich_process.h"

namespace mqbridge::mpich {
namespace {

class Support final : public MpiSupport {
public:
  Result<MpiState> read_state(const AddressSpace& space) const override {
    return mpich::read_state(space);
  }

  /// It states no sizes of itself.
  Result<TypesCheck> check_types(const openmpi::TypeFinder& find,
                                 const AddressSpace&) const override {
    auto missing = missing_types(find);
    if (!missing)
      return forward(std::move(missing));
    const bool fit = missing->empty();
    return TypesCheck{fit, std::move(*missing), {}, 0};
  }

  std::string types_hint(const MpiLibrary&, const Platform&) const override {
    return "rebuild MPICH with --enable-debuginfo (Debian's is built without), or run the program "
           "with Open MPI";
  }

  Result<Transport> read_transport(const AddressSpace& space) const override {
    auto device = read_device(space);
    if (!device)
      return forward(std::move(device));
    return Transport{std::move(device->name), false, std::move(device->warning)};
  }

  bool refuses_in_success() const override { return true; }
  bool ranks_need_repair() const override { return true; }
  /// By its context id, which the repairs read.
  bool is_world(const Communicator& communicator) const override {
    return communicator.context == 0;
  }
  bool world_is_certain() const override { return true; }
  bool finalizes_unseen() const override { return true; }

  Result<void> repair(std::vector<Communicator>& communicators,
                      const AddressSpace& space) const override {
    return mpich::repair(communicators, space);
  }
};

} // namespace

const MpiSupport& support() {
  static const Support support;
  return support;
}

} // namespace mqbridge::mpich
