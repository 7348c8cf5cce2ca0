/* SPDX-License-Identifier: MIT */
/* Preparation of a recording: the program, the library to preload, the directory. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ui/command.h"
#include "ui/library.h"
#include "ui/memory.h"
#include "ui/output.h"
#include "job.h"
#include "program.h"
#include "record.h"

#define PRELOAD_LOCKS "libupmu_sync.so.0"
#define PRELOAD_FUNCTIONS "libupmu_func.so.0"
#define PRELOAD_MPI "libupmu_mpi.so.0"
#define PRELOAD_OPENMP "libupmu_omp.so.0"
#define PRELOAD_HEAP "libupmu_heap.so.0"

/* ------------------------------------------------------------------------------------------------ the library */

/* @return its path, to be freed, or NULL. */
static char *record_find_library(const char *name)
{
    char *path = library_path(name);
    if (!path)
        return NULL;
    if (access(path, R_OK) != 0) {
        complain("%s: %s; upmu record needs it", path, strerror(errno));
        free(path);
        return NULL;
    }
    if (strpbrk(path, ": \t\n")) {
        complain("%s cannot be preloaded: LD_PRELOAD accepts no path with a space or a colon", path);
        free(path);
        return NULL;
    }
    return path;
}

/* ----------------------------------------------------------------------------------------------- the directory */

static char *record_default_directory(const char *command)
{
    char when[32];
    struct tm tm;
    time_t now = time(NULL);
    const char *slash = strrchr(command, '/');
    if (!localtime_r(&now, &tm) || strftime(when, sizeof when, "%Y%m%d-%H%M%S", &tm) == 0)
        snprintf(when, sizeof when, "%lld", (long long)now);
    return memory_format("upmu-record-%s-%s", slash ? slash + 1 : command, when);
}

/* Make the directory, or replace an empty one. rmdir() is the only test for an empty directory that has no race. */
static int record_make_directory(const char *dir)
{
    if (rmdir(dir) != 0 && errno != ENOENT) {
        if (errno == ENOTEMPTY || errno == EEXIST)
            complain("%s is not empty: a recording needs its own directory; give another one with -o", dir);
        else
            complain("cannot use %s as the directory of the recording: %s", dir, strerror(errno));
        return -1;
    }
    if (mkdir(dir, 0700) != 0) {
        complain("cannot create the directory %s: %s", dir, strerror(errno));
        return -1;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------------- all */

static bool record_is_directory_name(const char *output)
{
    if (!output || !output_is_standard(output))
        return true;
    complain("-o: a recording is a directory and cannot be written to standard output; give the name of a directory");
    return false;
}

int record_directory(struct record_request *request, const char *output, const char *name, char **shown)
{
    char real[PATH_MAX];
    *shown = output ? memory_copy(output) : request->is_rank ? job_directory(name) : record_default_directory(name);
    if ((request->is_rank ? job_make_directory(*shown) : record_make_directory(*shown)) != 0)
        return EXIT_FAILED;
    if (!realpath(*shown, real)) {
        complain("%s: %s", *shown, strerror(errno));
        return EXIT_FAILED;
    }
    request->dir = memory_copy(real);
    request->shown = *shown;
    return EXIT_OK;
}

int record_prepare(struct record_request *request, const char *output, char **shown)
{
    int status = EXIT_FAILED;
    *shown = NULL;
    if (!record_is_directory_name(output))
        return EXIT_USAGE;
    if (request->pid)
        return record_directory(request, output, "process", shown);
    request->program = program_find(request->argv[0], &status);
    if (!request->program)
        return status;
    request->library = record_find_library(PRELOAD_LOCKS);
    request->functions = request->record_functions ? record_find_library(PRELOAD_FUNCTIONS) : NULL;
    request->mpi = request->record_mpi ? record_find_library(PRELOAD_MPI) : NULL;
    request->openmp = request->record_openmp ? record_find_library(PRELOAD_OPENMP) : NULL;
    request->heap = request->record_heap ? record_find_library(PRELOAD_HEAP) : NULL;
    request->is_rank = request->record_mpi && job_is_rank();
    if (request->is_rank && job_set_environment() != 0)
        return EXIT_FAILED;
    if (!request->library || (request->record_functions && !request->functions) ||
        (request->record_mpi && !request->mpi) || (request->record_openmp && !request->openmp) ||
        (request->record_heap && !request->heap) || program_preloads(request->program, request->library) != 0)
        return EXIT_FAILED;
    return record_directory(request, output, request->argv[0], shown);
}

void record_release(struct record_request *request, char *shown)
{
    free(request->program);
    free(request->library);
    free(request->functions);
    free(request->mpi);
    free(request->openmp);
    free(request->heap);
    free(request->dir);
    free(request->snapshots.triggers);
    free(shown);
    request->program = request->library = request->functions = request->mpi = request->openmp = NULL;
    request->heap = request->dir = NULL;
}
