#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "dll/recorder/core.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The library is loaded with the program, so that the linker knows where its variables lie. */
#ifndef MQR_THREAD_LOCAL
#define MQR_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
#endif

/* Nodes stay for ever: a thread may end while others are in the recorder without a lock. The node
 * of an ended thread is marked with thread 0, and goes to the next thread that comes. */
struct mqr_recorded_thread {
  union mqr_front front;
  struct mqr_thread shared;
  int taken;
};
MQR_BEHIND_FRONT(mqr_recorded_thread);

static MQR_THREAD_LOCAL struct mqr_recorded_thread* self;
static struct mqr_members threads = {&mqbridge_recorder.threads, NULL};
static uint32_t last_wait;
static pthread_key_t at_exit;
static pthread_once_t at_exit_once = PTHREAD_ONCE_INIT;
static int at_exit_works;

/* Between begin_change() and end_change() no reader believes the record. */
static void begin_change(struct mqr_thread* thread) {
  mqr_publish_word(&thread->changes, thread->changes + 1);
}
static void end_change(struct mqr_thread* thread) {
  mqr_publish_word(&thread->changes, thread->changes + 1);
}

static struct mqr_recorded_thread* thread_at(struct mqr_node* node) {
  return (struct mqr_recorded_thread*)(void*)mqr_front_of(node);
}

/* The thread that ends runs this. */
static void thread_ends(void* value) {
  struct mqr_recorded_thread* const ending = value;
  begin_change(&ending->shared);
  ending->shared.function = 0;
  ending->shared.thread = 0;
  end_change(&ending->shared);
  self = NULL;
  __atomic_store_n(&ending->taken, 0, __ATOMIC_RELEASE);
}

static void make_key(void) {
  at_exit_works = pthread_key_create(&at_exit, thread_ends) == 0;
}

static struct mqr_recorded_thread* take_ended(void) {
  for (struct mqr_node* node = mqr_address_in(&mqbridge_recorder.threads.first); node != NULL;
       node = mqr_next(node)) {
    int expected = 0;
    if (__atomic_compare_exchange_n(&thread_at(node)->taken, &expected, 1, 0, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED))
      return thread_at(node);
  }
  return NULL;
}

static struct mqr_recorded_thread* add_thread(void) {
  const int full = mqbridge_recorder.threads.count == MQR_MAX_THREADS;
  struct mqr_recorded_thread* const made = full ? NULL : calloc(1, sizeof *made);
  if (made == NULL) {
    mqr_mark_gap();
    return NULL;
  }
  made->taken = 1;
  made->shared.node.magic = MQR_MAGIC_THREAD;
  made->shared.thread = syscall(SYS_gettid);
  mqr_begin_update();
  mqr_list_append(&threads, &made->shared.node);
  mqr_end_update();
  return made;
}

/* Runs at the first call of a thread. */
static struct mqr_recorded_thread* join(void) {
  pthread_once(&at_exit_once, make_key);
  mqr_lock();
  struct mqr_recorded_thread* const ended = take_ended();
  self = ended != NULL ? ended : add_thread();
  mqr_unlock();
  if (ended != NULL) {
    begin_change(&ended->shared);
    ended->shared.thread = syscall(SYS_gettid);
    end_change(&ended->shared);
  }
  if (self != NULL && at_exit_works)
    pthread_setspecific(at_exit, self);
  return self;
}

void mqr_enter(const struct mqr_call_spec* call) {
  struct mqr_recorded_thread* const own = self != NULL ? self : join();
  if (own == NULL)
    return;
  struct mqr_thread* const thread = &own->shared;
  begin_change(thread);
  thread->function = call->function;
  thread->communicator.word =
      call->communicator != NULL ? (uintptr_t)&call->communicator->shared : 0;
  thread->site.word = (uintptr_t)call->site;
  thread->has_sequence = call->has_sequence != 0;
  thread->sequence = call->sequence;
  thread->root = call->root;
  thread->wait = 0;
  thread->needed = 0;
  thread->unseen = 0;
  end_change(thread);
}

void mqr_leave(void) {
  if (self == NULL)
    return;
  struct mqr_thread* const thread = &self->shared;
  begin_change(thread);
  thread->function = MQR_NO_FUNCTION;
  thread->communicator.word = 0;
  thread->wait = 0;
  end_change(thread);
}

/* The number of the next wait, which is never 0. */
static uint32_t next_wait(void) {
  for (;;) {
    const uint32_t next =
        mqr_core.unlocked ? ++last_wait : __atomic_add_fetch(&last_wait, 1, __ATOMIC_RELAXED);
    if (next != 0)
      return next;
  }
}

/* This takes no lock: nobody else ends the operations that this thread waits for. */
void mqr_wait_for(struct mqr_recorded_operation* const* operations, size_t operation_count,
                  struct mqr_recorded_collective* const* collectives, size_t collective_count,
                  uint32_t needed, uint32_t unseen) {
  if (self == NULL)
    return;
  struct mqr_thread* const thread = &self->shared;
  const uint32_t wait = next_wait();
  begin_change(thread);
  for (size_t i = 0; i < operation_count; ++i)
    if (operations[i] != NULL)
      operations[i]->shared.wait = wait;
  for (size_t i = 0; i < collective_count; ++i)
    if (collectives[i] != NULL)
      collectives[i]->shared.wait = wait;
  thread->wait = wait;
  thread->needed = needed;
  thread->unseen = unseen;
  end_change(thread);
}

void mqr_thread_forget(const struct mqr_recorded_communicator* communicator) {
  if (self != NULL && self->shared.communicator.word == (uintptr_t)&communicator->shared)
    mqr_publish(&self->shared.communicator, NULL);
}

void mqr_threads_abandon(void) {
  mqr_publish(&mqbridge_recorder.threads.first, NULL);
  mqr_publish_word(&mqbridge_recorder.threads.count, 0);
  threads.last = NULL;
  self = NULL;
}
