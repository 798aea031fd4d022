#include "host/mpi/mpich/mpich_support.h"

#include "host/mpi/mpich/mpich_insides.h"
#include "host/mpi/mpich/mpich_process.h"

#include <array>

namespace mqbridge::mpich {
namespace {

constexpr auto symbols = std::to_array<std::string_view>(
    {"MPII_Version_string", "MPIR_Process", "MPIR_All_communicators"});

constexpr auto roots = std::to_array<std::string_view>({
    "MPII_Version_string",
    "MPII_Version_device",
    "MPIR_Process",
    "MPIR_All_communicators",
    "MPIR_Sendq_head",
    "MPIR_Recvq_head",
    "MPIR_Unexpq_head",
    "MPID_Recvq_posted_head_ptr",
    "MPID_Recvq_unexpected_head_ptr",
});

constexpr auto limits = std::to_array<DllLimit>({
    {"send",
     "MPICH remembers nonblocking sends for its debug DLL, not those of MPI_Send, MPI_Ssend, "
     "MPI_Ssend_init and MPI_Ibsend; a receive is listed until its message has come"},
    {"unexpected",
     "a message that has come is invisible until the process polls: inside an MPI call"},
    {"inside",
     "of a rank inside a collective the receives are shown (device ch3), not the sends; what "
     "MPI_Probe and MPI_Mprobe wait for is in no list"},
});
constexpr auto libraries = std::to_array<std::string_view>({"libmpi", "libmpich"});

class Support final : public MpiSupport {
public:
  MpiIdentity identity() const override {
    return {"mpich", "MPICH", "MPII_Version_string", symbols,
            libraries}; // the version is in version.c
  }
  std::span<const std::string_view> root_symbols() const override { return roots; }

  Result<MpiState> read_state(const AddressSpace& space) const override {
    return mpich::read_state(space);
  }

  /// It states no sizes of itself.
  Result<TypesCheck> check_types(const TypeFinder& find, const AddressSpace&) const override {
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

  std::string describe_transport(const std::string& name) const override { return name; }
  std::span<const DllLimit> dll_limits() const override { return limits; }

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

  Result<UnshownOutcome> add_unshown(std::vector<Communicator>& communicators,
                                     const UnshownRequest& request,
                                     const AddressSpace& space) const override {
    return mpich::add_insides(communicators, request, space);
  }
};

} // namespace

const MpiSupport& support() {
  static const Support support;
  return support;
}

} // namespace mqbridge::mpich
