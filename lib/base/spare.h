/* SPDX-License-Identifier: MIT */
/** @file Free file descriptors that stay the program's own, however few the limit allows. */
#ifndef UPMU_BASE_SPARE_H
#define UPMU_BASE_SPARE_H

#include <stdbool.h>

/** Numbers below the soft limit that stay free while the library holds descriptors: the dynamic linker, the C library and
 *  the program's own short-lived files need them (without one, pthread_exit() aborts the program). */
enum { SPARE_DESCRIPTORS = 16 };

/** Whether one more descriptor leaves SPARE_DESCRIPTORS free. Asked of the kernel each time, because the program opens and
 *  closes as well. Opens nothing. Async-signal-safe, keeps errno. */
bool spare_descriptors_left(void);

#endif
