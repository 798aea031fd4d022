// A program for a machine without any operating system: QEMU's "virt" boards of m68k and riscv64.
// It records a few pending operations, says so on the board's serial port, and waits for ever. Read
// from outside by bare_machine.cpp, through the machine's own stub.

#include "dll/recorder/dll_name.h"
#include "dll/recorder/recorder.h"

#include <stdint.h>

#if defined(__m68k__)
static void put_character(char c) { // Goldfish TTY: a word that is written is sent
  *(volatile uint32_t*)0xff008000 = (unsigned char)c;
}
__asm__(".globl _start\n_start: lea stack_end, %sp\n jmp run\n");
#elif defined(__riscv)
static void put_character(char c) { // 16550 UART
  *(volatile unsigned char*)0x10000000 = (unsigned char)c;
}
__asm__(".globl _start\n_start: la sp, stack_end\n j run\n");
#else
#error "no such board"
#endif

_Alignas(16) unsigned char stack[16 * 1024];
__asm__(".globl stack_end\n.set stack_end, stack + 16 * 1024\n");

static void record(struct mqr_recorded_communicator* communicator, enum mqr_queue queue,
                   int32_t peer, int32_t tag, uint64_t length) {
  static char buffer[16];
  const struct mqr_operation_spec spec = {.queue = queue,
                                          .peer = peer,
                                          .tag = tag,
                                          .length = length,
                                          .buffer = buffer,
                                          .function = MQR_Irecv};
  struct mqr_recorded_operation* begun;
  mqr_operation_begin(communicator, &spec, &begun);
}

void run(void) {
  static const int32_t everybody[] = {0, 1, 2};
  static const int32_t backwards[] = {2, 1, 0};
  const struct mqr_communicator_spec world = {
      .name = "MPI_COMM_WORLD", .id = 1, .local_rank = 1, .size = 3, .group = everybody};
  const struct mqr_communicator_spec reversed = {
      .name = "reversed", .id = 2, .local_rank = 1, .size = 3, .group = backwards};
  struct mqr_recorded_communicator *first, *second;
  mqr_init(0);
  if (mqr_communicator_add(&world, &first) == MQR_OK &&
      mqr_communicator_add(&reversed, &second) == MQR_OK) {
    record(first, MQR_RECEIVE, 2, 17, UINT64_C(0x123456789));
    record(first, MQR_SEND, 0, 18, 64);
    record(second, MQR_UNEXPECTED, 0, -5, 8);
    for (const char* text = "ready\n"; *text != '\0'; ++text)
      put_character(*text);
  }
  for (;;)
    ;
}
