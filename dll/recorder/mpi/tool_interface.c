#include "dll/recorder/mpi/tool_interface.h"

#include <limits.h>

struct mqr_tool mqr_tool;

static int is_usable;
static int readable; /* performance variables with a number below it */

static int find_all(const void* site) {
#define MQR_FIND(name)                                                                             \
  mqr_tool.name = (__typeof__(&PMPI_T_##name))mqr_find_function("PMPI_T_" #name, site);            \
  if (mqr_tool.name == NULL)                                                                       \
    return 0;
  MQR_TOOL_FUNCTIONS(MQR_FIND)
#undef MQR_FIND
  return 1;
}

#ifdef OPEN_MPI
/* If somebody has initialized MPI_T before MPI_Init, all components have registered variables, and
 * MPI_Init has unloaded most of the components: some variables lead to memory that is gone. MPI_T
 * is left alone then. The count comes from Open MPI's own function, which MPI_T calls, too. */
static void look(const void* site, int initialized) {
  typedef int count_function(int* count);
  static int was_open;
  int count = 0;
  if (!initialized) {
    was_open = mqr_tool.pvar_get_num(&count) == MPI_SUCCESS;
    return;
  }
  count_function* const get_count =
      (count_function*)mqr_find_function("mca_base_pvar_get_count", site);
  readable = get_count != NULL && get_count(&count) == 0 ? count : 0;
  is_usable = !was_open;
}

int mqr_tool_changes(void) {
  return 0;
}
#else
static void look(const void* site, int initialized) {
  (void)site;
  readable = INT_MAX;
  is_usable = initialized;
}

int mqr_tool_changes(void) {
  return 1;
}
#endif

void mqr_tool_look(const void* site, int initialized) {
  is_usable = 0;
  if (find_all(site))
    look(site, initialized);
}

int mqr_tool_open(void) {
  int level = MPI_THREAD_SINGLE;
  int provided = MPI_THREAD_SINGLE;
  return is_usable && mqr_mpi.Query_thread(&level) == MPI_SUCCESS &&
         mqr_tool.init_thread(level, &provided) == MPI_SUCCESS;
}

void mqr_tool_close(void) {
  mqr_tool.finalize();
}

int mqr_tool_may_read(int performance_variable) {
  return performance_variable < readable;
}
