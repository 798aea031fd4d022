// The symbols of the made-up target of test_target.h. Never loaded: only its ELF file is read.

void* test_queue_root;

void test_function(void);
void test_function(void) {}
