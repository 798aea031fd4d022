/* Included before all else in the recorders that are shipped: nodes may be older than the machine
 * that builds them. glibc 2.34 has moved what was in libdl and libpthread into libc, under new
 * versions; the old ones are still there. */

#ifndef MQBRIDGE_OLD_GLIBC_H
#define MQBRIDGE_OLD_GLIBC_H

#include <features.h>

/* From 2.38 on strtol and sscanf are others than they were: they read binary numbers. */
#undef __GLIBC_USE_C2X_STRTOL
#undef __GLIBC_USE_C23_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0
#define __GLIBC_USE_C23_STRTOL 0

#if defined __GLIBC__ && defined __x86_64__
#define MQR_OLD(name) __asm__(".symver " #name "," #name "@GLIBC_2.2.5")
#define MQR_OLD_DLADDR1 __asm__(".symver dladdr1,dladdr1@GLIBC_2.3.3")
#elif defined __GLIBC__ && defined __aarch64__
#define MQR_OLD(name) __asm__(".symver " #name "," #name "@GLIBC_2.17")
#define MQR_OLD_DLADDR1 MQR_OLD(dladdr1)
#endif

#ifdef MQR_OLD
MQR_OLD(dladdr);
MQR_OLD(dlclose);
MQR_OLD(dlopen);
MQR_OLD(dlsym);
MQR_OLD(pthread_getspecific);
MQR_OLD(pthread_key_create);
MQR_OLD(pthread_mutex_trylock);
MQR_OLD(pthread_once);
MQR_OLD(pthread_setspecific);
MQR_OLD_DLADDR1;
#endif

#endif
