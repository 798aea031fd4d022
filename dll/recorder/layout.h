#ifndef MQBRIDGE_DLL_RECORDER_LAYOUT_H
#define MQBRIDGE_DLL_RECORDER_LAYOUT_H

/* What the recorder keeps in the memory of an MPI process: its communicators, their groups, and
 * their pending operations. Version 1.0. dll/README.md explains it.
 *
 * Both sides share this header: the recorder, compiled for the target, fills these structures in;
 * a reader, compiled for another machine, takes offsets and sizes from them, and the bytes from
 * the target. That works because the offsets are the same on every platform: every integer has a
 * fixed width and lies at a multiple of its width, padding is spelled out (i386 aligns 8-byte
 * integers to 4 bytes, m68k to 2), and an address takes 8 bytes whatever its width. Integers are in
 * the target's byte order. Nothing else is needed: no DWARF, one symbol, MQR_ROOT_SYMBOL.
 *
 * A debugger may stop the process at any instruction. Whatever instant that is, each list is
 * either as it was before an update or as it is after it:
 *   - a new node is complete, its `next` included, before the one store that links it in;
 *   - a node leaves by the one store that makes its predecessor skip it, and is reused only then;
 *   - the `actual` fields of an operation are complete before the one store of its new `status`;
 *   - a new name is complete before the one store of its address.
 * These stores are one machine word wide. The count of a list follows the store that links: while
 * an update is under way, `generation` is odd, and one count may differ by one from its list.
 *
 * How it may change. A minor version appends fields to structures, gives a meaning to reserved ones
 * and to further bits of `flags`, each such that who does not know it still reads the truth: until
 * then they are written as 0, and not looked at. The sizes in the root are those of the recorder's
 * structures, so that a reader takes a field that lies beyond them for 0: it reads older recorders,
 * too. Anything else is a new major version, another value of an enum among it. */

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The exported object that everything hangs on: a struct mqr_root. */
#define MQR_ROOT_SYMBOL "mqbridge_recorder"

enum {
  MQR_VERSION_MAJOR = 1, /* another: a reader must refuse */
  MQR_VERSION_MINOR = 0, /* any: a reader reads what it knows */

  /* Bytes of the structures in version 1.0: no recorder of this major version has fewer. */
  MQR_ROOT_SIZE_1_0 = 40,
  MQR_COMMUNICATOR_SIZE_1_0 = 112,
  MQR_OPERATION_SIZE_1_0 = 136,

  MQR_MAGIC_ROOT = 0x4d515252,         /* "MQRR", read as an integer */
  MQR_MAGIC_COMMUNICATOR = 0x4d515243, /* "MQRC" */
  MQR_MAGIC_OPERATION = 0x4d51524f,    /* "MQRO" */

  MQR_NAME_SIZE = 128, /* bytes of a communicator's name, terminator included */
  MQR_WORD_SIZE = 24,  /* bytes of the name of an MPI function or datatype, terminator included */
  MQR_MAX_GROUP = (1 << 24) - 1 /* ranks: a 1 in the wrong byte order is no size */
};

/* An address, zero-extended to 8 bytes. Its `word` alone is ever stored. */
struct mqr_slot {
#if UINTPTR_MAX > UINT32_MAX
  uintptr_t word;
#elif __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  uint32_t zero;
  uintptr_t word;
#else
  uintptr_t word;
  uint32_t zero;
#endif
};

struct mqr_list {
  struct mqr_slot first; /* 0: empty */
  uint32_t count;
  uint32_t reserved;
};

/* How every node of a list begins. */
struct mqr_node {
  uint32_t magic;
  uint32_t kind;        /* communicator: enum mqr_communicator_kind; operation: enum mqr_queue */
  struct mqr_slot next; /* 0: the last */
};

enum mqr_state { MQR_NOT_INITIALIZED, MQR_INITIALIZED, MQR_FINALIZED };

struct mqr_root {
  uint32_t magic;
  uint16_t version_major;
  uint16_t version_minor;
  uint16_t root_size; /* bytes of this structure and of the nodes, as the recorder has them */
  uint16_t communicator_size;
  uint16_t operation_size;
  uint16_t address_size; /* bytes of an address: 4 or 8 */
  uint32_t generation;   /* odd: an update is under way */
  uint32_t state;        /* enum mqr_state */
  struct mqr_list communicators;
};

enum mqr_communicator_kind { MQR_INTRA, MQR_INTER };

/* Numbered as mqs_op_class of the MQD interface. */
enum mqr_queue { MQR_SEND, MQR_RECEIVE, MQR_UNEXPECTED, MQR_QUEUES };

struct mqr_communicator {
  struct mqr_node node;
  uint64_t id;                  /* the same on each member; unlike all others of this process */
  struct mqr_slot name;         /* char[MQR_NAME_SIZE], terminated */
  struct mqr_slot group;        /* int32_t[size]: ranks in MPI_COMM_WORLD by local rank, or 0 */
  struct mqr_slot remote_group; /* int32_t[remote_size]: of MQR_INTER, or 0 */
  int32_t local_rank;
  int32_t size;
  int32_t remote_size; /* 0 unless MQR_INTER */
  uint32_t reserved;
  struct mqr_list queues[MQR_QUEUES]; /* in the order in which MPI would match */
};

enum mqr_status { MQR_PENDING, MQR_MATCHED, MQR_COMPLETE };
enum mqr_operation_flags { MQR_ANY_TAG = 1, MQR_SYSTEM_BUFFER = 2 };

/* Ranks of MQR_INTER communicators' peers are those of the remote group. */
enum { MQR_ANY_SOURCE = -1, MQR_PROC_NULL = -2, MQR_WORLD_RANK_UNKNOWN = -1 };

struct mqr_operation {
  struct mqr_node node;
  uint32_t status; /* enum mqr_status */
  uint32_t flags;  /* enum mqr_operation_flags */
  int32_t peer;    /* local rank, MQR_ANY_SOURCE or MQR_PROC_NULL */
  int32_t peer_world;
  int32_t tag;         /* meaningless with MQR_ANY_TAG */
  int32_t actual_peer; /* the actual fields: of sends, and of receives from MQR_MATCHED on */
  int32_t actual_peer_world;
  int32_t actual_tag;
  uint64_t length; /* bytes */
  uint64_t actual_length;
  struct mqr_slot buffer;
  struct mqr_slot request;      /* address of the MPI's own request, or 0 */
  uint64_t count;               /* elements of `datatype`; 0 with an empty datatype: unknown */
  char call[MQR_WORD_SIZE];     /* "MPI_Irecv"; empty: unknown */
  char datatype[MQR_WORD_SIZE]; /* "MPI_DOUBLE"; empty: unknown */
};

#define MQR_AT(structure, member, offset)                                                          \
  static_assert(offsetof(struct structure, member) == (offset), #structure "." #member)

static_assert(sizeof(struct mqr_slot) == 8, "an address takes 8 bytes");
static_assert(sizeof(struct mqr_list) == 16, "mqr_list");
MQR_AT(mqr_list, count, 8);
static_assert(sizeof(struct mqr_node) == 16, "mqr_node");
MQR_AT(mqr_node, kind, 4);
MQR_AT(mqr_node, next, 8);

static_assert(sizeof(struct mqr_root) == 40, "mqr_root");
MQR_AT(mqr_root, version_major, 4);
MQR_AT(mqr_root, version_minor, 6);
MQR_AT(mqr_root, root_size, 8);
MQR_AT(mqr_root, communicator_size, 10);
MQR_AT(mqr_root, operation_size, 12);
MQR_AT(mqr_root, address_size, 14);
MQR_AT(mqr_root, generation, 16);
MQR_AT(mqr_root, state, 20);
MQR_AT(mqr_root, communicators, 24);

static_assert(sizeof(struct mqr_communicator) == 112, "mqr_communicator");
MQR_AT(mqr_communicator, id, 16);
MQR_AT(mqr_communicator, name, 24);
MQR_AT(mqr_communicator, group, 32);
MQR_AT(mqr_communicator, remote_group, 40);
MQR_AT(mqr_communicator, local_rank, 48);
MQR_AT(mqr_communicator, size, 52);
MQR_AT(mqr_communicator, remote_size, 56);
MQR_AT(mqr_communicator, queues, 64);

static_assert(sizeof(struct mqr_operation) == 136, "mqr_operation");
MQR_AT(mqr_operation, status, 16);
MQR_AT(mqr_operation, flags, 20);
MQR_AT(mqr_operation, peer, 24);
MQR_AT(mqr_operation, peer_world, 28);
MQR_AT(mqr_operation, tag, 32);
MQR_AT(mqr_operation, actual_peer, 36);
MQR_AT(mqr_operation, actual_peer_world, 40);
MQR_AT(mqr_operation, actual_tag, 44);
MQR_AT(mqr_operation, length, 48);
MQR_AT(mqr_operation, actual_length, 56);
MQR_AT(mqr_operation, buffer, 64);
MQR_AT(mqr_operation, request, 72);
MQR_AT(mqr_operation, count, 80);
MQR_AT(mqr_operation, call, 88);
MQR_AT(mqr_operation, datatype, 112);

#undef MQR_AT

#ifdef __cplusplus
}
#endif

#endif
