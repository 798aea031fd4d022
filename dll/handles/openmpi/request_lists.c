/* Point-to-point requests lie in the blocks of the transports' free lists, and requests of
 * nonblocking collectives in those of libnbc. Nobody knows where others are, such as generalized
 * ones: a list of Open MPI's requests is never whole. */

#include "dll/handles/openmpi/objects.h"

struct free_list {
  mqs_taddr_t list;
  uint64_t item_size, alignment, allocated, per_block, most;
};

static int read_list(const mqs_process_info* process, const struct openmpi* openmpi,
                     struct free_list* list) {
  return openmpi_word(process, openmpi, list->list, FREE_LIST_ITEM_SIZE, &list->item_size) &&
         openmpi_word(process, openmpi, list->list, FREE_LIST_ALIGNMENT, &list->alignment) &&
         openmpi_word(process, openmpi, list->list, FREE_LIST_ALLOCATED, &list->allocated) &&
         openmpi_word(process, openmpi, list->list, FREE_LIST_PER_BLOCK, &list->per_block) &&
         openmpi_word(process, openmpi, list->list, FREE_LIST_MOST, &list->most) &&
         list->item_size > 0 && list->item_size < 1 << 20 && list->alignment < 1 << 20 &&
         list->allocated <= HANDLES_LISTED && list->per_block <= HANDLES_LISTED;
}

static mqs_taddr_t aligned(mqs_taddr_t value, uint64_t alignment) {
  return alignment > 1 ? (value + alignment - 1) / alignment * alignment : value;
}

/* The addresses of the blocks, the first one first. */
static int find_blocks(const mqs_process_info* process, const struct openmpi* openmpi,
                       const struct free_list* list, struct handle_list* blocks) {
  const mqs_taddr_t end =
      openmpi_at(openmpi, openmpi_at(openmpi, list->list, FREE_LIST_BLOCKS), LIST_SENTINEL);
  mqs_taddr_t block = end;
  if (end == 0)
    return MPIDBG_ERR_UNAVAILABLE;
  for (;;) {
    if (!openmpi_word(process, openmpi, block, LIST_ITEM_NEXT, &block))
      return MPIDBG_ERR_UNAVAILABLE;
    if (block == end)
      return MPIDBG_SUCCESS;
    if ((uint64_t)blocks->count == list->allocated)
      return MPIDBG_ERR_UNAVAILABLE; /* the list is a cycle, or damaged */
    const int code = handles_list_add(blocks, block);
    if (code != MPIDBG_SUCCESS)
      return code;
  }
}

typedef int (*add_function)(const mqs_process_info* process, const struct openmpi* openmpi,
                            mqs_taddr_t request, struct handle_list* list);

/* Adds the request at this place if it is in use. */
static int add_request(const mqs_process_info* process, const struct openmpi* openmpi,
                       mqs_taddr_t request, struct handle_list* list) {
  struct request_answer answer = {.more = {.handle = request}};
  const int code = openmpi_find_request(process, openmpi, &answer);
  const int is_handle = answer.more.kind != MPIDBG_REQUEST_UNKNOWN; /* MPI_Message is none */
  if (code != MPIDBG_SUCCESS || !is_handle)
    return MPIDBG_SUCCESS;
  return handles_list_add(list, request);
}

/* Adds the communicator that the request refers to. A request that is not persistent is only
 * inactive while it is being made: then nothing is known. */
static int add_held(const mqs_process_info* process, const struct openmpi* openmpi,
                    mqs_taddr_t request, struct handle_list* list) {
  enum { INVALID, INACTIVE };
  int state = INVALID;
  uint64_t persistent = 0;
  mqs_taddr_t comm = 0;
  if (!openmpi_is(process, openmpi, request, CLASS_PML_REQUEST) ||
      !openmpi_int(process, openmpi, request, REQUEST_STATE, &state) ||
      !openmpi_word(process, openmpi, request, REQUEST_PERSISTENT, &persistent) ||
      !openmpi_word(process, openmpi, request, PML_COMM, &comm) ||
      (state == INACTIVE && persistent == 0))
    return MPIDBG_ERR_UNAVAILABLE;
  return state == INVALID ? MPIDBG_SUCCESS : handles_list_add(list, comm);
}

/* All blocks have the same number of requests, except the first one, which has the rest. */
static int list_free_list(const mqs_process_info* process, const struct openmpi* openmpi,
                          mqs_taddr_t address, add_function add, struct handle_list* list) {
  struct free_list from = {.list = address};
  struct handle_list blocks = {0};
  const int header = handles_size(process, "opal_free_list_item_t");
  if (address == 0 || header < 0 || !read_list(process, openmpi, &from))
    return MPIDBG_ERR_UNAVAILABLE;
  int code = find_blocks(process, openmpi, &from, &blocks);
  const uint64_t others = blocks.count > 0 ? (uint64_t)(blocks.count - 1) * from.per_block : 0;
  /* If no more requests may be made, the last block may be smaller, too. */
  const int last_is_full = blocks.count == 1 || from.allocated != from.most;
  if (code == MPIDBG_SUCCESS && blocks.count > 0 && (others >= from.allocated || !last_is_full))
    code = MPIDBG_ERR_UNAVAILABLE;
  const uint64_t stride = aligned(from.item_size, from.alignment);
  for (int i = 0; i < blocks.count && code == MPIDBG_SUCCESS; ++i) {
    const mqs_taddr_t first = aligned(blocks.handles[i] + (mqs_taddr_t)header, from.alignment);
    const uint64_t count = i == 0 ? from.allocated - others : from.per_block;
    for (uint64_t j = 0; j < count && code == MPIDBG_SUCCESS; ++j)
      code = add(process, openmpi, first + j * stride, list);
  }
  if (blocks.handles != NULL)
    handles_host->mqs_free_fp(blocks.handles);
  return code;
}

int openmpi_requests(const mqs_process_info* process, void* state, struct handle_list* list) {
  const struct openmpi* const openmpi = state;
  const mqs_taddr_t lists[] = {openmpi->symbols[SENDS], openmpi->symbols[RECEIVES],
                               openmpi_at(openmpi, openmpi->symbols[LIBNBC], LIBNBC_REQUESTS)};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
    if (list_free_list(process, openmpi, lists[i], add_request, list) == MPIDBG_ERR_NO_MEM)
      return MPIDBG_ERR_NO_MEM;
  if (openmpi_list_table(process, openmpi, REQUESTS_OF_FORTRAN, list) == MPIDBG_ERR_NO_MEM)
    return MPIDBG_ERR_NO_MEM;
  return MPIDBG_ERR_UNAVAILABLE;
}

int openmpi_holders(const mqs_process_info* process, struct openmpi* openmpi, mqs_taddr_t comm,
                    int* count) {
  if (openmpi->held_code == HELD_NOT_READ) {
    openmpi->held_code =
        list_free_list(process, openmpi, openmpi->symbols[SENDS], add_held, &openmpi->held);
    if (openmpi->held_code == MPIDBG_SUCCESS)
      openmpi->held_code =
          list_free_list(process, openmpi, openmpi->symbols[RECEIVES], add_held, &openmpi->held);
    handles_list_sort(&openmpi->held);
  }
  *count = handles_list_count(&openmpi->held, comm);
  return openmpi->held_code == MPIDBG_SUCCESS;
}
