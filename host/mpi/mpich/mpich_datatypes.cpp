#include "host/mpi/mpich/mpich_datatypes.h"

namespace mqbridge::mpich {
namespace {

// include/mpir_objects.h: what the bits of a handle say.
constexpr std::uint64_t kind_mask = 0xc0000000;
constexpr std::uint64_t builtin = 0x40000000;
constexpr std::uint64_t direct = 0x80000000;
constexpr std::uint64_t mpi_kind_mask = 0x3c000000;
constexpr std::uint64_t mpi_kind_datatype = 0x0c000000;
constexpr std::uint64_t index_mask = 0x03ffffff;

bool is_datatype(const Words::Value& handle) {
  return handle && (*handle & mpi_kind_mask) == mpi_kind_datatype;
}

} // namespace

Datatypes::Datatypes(const Layout::Datatype& layout, const ImageSet& images) : layout_(layout) {
  if (const auto symbol = images.find_symbol("MPIR_Datatype_direct")) {
    direct_ = symbol->address;
    direct_size_ = symbol->size;
  }
}

Words::Value Datatypes::object_of(const Words::Value& handle, const Words::Value& object) const {
  if (!is_datatype(handle) || (*handle & kind_mask) == builtin)
    return std::nullopt;
  if (object && *object != 0)
    return object;
  const std::uint64_t offset = (*handle & index_mask) * layout_.object_size;
  if ((*handle & kind_mask) != direct || !direct_ || layout_.object_size == 0 ||
      offset >= direct_size_)
    return std::nullopt;
  return (*direct_ + offset).value;
}

void Datatypes::want(const Words::Value& handle, const Words::Value& object) {
  const auto found = object_of(handle, object);
  objects_.want(found, layout_.handle);
  objects_.want(found, layout_.size);
}

Words::Value Datatypes::size_of(const Words::Value& handle, const Words::Value& object) const {
  if (is_datatype(handle) && (*handle & kind_mask) == builtin)
    return (*handle >> 8) & 0xff;
  const auto found = object_of(handle, object);
  if (objects_.get(found, layout_.handle) != handle)
    return std::nullopt;
  return objects_.get(found, layout_.size);
}

} // namespace mqbridge::mpich
