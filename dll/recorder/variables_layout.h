#ifndef MQBRIDGE_DLL_RECORDER_VARIABLES_LAYOUT_H
#define MQBRIDGE_DLL_RECORDER_VARIABLES_LAYOUT_H

/* What the recorder keeps of MPI_T, the tool information interface, since version 1.2: MPI's
 * variables, categories and enumerations, and the values of the variables. To be included by
 * layout.h, whose rules hold here, too.
 *
 * mqr_root.variables leads to one block of memory, which begins with struct mqr_variables and has
 * everything within it, at offsets from its beginning. Nothing in it changes but `samples`. When
 * MPI has other variables the block is replaced as a whole, by the one store of its address.
 * `samples` leads to another such block, the last sample, which is replaced in the same way. */

/* Entries of one size, one after the other. A minor version may make the entries larger. */
struct mqr_part {
  uint32_t at;    /* bytes from the beginning of the block */
  uint32_t count; /* entries; of texts and values: bytes */
  uint32_t size;  /* bytes of one */
  uint32_t reserved;
};

enum {
  MQR_MAGIC_VARIABLES = 0x4d515256, /* "MQRV" */
  MQR_MAGIC_SAMPLES = 0x4d515253    /* "MQRS" */
};

enum mqr_part_number {
  MQR_PART_VARIABLES,    /* struct mqr_variable: control variables first, each in MPI's order */
  MQR_PART_CATEGORIES,   /* struct mqr_category */
  MQR_PART_MEMBERS,      /* uint32_t: what categories hold */
  MQR_PART_ENUMERATIONS, /* struct mqr_enumeration */
  MQR_PART_ITEMS,        /* struct mqr_enumeration_item */
  MQR_PART_TEXTS,        /* each ends with 0; the first is "" */
  MQR_PART_VALUES,       /* in the types of their variables, in the target's byte order */
  MQR_PARTS
};

enum mqr_variables_flags {
  MQR_VARIABLES_CUT = 1, /* there are more, or longer ones, than are here */
};

struct mqr_variables {
  uint32_t magic;
  uint32_t size; /* bytes of the block */
  uint32_t flags;
  uint32_t reserved;
  uint64_t listed;         /* when: nanoseconds since 1970, by the clock of that computer */
  struct mqr_slot samples; /* struct mqr_samples, or 0 */
  struct mqr_part parts[MQR_PARTS]; /* by enum mqr_part_number */
};

enum mqr_variable_kind { MQR_CONTROL_VARIABLE, MQR_PERFORMANCE_VARIABLE };

/* What the bytes of a value are. */
enum mqr_value_form {
  MQR_FORM_UNKNOWN,
  MQR_FORM_SIGNED,
  MQR_FORM_UNSIGNED,
  MQR_FORM_FLOATING,
  MQR_FORM_TEXT
};

/* Whether there is a value, and why there is none. */
enum mqr_value_state {
  MQR_VALUE_READ,
  MQR_VALUE_SAMPLED, /* of a performance variable: it is among the readings of the samples */
  MQR_VALUE_REFUSED, /* MPI's `error` */
  MQR_VALUE_BOUND,   /* it is bound to objects that the recorder does not read it of */
  MQR_VALUE_LARGE,   /* more bytes than the recorder keeps */
  MQR_VALUE_FORM,    /* of a datatype that the recorder does not know */
  MQR_VALUE_STOPPED, /* of a performance variable that counts only for the tool that starts it */
  MQR_VALUE_UNUSED   /* its part of MPI may not be in use, and reading it may end the process */
};

enum mqr_variable_flags {
  MQR_VARIABLE_READONLY = 1,
  MQR_VARIABLE_CONTINUOUS = 2,
  MQR_VARIABLE_ATOMIC = 4,
};

enum {
  MQR_NOT_KNOWN = -1,
  MQR_NO_ENUMERATION = -1,
  MQR_MAX_VARIABLES = 1 << 16,         /* of each kind, and categories */
  MQR_MAX_VARIABLES_SIZE = 1 << 26,    /* bytes of the block */
  MQR_MAX_VARIABLE_TEXT = 1 << 14,     /* bytes of one name or description, terminator included */
  MQR_MAX_VALUE = 1 << 14,             /* bytes of one value in the block */
  MQR_MAX_ENUMERATION_ITEMS = 1 << 12, /* of one enumeration */
  MQR_MAX_SAMPLES_SIZE = 1 << 20       /* bytes of a block of samples */
};

struct mqr_variable {
  uint32_t kind;                /* enum mqr_variable_kind */
  uint32_t index;               /* MPI's number of it, among those of its kind */
  uint32_t name;                /* offset in MQR_PART_TEXTS, as all texts */
  uint32_t description;         /* likewise */
  char datatype[MQR_WORD_SIZE]; /* "MPI_INT", terminated; empty: unknown */
  uint32_t form;                /* enum mqr_value_form */
  uint32_t element;             /* bytes of one element */
  int32_t verbosity;            /* MPI_T_VERBOSITY_..., by MPI's order of them: 0 is USER_BASIC */
  int32_t binding;              /* MPI_T_BIND_...: 0 is NO_OBJECT */
  int32_t scope;                /* of a control variable, MPI_T_SCOPE_...: 0 is CONSTANT */
  int32_t performance_class;    /* of a performance variable, ..._CLASS_...: 0 is STATE */
  uint32_t flags;               /* enum mqr_variable_flags */
  int32_t enumeration;          /* entry of MQR_PART_ENUMERATIONS, or MQR_NO_ENUMERATION */
  uint32_t state;               /* enum mqr_value_state */
  int32_t error;                /* of MPI_T: with MQR_VALUE_REFUSED */
  uint32_t value;               /* offset in MQR_PART_VALUES */
  uint32_t count;               /* elements there; of a text: bytes without terminator */
};

/* The members of a category are entries of MQR_PART_MEMBERS, from `first` on: `controls` control
 * variables, `performances` performance variables and `categories` categories, each by its `index`.
 */
struct mqr_category {
  uint32_t index;
  uint32_t name;
  uint32_t description;
  uint32_t first;
  uint32_t controls;
  uint32_t performances;
  uint32_t categories;
  uint32_t reserved;
};

struct mqr_enumeration {
  uint32_t name;
  uint32_t first; /* entry of MQR_PART_ITEMS */
  uint32_t count;
  uint32_t reserved;
};

struct mqr_enumeration_item {
  int32_t value;
  uint32_t name;
};

enum mqr_samples_flags {
  MQR_SAMPLES_CUT = 1, /* memory was short: readings were left out */
};

/* A block: this, then the readings, then their values. */
struct mqr_samples {
  uint32_t magic;
  uint32_t size;  /* bytes of the block */
  uint64_t taken; /* when: nanoseconds since 1970, by the clock of that computer */
  uint32_t flags; /* enum mqr_samples_flags */
  uint32_t reserved;
  struct mqr_part readings; /* struct mqr_reading */
};

struct mqr_reading {
  uint32_t variable;     /* entry of MQR_PART_VARIABLES */
  uint32_t state;        /* enum mqr_value_state */
  int32_t error;         /* of MPI_T: with MQR_VALUE_REFUSED */
  uint32_t value;        /* bytes from the beginning of the block */
  uint32_t count;        /* elements there */
  uint32_t bound;        /* 1: to the communicator with this id; 0: to nothing */
  uint64_t communicator; /* mqr_communicator.id; it may have been freed since */
};

#define MQR_AT(structure, member, offset)                                                          \
  static_assert(offsetof(struct structure, member) == (offset), #structure "." #member)

static_assert(sizeof(struct mqr_part) == 16, "mqr_part");

static_assert(sizeof(struct mqr_variables) == 144, "mqr_variables");
MQR_AT(mqr_variables, listed, 16);
MQR_AT(mqr_variables, samples, 24);
MQR_AT(mqr_variables, parts, 32);

static_assert(sizeof(struct mqr_variable) == 88, "mqr_variable");
MQR_AT(mqr_variable, datatype, 16);
MQR_AT(mqr_variable, form, 40);
MQR_AT(mqr_variable, state, 72);
MQR_AT(mqr_variable, count, 84);

static_assert(sizeof(struct mqr_category) == 32, "mqr_category");
static_assert(sizeof(struct mqr_enumeration) == 16, "mqr_enumeration");
static_assert(sizeof(struct mqr_enumeration_item) == 8, "mqr_enumeration_item");

static_assert(sizeof(struct mqr_samples) == 40, "mqr_samples");
MQR_AT(mqr_samples, taken, 8);
MQR_AT(mqr_samples, readings, 24);

static_assert(sizeof(struct mqr_reading) == 32, "mqr_reading");
MQR_AT(mqr_reading, bound, 20);
MQR_AT(mqr_reading, communicator, 24);

#undef MQR_AT

#endif
