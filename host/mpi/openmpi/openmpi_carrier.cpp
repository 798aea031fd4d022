#include "host/mpi/openmpi/openmpi_carrier.h"

#include "host/disk/command_output.h"
#include "host/disk/output_file.h"
#include "host/mpi/openmpi/configured_headers.h"
#include "host/mpi/openmpi/openmpi_classes.h"

#include <array>
#include <chrono>
#include <fmt/format.h>
#include <iterator>
#include <span>

namespace mqbridge::openmpi {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::seconds compile_limit{120};
constexpr const char* source_name = "carrier.c";
constexpr const char* object_name = "carrier.so";

// Headers that declare the needed types.
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

// Headers of further classes whose sizes are compared, if this version has them.
constexpr std::array headers_compared = {
    "ompi/request/grequest.h", "ompi/message/message.h",       "ompi/win/win.h",
    "ompi/file/file.h",        "ompi/errhandler/errhandler.h", "ompi/info/info.h",
    "ompi/proc/proc.h",        "ompi/mca/coll/coll.h",
};

// Types of ob1_types() whose headers are installed, or are in another place in some versions.
struct PlacedType {
  std::string_view type;
  std::string_view header;
};
constexpr std::array public_types = {
    PlacedType{"ompi_wait_sync_t", "opal/threads/wait_sync.h"},
    PlacedType{"ompi_wait_sync_t", "opal/mca/threads/wait_sync.h"},
    PlacedType{"mca_btl_base_segment_t", "opal/mca/btl/btl.h"},
};

// Types of tool_types() that the headers above do not declare. The last headers are only in Open
// MPI's source, or include one that is only there.
constexpr std::array placed_tool_types = {
    PlacedType{"opal_object_t", "opal/class/opal_object.h"},
    PlacedType{"opal_class_t", "opal/class/opal_object.h"},
    PlacedType{"opal_value_array_t", "opal/class/opal_value_array.h"},
    PlacedType{"mca_base_var_t", "opal/mca/base/mca_base_var.h"},
    PlacedType{"mca_base_var_file_value_t", "opal/mca/base/mca_base_vari.h"},
    PlacedType{"mca_base_pvar_t", "opal/mca/base/mca_base_pvar.h"},
    PlacedType{"mca_base_var_group_t", "opal/mca/base/mca_base_var_group.h"},
    PlacedType{"mca_base_var_enum_t", "opal/mca/base/mca_base_var_enum.h"},
    PlacedType{"mca_base_var_enum_value_t", "opal/mca/base/mca_base_var_enum.h"},
    PlacedType{"mca_base_var_enum_flag_t", "opal/mca/base/mca_base_var_enum.h"},
    PlacedType{"mca_base_var_enum_value_flag_t", "opal/mca/base/mca_base_var_enum.h"},
    PlacedType{"opal_proc_t", "opal/util/proc.h"},
    PlacedType{"ompi_attribute_keyval_t", "ompi/attribute/attribute.h"},
    PlacedType{"ompi_coll_base_nbc_request_t", "ompi/mca/coll/libnbc/coll_libnbc.h"},
    PlacedType{"ompi_coll_libnbc_component_t", "ompi/mca/coll/libnbc/coll_libnbc.h"},
    PlacedType{"ompi_coll_libnbc_request_t", "ompi/mca/coll/libnbc/coll_libnbc.h"},
    PlacedType{"mca_pml_ob1_recv_request_t", "ompi/mca/pml/ob1/pml_ob1_recvreq.h"},
};

// Private headers of ob1: these are only in Open MPI's source.
constexpr std::array headers_of_ob1 = {
    "ompi/mca/pml/ob1/pml_ob1.h",          "ompi/mca/pml/ob1/pml_ob1_comm.h",
    "ompi/mca/pml/ob1/pml_ob1_hdr.h",      "ompi/mca/pml/ob1/pml_ob1_rdma.h",
    "ompi/mca/pml/ob1/pml_ob1_rdmafrag.h", "ompi/mca/pml/ob1/pml_ob1_recvfrag.h",
    "ompi/mca/pml/ob1/pml_ob1_recvreq.h",  "ompi/mca/pml/ob1/pml_ob1_sendreq.h",
};

// Where the headers are that an installation has in its include directory. Those that configure has
// made are there, too, if somebody ran it in the source itself.
constexpr std::array include_directories_of_source = {
    "opal/include",
    "ompi/include",
    "orte/include",
    "3rd-party/openpmix/include",
};

struct StandIn {
  std::string_view path, text;
};

// Headers that those of an installation include though distributions do not install them, and as
// much of them as is needed: Debian 12 lacks the first, Debian 13 all.
constexpr std::array stand_ins = {
    StandIn{"ompi/peruse/peruse.h", "#pragma once\ntypedef int peruse_event_h;\n"},
    StandIn{"opal/mca/threads/pthreads/threads_pthreads_threads.h",
            "#pragma once\n#include <pthread.h>\n"},
    StandIn{"opal/mca/threads/pthreads/threads_pthreads_tsd.h",
            "#pragma once\n#include <pthread.h>\ntypedef pthread_key_t opal_tsd_key_t;\n"},
    StandIn{"opal/mca/threads/pthreads/threads_pthreads_mutex.h", R"(#pragma once
#include <pthread.h>
typedef pthread_mutex_t opal_thread_internal_mutex_t;
typedef pthread_cond_t opal_thread_internal_cond_t;
int opal_thread_internal_mutex_init(), opal_thread_internal_mutex_destroy();
int opal_thread_internal_mutex_lock(), opal_thread_internal_mutex_trylock(), opal_thread_internal_mutex_unlock();
int opal_thread_internal_cond_init(), opal_thread_internal_cond_destroy();
int opal_thread_internal_cond_wait(), opal_thread_internal_cond_signal(), opal_thread_internal_cond_broadcast();
)"}};

} // namespace

std::string carrier_source(const CarrierParts& parts) {
  std::string source;
  auto out = std::back_inserter(source);
  for (const auto* header : headers_needed)
    fmt::format_to(out, "#include \"{}\"\n", header);
  for (const auto* header : headers_compared)
    fmt::format_to(out, "#if __has_include(\"{0}\")\n#include \"{0}\"\n#endif\n", header);
  // A compiler describes the types of the objects that it emits.
  constexpr std::string_view object = "mqbridge_carrier_";
  int number = 0;
  const auto emit_where_declared = [&](std::span<const PlacedType> types) {
    for (const auto& [type, header] : types)
      fmt::format_to(out, "#if __has_include(\"{0}\")\n#include \"{0}\"\n{1} {2}{3};\n#endif\n",
                     header, type, object, number++);
  };
  for (const auto type : needed_types())
    fmt::format_to(out, "{} {}{};\n", type, object, number++);
  emit_where_declared(public_types);
  if (parts.ob1) {
    for (const auto* header : headers_of_ob1)
      fmt::format_to(out, "#include \"{}\"\n", header);
    for (const auto type : ob1_types())
      if (owner_of(type) == TypesOf::ob1)
        fmt::format_to(out, "{} {}{};\n", type, object, number++);
  }
  if (parts.tools)
    emit_where_declared(placed_tool_types);
  return source;
}

namespace {

std::vector<std::string> compile_command(const std::vector<std::string>& compiler,
                                         const Headers& headers, const fs::path& directory) {
  auto command = compiler;
  for (const auto* option : {"-g", "-gz=none", "-fno-eliminate-unused-debug-types", "-std=gnu11",
                             "-w", "-shared", "-fPIC", "-nostdlib"})
    command.emplace_back(option);
  for (const auto& place : headers.search)
    command.push_back("-I" + place.string());
  if (headers.source)
    command.push_back("-I" + headers.source->string());
  if (headers.source_alone)
    for (const auto* place : include_directories_of_source)
      command.push_back("-I" + (*headers.source / place).string());
  command.push_back("-I" + directory.string()); // last: what is installed comes before its stand-in
  command.insert(command.end(),
                 {(directory / source_name).string(), "-o", (directory / object_name).string()});
  return command;
}

} // namespace

Result<void> compile_carrier(const std::vector<std::string>& compiler, const Headers& headers,
                             const fs::path& output) {
  auto directory = TemporaryDirectory::make();
  if (!directory)
    return forward(std::move(directory));
  for (const StandIn& header : stand_ins)
    if (auto done = write_file(directory->path() / header.path, header.text); !done)
      return done;
  if (headers.source_alone)
    if (auto done = write_configured_headers(directory->path()); !done)
      return done;
  const auto command = compile_command(compiler, headers, directory->path());
  Result<CommandOutput> ran;
  // The headers of tools may include ones that are not installed: then the carrier is made without
  // them.
  for (const bool tools : {true, false}) {
    const auto source = carrier_source({headers.source.has_value(), tools});
    if (auto done = write_file(directory->path() / source_name, source); !done)
      return done;
    ran = run_command(command, compile_limit);
    if (!ran)
      return forward(std::move(ran));
    if (ran->exit_status == 0)
      return copy_to_output(directory->path() / object_name, output);
  }
  return fail("types.compile",
              fmt::format("{} cannot compile the internal headers of Open MPI in {}:\n{}",
                          compiler.empty() ? "" : compiler[0], headers.root.string(), ran->text),
              "give the compiler of the target with --cc, and its headers with --include DIR");
}

} // namespace mqbridge::openmpi
