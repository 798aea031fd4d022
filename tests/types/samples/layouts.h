/* Types whose layouts the DWARF tests ask for: one for each way in which C hides a member's place.
 */
#ifndef MQBRIDGE_SAMPLE_LAYOUTS_H
#define MQBRIDGE_SAMPLE_LAYOUTS_H

typedef struct list_item {
  struct list_item* next;
  struct list_item* volatile previous;
  int reference_count;
} list_item_t;

/* Two anonymous levels: members count as members of the outer type. */
typedef struct with_anonymous {
  char first;
  union {
    long as_long;
    struct {
      short inner_short;
      char inner_bytes[5];
    };
    const volatile double as_double;
  };
  struct {
    char name[64];
    long long number;
  } named;
  int last;
} with_anonymous_t;

/* Typedefs and qualifiers in a row. */
typedef const list_item_t const_item_t;
typedef const_item_t* item_pointer_t;
typedef volatile with_anonymous_t alias_of_alias_t;
typedef alias_of_alias_t chained_t;

enum color { red, green = 300 };
typedef enum color color_t;

typedef int (*callback_t)(void* context, const char* text);

typedef union either {
  char bytes[24];
  list_item_t item;
  callback_t call;
} either_t;

struct packed {
  char one;
  long two;
  short three;
} __attribute__((packed));

typedef struct mixed {
  const item_pointer_t items[3];
  int matrix[2][3][4];
  enum color color;
  callback_t call;
  struct packed packed;
  either_t either;
  _Bool flag;
  int length;
  char flexible[];
} mixed_t;

/* A tag and a typedef of one name that are different types: the typedef wins for the bare name. */
struct two_faces {
  int tagged[7];
};
typedef struct {
  short aliased[3];
} two_faces;

/* Whose sizes and alignments differ most from one platform to the next. */
typedef struct numbers {
  char first;
  long double extended;
  _Bool flag;
  long long wide;
  short narrow;
  double twice;
  char second;
  float single;
  long native;
  char third;
  void* pointer;
  unsigned char last;
} numbers_t;

typedef struct {
  char only;
} __attribute__((aligned(32))) aligned_t;

struct aligned {
  char first;
  int aligned __attribute__((aligned(16)));
  char last;
  aligned_t inner[2];
  short after;
};

enum __attribute__((packed)) small { one_byte };
enum large { more_than_an_int = 0x100000000LL };

/* The places of what stands between bit-fields. */
struct among_bits {
  unsigned one : 3;
  unsigned two : 20;
  unsigned three : 20;
  signed char after;
  long long long_bits : 40;
  enum small small;
  enum large large;
  struct {
    unsigned char inner_bits : 5;
    short inner;
  };
} __attribute__((aligned(2)));

struct packed_bits {
  char first;
  unsigned bits : 9;
  long long after;
  numbers_t numbers;
} __attribute__((packed));

struct flexible {
  int count;
  long long elements[];
};
struct zero_length {
  short count;
  double elements[0];
  char last;
};

/* Declared everywhere, defined in layouts_other.c only. */
typedef struct elsewhere elsewhere_t;
/* Defined nowhere. */
typedef struct nowhere nowhere_t;

#endif
