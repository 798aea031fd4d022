#pragma once

#include "host/mpi/mpich/mpich_layout.h"

namespace mqbridge::mpich {

/// Sizes of datatypes by their handles: basic ones state it in the handle (include/mpir_datatype.h,
/// MPIR_Datatype_get_basic_size), others in their objects, which are read together.
class Datatypes {
public:
  /// `layout` is not owned.
  Datatypes(const Layout::Datatype& layout, const ImageSet& images);

  /// The object of a request that names `handle`, and has `object` for its address.
  void want(const Words::Value& handle, const Words::Value& object);
  Result<void> read(const AddressSpace& space) { return objects_.read(space); }
  /// Bytes; nullopt: not known. The object must say that it is the handle's.
  Words::Value size_of(const Words::Value& handle, const Words::Value& object) const;

private:
  Words::Value object_of(const Words::Value& handle, const Words::Value& object) const;

  const Layout::Datatype& layout_;
  std::optional<TargetAddress> direct_; ///< the array of the first datatypes that a program makes
  std::size_t direct_size_ = 0;         ///< bytes
  Words objects_;
};

} // namespace mqbridge::mpich
