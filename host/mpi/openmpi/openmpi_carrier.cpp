#include "host/mpi/openmpi/openmpi_carrier.h"

#include "host/disk/output_file.h"
#include "host/disk/run_command.h"
#include "host/mpi/openmpi/openmpi_classes.h"

#include <array>
#include <chrono>
#include <fmt/format.h>
#include <iterator>

namespace mqbridge::openmpi {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::seconds compile_limit{120};

// What declares the needed types.
constexpr std::array headers_needed = {
    "ompi_config.h",
    "opal/class/opal_list.h",
    "opal/class/opal_free_list.h",
    "opal/class/opal_hash_table.h",
    "opal/class/opal_pointer_array.h",
    "ompi/communicator/communicator.h",
    "ompi/datatype/ompi_datatype.h",
    "ompi/group/group.h",
    "ompi/request/request.h",
    "ompi/mca/topo/topo.h",
    "ompi/mca/pml/pml.h",
    "ompi/mca/pml/base/pml_base_request.h",
    "ompi/mca/pml/base/pml_base_sendreq.h",
    "ompi/mca/pml/base/pml_base_recvreq.h",
};

// More classes to compare sizes of, where this version has them.
constexpr std::array headers_compared = {
    "ompi/request/grequest.h", "ompi/message/message.h",       "ompi/win/win.h",
    "ompi/file/file.h",        "ompi/errhandler/errhandler.h", "ompi/info/info.h",
    "ompi/proc/proc.h",        "ompi/mca/coll/coll.h",
};

// Types of ob1_types() whose headers are installed, or are in another place in some versions.
struct PublicType {
  std::string_view type;
  std::string_view header;
};
constexpr std::array public_types = {
    PublicType{"ompi_wait_sync_t", "opal/threads/wait_sync.h"},
    PublicType{"ompi_wait_sync_t", "opal/mca/threads/wait_sync.h"},
    PublicType{"mca_btl_base_segment_t", "opal/mca/btl/btl.h"},
};

// Private headers of ob1: these are only in Open MPI's source.
constexpr std::array headers_of_ob1 = {
    "ompi/mca/pml/ob1/pml_ob1.h",          "ompi/mca/pml/ob1/pml_ob1_comm.h",
    "ompi/mca/pml/ob1/pml_ob1_hdr.h",      "ompi/mca/pml/ob1/pml_ob1_rdma.h",
    "ompi/mca/pml/ob1/pml_ob1_rdmafrag.h", "ompi/mca/pml/ob1/pml_ob1_recvfrag.h",
    "ompi/mca/pml/ob1/pml_ob1_recvreq.h",  "ompi/mca/pml/ob1/pml_ob1_sendreq.h",
};

// Open MPI's pml_base_sendreq.h includes this header even where it is not installed; it needs this
// much of it.
constexpr std::string_view peruse_stub = "#pragma once\ntypedef int peruse_event_h;\n";

} // namespace

std::string carrier_source(bool with_ob1) {
  std::string source;
  auto out = std::back_inserter(source);
  for (const auto* header : headers_needed)
    fmt::format_to(out, "#include \"{}\"\n", header);
  for (const auto* header : headers_compared)
    fmt::format_to(out, "#if __has_include(\"{0}\")\n#include \"{0}\"\n#endif\n", header);
  // A compiler describes the types of the objects that it emits.
  constexpr std::string_view object = "mqbridge_carrier_";
  int number = 0;
  for (const auto type : needed_types())
    fmt::format_to(out, "{} {}{};\n", type, object, number++);
  for (const auto& [type, header] : public_types)
    fmt::format_to(out, "#if __has_include(\"{0}\")\n#include \"{0}\"\n{1} {2}{3};\n#endif\n",
                   header, type, object, number++);
  if (!with_ob1)
    return source;
  for (const auto* header : headers_of_ob1)
    fmt::format_to(out, "#include \"{}\"\n", header);
  for (const auto type : ob1_types())
    if (owner_of(type) == TypesOf::ob1)
      fmt::format_to(out, "{} {}{};\n", type, object, number++);
  return source;
}

Result<void> compile_carrier(const std::vector<std::string>& compiler, const Headers& headers,
                             const fs::path& output) {
  auto directory = TemporaryDirectory::make();
  if (!directory)
    return forward(std::move(directory));
  const auto source = directory->path() / "carrier.c";
  const auto object = directory->path() / "carrier.so";
  const auto stub = directory->path() / "ompi/peruse/peruse.h";
  if (auto done = write_file(source, carrier_source(headers.source.has_value())); !done)
    return done;
  if (auto done = write_file(stub, peruse_stub); !done)
    return done;

  auto command = compiler;
  for (const auto* option : {"-g", "-gz=none", "-fno-eliminate-unused-debug-types", "-std=gnu11",
                             "-w", "-shared", "-fPIC", "-nostdlib"})
    command.emplace_back(option);
  for (const auto& place : headers.search)
    command.push_back("-I" + place.string());
  if (headers.source)
    command.push_back("-I" + headers.source->string());
  command.push_back("-I" + directory->path().string()); // last: a real peruse.h comes first
  command.insert(command.end(), {source.string(), "-o", object.string()});

  auto ran = run_command(command, compile_limit);
  if (!ran)
    return forward(std::move(ran));
  if (ran->exit_status != 0) {
    return fail("types.compile",
                fmt::format("{} cannot compile the internal headers of Open MPI in {}:\n{}",
                            compiler.empty() ? "" : compiler[0], headers.root.string(), ran->text),
                "give the compiler of the target with --cc, and its headers with --include DIR");
  }
  return copy_to_output(object, output);
}

} // namespace mqbridge::openmpi
