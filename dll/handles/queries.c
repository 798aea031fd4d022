/* What a handle is: asks all readers of the process, and merges their answers. */

#include "dll/handles/merge.h"

#include <string.h>

#define UNUSED_OF                                                                                  \
  (void)image;                                                                                     \
  (void)image_info;                                                                                \
  (void)process

/* The readers that have the function. */
#define EACH_READER(info, index, function)                                                         \
  for (int index = 0; index < (info)->readers; ++index)                                            \
    if ((info)->open[index].reader->function != NULL)

/* Copies an answer to the host's memory. */
static int hand_out(int code, const void* what, size_t size, void** out) {
  if (code != MPIDBG_SUCCESS)
    return code;
  *out = handles_allocate(size);
  if (*out == NULL)
    return MPIDBG_ERR_NO_MEM;
  memcpy(*out, what, size);
  return MPIDBG_SUCCESS;
}

static int ask_comm(mqs_process_info* info, mqs_taddr_t handle, struct comm_answer* answer) {
  int code = MPIDBG_ERR_NOT_SUPPORTED;
  EACH_READER(info, i, comm) {
    struct comm_answer one = {.info = {.comm_c_handle = handle, .comm_rank = -1},
                              .more = {.size = sizeof one.more, .handle = handle}};
    const int got = info->open[i].reader->comm(info, info->open[i].state, &one);
    if (got == MPIDBG_SUCCESS && code == MPIDBG_SUCCESS)
      handles_merge_comm(answer, &one);
    else if (got == MPIDBG_SUCCESS)
      *answer = one;
    code = handles_combined(code, got);
  }
  return code;
}

int mpidbg_comm_query(MPIDBG_OF, mqs_taddr_t comm, struct mpidbg_comm_info_t** info) {
  UNUSED_OF;
  struct comm_answer answer = {0};
  const int code = ask_comm(process_info, comm, &answer);
  const int known = (answer.more.known & MPIDBG_KNOWN_FORTRAN) != 0;
  answer.info.comm_fortran_handle = known ? answer.more.fortran_handle : MPIDBG_ERR_UNAVAILABLE;
  return hand_out(code, &answer.info, sizeof answer.info, (void**)info);
}

int mpidbg_comm_describe(MPIDBG_OF, mqs_taddr_t comm,
                         struct mpidbg_comm_description** description) {
  UNUSED_OF;
  struct comm_answer answer = {0};
  const int code = ask_comm(process_info, comm, &answer);
  return hand_out(code, &answer.more, sizeof answer.more, (void**)description);
}

static int ask_request(mqs_process_info* info, mqs_taddr_t handle, struct request_answer* answer) {
  int code = MPIDBG_ERR_NOT_SUPPORTED;
  EACH_READER(info, i, request) {
    struct request_answer one = {.more = {.size = sizeof one.more, .handle = handle}};
    const int got = info->open[i].reader->request(info, info->open[i].state, &one);
    if (got == MPIDBG_SUCCESS && code == MPIDBG_SUCCESS)
      handles_merge_request(answer, &one);
    else if (got == MPIDBG_SUCCESS)
      *answer = one;
    code = handles_combined(code, got);
  }
  return code;
}

int mpidbg_request_query(MPIDBG_OF, mqs_taddr_t request, struct mpidbg_request_info_t** info) {
  UNUSED_OF;
  struct request_answer answer = {0};
  const int code = ask_request(process_info, request, &answer);
  const int known = (answer.more.known & MPIDBG_KNOWN_FORTRAN) != 0;
  const struct mpidbg_request_info_t told = {
      answer.flags, request, known ? answer.more.fortran_handle : MPIDBG_ERR_UNAVAILABLE};
  return hand_out(code, &told, sizeof told, (void**)info);
}

int mpidbg_request_describe(MPIDBG_OF, mqs_taddr_t request,
                            struct mpidbg_request_description** description) {
  UNUSED_OF;
  struct request_answer answer = {0};
  const int code = ask_request(process_info, request, &answer);
  return hand_out(code, &answer.more, sizeof answer.more, (void**)description);
}

/* A status is memory of the program: a reader that knows its form knows all of it. */
static int ask_status(mqs_process_info* info, mqs_taddr_t address, struct status_answer* answer) {
  int code = MPIDBG_ERR_NOT_SUPPORTED;
  EACH_READER(info, i, status) {
    struct status_answer one = {.more = {.size = sizeof one.more}};
    const int got = info->open[i].reader->status(info, info->open[i].state, address, &one);
    if (got == MPIDBG_SUCCESS) {
      *answer = one;
      return got;
    }
    code = handles_combined(code, got);
  }
  return code;
}

int mpidbg_status_query(MPIDBG_OF, mqs_taddr_t status, struct mpidbg_status_info_t** info) {
  UNUSED_OF;
  struct status_answer answer = {0};
  const int code = ask_status(process_info, status, &answer);
  const struct mpidbg_status_info_t told = {answer.flags};
  return hand_out(code, &told, sizeof told, (void**)info);
}

int mpidbg_status_describe(MPIDBG_OF, mqs_taddr_t status,
                           struct mpidbg_status_description** description) {
  UNUSED_OF;
  struct status_answer answer = {0};
  const int code = ask_status(process_info, status, &answer);
  return hand_out(code, &answer.more, sizeof answer.more, (void**)description);
}

int mpidbg_errhandler_query(MPIDBG_OF, mqs_taddr_t errhandler,
                            struct mpidbg_errhandler_info_t** info) {
  UNUSED_OF;
  int code = MPIDBG_ERR_NOT_SUPPORTED;
  struct mpidbg_errhandler_info_t answer = {0};
  EACH_READER(process_info, i, errhandler) {
    struct mpidbg_errhandler_info_t one = {.eh_c_handle = errhandler,
                                           .eh_fortran_handle = MPIDBG_ERR_UNAVAILABLE};
    const int got =
        process_info->open[i].reader->errhandler(process_info, process_info->open[i].state, &one);
    if (got == MPIDBG_SUCCESS && code == MPIDBG_SUCCESS)
      handles_merge_errhandler(&answer, &one);
    else if (got == MPIDBG_SUCCESS)
      answer = one;
    code = handles_combined(code, got);
  }
  return hand_out(code, &answer, sizeof answer, (void**)info);
}

/* From Fortran to C: the answer of the first reader that knows. */
#define TRANSLATE(function, from)                                                                  \
  do {                                                                                             \
    UNUSED_OF;                                                                                     \
    int code = MPIDBG_ERR_NOT_SUPPORTED;                                                           \
    EACH_READER(process_info, i, function) {                                                       \
      const int got = process_info->open[i].reader->function(                                      \
          process_info, process_info->open[i].state, from, handle);                                \
      if (got == MPIDBG_SUCCESS)                                                                   \
        return got;                                                                                \
      code = handles_combined(code, got);                                                          \
    }                                                                                              \
    return code;                                                                                   \
  } while (0)

int mpidbg_comm_f2c(MPIDBG_OF, mqs_taddr_t fortran, mqs_taddr_t* handle) {
  TRANSLATE(comm_f2c, (int32_t)(uint32_t)fortran);
}

int mpidbg_errhandler_f2c(MPIDBG_OF, mqs_taddr_t fortran, mqs_taddr_t* handle) {
  TRANSLATE(errhandler_f2c, (int32_t)(uint32_t)fortran);
}

int mpidbg_request_f2c(MPIDBG_OF, mqs_taddr_t fortran, mqs_taddr_t* handle) {
  TRANSLATE(request_f2c, (int32_t)(uint32_t)fortran);
}

int mpidbg_status_f2c(MPIDBG_OF, mqs_taddr_t fortran, mqs_taddr_t* handle) {
  TRANSLATE(status_f2c, fortran);
}
