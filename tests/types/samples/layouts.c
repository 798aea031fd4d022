/* Uses every type of layouts.h, and states no layout: those of layouts_other.c are compared with.
 */
#include "layouts.h"

list_item_t an_item;
with_anonymous_t an_anonymous;
chained_t a_chained;
color_t a_color;
enum color another_color;
item_pointer_t an_item_pointer;
either_t an_either;
mixed_t a_mixed;
struct two_faces a_tagged;
two_faces an_aliased;
elsewhere_t* an_elsewhere;
nowhere_t* a_nowhere;
callback_t a_callback;
unsigned int a_base;
int array_of_seven[7];
typedef int seven_ints_t[7];
seven_ints_t a_seven_ints;

numbers_t a_numbers;
struct aligned an_aligned;
struct among_bits an_among_bits;
struct packed_bits a_packed_bits;
struct flexible* a_flexible;
struct zero_length a_zero_length;

struct bits {
  int whole;
  unsigned first : 3;
  unsigned second : 20;
  unsigned third : 20;
} a_bits;
