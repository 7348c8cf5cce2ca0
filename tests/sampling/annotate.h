/* SPDX-License-Identifier: MIT */
/* What annotate.cpp has, as a program or in a library. */
#ifndef ANNOTATE_H
#define ANNOTATE_H

namespace work
{
unsigned long hot(unsigned long rounds);
unsigned long twice(unsigned long rounds);
} // namespace work

#endif
