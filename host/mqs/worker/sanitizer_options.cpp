// A sanitized worker reports only its own faults: signals that the DLL raises kill it, as they do
// without sanitizers, and leaks of the DLL do not matter. It has no environment to get options
// from.

#if defined(__SANITIZE_ADDRESS__)
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0:"
         "detect_leaks=0:allocator_may_return_null=1";
}
#endif
