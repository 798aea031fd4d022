#ifndef MQBRIDGE_DLL_HANDLES_INTERFACE_H
#define MQBRIDGE_DLL_HANDLES_INTERFACE_H

/* The DLL is compiled with everything hidden: its entry points alone are to be found by dlsym(). */
#pragma GCC visibility push(default)
#include "dll/mpidbg_interface.h"
#pragma GCC visibility pop

#endif
