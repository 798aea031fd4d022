/* Merges the answers of two readers about the same handle. The first one's answer counts. If the
 * two contradict each other, the second describes an older object that had the same handle: nothing
 * is taken from it. */

#include "dll/handles/merge.h"

#include <string.h>

/* Members that one bit of `known` stands for: from the first to the last. */
struct members {
  uint32_t bit;
  size_t from, end;
};
#define MEMBERS(type, bit_of, first, last)                                                         \
  { bit_of, offsetof(type, first), offsetof(type, last) + sizeof(((type*)0)->last) }

static void merge(void* into, uint32_t known, const void* from, uint32_t theirs,
                  const struct members* members, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if ((theirs & ~known & members[i].bit) != 0)
      memcpy((char*)into + members[i].from, (const char*)from + members[i].from,
             members[i].end - members[i].from);
}

/* Whether both answers know a member, and differ in it. */
static int differ(const void* one, uint32_t known, const void* other, uint32_t theirs,
                  const struct members* members, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if ((known & theirs & members[i].bit) != 0 &&
        memcmp((const char*)one + members[i].from, (const char*)other + members[i].from,
               members[i].end - members[i].from) != 0)
      return 1;
  return 0;
}

#define DESCRIPTION(bit, first, last) MEMBERS(struct mpidbg_comm_description, bit, first, last)
enum { CONSTANT_COMM_MEMBERS = 1 }; /* the first ones: they never change */
static const struct members comm_members[] = {
    DESCRIPTION(MPIDBG_KNOWN_FORTRAN, fortran_handle, fortran_handle),
    DESCRIPTION(MPIDBG_KNOWN_ERRHANDLER, errhandler, errhandler),
    DESCRIPTION(MPIDBG_KNOWN_CONTEXT, context, context),
    DESCRIPTION(MPIDBG_KNOWN_NEIGHBORS, weighted, destination_weights),
};

#define INFO(bit, first, last) MEMBERS(struct mpidbg_comm_info_t, bit, first, last)
static const struct members info_members[] = {
    INFO(MPIDBG_KNOWN_TOPOLOGY, comm_cart_num_dims, comm_graph_edges),
    INFO(MPIDBG_KNOWN_ATTRIBUTES, comm_num_attrs, comm_attrs),
};

enum {
  TOPOLOGY_FLAGS = MPIDBG_COMM_INFO_CARTESIAN | MPIDBG_COMM_INFO_GRAPH | MPIDBG_COMM_INFO_DIST_GRAPH
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Compares the members that never change while a communicator lives. */
static int are_different_comms(const struct comm_answer* one, const struct comm_answer* other) {
  enum { constant = MPIDBG_COMM_INFO_PREDEFINED | MPIDBG_COMM_INFO_INTERCOMM };
  const struct mpidbg_comm_info_t* const a = &one->info;
  const struct mpidbg_comm_info_t* const b = &other->info;
  return ((a->comm_bitflags ^ b->comm_bitflags) & constant) != 0 ||
         (a->comm_size >= 0 && b->comm_size >= 0 && a->comm_size != b->comm_size) ||
         (a->comm_rank >= 0 && b->comm_rank >= 0 && a->comm_rank != b->comm_rank) ||
         differ(&one->more, one->more.known, &other->more, other->more.known, comm_members,
                CONSTANT_COMM_MEMBERS);
}

void handles_merge_comm(struct comm_answer* answer, const struct comm_answer* other) {
  if (are_different_comms(answer, other))
    return;
  const uint32_t known = answer->more.known;
  const uint32_t theirs = other->more.known;
  merge(&answer->more, known, &other->more, theirs, comm_members, COUNT(comm_members));
  struct mpidbg_comm_info_t* const info = &answer->info;
  merge(info, known, &other->info, theirs, info_members, COUNT(info_members));
  if ((theirs & ~known & MPIDBG_KNOWN_TOPOLOGY) != 0)
    info->comm_bitflags |= other->info.comm_bitflags & TOPOLOGY_FLAGS;
  if ((theirs & ~known & MPIDBG_KNOWN_REORDERED) != 0)
    info->comm_bitflags |= other->info.comm_bitflags & MPIDBG_COMM_INFO_TOPO_REORDERED;
  answer->more.known |= theirs;
  info->comm_bitflags |= other->info.comm_bitflags & MPIDBG_COMM_INFO_FREED_HANDLE;
  if (info->comm_name[0] == '\0')
    memcpy(info->comm_name, other->info.comm_name, sizeof info->comm_name);
  if (info->comm_local_procs == NULL && info->comm_size == other->info.comm_size) {
    info->comm_num_local_procs = other->info.comm_num_local_procs;
    info->comm_local_procs = other->info.comm_local_procs;
  }
  if (info->comm_remote_procs == NULL &&
      info->comm_num_remote_procs == other->info.comm_num_remote_procs)
    info->comm_remote_procs = other->info.comm_remote_procs;
  if (info->comm_pending_requests == NULL) {
    info->comm_num_pending_requests = other->info.comm_num_pending_requests;
    info->comm_pending_requests = other->info.comm_pending_requests;
  }
}

#define REQUEST(bit, first, last) MEMBERS(struct mpidbg_request_description, bit, first, last)
enum { ASKED_MEMBERS = 7 }; /* the first ones: the arguments of a call never change */
static const struct members request_members[] = {
    REQUEST(MPIDBG_KNOWN_FORTRAN, fortran_handle, fortran_handle),
    REQUEST(MPIDBG_KNOWN_PERSISTENT, persistent, persistent),
    REQUEST(MPIDBG_KNOWN_COMM, comm, comm),
    REQUEST(MPIDBG_KNOWN_PEER, peer, peer),
    REQUEST(MPIDBG_KNOWN_TAG, tag, tag),
    REQUEST(MPIDBG_KNOWN_COUNT, count, count),
    REQUEST(MPIDBG_KNOWN_BUFFER, buffer, buffer),
    REQUEST(MPIDBG_KNOWN_BYTES, bytes, bytes),
    REQUEST(MPIDBG_KNOWN_ACTUAL, actual_source, actual_tag),
    REQUEST(MPIDBG_KNOWN_ACTUAL_BYTES, actual_bytes, actual_bytes),
    REQUEST(MPIDBG_KNOWN_ERROR, error, error),
    REQUEST(MPIDBG_KNOWN_CANCELLED, cancelled, cancelled),
    REQUEST(MPIDBG_KNOWN_SITE, site, site),
};

/* Whether `kind` is a more exact word for `other`: an MPI may make its I/O of generalized requests,
 * and its MPI_Comm_idup of a collective operation. */
static int is_kind_of(int32_t kind, int32_t other) {
  return other == MPIDBG_REQUEST_UNKNOWN ||
         (kind == MPIDBG_REQUEST_IO && other == MPIDBG_REQUEST_GENERALIZED) ||
         (kind == MPIDBG_REQUEST_COMM && other == MPIDBG_REQUEST_COLLECTIVE);
}

/* In an MPI's memory a receive from MPI_ANY_SOURCE may hold the source and tag of its message in
 * the place of the program's arguments. */
static void take_wildcards(struct mpidbg_request_description* more,
                           const struct mpidbg_request_description* other) {
  const uint32_t both = more->known & other->known;
  if ((both & MPIDBG_KNOWN_PEER) != 0 && other->peer == MPIDBG_ANY_SOURCE)
    more->peer = MPIDBG_ANY_SOURCE;
  if ((both & MPIDBG_KNOWN_TAG) != 0 && other->tag == MPIDBG_ANY_TAG)
    more->tag = MPIDBG_ANY_TAG;
}

static int are_different_requests(const struct mpidbg_request_description* one,
                                  const struct mpidbg_request_description* other) {
  return (one->kind != other->kind && !is_kind_of(one->kind, other->kind) &&
          !is_kind_of(other->kind, one->kind)) ||
         differ(one, one->known, other, other->known, request_members, ASKED_MEMBERS);
}

void handles_merge_request(struct request_answer* answer, const struct request_answer* other) {
  struct mpidbg_request_description* const more = &answer->more;
  struct mpidbg_request_description asked = *more;
  take_wildcards(&asked, &other->more);
  if (are_different_requests(&asked, &other->more))
    return;
  *more = asked;
  merge(more, more->known, &other->more, other->more.known, request_members,
        COUNT(request_members));
  more->known |= other->more.known;
  if (is_kind_of(other->more.kind, more->kind))
    more->kind = other->more.kind;
  if (more->state == MPIDBG_STATE_UNKNOWN)
    more->state = other->more.state;
  if (more->call[0] == '\0')
    memcpy(more->call, other->more.call, sizeof more->call);
  if (more->datatype[0] == '\0')
    memcpy(more->datatype, other->more.datatype, sizeof more->datatype);
}

static int are_different_errhandlers(const struct mpidbg_errhandler_info_t* one,
                                     const struct mpidbg_errhandler_info_t* other) {
  enum {
    any_kind = MPIDBG_ERRH_INFO_COMMUNICATOR | MPIDBG_ERRH_INFO_FILE | MPIDBG_ERRH_INFO_WINDOW
  };
  const int kinds = one->eh_bitflags & any_kind;
  const int other_kinds = other->eh_bitflags & any_kind;
  return ((one->eh_bitflags ^ other->eh_bitflags) & MPIDBG_ERRH_INFO_PREDEFINED) != 0 ||
         (kinds != 0 && other_kinds != 0 && kinds != other_kinds) ||
         (one->eh_callback_func != 0 && other->eh_callback_func != 0 &&
          one->eh_callback_func != other->eh_callback_func);
}

void handles_merge_errhandler(struct mpidbg_errhandler_info_t* info,
                              const struct mpidbg_errhandler_info_t* other) {
  if (are_different_errhandlers(info, other))
    return;
  if (info->eh_name[0] == '\0')
    memcpy(info->eh_name, other->eh_name, sizeof info->eh_name);
  if ((other->eh_bitflags & MPIDBG_ERRH_INFO_FREED_NOT_KNOWN) == 0)
    info->eh_bitflags &= ~(unsigned)MPIDBG_ERRH_INFO_FREED_NOT_KNOWN;
  info->eh_bitflags |= other->eh_bitflags & MPIDBG_ERRH_INFO_FREED_HANDLE;
  if (info->eh_callback_func == 0)
    info->eh_callback_func = other->eh_callback_func;
  if (info->eh_handles == NULL) {
    info->eh_refcount = other->eh_refcount;
    info->eh_handles = other->eh_handles;
  }
}

int handles_combined(int code, int other) {
  if (code == MPIDBG_SUCCESS || other == MPIDBG_SUCCESS)
    return MPIDBG_SUCCESS;
  static const int from_worst[] = {MPIDBG_ERR_NO_MEM, MPIDBG_ERR_UNAVAILABLE, MPIDBG_ERR_NOT_FOUND,
                                   MPIDBG_ERR_OUT_OF_RANGE};
  for (size_t i = 0; i < COUNT(from_worst); ++i)
    if (code == from_worst[i] || other == from_worst[i])
      return from_worst[i];
  return MPIDBG_ERR_NOT_SUPPORTED;
}
