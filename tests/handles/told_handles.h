#pragma once

#include "dll/mpidbg_interface.h"
#include "host/process/address_space.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mqbridge {

/// What is known of handles, in the words of tests/inferiors/handles.c: by kind and handle
/// ("comm 0x1234") the values of each key.
using Facts = std::map<std::string, std::multiset<std::string>>;
using HandleFacts = std::map<std::string, Facts>;

/// What the program wrote.
HandleFacts read_facts(const std::string& file);

/// libmqbridge-handles.so in this process, over the memory of another one, whose debugger this is.
/// One at a time.
class ToldHandles {
public:
  /// `dll` is loaded, and stays.
  ToldHandles(const std::string& dll, const AddressSpace& space);
  ~ToldHandles();
  ToldHandles(const ToldHandles&) = delete;
  ToldHandles& operator=(const ToldHandles&) = delete;

  /// mpidbg_return_codes_t of the two initializations.
  int image_code = -1, process_code = -1;

  /// What all functions say of a handle: keys that are not known are not there. "error CODE", with
  /// nothing beside it, where a query failed.
  Facts tell(const std::string& kind, std::uint64_t handle);
  /// The handle that a Fortran one stands for; nullopt: an error.
  std::optional<std::uint64_t> from_fortran(const std::string& kind, std::uint64_t fortran);
  struct List {
    int code = -1;
    std::set<std::uint64_t> handles;
  };
  List list(const std::string& kind);
  /// The name maps: "MPI_COMM_WORLD".
  std::map<std::string, std::uint64_t> names();

  AddressSpace space;
  mqs_image_info* image_info = nullptr;
  mqs_process_info* process_info = nullptr;

private:
  template <class Function>
  Function* find(const char* name) const;
  Facts tell_comm(std::uint64_t handle);
  Facts tell_request(std::uint64_t handle);
  Facts tell_errhandler(std::uint64_t handle);
  Facts tell_status(std::uint64_t handle);

  void* dll_;
};

} // namespace mqbridge
