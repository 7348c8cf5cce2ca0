/* SPDX-License-Identifier: MIT */
/* Names of event kinds, object types, MPI calls and OpenMP constructs. */
#include "base/text/name.h"
#include "trace/format/mpi_calls.h"
#include "upmu/trace.h"

const char *upmu_trace_kind_name(int kind)
{
    static const char *const names[] = {
        [UPMU_TRACE_REGION_BEGIN] = "begin",
        [UPMU_TRACE_REGION_END] = "end",
        [UPMU_TRACE_MARK] = "mark",
        [UPMU_TRACE_REGIONS_DISCARDED] = "regions-discarded",
        [UPMU_TRACE_LOCK_BLOCK] = "lock-block",
        [UPMU_TRACE_LOCK_ACQUIRED] = "lock-acquired",
        [UPMU_TRACE_LOCK_ACQUIRE] = "lock-acquire",
        [UPMU_TRACE_LOCK_RELEASE] = "lock-release",
        [UPMU_TRACE_LOCK_FAILED] = "lock-failed",
        [UPMU_TRACE_LOCK_INIT] = "lock-init",
        [UPMU_TRACE_LOCK_DESTROY] = "lock-destroy",
        [UPMU_TRACE_LOCK_COUNTS] = "lock-counts",
        [UPMU_TRACE_LOCK_NAME] = "lock-name",
        [UPMU_TRACE_LOCK_MISUSE] = "lock-misuse",
        [UPMU_TRACE_COND_WAIT] = "cond-wait",
        [UPMU_TRACE_COND_WAKE] = "cond-wake",
        [UPMU_TRACE_COND_SIGNAL] = "cond-signal",
        [UPMU_TRACE_COND_BROADCAST] = "cond-broadcast",
        [UPMU_TRACE_SEM_POST] = "sem-post",
        [UPMU_TRACE_THREAD_CREATE] = "thread-create",
        [UPMU_TRACE_THREAD_START] = "thread-start",
        [UPMU_TRACE_THREAD_EXIT] = "thread-exit",
        [UPMU_TRACE_THREAD_JOIN] = "thread-join",
        [UPMU_TRACE_THREAD_JOINED] = "thread-joined",
        [UPMU_TRACE_THREAD_NAME] = "thread-name",
        [UPMU_TRACE_THREAD_DETACH] = "thread-detach",
        [UPMU_TRACE_THREAD_CANCEL] = "thread-cancel",
        [UPMU_TRACE_LOCK_CONSISTENT] = "lock-consistent",
        [UPMU_TRACE_LOCK_ORDER] = "lock-order",
        [UPMU_TRACE_LOCK_REQUEST] = "lock-request",
        [UPMU_TRACE_SEM_OPEN] = "sem-open",
        [UPMU_TRACE_SEM_CLOSE] = "sem-close",
        [UPMU_TRACE_SEM_UNLINK] = "sem-unlink",
        [UPMU_TRACE_SEM_VALUE] = "sem-value",
        [UPMU_TRACE_BARRIER_ARRIVE] = "barrier-arrive",
        [UPMU_TRACE_BARRIER_LEAVE] = "barrier-leave",
        [UPMU_TRACE_FUTEX_WAIT] = "futex-wait",
        [UPMU_TRACE_FUTEX_WOKEN] = "futex-woken",
        [UPMU_TRACE_FUTEX_WAKE] = "futex-wake",
        [UPMU_TRACE_FUTEX_ALSO] = "futex-also",
        [UPMU_TRACE_SCHED_BEGIN] = "sched-begin",
        [UPMU_TRACE_SCHED_OUT] = "sched-out",
        [UPMU_TRACE_SCHED_IN] = "sched-in",
        [UPMU_TRACE_SCHED_LOST] = "sched-lost",
        [UPMU_TRACE_SCHED_SEEN] = "sched-seen",
        [UPMU_TRACE_SCHED_WAKE] = "sched-wake",
        [UPMU_TRACE_KERNEL_LOCK_BLOCK] = "kernel-lock-block",
        [UPMU_TRACE_KERNEL_LOCK_DONE] = "kernel-lock-done",
        [UPMU_TRACE_COUNTERS] = "counters",
        [UPMU_TRACE_FUTEX_COUNTS] = "futex-counts",
        [UPMU_TRACE_CALL_BLOCK] = "call-block",
        [UPMU_TRACE_CALL_RETURN] = "call-return",
        [UPMU_TRACE_MPI_ENTER] = "mpi-enter",
        [UPMU_TRACE_MPI_LEAVE] = "mpi-leave",
        [UPMU_TRACE_MPI_REQUEST] = "mpi-request",
        [UPMU_TRACE_MPI_POLL] = "mpi-poll",
        [UPMU_TRACE_MPI_COMM] = "mpi-comm",
        [UPMU_TRACE_MPI_ENV] = "mpi-env",
        [UPMU_TRACE_MPI_COUNT] = "mpi-count",
        [UPMU_TRACE_MPI_START] = "mpi-start",
        [UPMU_TRACE_SAMPLE] = "sample",
        [UPMU_TRACE_OMP] = "omp",
        [UPMU_TRACE_OMP_PARALLEL] = "omp-parallel",
        [UPMU_TRACE_OMP_ENV] = "omp-env",
        [UPMU_TRACE_HEAP_ALLOC] = "heap-alloc",
        [UPMU_TRACE_HEAP_FREE] = "heap-free",
    };
    return NAME_OF(names, kind);
}

const char *upmu_object_type_name(int type)
{
    static const char *const names[] = {
        [UPMU_OBJECT_NONE] = "none",
        [UPMU_OBJECT_MUTEX] = "mutex",
        [UPMU_OBJECT_COND] = "cond",
        [UPMU_OBJECT_SEM] = "sem",
        [UPMU_OBJECT_CUSTOM] = "lock",
        [UPMU_OBJECT_THREAD] = "thread",
        [UPMU_OBJECT_RWLOCK] = "rwlock",
        [UPMU_OBJECT_SPIN] = "spin",
        [UPMU_OBJECT_BARRIER] = "barrier",
        [UPMU_OBJECT_ONCE] = "once",
        [UPMU_OBJECT_FUTEX] = "futex",
        [UPMU_OBJECT_CALL] = "call",
        [UPMU_OBJECT_QMUTEX] = "QMutex",
        [UPMU_OBJECT_QRWLOCK] = "QReadWriteLock",
        [UPMU_OBJECT_ABSL_MUTEX] = "absl::Mutex",
    };
    return NAME_OF(names, type);
}

const char *upmu_trace_mpi_call_name(uint32_t call)
{
    return call > 0 && call < MPI_CALL_NUMBERS && mpi_call_rows[call].name[0] ? mpi_call_rows[call].name : "?";
}

const char *upmu_trace_omp_event_name(uint32_t event)
{
    static const char *const names[] = {
        [UPMU_OMP_PARALLEL_END] = "parallel-end",
        [UPMU_OMP_MEMBER] = "member",
        [UPMU_OMP_MEMBER_END] = "member-end",
        [UPMU_OMP_WAIT] = "wait",
        [UPMU_OMP_WAITED] = "waited",
        [UPMU_OMP_RELEASE] = "release",
        [UPMU_OMP_TASK] = "task",
        [UPMU_OMP_TASK_END] = "task-end",
        [UPMU_OMP_TASK_CREATE] = "task-create",
        [UPMU_OMP_ENTER] = "enter",
        [UPMU_OMP_LEAVE] = "leave",
    };
    return NAME_OF(names, (int)event);
}

const char *upmu_trace_omp_construct_name(uint32_t construct)
{
    static const char *const names[] = {
        [UPMU_OMP_NONE] = "none",
        [UPMU_OMP_BARRIER_IMPLICIT] = "implicit-barrier",
        [UPMU_OMP_BARRIER_EXPLICIT] = "explicit-barrier",
        [UPMU_OMP_BARRIER] = "barrier",
        [UPMU_OMP_TASKWAIT] = "taskwait",
        [UPMU_OMP_TASKGROUP] = "taskgroup",
        [UPMU_OMP_CRITICAL] = "critical",
        [UPMU_OMP_LOCK] = "lock",
        [UPMU_OMP_NEST_LOCK] = "nest-lock",
        [UPMU_OMP_ORDERED] = "ordered",
        [UPMU_OMP_ATOMIC] = "atomic",
        [UPMU_OMP_REDUCTION] = "reduction",
        [UPMU_OMP_COPYPRIVATE] = "copyprivate",
        [UPMU_OMP_LOOP] = "loop",
        [UPMU_OMP_SECTIONS] = "sections",
        [UPMU_OMP_SINGLE] = "single",
        [UPMU_OMP_TASKLOOP] = "taskloop",
        [UPMU_OMP_OTHER] = "other",
        [UPMU_OMP_EXPLICIT_TASK] = "task",
        [UPMU_OMP_START] = "start",
        [UPMU_OMP_JOIN] = "join",
    };
    return NAME_OF(names, (int)construct);
}
