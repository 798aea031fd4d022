#pragma once

#include "host/mpi/mpich/mpich_layout.h"

namespace mqbridge::mpich {

/// The sizes of datatypes, by their handles. A basic datatype's handle holds its size
/// (include/mpir_datatype.h, MPIR_Datatype_get_basic_size); the objects of others are read
/// together.
class Datatypes {
public:
  /// `layout` is not owned.
  Datatypes(const Layout::Datatype& layout, const ImageSet& images);

  /// A request names `handle`, and `object` as the address of the datatype's object: read() will
  /// read it.
  void want(const Words::Value& handle, const Words::Value& object);
  Result<void> read(const AddressSpace& space) { return objects_.read(space); }
  /// Bytes; nullopt: not known. The object itself must name the handle.
  Words::Value size_of(const Words::Value& handle, const Words::Value& object) const;

private:
  Words::Value object_of(const Words::Value& handle, const Words::Value& object) const;

  const Layout::Datatype& layout_;
  std::optional<TargetAddress> direct_; ///< the array of the first datatypes that a program makes
  std::size_t direct_size_ = 0;         ///< bytes
  Words objects_;
};

} // namespace mqbridge::mpich
