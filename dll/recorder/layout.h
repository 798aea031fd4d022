#ifndef MQBRIDGE_DLL_RECORDER_LAYOUT_H
#define MQBRIDGE_DLL_RECORDER_LAYOUT_H

/* What the recorder keeps in the memory of an MPI process: its communicators, their groups,
 * their pending operations, what its threads are in, and what it has sent and received.
 * Version 1.1. dll/README.md explains it.
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
 * One update may change several things, one after the other, within one odd generation:
 *   - a send that begins, or a receive that ends, is counted before its list changes: one counter
 *     of one struct mqr_channel may be one ahead;
 *   - a send that returns is in the ring before it leaves its queue: the newest entry may be that
 *     of a send that is still pending, with the same peer and number;
 *   - a persistent operation that is started is in no queue for an instant: it comes last again;
 *   - with a send that is cancelled the numbers of later ones to its peer go back, one by one;
 *   - with the last operation of a communicator that was freed the communicator goes, too;
 *   - MQR_NAMED follows the name.
 * What a thread is in has a number of its own, `changes`.
 *
 * A debugger sees the stores of a stopped thread in program order, whatever the processor, and
 * those of different threads in the order of the recorder's lock (publish.h).
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
  MQR_VERSION_MINOR = 1, /* any: a reader reads what it knows */

  /* Bytes of the structures in version 1.0: no recorder of this major version has fewer. */
  MQR_ROOT_SIZE_1_0 = 40,
  MQR_COMMUNICATOR_SIZE_1_0 = 112,
  MQR_OPERATION_SIZE_1_0 = 136,

  MQR_MAGIC_ROOT = 0x4d515252,         /* "MQRR", read as an integer */
  MQR_MAGIC_COMMUNICATOR = 0x4d515243, /* "MQRC" */
  MQR_MAGIC_OPERATION = 0x4d51524f,    /* "MQRO" */
  MQR_MAGIC_THREAD = 0x4d515254,       /* "MQRT" */
  MQR_MAGIC_COLLECTIVE = 0x4d51524e,   /* "MQRN" */
  MQR_MAGIC_CHANNELS = 0x4d515248,     /* "MQRH" */

  MQR_NAME_SIZE = 128, /* bytes of a communicator's name, terminator included */
  MQR_WORD_SIZE = 24,  /* bytes of the name of an MPI function or datatype, terminator included */
  MQR_LIBRARY_SIZE = 256,       /* bytes of what the MPI says of its version, terminator included */
  MQR_RETURNED = 256,           /* sends in the ring of a communicator */
  MQR_MAX_CHANNELS = 1 << 16,   /* entries of a struct mqr_channels */
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

enum mqr_root_flags {
  MQR_OFF = 1, /* MPI_Pcontrol(0): operations that begin now are in no list */
  /* Some operations were in no list, and were not counted: recording was off, memory was short,
   * or a callback of the program made them.
   * Lists may lack some that are pending, and counters say nothing. */
  MQR_GAPS = 2,
};

/* MPI_Query_thread. */
enum mqr_thread_level {
  MQR_LEVEL_UNKNOWN,
  MQR_LEVEL_SINGLE,
  MQR_LEVEL_FUNNELED,
  MQR_LEVEL_SERIALIZED,
  MQR_LEVEL_MULTIPLE
};

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
  /* Since 1.1. */
  struct mqr_list threads; /* struct mqr_thread: those that have called MPI */
  uint32_t flags;          /* enum mqr_root_flags */
  uint32_t thread_level;   /* enum mqr_thread_level */
  /* char[MQR_LIBRARY_SIZE], terminated: MPI_Get_library_version of the MPI beside which the
   * recorder sees the program's calls. What has arrived, and what a receive has met, it does not
   * see then. 0: who fills these lists is the MPI itself, or plays one, and knows that, too. */
  struct mqr_slot library;
};

/* What a thread is in. One that is in no call of MPI has function 0. A stop while `changes` is odd
 * is in the middle of a change: then nothing but `thread` is to be believed. */
struct mqr_thread {
  struct mqr_node node; /* kind: 0 */
  int64_t thread;       /* the kernel's number of it: gettid(); 0: it has ended */
  uint32_t changes;
  uint32_t function;            /* functions.h; 0: none */
  struct mqr_slot communicator; /* address of the struct mqr_communicator that it is on; 0: none */
  struct mqr_slot site;         /* return address of the call: who called MPI */
  uint32_t has_sequence;        /* 0: `sequence` says nothing */
  uint32_t sequence; /* of a collective: how many were entered on its communicator before it */
  int32_t root;      /* of a collective: local rank (of the remote group in an intercommunicator),
                        MQR_NO_ROOT, or MQR_IS_ROOT */
  uint32_t wait;     /* operations with this number in `wait` are waited for; 0: none */
  uint32_t needed;   /* of them, and of `unseen`, how many must complete */
  uint32_t unseen;   /* how many more are waited for that are in no list */
};

/* MQR_IS_ROOT: of an intercommunicator, this process (MPI_ROOT). */
enum { MQR_NO_ROOT = -1, MQR_IS_ROOT = -3 };

enum mqr_communicator_kind { MQR_INTRA, MQR_INTER };

enum mqr_communicator_flags {
  MQR_ID_LOCAL = 1,   /* `id` is of this process alone: its members have not agreed on one */
  MQR_FREED = 2,      /* the program has freed it, and operations are pending still */
  MQR_NAMED = 4,      /* the program gave it its name */
  MQR_INCOMPLETE = 8, /* made while others used it unseen: what is counted lacks their messages */
};

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
  int32_t remote_size;                /* 0 unless MQR_INTER */
  uint32_t flags;                     /* enum mqr_communicator_flags */
  struct mqr_list queues[MQR_QUEUES]; /* in the order in which MPI would match */
  /* Since 1.1. */
  uint32_t collectives;           /* that were entered, nonblocking ones among them, modulo 2^32 */
  uint32_t returned;              /* sends that ever went into `returned_sends`, modulo 2^32 */
  struct mqr_slot returned_sends; /* struct mqr_returned[MQR_RETURNED], a ring; or 0 */
  struct mqr_slot channels;       /* struct mqr_channels; or 0 */
  struct mqr_list under_way;      /* struct mqr_collective: nonblocking, and not completed */
};

/* A send that has returned, or that the program knows to be complete: MPI has taken its message,
 * and nobody here knows whether it has arrived. The n-th one ever is at n % MQR_RETURNED. With an
 * odd generation the one after the last is being written. */
struct mqr_returned {
  int32_t peer; /* local rank; MQR_NO_PEER: it was forgotten (MPI_Pcontrol) */
  int32_t tag;
  uint64_t length;   /* bytes */
  uint32_t number;   /* struct mqr_operation */
  uint32_t function; /* functions.h */
  struct mqr_slot site;
};

/* How many messages went to a peer with a tag, and were received from it. Modulo 2^32. */
struct mqr_channel {
  int32_t peer;      /* local rank; MQR_NO_PEER: the entry is empty */
  int32_t tag;       /* MQR_OTHER_TAGS: all that have no entry of their own */
  uint32_t sent;     /* counted when the send begins */
  uint32_t received; /* counted when the program learns of it: its receive has returned, or its
                        request is complete, or MPI_Mprobe has taken the message */
};
enum { MQR_NO_PEER = -1, MQR_OTHER_TAGS = INT32_MIN };

/* In no order, with gaps. It is replaced as a whole when it grows. An entry is complete before the
 * one store of its peer; it stays for ever. */
struct mqr_channels {
  uint32_t magic;
  uint32_t capacity; /* entries: a power of two, at most MQR_MAX_CHANNELS */
  uint32_t count;    /* that are not empty */
  uint32_t reserved;
  /* struct mqr_channel entries[capacity] */
};

/* A nonblocking collective whose end the program does not know. */
struct mqr_collective {
  struct mqr_node node; /* kind: 0 */
  uint32_t function;    /* functions.h */
  uint32_t sequence;    /* how many were entered on its communicator before it */
  int32_t root;         /* struct mqr_thread */
  uint32_t wait;        /* struct mqr_operation */
  struct mqr_slot request;
  struct mqr_slot site;
};

enum mqr_status { MQR_PENDING, MQR_MATCHED, MQR_COMPLETE };
/* The upper half of `flags` is the number of the function that posted it (functions.h), since 1.1.
 */
enum mqr_operation_flags {
  MQR_ANY_TAG = 1,
  MQR_SYSTEM_BUFFER = 2,
  /* Since 1.1. */
  MQR_INACTIVE = 4,      /* persistent, and not started; its status is MQR_COMPLETE */
  MQR_PROBE = 8,         /* MPI_Probe that waits, among the receives */
  MQR_MPROBE = 16,       /* MPI_Mprobe that waits, among the receives */
  MQR_BLOCKING = 32,     /* its thread is in the call: MPI_Send, MPI_Recv, MPI_Sendrecv, ... */
  MQR_SYNCHRONOUS = 64,  /* MPI_Ssend and its like */
  MQR_BUFFERED = 128,    /* MPI_Bsend and its like */
  MQR_READY = 256,       /* MPI_Rsend and its like */
  MQR_TAKEN = 512,       /* a message that MPI_Mprobe took: among the unexpected ones */
  MQR_PERSISTENT = 1024, /* made by MPI_Send_init or its like */
  MQR_FUNCTION_SHIFT = 16,
};

/* Ranks of MQR_INTER communicators' peers are those of the remote group. */
enum { MQR_ANY_SOURCE = -1, MQR_PROC_NULL = -2, MQR_WORLD_RANK_UNKNOWN = -1 };

struct mqr_operation {
  struct mqr_node node;
  uint32_t status; /* enum mqr_status */
  uint32_t flags;  /* enum mqr_operation_flags, and a function << MQR_FUNCTION_SHIFT */
  int32_t peer;    /* local rank, MQR_ANY_SOURCE or MQR_PROC_NULL */
  int32_t peer_world;
  int32_t tag;         /* meaningless with MQR_ANY_TAG */
  int32_t actual_peer; /* the actual fields: of sends, and of receives from MQR_MATCHED on */
  int32_t actual_peer_world;
  int32_t actual_tag;
  uint64_t length; /* bytes */
  uint64_t actual_length;
  struct mqr_slot buffer;
  struct mqr_slot request;      /* the program's MPI_Request or MPI_Message, or 0 */
  uint64_t count;               /* elements of `datatype`; 0 with an empty datatype: unknown */
  char call[MQR_WORD_SIZE];     /* "MPI_Irecv"; empty: unknown */
  char datatype[MQR_WORD_SIZE]; /* "MPI_DOUBLE"; empty: unknown */
  /* Since 1.1. */
  struct mqr_slot site; /* return address of the call; 0: not known */
  uint32_t number;      /* of a send: how many this process had sent to that peer there before it,
                           modulo 2^32; of others: of its communicator, in the order of posting */
  uint32_t wait; /* of the call that waits for it: struct mqr_thread. 0, or a number that no thread
                    has: nobody does */
};

#define MQR_AT(structure, member, offset)                                                          \
  static_assert(offsetof(struct structure, member) == (offset), #structure "." #member)

static_assert(sizeof(struct mqr_slot) == 8, "an address takes 8 bytes");
static_assert(sizeof(struct mqr_list) == 16, "mqr_list");
MQR_AT(mqr_list, count, 8);
static_assert(sizeof(struct mqr_node) == 16, "mqr_node");
MQR_AT(mqr_node, kind, 4);
MQR_AT(mqr_node, next, 8);

static_assert(sizeof(struct mqr_root) == 72, "mqr_root");
MQR_AT(mqr_root, version_major, 4);
MQR_AT(mqr_root, version_minor, 6);
MQR_AT(mqr_root, root_size, 8);
MQR_AT(mqr_root, communicator_size, 10);
MQR_AT(mqr_root, operation_size, 12);
MQR_AT(mqr_root, address_size, 14);
MQR_AT(mqr_root, generation, 16);
MQR_AT(mqr_root, state, 20);
MQR_AT(mqr_root, communicators, 24);
MQR_AT(mqr_root, threads, 40);
MQR_AT(mqr_root, flags, 56);
MQR_AT(mqr_root, thread_level, 60);
MQR_AT(mqr_root, library, 64);

static_assert(sizeof(struct mqr_thread) == 72, "mqr_thread");
MQR_AT(mqr_thread, thread, 16);
MQR_AT(mqr_thread, changes, 24);
MQR_AT(mqr_thread, function, 28);
MQR_AT(mqr_thread, communicator, 32);
MQR_AT(mqr_thread, site, 40);
MQR_AT(mqr_thread, has_sequence, 48);
MQR_AT(mqr_thread, sequence, 52);
MQR_AT(mqr_thread, root, 56);
MQR_AT(mqr_thread, wait, 60);
MQR_AT(mqr_thread, needed, 64);
MQR_AT(mqr_thread, unseen, 68);

static_assert(sizeof(struct mqr_communicator) == 152, "mqr_communicator");
MQR_AT(mqr_communicator, id, 16);
MQR_AT(mqr_communicator, name, 24);
MQR_AT(mqr_communicator, group, 32);
MQR_AT(mqr_communicator, remote_group, 40);
MQR_AT(mqr_communicator, local_rank, 48);
MQR_AT(mqr_communicator, size, 52);
MQR_AT(mqr_communicator, remote_size, 56);
MQR_AT(mqr_communicator, flags, 60);
MQR_AT(mqr_communicator, queues, 64);
MQR_AT(mqr_communicator, collectives, 112);
MQR_AT(mqr_communicator, returned, 116);
MQR_AT(mqr_communicator, returned_sends, 120);
MQR_AT(mqr_communicator, channels, 128);
MQR_AT(mqr_communicator, under_way, 136);

static_assert(sizeof(struct mqr_returned) == 32, "mqr_returned");
MQR_AT(mqr_returned, tag, 4);
MQR_AT(mqr_returned, length, 8);
MQR_AT(mqr_returned, number, 16);
MQR_AT(mqr_returned, function, 20);
MQR_AT(mqr_returned, site, 24);

static_assert(sizeof(struct mqr_channel) == 16, "mqr_channel");
static_assert(sizeof(struct mqr_channels) == 16, "mqr_channels");

static_assert(sizeof(struct mqr_collective) == 48, "mqr_collective");
MQR_AT(mqr_collective, function, 16);
MQR_AT(mqr_collective, sequence, 20);
MQR_AT(mqr_collective, root, 24);
MQR_AT(mqr_collective, wait, 28);
MQR_AT(mqr_collective, request, 32);
MQR_AT(mqr_collective, site, 40);

static_assert(sizeof(struct mqr_operation) == 152, "mqr_operation");
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
MQR_AT(mqr_operation, site, 136);
MQR_AT(mqr_operation, number, 144);
MQR_AT(mqr_operation, wait, 148);

#undef MQR_AT

#ifdef __cplusplus
}
#endif

#endif
