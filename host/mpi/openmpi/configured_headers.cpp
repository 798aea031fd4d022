#include "host/mpi/openmpi/configured_headers.h"

#include "host/disk/output_file.h"

#include <array>
#include <string_view>

namespace mqbridge::openmpi {
namespace {

struct Header {
  std::string_view name;
  std::string_view text;
};

// What is not defined counts as 0, or as not there: most of configure's some 600 answers are that,
// or decide about code alone. Types of other projects are used by pointers only.
constexpr std::array configured = {
    Header{"opal_config.h", R"(#ifndef OPAL_CONFIG_H
#define OPAL_CONFIG_H
#include "opal_config_top.h"
#define SIZEOF_CHAR 1
#define SIZEOF_SHORT __SIZEOF_SHORT__
#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define SIZEOF_VOID_P __SIZEOF_POINTER__
#define HAVE_ARPA_INET_H 1
#define HAVE_NETINET_IN_H 1
#define HAVE_SYS_SOCKET_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_STDINT_H 1
#define HAVE_UNISTD_H 1
#define HAVE_LONG_LONG 1
#define HAVE_INTPTR_T 1
#define HAVE_UINTPTR_T 1
#define OPAL_STDC_HEADERS 1
#define OPAL_HAVE_ATTRIBUTE_ALIGNED 1
#define OPAL_HAVE_ATTRIBUTE_PACKED 1
#ifndef OPAL_ENABLE_FT_MPI
#define OPAL_ENABLE_FT_MPI 1 /* ignored before 5.0, where it is the default */
#endif
#define OMPI_WANT_PERUSE 0
#define OMPI_MPI_AINT_TYPE ptrdiff_t
#define OMPI_MPI_COUNT_TYPE long long
#define OMPI_MPI_OFFSET_TYPE long long
#define OMPI_FORTRAN_STATUS_SIZE (4 + __SIZEOF_SIZE_T__ / __SIZEOF_INT__)
#define ompi_fortran_integer_t int
#define ompi_fortran_logical_t int
#define OMPI_PROC_ENDPOINT_TAG_BML 0
#define OMPI_PROC_ENDPOINT_TAG_MAX 4 /* by the components that are built: the end of ompi_proc_t */
#ifndef OPAL_MAX_OBJECT_NAME
#define OPAL_MAX_OBJECT_NAME 64
#endif
#define OPAL_MAX_INFO_KEY 36
#define MCA_event_IMPLEMENTATION_HEADER "mqbridge_none.h"
#define MCA_hwloc_IMPLEMENTATION_HEADER "hwloc.h"
#define MCA_rte_IMPLEMENTATION_HEADER "mqbridge_rte.h"
#define MCA_threads_base_include_HEADER "opal/mca/threads/pthreads/threads_pthreads.h"
#define MCA_threads_mutex_base_include_HEADER "opal/mca/threads/pthreads/threads_pthreads_mutex.h"
#if defined(__SIZEOF_INT128__)
#define HAVE___INT128 1
#endif
#ifndef OPAL_HAVE_SYNC_BUILTIN_CSWAP_INT128
#if defined(__SIZEOF_INT128__) && defined(__x86_64__)
#define OPAL_HAVE_SYNC_BUILTIN_CSWAP_INT128 1
#endif
#endif
#define OPAL_ASSEMBLY_BUILTIN OPAL_BUILTIN_GCC
#define OPAL_USE_GCC_BUILTIN_ATOMICS 1
#include "opal_config_bottom.h"
#endif
)"},
    // Behind opal_config.h it leaves configure's answers alone.
    Header{"mpi.h", "#include \"ompi/include/mpi.h.in\"\n"},
    Header{"mqbridge_none.h", ""},
    Header{"mqbridge_rte.h", R"(#pragma once
#include "opal/dss/dss_types.h"
#include "opal/util/proc.h"
typedef opal_process_name_t ompi_process_name_t;
typedef opal_jobid_t ompi_jobid_t;
typedef opal_vpid_t ompi_vpid_t;
typedef int ompi_rte_cmp_bitmask_t;
#define OMPI_PROC_MY_NAME (&OPAL_PROC_MY_NAME)
#define OMPI_CAST_RTE_NAME(name) (name)
)"},
    Header{"hwloc.h", R"(#pragma once
typedef struct hwloc_topology *hwloc_topology_t;
typedef struct hwloc_obj *hwloc_obj_t;
typedef struct hwloc_bitmap_s *hwloc_bitmap_t, *hwloc_cpuset_t, *hwloc_nodeset_t;
typedef const struct hwloc_bitmap_s *hwloc_const_bitmap_t;
typedef int hwloc_obj_type_t;
)"},
    // Open MPI 5 includes PMIx's own headers, which are in its source.
    Header{"pmix_common.h", "#include \"pmix_common.h.in\"\n"},
    Header{"pmix_version.h", R"(#pragma once
#define PMIX_VERSION_MAJOR 5
#define PMIX_VERSION_MINOR 0
#define PMIX_VERSION_RELEASE 0
#define PMIX_NUMERIC_VERSION 0x00050000
)"},
};

} // namespace

Result<void> write_configured_headers(const std::filesystem::path& directory) {
  for (const auto& header : configured)
    if (auto done = write_file(directory / header.name, header.text); !done)
      return done;
  return {};
}

} // namespace mqbridge::openmpi
