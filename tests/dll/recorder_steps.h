#pragma once

/* The steps of recorder_steps.c, in their order, and what each may look like from outside:
 *   update      before it, or after it; with the generation odd, each of its parts
 *   leaves      the same, and with the generation odd less may be there than before it
 *   join        the same as update; then the thread's record changes
 *   thread      a thread's record is as before, as after, or marked by its own number
 *   one_store   before or after; no generation is needed */
#define RECORDER_STEPS(S)                                                                          \
  S(init, update)                                                                                  \
  S(set_library, one_store)                                                                        \
  S(add_world, update)                                                                             \
  S(add_other, update)                                                                             \
  S(join, join)                                                                                    \
  S(leave, thread)                                                                                 \
  S(begin_first, update)                                                                           \
  S(begin_second, update)                                                                          \
  S(begin_third, update)                                                                           \
  S(begin_fourth, update)                                                                          \
  S(begin_receive, update)                                                                         \
  S(begin_unexpected, update)                                                                      \
  S(match, update)                                                                                 \
  S(complete_receive, update)                                                                      \
  S(complete_send, update)                                                                         \
  S(add_request, one_store)                                                                        \
  S(enter_wait, thread)                                                                            \
  S(wait_for, thread)                                                                              \
  S(leave_wait, thread)                                                                            \
  S(end_first_send, update)                                                                        \
  S(end_receive, update)                                                                           \
  S(remove_middle, update)                                                                         \
  S(cancel_last, update)                                                                           \
  S(end_only_send, update)                                                                         \
  S(count_received, update)                                                                        \
  S(grow_channels, update)                                                                         \
  S(overwrite_in_ring, leaves)                                                                     \
  S(flush, leaves)                                                                                 \
  S(make_persistent, update)                                                                       \
  S(make_persistent_receive, update)                                                               \
  S(start, leaves)                                                                                 \
  S(start_receive, leaves)                                                                         \
  S(end_persistent, update)                                                                        \
  S(end_persistent_receive, update)                                                                \
  S(remove_persistent, update)                                                                     \
  S(open_handles, one_store)                                                                       \
  S(set_handle, update)                                                                            \
  S(add_errhandler, update)                                                                        \
  S(set_errhandler, update)                                                                        \
  S(set_topology, update)                                                                          \
  S(set_first_attribute, update)                                                                   \
  S(set_second_attribute, update)                                                                  \
  S(replace_attribute, update)                                                                     \
  S(delete_attribute, update)                                                                      \
  S(know_attributes, one_store)                                                                    \
  S(free_errhandler, update)                                                                       \
  S(set_other_errhandler, update)                                                                  \
  S(begin_unqueued, update)                                                                        \
  S(begin_second_unqueued, update)                                                                 \
  S(mark_request, update)                                                                          \
  S(set_fortran, update)                                                                           \
  S(activate_unqueued, update)                                                                     \
  S(end_unqueued, update)                                                                          \
  S(enter_collective, one_store)                                                                   \
  S(begin_collective, update)                                                                      \
  S(begin_second_collective, update)                                                               \
  S(end_collective, update)                                                                        \
  S(rename_other, update)                                                                          \
  S(free_other, update)                                                                            \
  S(end_last_of_freed, leaves)                                                                     \
  S(switch_off, one_store)                                                                         \
  S(miss_one, one_store)                                                                           \
  S(finalize, update)
