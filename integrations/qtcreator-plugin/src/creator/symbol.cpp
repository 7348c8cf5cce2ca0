// SPDX-License-Identifier: MIT
// Functions of the running Qt Creator: plugins are loaded without RTLD_GLOBAL, so that libraries are looked up by their file.
#include "symbol.h"

#include <cstring>

#include <dlfcn.h>
#include <link.h>

namespace upmu
{

namespace
{

struct Search {
    const char *library;
    const char *path;
};

int takeLibrary(struct dl_phdr_info *info, size_t, void *data)
{
    auto *search = static_cast<Search *>(data);
    const char *slash = std::strrchr(info->dlpi_name, '/');
    const char *name = slash ? slash + 1 : info->dlpi_name;
    const size_t length = std::strlen(search->library);
    if (std::strncmp(name, search->library, length) != 0 || std::strncmp(name + length, ".so", 3) != 0)
        return 0;
    search->path = info->dlpi_name;
    return 1;
}

} // namespace

void *creatorSymbol(const char *library, const char *name)
{
    Search search = {library, nullptr};
    dl_iterate_phdr(takeLibrary, &search);
    void *handle = search.path ? dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    if (!handle)
        return nullptr;
    void *address = dlsym(handle, name);
    dlclose(handle); // Qt Creator keeps it
    return address;
}

} // namespace upmu
