/* SPDX-License-Identifier: MIT */
/** @file Files of a guest, sent over its console. */
#ifndef UPMU_TESTS_GUEST_SEND_H
#define UPMU_TESTS_GUEST_SEND_H

/** Print all files below `folder`, as files of `name`. @return 0, or 1 after saying what could not be read. */
int send_folder(const char *folder, const char *name);

#endif
