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

/* Declared everywhere, defined in layouts_other.c only. */
typedef struct elsewhere elsewhere_t;
/* Defined nowhere. */
typedef struct nowhere nowhere_t;

#endif
