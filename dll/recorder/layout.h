#ifndef MQBRIDGE_DLL_RECORDER_LAYOUT_H
#define MQBRIDGE_DLL_RECORDER_LAYOUT_H

/* What the recorder keeps in the memory of an MPI process: its communicators, their groups,
 * their pending operations, what its threads are in, what it has sent and received, and its
 * handles. Version 1.3. dll/README.md explains it.
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
 *   - a persistent operation that is started moves to the end of its queue: for an instant it is in
 *     no queue;
 *   - when a send is cancelled, the numbers of later sends to its peer are lowered, one by one;
 *   - a communicator that was freed leaves its list after its last operation;
 *   - an error handler leaves its list after the last object that had it;
 *   - MQR_NAMED is set after the name.
 * A struct mqr_thread has a number of its own in the place of the generation: `changes`.
 *
 * A debugger sees the stores of a stopped thread in program order, whatever the processor, and
 * those of different threads in the order of the recorder's lock (publish.h).
 *
 * How it may change. A minor version may append fields to structures, and give a meaning to
 * reserved fields and to further bits of `flags`. A reader that does not know them still reads the
 * truth. Until they have a meaning, recorders write them as 0, and readers do not look at them. The
 * root states the sizes of the recorder's structures: a reader takes a field beyond them for 0, so
 * that it reads older recorders, too. Any other change, such as a new value of an enum, is a new
 * major version. */

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The exported object from which a reader finds everything: a struct mqr_root. */
#define MQR_ROOT_SYMBOL "mqbridge_recorder"
/* The version as an exported text. */
#define MQR_VERSION_SYMBOL "mqbridge_recorder_version"
#define MQR_VERSION_MAJOR 1 /* another: a reader must refuse */
#define MQR_VERSION_MINOR 3 /* any: a reader reads what it knows */
#define MQR_TEXT_OF_(value) #value
#define MQR_VERSION_OF_(major, minor) MQR_TEXT_OF_(major) "." MQR_TEXT_OF_(minor)
#define MQR_VERSION MQR_VERSION_OF_(MQR_VERSION_MAJOR, MQR_VERSION_MINOR)

enum {
  /* Bytes of the structures in version 1.0: no recorder of this major version has fewer. */
  MQR_ROOT_SIZE_1_0 = 40,
  MQR_COMMUNICATOR_SIZE_1_0 = 112,
  MQR_OPERATION_SIZE_1_0 = 136,
  /* In version 1.1. */
  MQR_COMMUNICATOR_SIZE_1_1 = 152,
  MQR_OPERATION_SIZE_1_1 = 152,

  MQR_MAGIC_ROOT = 0x4d515252,         /* "MQRR", read as an integer */
  MQR_MAGIC_COMMUNICATOR = 0x4d515243, /* "MQRC" */
  MQR_MAGIC_OPERATION = 0x4d51524f,    /* "MQRO" */
  MQR_MAGIC_THREAD = 0x4d515254,       /* "MQRT" */
  MQR_MAGIC_COLLECTIVE = 0x4d51524e,   /* "MQRN" */
  MQR_MAGIC_CHANNELS = 0x4d515248,     /* "MQRH" */
  MQR_MAGIC_HANDLES = 0x4d515241,      /* "MQRA" */
  MQR_MAGIC_ERRHANDLER = 0x4d515245,   /* "MQRE" */
  MQR_MAGIC_UNQUEUED = 0x4d515251,     /* "MQRQ" */
  MQR_MAGIC_TOPOLOGY = 0x4d515247,     /* "MQRG" */
  MQR_MAGIC_ATTRIBUTES = 0x4d51524b,   /* "MQRK" */
  MQR_MAGIC_JOINT = 0x4d51524a,        /* "MQRJ" */

  MQR_NAME_SIZE = 128, /* bytes of a communicator's name, terminator included */
  MQR_WORD_SIZE = 24,  /* bytes of the name of an MPI function or datatype, terminator included */
  MQR_LIBRARY_SIZE = 256,     /* bytes of what the MPI says of its version, terminator included */
  MQR_MARK_SIZE = 256,        /* bytes of what both sides of a joint know, terminator included */
  MQR_JOB_SIZE = 256,         /* bytes of the name of a job, terminator included */
  MQR_MAX_JOINTS = 4096,      /* joints that are kept; a later communicator has a local id */
  MQR_RETURNED = 256,         /* sends in the ring of a communicator */
  MQR_MAX_CHANNELS = 1 << 16, /* entries of a struct mqr_channels */
  MQR_MAX_ATTRIBUTES = 4096,  /* of a communicator */
  MQR_MAX_GROUP = (1 << 24) - 1, /* ranks: a 1 in the wrong byte order is no size */
  MQR_ID_OF_WORLD = 1            /* `id` of MPI_COMM_WORLD, beside an MPI */
};

/* An address, zero-extended to 8 bytes. Only its `word` is ever stored. */
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
  /* Some operations are in no list, or were not counted: recording was off, memory was short, a
   * list was full, or a callback of the program made them. Lists may lack pending operations, and
   * counters are meaningless. */
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
  /* char[MQR_LIBRARY_SIZE], terminated: MPI_Get_library_version, if the recorder sees the program's
   * calls beside an MPI. Then it does not see which messages have arrived, and which one a receive
   * has met. 0: the MPI itself fills in these lists, or a program that plays an MPI: it knows both.
   */
  struct mqr_slot library;
  /* Since 1.2. */
  /* struct mqr_variables (variables_layout.h): what MPI_T tells of the MPI. 0: it is not kept. */
  struct mqr_slot variables;
  struct mqr_slot handles; /* struct mqr_handles; 0: nothing is kept of them */
  struct mqr_list joints;  /* struct mqr_joint: where processes of other jobs were met */
  /* char[MQR_JOB_SIZE], terminated: what the launcher calls the job (the processes of this
   * MPI_COMM_WORLD), where no environment variable says so: "HOST:PORT/GROUP" of Hydra. 0: not
   * known. */
  struct mqr_slot job;
};

/* Where processes of different MPI_COMM_WORLDs met: a call that made a communicator of this process
 * and of processes beyond. The two sides exchange no message about it, so neither knows the other's
 * `id`. A reader that has both sides finds out which two nodes belong together, by their sizes, by
 * `mark` and by the time. A node stays when its communicator is freed, since other communicators
 * were made of that one. It never changes. */
struct mqr_joint {
  struct mqr_node node; /* kind: 0 */
  uint64_t id;    /* the same on all members of the local group with the same `base`; no other joint
                     of this process has it */
  uint64_t base;  /* `joint` of the communicator on which the call was made */
  uint64_t path;  /* its `path`; if `base` is 0 its `id`, on which all of this job agree */
  uint64_t began; /* when this process came to the call, and left it: CLOCK_REALTIME, in ns */
  uint64_t ended;
  uint32_t sequence; /* collectives that were entered on that communicator before it */
  uint32_t function; /* functions.h. MQR_Init: of a process that was spawned */
  int32_t size;      /* of the local group */
  int32_t remote_size;
  char mark[MQR_MARK_SIZE]; /* terminated; where both sides have one it is the same; or empty */
};

/* The call of MPI in which a thread is; function 0: none. While `changes` is odd a change is under
 * way: then only `thread` is to be believed. */
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
  uint32_t wait;     /* the call waits for operations with this number in `wait`; 0: for none */
  uint32_t needed;   /* how many of them, and of the unseen ones, must complete */
  uint32_t unseen;   /* how many more it waits for that are in no list */
};

/* MQR_IS_ROOT: of an intercommunicator, this process (MPI_ROOT). */
enum { MQR_NO_ROOT = -1, MQR_IS_ROOT = -3 };

enum mqr_communicator_kind { MQR_INTRA, MQR_INTER };

enum mqr_communicator_flags {
  MQR_ID_LOCAL = 1,   /* `id` is of this process alone: its members have not agreed on one */
  MQR_FREED = 2,      /* the program has freed it, and operations are pending still */
  MQR_NAMED = 4,      /* the program gave it its name */
  MQR_INCOMPLETE = 8, /* it was used before the recorder knew it: counters lack these messages */
  /* Since 1.3: of a window or a file. It counts the collectives on that object; the program has no
   * handle of it. */
  MQR_INTERNAL = 16,
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
  /* Since 1.2. */
  struct mqr_slot handle;     /* the program's MPI_Comm */
  int32_t fortran;            /* its Fortran INTEGER */
  uint32_t known;             /* enum mqr_communicator_known */
  struct mqr_slot errhandler; /* MPI_Errhandler: the `handle` of a struct mqr_errhandler */
  struct mqr_slot topology;   /* struct mqr_topology; 0: none */
  struct mqr_slot attributes; /* struct mqr_attributes; 0: none */
  uint64_t joint; /* `id` of the struct mqr_joint that it comes from: some of its members, or of a
                     parent's members, are of other jobs. 0: all are of this job, or the two sides
                     know nothing that tells it from others */
  uint64_t path;  /* which of that joint's communicators it is, the same on both sides; 0: the one
                     that the call made. They have MQR_ID_LOCAL; `id` is mixed of both numbers */
};

/* The fields of 1.2 that are known. Each field is complete before the one store of its bit. */
enum mqr_communicator_known {
  MQR_KNOWN_HANDLE = 1,
  MQR_KNOWN_FORTRAN = 2,
  MQR_KNOWN_ERRHANDLER = 4,
  MQR_KNOWN_TOPOLOGY = 8,
  MQR_KNOWN_ATTRIBUTES =
      16,              /* all of them; without this bit they are true, but some may be missing */
  MQR_PREDEFINED = 32, /* MPI_COMM_WORLD or MPI_COMM_SELF */
};

/* Each of these tables is immutable: it is replaced as a whole, by one store of its address. */

enum mqr_topology_kind { MQR_CARTESIAN = 1, MQR_GRAPH, MQR_DIST_GRAPH };
enum mqr_topology_flags {
  MQR_REORDER = 1,       /* the program has allowed MPI to reorder the ranks */
  MQR_KNOWN_REORDER = 2, /* MQR_REORDER says something */
  MQR_WEIGHTED = 4,      /* MQR_DIST_GRAPH */
};
struct mqr_topology {
  uint32_t magic;
  uint32_t kind; /* enum mqr_topology_kind */
  uint32_t flags;
  uint32_t first;  /* dimensions; nodes; sources */
  uint32_t second; /* 0; edges; destinations */
  uint32_t reserved;
  /* int32_t numbers[]. MQR_CARTESIAN: sizes[first], periods[first] (0 or 1). MQR_GRAPH, as of
   * MPI_Graph_get: index[first], edges[second]. MQR_DIST_GRAPH: sources[first],
   * destinations[second], and if MQR_WEIGHTED as many weights, in this order. */
};

/* The keyvals that every MPI has. */
enum mqr_predefined_keyval {
  MQR_OWN_KEYVAL, /* the program's */
  MQR_TAG_UB,
  MQR_HOST,
  MQR_IO,
  MQR_WTIME_IS_GLOBAL,
  MQR_UNIVERSE_SIZE,
  MQR_APPNUM,
  MQR_LASTUSEDCODE
};
struct mqr_attribute {
  int32_t keyval;
  uint32_t predefined; /* enum mqr_predefined_keyval */
  int64_t value;       /* MQR_OWN_KEYVAL: the address that the program has set; else an int */
};
/* If MPI asks the launcher for MPI_UNIVERSE_SIZE, it is here once the program has asked for it. */
struct mqr_attributes {
  uint32_t magic;
  uint32_t count; /* at most MQR_MAX_ATTRIBUTES */
  /* struct mqr_attribute entries[count] */
};

/* A send that has returned, or that the program knows to be complete: MPI has taken its message,
 * and nobody here knows whether it has arrived. The n-th send since the beginning is at n %
 * MQR_RETURNED. While the generation is odd, the entry after the last one is being written. */
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
  /* Since 1.2: its size is in struct mqr_handles. */
  uint32_t flags;  /* of enum mqr_operation_flags those since 1.2 */
  int32_t fortran; /* with MQR_HAS_FORTRAN: the Fortran INTEGER of its request */
};

/* Handles, and further facts about them. The constants are those of the program's MPI. */
enum mqr_handles_flags {
  MQR_FORTRAN_IS_C = 1,       /* the Fortran INTEGER of any handle is its C handle */
  MQR_UNSEEN_ATTRIBUTES = 2,  /* some may have been set or deleted unseen: from Fortran */
  MQR_UNSEEN_ERRHANDLERS = 4, /* the same of error handlers: made, or in use */
  MQR_UNSEEN_REQUESTS = 8,    /* of functions that are not recorded */
};
/* The form in which an MPI_Status keeps the number of bytes, and whether it was cancelled. */
enum mqr_status_kind {
  MQR_STATUS_UNKNOWN,
  MQR_STATUS_OPENMPI, /* a size_t at `status_bytes`, an int at `status_cancelled` */
  MQR_STATUS_MPICH    /* two ints, low and high, at `status_bytes`; bit 0 of the high one is whether
                         it was cancelled, the others are bits 32 and up of the bytes */
};
struct mqr_handles {
  uint32_t magic;
  uint32_t flags; /* enum mqr_handles_flags */
  uint16_t size;  /* bytes of this structure and of others, as the recorder has them */
  uint16_t errhandler_size;
  uint16_t unqueued_size;
  uint16_t collective_size;
  uint16_t status_size; /* bytes of an MPI_Status, and the offsets of its members */
  uint16_t status_source;
  uint16_t status_tag;
  uint16_t status_error;
  uint16_t status_kind; /* enum mqr_status_kind */
  uint16_t status_bytes;
  uint16_t status_cancelled;
  uint16_t reserved;
  struct mqr_slot comm_null;
  struct mqr_slot request_null;
  struct mqr_slot errhandler_null;
  struct mqr_slot status_ignore;
  struct mqr_slot statuses_ignore;
  struct mqr_slot complete_request; /* one handle of many requests that are complete; 0: none */
  struct mqr_list errhandlers;      /* struct mqr_errhandler */
  struct mqr_list unqueued;         /* struct mqr_unqueued */
  int32_t comm_null_fortran;        /* Fortran INTEGERs of the constants */
  int32_t request_null_fortran;
  int32_t errhandler_null_fortran;
  uint32_t reserved_2;
};

enum mqr_errhandler_flags {
  MQR_FOR_COMMUNICATORS = 1,
  MQR_FOR_FILES = 2,
  MQR_FOR_WINDOWS = 4,
  MQR_HANDLE_FREED = 8, /* the program has freed it; it is attached still */
  MQR_C_FUNCTION = 16,
  MQR_FORTRAN_FUNCTION = 32,
  MQR_ERRHANDLER_HAS_FORTRAN = 64,
};
enum mqr_predefined_errhandler {
  MQR_OWN_ERRHANDLER, /* the program's */
  MQR_ERRORS_ARE_FATAL,
  MQR_ERRORS_RETURN,
  MQR_ERRORS_ABORT
};
struct mqr_errhandler {
  struct mqr_node node; /* kind: 0 */
  struct mqr_slot handle;
  struct mqr_slot function; /* the program's; 0: predefined, or not known */
  int32_t fortran;          /* with MQR_ERRHANDLER_HAS_FORTRAN */
  uint32_t flags;           /* enum mqr_errhandler_flags */
  uint32_t predefined;      /* enum mqr_predefined_errhandler */
  uint32_t reserved;
};

/* A request that is neither a pending message nor a collective: a message of MPI_PROC_NULL, a
 * generalized request, a request of one-sided communication or of a file. */
struct mqr_unqueued {
  struct mqr_node node; /* kind: 0 */
  struct mqr_slot request;
  struct mqr_slot communicator; /* address of a struct mqr_communicator; 0: of none, or not known */
  struct mqr_slot site;
  uint32_t function; /* functions.h */
  uint32_t flags;    /* of enum mqr_operation_flags: MQR_INACTIVE, MQR_PERSISTENT, MQR_ANY_TAG, and
                        those since 1.2 */
  int32_t fortran;   /* with MQR_HAS_FORTRAN */
  int32_t tag;       /* of a message of MPI_PROC_NULL, as the three below */
  struct mqr_slot buffer;
  uint64_t count;
  uint64_t length;
  char datatype[MQR_WORD_SIZE];
};

enum mqr_status { MQR_PENDING, MQR_MATCHED, MQR_COMPLETE };
/* Since 1.1 the upper half of `flags` is the number of the posting function (functions.h). */
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
  /* Since 1.2. */
  MQR_CANCELLED = 2048,     /* MPI_Cancel was called; MPI has not said how it went */
  MQR_TOLD_COMPLETE = 4096, /* MPI has told the program so, and keeps the request */
  MQR_REQUEST_FREED = 8192, /* by MPI_Request_free: `request` may be another one's by now */
  MQR_HAS_FORTRAN = 16384,  /* `fortran` says something */
  MQR_IS_RECEIVING = 32768, /* MQR_TAKEN, and `request` is that of MPI_Imrecv */
  MQR_FUNCTION_SHIFT = 16,
};

/* In an MQR_INTER communicator the ranks of peers are ranks of the remote group. */
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
  uint32_t number;      /* of a send: how many sends to that peer preceded it on this communicator,
                           modulo 2^32; of others: their number there, in the order of posting */
  uint32_t wait; /* `wait` of the struct mqr_thread whose call waits for it. 0, or a number that no
                    thread has: no call waits for it */
  /* Since 1.2. */
  int32_t fortran; /* with MQR_HAS_FORTRAN: the Fortran INTEGER of `request` */
  uint32_t own;    /* for the recorder alone: readers ignore it */
};

#define MQR_AT(structure, member, offset)                                                          \
  static_assert(offsetof(struct structure, member) == (offset), #structure "." #member)

static_assert(sizeof(struct mqr_slot) == 8, "an address takes 8 bytes");
static_assert(sizeof(struct mqr_list) == 16, "mqr_list");
MQR_AT(mqr_list, count, 8);
static_assert(sizeof(struct mqr_node) == 16, "mqr_node");
MQR_AT(mqr_node, kind, 4);
MQR_AT(mqr_node, next, 8);

static_assert(sizeof(struct mqr_root) == 112, "mqr_root");
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
MQR_AT(mqr_root, variables, 72);
MQR_AT(mqr_root, handles, 80);
MQR_AT(mqr_root, joints, 88);
MQR_AT(mqr_root, job, 104);

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

static_assert(sizeof(struct mqr_communicator) == 208, "mqr_communicator");
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
MQR_AT(mqr_communicator, handle, 152);
MQR_AT(mqr_communicator, fortran, 160);
MQR_AT(mqr_communicator, known, 164);
MQR_AT(mqr_communicator, errhandler, 168);
MQR_AT(mqr_communicator, topology, 176);
MQR_AT(mqr_communicator, attributes, 184);
MQR_AT(mqr_communicator, joint, 192);
MQR_AT(mqr_communicator, path, 200);

static_assert(sizeof(struct mqr_topology) == 24, "mqr_topology");
MQR_AT(mqr_topology, flags, 8);
MQR_AT(mqr_topology, first, 12);
MQR_AT(mqr_topology, second, 16);
static_assert(sizeof(struct mqr_attribute) == 16, "mqr_attribute");
MQR_AT(mqr_attribute, value, 8);
static_assert(sizeof(struct mqr_attributes) == 8, "mqr_attributes");

static_assert(sizeof(struct mqr_joint) == 328, "mqr_joint");
MQR_AT(mqr_joint, id, 16);
MQR_AT(mqr_joint, base, 24);
MQR_AT(mqr_joint, path, 32);
MQR_AT(mqr_joint, began, 40);
MQR_AT(mqr_joint, ended, 48);
MQR_AT(mqr_joint, sequence, 56);
MQR_AT(mqr_joint, function, 60);
MQR_AT(mqr_joint, size, 64);
MQR_AT(mqr_joint, remote_size, 68);
MQR_AT(mqr_joint, mark, 72);

static_assert(sizeof(struct mqr_returned) == 32, "mqr_returned");
MQR_AT(mqr_returned, tag, 4);
MQR_AT(mqr_returned, length, 8);
MQR_AT(mqr_returned, number, 16);
MQR_AT(mqr_returned, function, 20);
MQR_AT(mqr_returned, site, 24);

static_assert(sizeof(struct mqr_channel) == 16, "mqr_channel");
static_assert(sizeof(struct mqr_channels) == 16, "mqr_channels");

static_assert(sizeof(struct mqr_collective) == 56, "mqr_collective");
MQR_AT(mqr_collective, function, 16);
MQR_AT(mqr_collective, sequence, 20);
MQR_AT(mqr_collective, root, 24);
MQR_AT(mqr_collective, wait, 28);
MQR_AT(mqr_collective, request, 32);
MQR_AT(mqr_collective, site, 40);
MQR_AT(mqr_collective, flags, 48);
MQR_AT(mqr_collective, fortran, 52);

static_assert(sizeof(struct mqr_handles) == 128, "mqr_handles");
MQR_AT(mqr_handles, size, 8);
MQR_AT(mqr_handles, status_size, 16);
MQR_AT(mqr_handles, comm_null, 32);
MQR_AT(mqr_handles, complete_request, 72);
MQR_AT(mqr_handles, errhandlers, 80);
MQR_AT(mqr_handles, unqueued, 96);
MQR_AT(mqr_handles, comm_null_fortran, 112);
MQR_AT(mqr_handles, errhandler_null_fortran, 120);

static_assert(sizeof(struct mqr_errhandler) == 48, "mqr_errhandler");
MQR_AT(mqr_errhandler, handle, 16);
MQR_AT(mqr_errhandler, function, 24);
MQR_AT(mqr_errhandler, fortran, 32);
MQR_AT(mqr_errhandler, flags, 36);
MQR_AT(mqr_errhandler, predefined, 40);

static_assert(sizeof(struct mqr_unqueued) == 104, "mqr_unqueued");
MQR_AT(mqr_unqueued, request, 16);
MQR_AT(mqr_unqueued, communicator, 24);
MQR_AT(mqr_unqueued, site, 32);
MQR_AT(mqr_unqueued, function, 40);
MQR_AT(mqr_unqueued, flags, 44);
MQR_AT(mqr_unqueued, fortran, 48);
MQR_AT(mqr_unqueued, tag, 52);
MQR_AT(mqr_unqueued, buffer, 56);
MQR_AT(mqr_unqueued, count, 64);
MQR_AT(mqr_unqueued, length, 72);
MQR_AT(mqr_unqueued, datatype, 80);

static_assert(sizeof(struct mqr_operation) == 160, "mqr_operation");
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
MQR_AT(mqr_operation, fortran, 152);

#undef MQR_AT

#include "dll/recorder/variables_layout.h"

#ifdef __cplusplus
}
#endif

#endif
