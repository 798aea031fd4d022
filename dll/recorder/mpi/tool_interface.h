#ifndef MQBRIDGE_DLL_RECORDER_MPI_TOOL_INTERFACE_H
#define MQBRIDGE_DLL_RECORDER_MPI_TOOL_INTERFACE_H

/* MPI_T as the recorder uses it: initialized once more than the program does it, so that neither
 * disturbs the other. */

#include "dll/recorder/mpi/library.h"

/* clang-format off */
#define MQR_TOOL_FUNCTIONS(F)                                                                      \
  F(init_thread) F(finalize) F(enum_get_info) F(enum_get_item)                                     \
  F(cvar_get_num) F(cvar_get_info) F(cvar_handle_alloc) F(cvar_handle_free) F(cvar_read)           \
  F(pvar_get_num) F(pvar_get_info) F(pvar_session_create) F(pvar_session_free)                     \
  F(pvar_handle_alloc) F(pvar_handle_free) F(pvar_read)                                            \
  F(category_get_num) F(category_get_info) F(category_get_cvars) F(category_get_pvars)             \
  F(category_get_categories) F(category_changed)
/* clang-format on */

struct mqr_tool {
#define MQR_MEMBER(name) __typeof__(&PMPI_T_##name) name;
  MQR_TOOL_FUNCTIONS(MQR_MEMBER)
#undef MQR_MEMBER
};
extern struct mqr_tool mqr_tool;

/* Looks the functions up, and remembers which performance variables may be read. Before MPI_Init,
 * and once more when it has returned. */
void mqr_tool_look(const void* site, int initialized);
/* Initializes MPI_T with the thread level that MPI_Init_thread provided: Open MPI takes the level
 * requested here for the provided one from then on. 0: there is no MPI_T, it refuses, or its use
 * could end the process. */
int mqr_tool_open(void);
void mqr_tool_close(void);

/* Whether it is worth while to list all again when MPI_T_category_changed says so. Open MPI has
 * registered everything by then: variables can only go, and to read one whose component has been
 * unloaded could end the process. */
int mqr_tool_changes(void);

/* Whether a handle of the performance variable can be had without harm. Open MPI registers those of
 * all its components for MPI_T, and some of components that are not in use end the process as soon
 * as they are looked at (mtl_psm2_...). Those that MPI_Init itself has registered are in use. */
int mqr_tool_may_read(int performance_variable);

#endif
