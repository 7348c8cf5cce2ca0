/* SPDX-License-Identifier: MIT */
/*
 * upmu record as a rank of an MPI job.
 *
 * The first recorder makes the directory and in it the job's file, by whose name the others recognize it. Each recorder
 * holds a shared lock of that file until its rank has ended: the last one, or the only one that was not killed, gets it alone. Where the
 * file system has no locks, the bytes count that each recorder appends when it begins and when its rank has ended.
 */
#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "mpi/launcher.h"
#include "ui/memory.h"
#include "ui/output.h"

enum { JOB_BEGIN = 'b', JOB_END = 'e' };

static int job_lock = -1; /* the job's file, with the lock; -1: there is none */

bool job_is_rank(void)
{
    return launcher_rank() >= 0;
}

bool job_is_launcher(const char *command)
{
    static const char *const names[] = {"mpirun", "mpiexec", "orterun", "prterun", "srun",
                                        "aprun",  "jsrun",   "palsrun", "flux"};
    const char *slash = strrchr(command, '/');
    const char *name = slash ? slash + 1 : command;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (strncmp(name, names[i], n) == 0 && (name[n] == '\0' || name[n] == '.' || name[n] == '-'))
            return true; /* mpirun.openmpi, mpiexec.hydra */
    }
    return false;
}

/* A part of a file's name. */
static void job_name(char name[LAUNCHER_JOB_MAX])
{
    if (!launcher_job(name))
        strcpy(name, "job");
    for (char *p = name; *p; p++)
        if (strchr("/ :", *p))
            *p = '-';
}

static char *job_file(const char *dir)
{
    char name[LAUNCHER_JOB_MAX];
    job_name(name);
    return memory_format("%s/.job-%s", dir, name);
}

char *job_directory(const char *command)
{
    char name[LAUNCHER_JOB_MAX];
    const char *slash = strrchr(command, '/');
    job_name(name);
    return memory_format("upmu-record-%s-%s", slash ? slash + 1 : command, name);
}

int job_set_environment(void)
{
    char name[LAUNCHER_JOB_MAX];
    return launcher_job(name) ? setenv("UPMU_MPI_JOB", name, 1) : 0;
}

static bool job_write(int fd, char what)
{
    return fd >= 0 && write(fd, &what, 1) == 1;
}

/* @return 0; -1 with errno. */
static int job_enter(const char *file, int flags)
{
    int fd = open(file, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (!job_write(fd, JOB_BEGIN)) {
        int err = errno;
        if (fd >= 0)
            close(fd);
        errno = err;
        return -1;
    }
    if (flock(fd, LOCK_SH) == 0)
        job_lock = fd;
    else
        close(fd);
    return 0;
}

static bool is_directory(const char *dir)
{
    struct stat st;
    return stat(dir, &st) == 0 && S_ISDIR(st.st_mode);
}

/* One attempt. Between an earlier rank's mkdir() and its file the directory is empty, and another rank may remove it: both begin
 * again. @return 0; -1 with errno. */
static int job_try_directory(const char *dir, const char *file)
{
    if (job_enter(file, 0) == 0)
        return 0;
    (void)rmdir(dir); /* an empty one is as good as none */
    return mkdir(dir, 0700) == 0 ? job_enter(file, O_CREAT) : -1;
}

int job_make_directory(const char *dir)
{
    enum { TRIES = 300, PAUSE_NS = 10000000 };
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    char *file = job_file(dir);
    int rc = job_try_directory(dir, file);
    for (int i = 0; i < TRIES && rc != 0 && (is_directory(dir) || errno == ENOENT); i++) {
        nanosleep(&pause, NULL);
        rc = job_try_directory(dir, file);
    }
    int err = errno;
    if (rc != 0 && is_directory(dir))
        complain("%s is not empty, and not of this job: a recording needs its own directory; give another one with -o",
                 dir);
    else if (rc != 0)
        complain("cannot create the directory %s: %s", dir, strerror(err));
    free(file);
    return rc;
}

bool job_is_first_of_host(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",    "SLURM_LOCALID",
                                        "PALS_LOCAL_RANKID",          "FLUX_TASK_LOCAL_ID", NULL};
    long rank = launcher_number(names);
    return rank < 0 ? launcher_rank() == 0 : rank == 0;
}

/* @return whether as many have ended as have begun; true also if that cannot be seen: better twice than never. */
static bool job_all_ended(int fd)
{
    char bytes[4096];
    long running = 0;
    ssize_t n;
    while ((n = read(fd, bytes, sizeof bytes)) > 0)
        for (ssize_t i = 0; i < n; i++)
            running += bytes[i] == JOB_BEGIN ? 1 : -1;
    return running <= 0;
}

bool job_is_last(const char *dir)
{
    char *file = job_file(dir);
    int fd = open(file, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW), lock = job_lock;
    bool last = !job_write(fd, JOB_END) || job_all_ended(fd);
    free(file);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
        last = true;
    else if (lock >= 0 && errno == EWOULDBLOCK)
        last = false;
    if (lock >= 0)
        close(lock);
    job_lock = -1;
    if (fd >= 0)
        close(fd);
    return last;
}
