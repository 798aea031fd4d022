#ifndef MQBRIDGE_DLL_RECORDER_PUBLISH_H
#define MQBRIDGE_DLL_RECORDER_PUBLISH_H

/* Stores that a debugger sees in the order in which they were made.
 *
 * No instruction of the processor orders them, because none is needed. A debugger reads while the
 * thread is stopped: a thread stops between two instructions, and its earlier stores leave the
 * processor's buffers before another processor runs the debugger. Thus the debugger sees a stopped
 * thread's stores in program order, and nothing of what comes after. Only the compiler must not
 * change that order. Stores of different threads are ordered by the recorder's lock, or by the
 * program where MPI_THREAD_MULTIPLE was not provided. */

#include "dll/recorder/layout.h"

static inline void mqr_order_stores(void) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* One store of one word: whoever sees it sees all that was stored before it. */
static inline void mqr_publish(struct mqr_slot* slot, const void* address) {
  mqr_order_stores();
  __atomic_store_n(&slot->word, (uintptr_t)address, __ATOMIC_RELAXED);
  mqr_order_stores();
}
static inline void mqr_publish_word(uint32_t* word, uint32_t value) {
  mqr_order_stores();
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
  mqr_order_stores();
}

static inline void* mqr_address_in(const struct mqr_slot* slot) {
  return (void*)slot->word;
}

#endif
