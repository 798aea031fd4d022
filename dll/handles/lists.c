/* All handles of a kind: the handles that the readers of the process found, each once. */

#include "dll/handles/reader.h"

#include <stdlib.h>

typedef int (*find_function)(const mqs_process_info* process, void* state,
                             struct handle_list* list);

static int compare(const void* left, const void* right) {
  const mqs_taddr_t a = *(const mqs_taddr_t*)left;
  const mqs_taddr_t b = *(const mqs_taddr_t*)right;
  return (a > b) - (a < b);
}

void handles_list_sort(struct handle_list* list) {
  if (list->count > 0)
    qsort(list->handles, (size_t)list->count, sizeof *list->handles, compare);
}

static int first_not_below(const struct handle_list* sorted, mqs_taddr_t handle) {
  int from = 0;
  int end = sorted->count;
  while (from < end) {
    const int middle = from + (end - from) / 2;
    if (sorted->handles[middle] < handle)
      from = middle + 1;
    else
      end = middle;
  }
  return from;
}

int handles_list_count(const struct handle_list* sorted, mqs_taddr_t handle) {
  return first_not_below(sorted, handle + 1) - first_not_below(sorted, handle);
}

static void leave_each_once(struct handle_list* list) {
  if (list->count == 0)
    return;
  handles_list_sort(list);
  int kept = 1;
  for (int i = 1; i < list->count; ++i)
    if (list->handles[i] != list->handles[kept - 1])
      list->handles[kept++] = list->handles[i];
  list->count = kept;
}

/* The list is whole as soon as one reader says that it has all. */
static int find(const mqs_process_info* process, find_function (*function_of)(const struct reader*),
                mqs_taddr_t** handles, int* count) {
  struct handle_list list = {0};
  int code = MPIDBG_ERR_NOT_SUPPORTED;
  *handles = NULL;
  *count = 0;
  for (int i = 0; i < process->readers && code != MPIDBG_SUCCESS; ++i) {
    const find_function function = function_of(process->open[i].reader);
    if (function == NULL)
      continue;
    const int got = function(process, process->open[i].state, &list);
    if (got == MPIDBG_ERR_NO_MEM)
      return got;
    if (got != MPIDBG_ERR_NOT_SUPPORTED)
      code = got;
  }
  if (code == MPIDBG_ERR_NOT_SUPPORTED)
    return code;
  leave_each_once(&list);
  *handles = list.handles != NULL ? list.handles : handles_array(0, sizeof **handles);
  *count = list.count;
  return *handles != NULL ? code : MPIDBG_ERR_NO_MEM;
}

static find_function comms(const struct reader* reader) {
  return reader->comms;
}

static find_function requests(const struct reader* reader) {
  return reader->requests;
}

static find_function errhandlers(const struct reader* reader) {
  return reader->errhandlers;
}

#define LIST(function)                                                                             \
  do {                                                                                             \
    (void)image;                                                                                   \
    (void)image_info;                                                                              \
    (void)process;                                                                                 \
    return find(process_info, function, handles, count);                                           \
  } while (0)

int mpidbg_comm_list(MPIDBG_OF, mqs_taddr_t** handles, int* count) {
  LIST(comms);
}

int mpidbg_request_list(MPIDBG_OF, mqs_taddr_t** handles, int* count) {
  LIST(requests);
}

int mpidbg_errhandler_list(MPIDBG_OF, mqs_taddr_t** handles, int* count) {
  LIST(errhandlers);
}
