// SPDX-License-Identifier: MIT
/** @file Functions of the running Qt Creator by their symbols. */
#ifndef UPMU_CREATOR_SYMBOL_H
#define UPMU_CREATOR_SYMBOL_H

namespace upmu
{

/** Address of a symbol in a library of Qt Creator that is loaded already; NULL if there is none. */
void *creatorSymbol(const char *library, const char *name);

template <typename Function> Function creatorFunction(const char *library, const char *name)
{
    return reinterpret_cast<Function>(creatorSymbol(library, name));
}

} // namespace upmu

#endif
