/* [MQD 5.1] The debug DLL's name for other debuggers, which search for it as dlopen() does;
 * mqbridge takes the DLL beside itself. To be included once, in a program or library whose MPI does
 * not name a DLL of its own. */

#ifndef MQR_DLL_NAME
#define MQR_DLL_NAME "libmqbridge-queues.so"
#endif

extern char MPIR_dll_name[];
__attribute__((visibility("default"), used)) char MPIR_dll_name[] = MQR_DLL_NAME;
