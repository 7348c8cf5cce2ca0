# SPDX-License-Identifier: MIT
# Written by bindings/python/generate.py from include/upmu; do not edit.
"""The C API as ctypes declarations: constants, structs, and the functions of each library."""
from ctypes import (POINTER, Structure, Union, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32,
                    c_uint64, c_void_p)

UPMU_STACKS_USER = 0
UPMU_STACKS_EXPERT = 1
UPMU_STACKS_MACHINE = 2
UPMU_WAIT_MUTEX = 0
UPMU_WAIT_COND = 1
UPMU_WAIT_SEM = 2
UPMU_WAIT_CUSTOM = 3
UPMU_WAIT_JOIN = 4
UPMU_WAIT_RWLOCK = 5
UPMU_WAIT_SPIN = 6
UPMU_WAIT_BARRIER = 7
UPMU_WAIT_ONCE = 8
UPMU_WAIT_FUTEX = 9
UPMU_WAIT_SLEEP = 10
UPMU_WAIT_POLL = 11
UPMU_WAIT_SIGNAL = 12
UPMU_WAIT_READ = 13
UPMU_WAIT_WRITE = 14
UPMU_WAIT_CHILD = 15
UPMU_SCHED_UNKNOWN = 0
UPMU_SCHED_RUNNING = 1
UPMU_SCHED_PREEMPTED = 2
UPMU_SCHED_BLOCKED = 3
UPMU_IDENTITY_NAME = 0
UPMU_IDENTITY_VARIABLE = 1
UPMU_IDENTITY_CREATED = 2
UPMU_IDENTITY_FIRST_USE = 3
UPMU_IDENTITY_ADDRESS = 4
UPMU_PATH_RUNNING = 0
UPMU_PATH_WAKEUP = 1
UPMU_PATH_WAITING = 2
UPMU_PATH_STOPPED = 3
UPMU_SECTION_HELD = 0
UPMU_SECTION_WAITED = 1
UPMU_FRAME_UNKNOWN = 0
UPMU_FRAME_CODE = 1
UPMU_FRAME_SIGNAL = 2
UPMU_FRAME_ROOT = 3
UPMU_FRAME_STUB = 4
UPMU_FRAME_JIT = 5
UPMU_FRAME_TAIL_CALL = 6
UPMU_FRAME_TRUNCATED = 7
UPMU_FRAME_LOST = 8
UPMU_FRAME_ONLY_SITE = 9
UPMU_FRAME_SCANNED = 10
UPMU_FRAME_TASK_CALLERS = 11
UPMU_FRAME_REGION_CALLERS = 12
UPMU_CONTROL_STOPPED = -1
UPMU_CONTROL_NO_SYNC = -2
UPMU_CONTROL_FUNCTIONS_NONE = 0
UPMU_CONTROL_FUNCTIONS_ON = 1
UPMU_CONTROL_FUNCTIONS_STOPPED = 2
UPMU_DEADLOCK_CYCLE = 0
UPMU_DEADLOCK_SELF = 1
UPMU_DEADLOCK_OWNER_ENDED = 2
UPMU_DEADLOCK_JOIN_CYCLE = 3
UPMU_DEADLOCK_JOIN_SELF = 4
UPMU_DEADLOCK_NO_POST = 5
UPMU_DEADLOCK_NO_SIGNAL = 6
UPMU_DEADLOCK_BARRIER_SHORT = 7
UPMU_DEADLOCK_NO_WAKE = 8
UPMU_DEADLOCK_ALL_ASLEEP = 9
UPMU_DEADLOCK_CROSS_PROCESS = 10
UPMU_DEADLOCK_CERTAIN = 0
UPMU_DEADLOCK_STALLED = 1
UPMU_DEADLOCK_BREAKABLE = 2
UPMU_DEADLOCK_WAKEABLE = 3
UPMU_LOCK_INVERSION = 0
UPMU_LOCK_GATED = 1
UPMU_LOCK_ONE_THREAD = 2
UPMU_LOCK_ORDERED = 3
UPMU_LOCK_BROKEN = 4
UPMU_EXPORT_AUTO = 0
UPMU_EXPORT_WAITS = 1
UPMU_EXPORT_REGIONS = 2
UPMU_EXPORT_FUNCTIONS = 3
UPMU_EXPORT_SAMPLES = 4
UPMU_EXPORT_WALL = 5
UPMU_FINDING_DEADLOCK = 0
UPMU_FINDING_SECTION = 1
UPMU_FINDING_HAND_OVER = 2
UPMU_FINDING_IMBALANCE = 3
UPMU_FINDING_NO_CPU = 4
UPMU_FINDING_IO = 5
UPMU_FINDING_HERD = 6
UPMU_FUNCTION_ROWS = 0
UPMU_FUNCTION_EDGE_ROWS = 1
UPMU_FUNCTION_PATH_ROWS = 2
UPMU_FUNCTION_ENTER = 1
UPMU_FUNCTION_LEAVE = 2
UPMU_MPI_END_FINALIZED = 0
UPMU_MPI_END_EXITED = 1
UPMU_MPI_END_KILLED = 2
UPMU_MPI_LATE_SENDER = 1
UPMU_MPI_LATE_RECEIVER = 2
UPMU_MPI_WAIT_BARRIER = 3
UPMU_MPI_WAIT_ALL = 4
UPMU_MPI_LATE_BROADCAST = 5
UPMU_MPI_EARLY_REDUCE = 6
UPMU_MPI_EARLY_SCAN = 7
UPMU_MPI_WAIT_FINALIZE = 8
UPMU_MPI_WRONG_ORDER = 9
UPMU_MPI_DEADLOCK_CYCLE = 1
UPMU_MPI_DEADLOCK_COLLECTIVE = 2
UPMU_MPI_DEADLOCK_KNOT = 3
UPMU_MPI_DEADLOCK_LOCK = 4
UPMU_MPI_DEADLOCK_FINALIZED = 5
UPMU_OVERFLOW_PERF = 1
UPMU_OVERFLOW_TIMER = 2
UPMU_SAMPLER_FRAME_POINTERS = 0
UPMU_SAMPLER_COPY = 1
UPMU_SAMPLER_NONE = 2
UPMU_SAMPLER_AT_EXEC = 1
UPMU_SAMPLER_RUNNING = 2
UPMU_SAMPLES_PERF = 1
UPMU_SAMPLES_TIMER = 2
UPMU_SAMPLE_WHOLE = 0
UPMU_SAMPLE_CUT = 1
UPMU_SAMPLE_BROKEN = 2
UPMU_TRIGGER_REGION = 1
UPMU_TRIGGER_WAIT = 2
UPMU_TRIGGER_DEADLOCK = 3
UPMU_SYNC_HOLDERS = 0
UPMU_SYNC_CONTENDED = 1
UPMU_SYNC_ALL = 2
UPMU_SYNC_COUNTS = 3
UPMU_ROW_WAIT = 0
UPMU_ROW_REGION = 1
UPMU_ROW_ACQUIRE = 2
UPMU_ROW_RELEASE = 3
UPMU_ROW_WAKE = 4
UPMU_ROW_THREAD = 5
UPMU_ROW_MARK = 6
UPMU_ROW_OBJECT = 7
UPMU_TRACE_REGION_BEGIN = 1
UPMU_TRACE_REGION_END = 2
UPMU_TRACE_MARK = 3
UPMU_TRACE_REGIONS_DISCARDED = 4
UPMU_TRACE_LOCK_BLOCK = 16
UPMU_TRACE_LOCK_ACQUIRED = 17
UPMU_TRACE_LOCK_ACQUIRE = 18
UPMU_TRACE_LOCK_RELEASE = 19
UPMU_TRACE_LOCK_FAILED = 20
UPMU_TRACE_LOCK_INIT = 21
UPMU_TRACE_LOCK_DESTROY = 22
UPMU_TRACE_LOCK_COUNTS = 23
UPMU_TRACE_LOCK_NAME = 24
UPMU_TRACE_LOCK_MISUSE = 25
UPMU_TRACE_LOCK_CONSISTENT = 26
UPMU_TRACE_LOCK_ORDER = 27
UPMU_TRACE_LOCK_REQUEST = 28
UPMU_TRACE_COND_WAIT = 32
UPMU_TRACE_COND_WAKE = 33
UPMU_TRACE_COND_SIGNAL = 34
UPMU_TRACE_COND_BROADCAST = 35
UPMU_TRACE_SEM_POST = 40
UPMU_TRACE_SEM_OPEN = 41
UPMU_TRACE_SEM_CLOSE = 42
UPMU_TRACE_SEM_UNLINK = 43
UPMU_TRACE_SEM_VALUE = 44
UPMU_TRACE_THREAD_CREATE = 48
UPMU_TRACE_THREAD_START = 49
UPMU_TRACE_THREAD_EXIT = 50
UPMU_TRACE_THREAD_JOIN = 51
UPMU_TRACE_THREAD_JOINED = 52
UPMU_TRACE_THREAD_NAME = 53
UPMU_TRACE_THREAD_DETACH = 54
UPMU_TRACE_THREAD_CANCEL = 55
UPMU_TRACE_BARRIER_ARRIVE = 56
UPMU_TRACE_BARRIER_LEAVE = 57
UPMU_TRACE_FUTEX_WAIT = 58
UPMU_TRACE_FUTEX_WOKEN = 59
UPMU_TRACE_FUTEX_WAKE = 60
UPMU_TRACE_FUTEX_ALSO = 61
UPMU_TRACE_SCHED_BEGIN = 64
UPMU_TRACE_SCHED_OUT = 65
UPMU_TRACE_SCHED_IN = 66
UPMU_TRACE_SCHED_LOST = 67
UPMU_TRACE_SCHED_SEEN = 68
UPMU_TRACE_SCHED_WAKE = 69
UPMU_TRACE_KERNEL_LOCK_BLOCK = 70
UPMU_TRACE_KERNEL_LOCK_DONE = 71
UPMU_TRACE_COUNTERS = 72
UPMU_TRACE_CALL_BLOCK = 74
UPMU_TRACE_CALL_RETURN = 75
UPMU_TRACE_MPI_ENTER = 80
UPMU_TRACE_MPI_LEAVE = 81
UPMU_TRACE_MPI_REQUEST = 82
UPMU_TRACE_MPI_POLL = 83
UPMU_TRACE_MPI_COMM = 84
UPMU_TRACE_MPI_ENV = 85
UPMU_TRACE_MPI_START = 87
UPMU_TRACE_MPI_COUNT = 86
UPMU_TRACE_SAMPLE = 90
UPMU_TRACE_OMP = 91
UPMU_TRACE_OMP_PARALLEL = 92
UPMU_TRACE_OMP_ENV = 93
UPMU_TRACE_HEAP_ALLOC = 94
UPMU_TRACE_HEAP_FREE = 95
UPMU_TRACE_FUTEX_COUNTS = 73
UPMU_OBJECT_NONE = 0
UPMU_OBJECT_MUTEX = 1
UPMU_OBJECT_COND = 2
UPMU_OBJECT_SEM = 3
UPMU_OBJECT_CUSTOM = 4
UPMU_OBJECT_THREAD = 5
UPMU_OBJECT_RWLOCK = 6
UPMU_OBJECT_SPIN = 7
UPMU_OBJECT_BARRIER = 8
UPMU_OBJECT_ONCE = 9
UPMU_OBJECT_FUTEX = 10
UPMU_OBJECT_CALL = 11
UPMU_OBJECT_QMUTEX = 12
UPMU_OBJECT_QRWLOCK = 13
UPMU_OBJECT_ABSL_MUTEX = 14
UPMU_CALL_SLEEP = 1
UPMU_CALL_POLL = 2
UPMU_CALL_SIGNAL = 3
UPMU_CALL_READ = 4
UPMU_CALL_WRITE = 5
UPMU_CALL_CHILD = 6
UPMU_DESCRIPTOR_UNKNOWN = 0
UPMU_DESCRIPTOR_FILE = 1
UPMU_DESCRIPTOR_PIPE = 2
UPMU_DESCRIPTOR_SOCKET = 3
UPMU_DESCRIPTOR_DEVICE = 4
UPMU_DESCRIPTOR_EPOLL = 5
UPMU_DESCRIPTOR_EVENT = 6
UPMU_DESCRIPTOR_TIMER = 7
UPMU_DESCRIPTOR_SIGNAL = 8
UPMU_DESCRIPTOR_OTHER = 9
UPMU_KERNEL_LOCK_SPIN = 1
UPMU_KERNEL_LOCK_READ = 2
UPMU_KERNEL_LOCK_WRITE = 4
UPMU_KERNEL_LOCK_RT = 8
UPMU_KERNEL_LOCK_PERCPU = 16
UPMU_KERNEL_LOCK_MUTEX = 32
UPMU_TRACE_FLAG_SHARED = 1
UPMU_TRACE_FLAG_HOLDER_SHARED = 2
UPMU_TRACE_FLAG_TIMED = 4
UPMU_TRACE_FLAG_TRIED = 8
UPMU_TRACE_FLAG_SAMPLED = 16
UPMU_TRACE_FLAG_RECURSIVE = 32
UPMU_TRACE_FLAG_ERRORCHECK = 64
UPMU_TRACE_FLAG_ROBUST = 128
UPMU_TRACE_FLAG_PI = 256
UPMU_TRACE_FLAG_PSHARED = 512
UPMU_TRACE_FLAG_FINAL = 1024
UPMU_TRACE_FLAG_PREEMPTED = 2048
UPMU_TRACE_FLAG_FREED = 4096
UPMU_TRACE_FLAG_WRITERS_FIRST = 8192
UPMU_TRACE_FLAG_BEFORE = 16384
UPMU_MPI_ANY = -1
UPMU_MPI_PROC_NULL = -2
UPMU_MPI_NONE = -3
UPMU_MPI_UNKNOWN = -4
UPMU_OMP_PARALLEL_END = 1
UPMU_OMP_MEMBER = 2
UPMU_OMP_MEMBER_END = 3
UPMU_OMP_WAIT = 4
UPMU_OMP_WAITED = 5
UPMU_OMP_RELEASE = 6
UPMU_OMP_TASK = 7
UPMU_OMP_TASK_END = 8
UPMU_OMP_TASK_CREATE = 9
UPMU_OMP_ENTER = 10
UPMU_OMP_LEAVE = 11
UPMU_OMP_NONE = 0
UPMU_OMP_BARRIER_IMPLICIT = 1
UPMU_OMP_BARRIER_EXPLICIT = 2
UPMU_OMP_BARRIER = 3
UPMU_OMP_TASKWAIT = 4
UPMU_OMP_TASKGROUP = 5
UPMU_OMP_CRITICAL = 6
UPMU_OMP_LOCK = 7
UPMU_OMP_NEST_LOCK = 8
UPMU_OMP_ORDERED = 9
UPMU_OMP_ATOMIC = 10
UPMU_OMP_REDUCTION = 11
UPMU_OMP_COPYPRIVATE = 12
UPMU_OMP_LOOP = 16
UPMU_OMP_SECTIONS = 17
UPMU_OMP_SINGLE = 18
UPMU_OMP_TASKLOOP = 19
UPMU_OMP_OTHER = 20
UPMU_OMP_EXPLICIT_TASK = 21
UPMU_OMP_START = 32
UPMU_OMP_JOIN = 33
UPMU_STACK_NONE = 0
UPMU_STACK_LIBUNWIND = 1
UPMU_STACK_LIBGCC = 2
UPMU_STACK_FRAME_POINTER = 3
UPMU_STACK_SCANNED = 4
UPMU_STACK_COPIED = 5
UPMU_STACK_TABLES = 6
UPMU_OK = 0
UPMU_E_INVAL = -1
UPMU_E_NOMEM = -2
UPMU_E_NAME = -3
UPMU_E_UNSUPPORTED = -4
UPMU_E_NO_PMU = -5
UPMU_E_PERM = -6
UPMU_E_SECCOMP = -7
UPMU_E_NO_SYSCALL = -8
UPMU_E_NFILES = -9
UPMU_E_MLOCK = -10
UPMU_E_BUSY = -11
UPMU_E_GONE = -12
UPMU_E_FIT = -13
UPMU_E_STATE = -14
UPMU_E_IO = -15
UPMU_E_FORMAT = -16
UPMU_E_VERSION = -17
UPMU_E_LIMIT = -18
UPMU_E_SYSTEM = -19
UPMU_E_BACKEND = -20
UPMU_E_PARTIAL = -21
UPMU_E_JUMP = -22
UPMU_E_RANGE = -23
UPMU_E_END = -24
UPMU_E_NESTED = -25
UPMU_NOT_COUNTED = 0
UPMU_EXACT = 1
UPMU_SCALED = 2
UPMU_REFUSED = 3
UPMU_UNSUPPORTED = 4
UPMU_MATCH_ABSENT = 0
UPMU_MATCH_EXACT = 1
UPMU_MATCH_APPROXIMATE = 2
UPMU_EXCLUDE_USER = 1
UPMU_EXCLUDE_KERNEL = 2
UPMU_EXCLUDE_HV = 4
UPMU_EXCLUDE_HOST = 8
UPMU_EXCLUDE_GUEST = 16
UPMU_EXCLUDE_NAMED = 256
UPMU_TARGET_THREAD = 0
UPMU_TARGET_PROCESS = 1
UPMU_TARGET_COMMAND = 2
UPMU_TARGET_CPU = 3
UPMU_TARGET_TASK = 4
UPMU_SET_STRICT = 1
UPMU_SET_NO_USER_READ = 2
UPMU_SET_INHERIT = 4
UPMU_SET_NO_INHERIT = 8
UPMU_SET_TOGETHER = 16
UPMU_PLAN_EVENT = 0
UPMU_PLAN_CORE_TYPE = 1
UPMU_PLAN_FILLER = 2
UPMU_PLAN_TERM = 3
UPMU_DIAGNOSIS_OK = 0
UPMU_DIAGNOSIS_LIMITED = 1
UPMU_DIAGNOSIS_MISSING = 2
UPMU_DIAGNOSIS_INFO = 3
UPMU_FILTER_ALLOWED = 0
UPMU_FILTER_REFUSED = 1
UPMU_FILTER_ASKED = 2
UPMU_FILTER_KILLED = 3
UPMU_NO_INDEX = 4294967295
UPMU_FUNC_NO_DEPTH = 4294967295
UPMU_FUNC_NO_MIN = 18446744073709551615
UPMU_REGION_NAME_MAX = 255
UPMU_REGION_DEPTH_MAX = 256
UPMU_REGION_EVENTS_MAX = 16
UPMU_ALL_THREADS = 0
UPMU_SUBSCRIPTION_NO_EVENTS = 4294967295
UPMU_SYNC_NO_STACKS = 4294967295
UPMU_SYNC_NO_SAMPLES = 4294967295
UPMU_NO_VALUE = 18446744073709551615


class UpmuOverviewOpts(Structure):
    """struct upmu_overview_opts"""
    _fields_ = [
        ("size", c_size_t),
        ("debug_dir", c_char_p),
        ("progress", c_void_p),
        ("arg", c_void_p),
        ("stacks", c_int32),
        ("reserved", c_uint32),
        ("from_ns", c_uint64),
        ("to_ns", c_uint64),
    ]


class UpmuOverviewTotals(Structure):
    """struct upmu_overview_totals"""
    _fields_ = [
        ("size", c_size_t),
        ("events", c_uint64),
        ("unknown", c_uint64),
        ("begin_ns", c_uint64),
        ("end_ns", c_uint64),
        ("lost", c_uint64),
        ("unmatched", c_uint64),
        ("unfinished", c_uint64),
        ("n_processes", c_size_t),
        ("n_threads", c_size_t),
        ("n_objects", c_size_t),
        ("n_regions", c_size_t),
        ("n_damages", c_size_t),
        ("own_cost_ns", c_uint64),
        ("lifetime_ns", c_uint64),
        ("openmp", c_uint64),
        ("from_ns", c_uint64),
        ("to_ns", c_uint64),
    ]


class UpmuOverviewRecorded(Structure):
    """struct upmu_overview_recorded"""
    _fields_ = [
        ("size", c_size_t),
        ("begin_ns", c_uint64),
        ("end_ns", c_uint64),
        ("stopped_ns", c_uint64),
        ("stops", c_uint64),
        ("more_ns", c_uint64),
        ("counted_ns", c_uint64),
        ("counted", c_uint64),
    ]


class UpmuWaitSum(Structure):
    """struct upmu_wait_sum"""
    _fields_ = [
        ("count", c_uint64),
        ("total_ns", c_uint64),
        ("max_ns", c_uint64),
        ("unfinished", c_uint64),
        ("unfinished_ns", c_uint64),
    ]


class UpmuValue(Structure):
    """struct upmu_value"""
    _fields_ = [
        ("value", c_uint64),
        ("raw", c_uint64),
        ("enabled", c_uint64),
        ("running", c_uint64),
        ("status", c_int32),
        ("cause", c_int32),
    ]


class UpmuOverviewCount(Structure):
    """struct upmu_overview_count"""
    _fields_ = [
        ("sum", UpmuValue),
        ("without_value", c_uint64),
    ]


class UpmuOverviewThread(Structure):
    """struct upmu_overview_thread"""
    _fields_ = [
        ("size", c_size_t),
        ("process", c_uint32),
        ("pid", c_int),
        ("tid", c_int),
        ("creator", c_int),
        ("started", c_uint32),
        ("ended", c_uint32),
        ("name", c_char_p),
        ("begin_ns", c_uint64),
        ("end_ns", c_uint64),
        ("events", c_uint64),
        ("blocked_ns", c_uint64),
        ("switches", UpmuValue),
        ("n_counts", c_size_t),
        ("counts", POINTER(UpmuOverviewCount)),
        ("cpu_ns", c_uint64),
        ("ready_ns", c_uint64),
        ("stopped_ns", c_uint64),
    ]


class UpmuOverviewThreadWait(Structure):
    """struct upmu_overview_thread_wait"""
    _fields_ = [
        ("size", c_size_t),
        ("waits", UpmuWaitSum),
    ]


class UpmuOverviewSched(Structure):
    """struct upmu_overview_sched"""
    _fields_ = [
        ("size", c_size_t),
        ("recorded", c_uint32),
        ("running_ns", c_uint64),
        ("preempted_ns", c_uint64),
        ("blocked_ns", c_uint64),
        ("unknown_ns", c_uint64),
        ("voluntary", c_uint64),
        ("involuntary", c_uint64),
        ("lost", c_uint64),
        ("futexes_counted", c_uint32),
        ("futex_waits", c_uint64),
        ("futex_recorded", c_uint64),
    ]


class UpmuOverviewWaker(Structure):
    """struct upmu_overview_waker"""
    _fields_ = [
        ("size", c_size_t),
        ("tid", c_int),
        ("name", c_char_p),
        ("waits", UpmuWaitSum),
    ]


class UpmuOverviewKernelLock(Structure):
    """struct upmu_overview_kernel_lock"""
    _fields_ = [
        ("size", c_size_t),
        ("process", c_uint32),
        ("kinds", c_uint32),
        ("address", c_uint64),
        ("waits", UpmuWaitSum),
    ]


class UpmuLongestWait(Structure):
    """struct upmu_longest_wait"""
    _fields_ = [
        ("begin_ns", c_uint64),
        ("ns", c_uint64),
        ("waiter", c_int),
        ("holder", c_int),
        ("waiter_site", c_uint64),
        ("holder_site", c_uint64),
        ("holder_since", c_uint64),
        ("waiter_stack", c_uint32),
        ("release_stack", c_uint32),
        ("unfinished", c_uint32),
        ("shared", c_uint32),
        ("holder_shared", c_uint32),
        ("before", c_uint32),
        ("hold_ns", c_uint64),
        ("holder_stack", c_uint32),
        ("unused", c_uint32),
    ]


class UpmuOverviewObject(Structure):
    """struct upmu_overview_object"""
    _fields_ = [
        ("size", c_size_t),
        ("process", c_uint32),
        ("pid", c_int),
        ("type", c_int32),
        ("generation", c_uint32),
        ("address", c_uint64),
        ("name", c_char_p),
        ("created", c_uint32),
        ("destroyed", c_uint32),
        ("init_site", c_uint64),
        ("acquisitions", c_uint64),
        ("contended", c_uint64),
        ("counts_exact", c_uint32),
        ("holds_complete", c_uint32),
        ("waits", UpmuWaitSum),
        ("failed", c_uint64),
        ("holds", c_uint64),
        ("hold_ns", c_uint64),
        ("hold_max_ns", c_uint64),
        ("signals", c_uint64),
        ("broadcasts", c_uint64),
        ("misuses", c_uint64),
        ("longest", UpmuLongestWait),
        ("peer", c_int),
        ("n_threads", c_uint32),
        ("n_call_sites", c_uint32),
        ("shared", c_uint64),
        ("shared_waits", UpmuWaitSum),
        ("tries_failed", c_uint64),
        ("rounds", c_uint64),
        ("samples", c_uint64),
        ("sample_ns", c_uint64),
        ("sample_max_ns", c_uint64),
        ("named_by", c_int32),
        ("init_stack", c_uint32),
        ("group", c_char_p),
        ("partial_holds", c_uint64),
        ("partial_ns", c_uint64),
        ("partial_max_ns", c_uint64),
        ("before_holds", c_uint64),
        ("before_waits", c_uint64),
        ("in_vain", c_uint64),
        ("timed_holds_ns", c_uint64),
        ("call_ns", c_uint64),
        ("call_kind", c_int32),
        ("variable", c_uint32),
        ("call_kind_ns", c_uint64),
    ]


class UpmuOverviewObjectThread(Structure):
    """struct upmu_overview_object_thread"""
    _fields_ = [
        ("size", c_size_t),
        ("tid", c_int),
        ("thread_name", c_char_p),
        ("acquisitions", c_uint64),
        ("contended", c_uint64),
        ("counts_exact", c_uint32),
        ("holds_complete", c_uint32),
        ("waits", UpmuWaitSum),
        ("holds", c_uint64),
        ("hold_ns", c_uint64),
        ("hold_max_ns", c_uint64),
        ("blocked", c_uint64),
        ("blocked_ns", c_uint64),
        ("shared", c_uint64),
        ("last_arrivals", c_uint64),
        ("partial_holds", c_uint64),
        ("partial_ns", c_uint64),
        ("partial_max_ns", c_uint64),
    ]


class UpmuOverviewCallSite(Structure):
    """struct upmu_overview_call_site"""
    _fields_ = [
        ("size", c_size_t),
        ("address", c_uint64),
        ("stack", c_uint32),
        ("acquisitions", c_uint64),
        ("waits", UpmuWaitSum),
        ("blocked", c_uint64),
        ("blocked_ns", c_uint64),
        ("holds", c_uint64),
        ("hold_ns", c_uint64),
        ("hold_max_ns", c_uint64),
        ("partial_holds", c_uint64),
        ("partial_ns", c_uint64),
        ("partial_max_ns", c_uint64),
    ]


class UpmuOverviewPair(Structure):
    """struct upmu_overview_pair"""
    _fields_ = [
        ("size", c_size_t),
        ("process", c_uint32),
        ("waiter", c_uint32),
        ("other", c_uint32),
        ("waiter_tid", c_int),
        ("other_tid", c_int),
        ("waits", UpmuWaitSum),
    ]


class UpmuOverviewPath(Structure):
    """struct upmu_overview_path"""
    _fields_ = [
        ("size", c_size_t),
        ("begin_ns", c_uint64),
        ("end_ns", c_uint64),
        ("run_ns", c_uint64),
        ("wake_ns", c_uint64),
        ("unknown_ns", c_uint64),
        ("handoffs", c_uint64),
        ("n_segments", c_size_t),
        ("n_objects", c_size_t),
        ("stopped_ns", c_uint64),
    ]


class UpmuOverviewPathSegment(Structure):
    """struct upmu_overview_path_segment"""
    _fields_ = [
        ("size", c_size_t),
        ("kind", c_int32),
        ("thread", c_uint32),
        ("waker", c_uint32),
        ("object", c_uint32),
        ("begin_ns", c_uint64),
        ("end_ns", c_uint64),
    ]


class UpmuOverviewPathObject(Structure):
    """struct upmu_overview_path_object"""
    _fields_ = [
        ("size", c_size_t),
        ("object", c_uint32),
        ("held_ns", c_uint64),
        ("wakes", c_uint64),
        ("wake_ns", c_uint64),
        ("unknown_ns", c_uint64),
        ("gain_ns", c_uint64),
        ("gain_half_ns", c_uint64),
    ]


class UpmuOverviewSection(Structure):
    """struct upmu_overview_section"""
    _fields_ = [
        ("size", c_size_t),
        ("sections", c_uint64),
        ("ns", c_uint64),
        ("n_counts", c_size_t),
        ("counts", POINTER(UpmuOverviewCount)),
    ]


class UpmuOverviewRegion(Structure):
    """struct upmu_overview_region"""
    _fields_ = [
        ("size", c_size_t),
        ("process", c_uint32),
        ("pid", c_int),
        ("name", c_char_p),
        ("count", c_uint64),
        ("wall_ns", c_uint64),
        ("max_ns", c_uint64),
        ("min_ns", c_uint64),
        ("unfinished", c_uint64),
        ("n_counts", c_size_t),
        ("counts", POINTER(UpmuOverviewCount)),
    ]


class UpmuSymbol(Structure):
    """struct upmu_symbol"""
    _fields_ = [
        ("size", c_size_t),
        ("function", c_char_p),
        ("file", c_char_p),
        ("line", c_uint32),
        ("inlined", c_uint32),
        ("module", c_char_p),
        ("offset", c_uint64),
        ("problem", c_char_p),
        ("column", c_uint32),
        ("kind", c_int32),
        ("previous", c_char_p),
        ("previous_offset", c_uint64),
        ("wrapper", c_uint32),
        ("address", c_uint64),
    ]


class ArrowSchema(Structure):
    """struct ArrowSchema"""


ArrowSchema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_char_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", c_void_p),
    ("dictionary", POINTER(ArrowSchema)),
    ("release", c_void_p),
    ("private_data", c_void_p),
]


class ArrowArray(Structure):
    """struct ArrowArray"""


ArrowArray._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", c_void_p),
    ("children", c_void_p),
    ("dictionary", POINTER(ArrowArray)),
    ("release", c_void_p),
    ("private_data", c_void_p),
]


class ArrowArrayStream(Structure):
    """struct ArrowArrayStream"""
    _fields_ = [
        ("get_schema", c_void_p),
        ("get_next", c_void_p),
        ("get_last_error", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


class UpmuArrowOpts(Structure):
    """struct upmu_arrow_opts"""
    _fields_ = [
        ("size", c_size_t),
        ("rows", c_size_t),
        ("damage", c_void_p),
        ("arg", c_void_p),
    ]


class UpmuControlStatus(Structure):
    """struct upmu_control_status"""
    _fields_ = [
        ("size", c_size_t),
        ("pid", c_int),
        ("running", c_uint32),
        ("mode", c_int32),
        ("threads", c_uint32),
        ("events", c_uint64),
        ("lost", c_uint64),
        ("dir", c_char_p),
        ("functions", c_int32),
        ("reserved", c_uint32),
    ]


class UpmuDeadlocksOpts(Structure):
    """struct upmu_deadlocks_opts"""
    _fields_ = [
        ("size", c_size_t),
        ("debug_dir", c_char_p),
        ("suppressions", c_char_p),
    ]


class UpmuDeadlock(Structure):
    """struct upmu_deadlock"""
    _fields_ = [
        ("size", c_size_t),
        ("process", c_uint32),
        ("pid", c_int),
        ("kind", c_int32),
        ("certainty", c_int32),
        ("object", c_uint64),
        ("object_type", c_int32),
        ("owner", c_int),
        ("owner_name", c_char_p),
        ("owner_site", c_uint64),
        ("could_end", c_char_p),
        ("alive", c_uint32),
        ("suppressed", c_uint32),
        ("n_threads", c_size_t),
        ("n_behind", c_size_t),
    ]


class UpmuDeadlockThread(Structure):
    """struct upmu_deadlock_thread"""
    _fields_ = [
        ("size", c_size_t),
        ("tid", c_int),
        ("name", c_char_p),
        ("wait_kind", c_int32),
        ("object_type", c_int32),
        ("object", c_uint64),
        ("mutex", c_uint64),
        ("holder", c_int),
        ("shared", c_uint32),
        ("timed", c_uint32),
        ("since_ns", c_uint64),
        ("site", c_uint64),
        ("stack", c_uint32),
        ("n_held", c_size_t),
        ("n_unlisted", c_uint32),
        ("inspected", c_uint32),
    ]


class UpmuDeadlockHeld(Structure):
    """struct upmu_deadlock_held"""
    _fields_ = [
        ("size", c_size_t),
        ("lock", c_uint64),
        ("shared", c_uint32),
        ("wanted", c_uint32),
        ("site", c_uint64),
        ("since_ns", c_uint64),
        ("stack", c_uint32),
    ]


class UpmuLockCycle(Structure):
    """struct upmu_lock_cycle"""
    _fields_ = [
        ("size", c_size_t),
        ("process", c_uint32),
        ("pid", c_int),
        ("class_number", c_int32),
        ("suppressed", c_uint32),
        ("n_acquisitions", c_size_t),
        ("n_similar", c_size_t),
    ]


class UpmuLockAcquisition(Structure):
    """struct upmu_lock_acquisition"""
    _fields_ = [
        ("size", c_size_t),
        ("tid", c_int),
        ("time_ns", c_uint64),
        ("lock", c_uint64),
        ("lock_type", c_int32),
        ("shared", c_uint32),
        ("tried", c_uint32),
        ("timed", c_uint32),
        ("stack", c_uint32),
        ("held", c_uint64),
        ("held_type", c_int32),
        ("held_shared", c_uint32),
        ("held_site", c_uint64),
        ("n_held", c_size_t),
        ("reusable", c_uint32),
        ("held_stack", c_uint32),
        ("process", c_uint32),
        ("pid", c_int),
    ]


class UpmuDeadlocksTotals(Structure):
    """struct upmu_deadlocks_totals"""
    _fields_ = [
        ("size", c_size_t),
        ("acquisitions", c_uint64),
        ("incomplete", c_uint64),
        ("truncated", c_uint32),
        ("without_wait_state", c_uint32),
        ("mpi", c_uint32),
        ("counted", c_uint32),
    ]


class UpmuDeadlockInspectThread(Structure):
    """struct upmu_deadlock_inspect_thread"""
    _fields_ = [
        ("size", c_size_t),
        ("tid", c_int),
        ("name", c_char_p),
        ("in_futex", c_uint32),
        ("timed", c_uint32),
        ("futex", c_uint64),
        ("owner", c_int),
        ("cycle", c_uint32),
        ("n_frames", c_size_t),
        ("wait_channel", c_char_p),
        ("object_type", c_int32),
        ("object_name", c_char_p),
        ("deadlock_kind", c_int32),
    ]


class UpmuExportOpts(Structure):
    """struct upmu_export_opts"""
    _fields_ = [
        ("size", c_size_t),
        ("what", c_int32),
        ("reserved", c_uint32),
        ("debug_dir", c_char_p),
        ("progress", c_void_p),
        ("arg", c_void_p),
        ("from_ns", c_uint64),
        ("to_ns", c_uint64),
        ("damage", c_void_p),
        ("base", c_char_p),
        ("stacks", c_int32),
        ("reserved2", c_uint32),
    ]


class UpmuExportResult(Structure):
    """struct upmu_export_result"""
    _fields_ = [
        ("size", c_size_t),
        ("events", c_uint64),
        ("bytes", c_uint64),
        ("lost", c_uint64),
        ("omitted", c_uint64),
        ("damages", c_uint64),
        ("without_number", c_uint64),
    ]


class UpmuExportFormat(Structure):
    """struct upmu_export_format"""
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("suffix", c_char_p),
        ("summary", c_char_p),
    ]


class UpmuFindingsOpts(Structure):
    """struct upmu_findings_opts"""
    _fields_ = [
        ("size", c_size_t),
        ("max", c_size_t),
        ("percent", c_uint64),
    ]


class UpmuFinding(Structure):
    """struct upmu_finding"""
    _fields_ = [
        ("size", c_size_t),
        ("kind", c_int32),
        ("process", c_uint32),
        ("object", c_uint32),
        ("thread", c_uint32),
        ("deadlock", c_uint32),
        ("stack", c_uint32),
        ("site", c_uint64),
        ("begin_ns", c_uint64),
        ("end_ns", c_uint64),
        ("run_ns", c_uint64),
        ("gain_ns", c_uint64),
        ("text", c_char_p),
    ]


class UpmuFuncSelection(Structure):
    """struct upmu_func_selection"""
    _fields_ = [
        ("size", c_size_t),
        ("include", c_char_p),
        ("exclude", c_char_p),
        ("below", c_char_p),
        ("min_ns", c_uint64),
        ("depth", c_uint32),
        ("reserved", c_uint32),
    ]


class UpmuFunctionsOpts(Structure):
    """struct upmu_functions_opts"""
    _fields_ = [
        ("size", c_size_t),
        ("debug_dir", c_char_p),
        ("from_ns", c_uint64),
        ("to_ns", c_uint64),
    ]


class UpmuFunctionsTotals(Structure):
    """struct upmu_functions_totals"""
    _fields_ = [
        ("size", c_size_t),
        ("processes", c_uint64),
        ("threads", c_uint64),
        ("calls", c_uint64),
        ("open", c_uint64),
        ("total_ns", c_uint64),
        ("cost_ns", c_uint64),
        ("call_cost_ps", c_uint64),
        ("lost_space", c_uint64),
        ("lost_depth", c_uint64),
        ("lost_thread", c_uint64),
        ("left", c_uint64),
        ("unmatched", c_uint64),
        ("omitted", c_uint64),
        ("damages", c_uint64),
        ("running", c_uint64),
        ("skipped", c_uint64),
        ("event_bytes", c_uint64),
        ("events_lost", c_uint64),
        ("events_short", c_uint64),
        ("rings", c_uint64),
        ("stopped", c_uint64),
        ("begin_ns", c_uint64),
        ("from_ns", c_uint64),
        ("to_ns", c_uint64),
        ("sourceless", c_uint64),
        ("never_started", c_uint64),
    ]


class UpmuFunction(Structure):
    """struct upmu_function"""
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("file", c_char_p),
        ("module", c_char_p),
        ("problem", c_char_p),
        ("offset", c_uint64),
        ("calls", c_uint64),
        ("open", c_uint64),
        ("inclusive_ns", c_uint64),
        ("exclusive_ns", c_uint64),
        ("min_ns", c_uint64),
        ("max_ns", c_uint64),
        ("line", c_uint32),
        ("recursive", c_uint32),
    ]


class UpmuFunctionEdge(Structure):
    """struct upmu_function_edge"""
    _fields_ = [
        ("size", c_size_t),
        ("caller", c_uint32),
        ("callee", c_uint32),
        ("calls", c_uint64),
        ("inclusive_ns", c_uint64),
        ("min_ns", c_uint64),
        ("max_ns", c_uint64),
    ]


class UpmuFunctionPath(Structure):
    """struct upmu_function_path"""
    _fields_ = [
        ("size", c_size_t),
        ("function", c_uint32),
        ("parent", c_uint32),
        ("child", c_uint32),
        ("next", c_uint32),
        ("depth", c_uint32),
        ("recursion", c_uint32),
        ("calls", c_uint64),
        ("open", c_uint64),
        ("inclusive_ns", c_uint64),
        ("exclusive_ns", c_uint64),
        ("min_ns", c_uint64),
        ("max_ns", c_uint64),
    ]


class UpmuFunctionCounter(Structure):
    """struct upmu_function_counter"""
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("reason", c_char_p),
        ("cause", c_int32),
        ("reserved", c_uint32),
        ("call_counts", c_uint64),
    ]


class UpmuFunctionCounts(Structure):
    """struct upmu_function_counts"""
    _fields_ = [
        ("size", c_size_t),
        ("inclusive", UpmuValue),
        ("exclusive", UpmuValue),
        ("inclusive_without", c_uint64),
        ("exclusive_without", c_uint64),
    ]


class UpmuFunctionEvent(Structure):
    """struct upmu_function_event"""
    _fields_ = [
        ("size", c_size_t),
        ("raw_ns", c_uint64),
        ("begin_raw_ns", c_uint64),
        ("pid", c_int),
        ("tid", c_int),
        ("function", c_uint32),
        ("depth", c_uint32),
        ("kind", c_int32),
        ("inferred", c_uint32),
    ]


class UpmuHeapProcess(Structure):
    """struct upmu_heap_process"""
    _fields_ = [
        ("size", c_size_t),
        ("process", c_uint64),
        ("period", c_uint64),
        ("samples", c_uint64),
        ("allocated_bytes", c_uint64),
        ("allocated_blocks", c_uint64),
        ("live_bytes", c_uint64),
        ("live_blocks", c_uint64),
        ("peak_bytes", c_uint64),
        ("peak_ns", c_uint64),
        ("strays", c_uint64),
        ("pid", c_int),
        ("reserved", c_uint32),
    ]


class UpmuHeapPath(Structure):
    """struct upmu_heap_path"""
    _fields_ = [
        ("size", c_size_t),
        ("process", c_uint64),
        ("site", c_uint64),
        ("samples", c_uint64),
        ("allocated_bytes", c_uint64),
        ("allocated_blocks", c_uint64),
        ("live_bytes", c_uint64),
        ("live_blocks", c_uint64),
        ("peak_bytes", c_uint64),
        ("stack", c_uint32),
        ("reserved", c_uint32),
    ]


class UpmuMonitorTotals(Structure):
    """struct upmu_monitor_totals"""
    _fields_ = [
        ("size", c_size_t),
        ("now_ns", c_uint64),
        ("interval_ns", c_uint64),
        ("events", c_uint64),
        ("all_events", c_uint64),
        ("n_processes", c_size_t),
        ("n_threads", c_size_t),
        ("n_locks", c_size_t),
        ("n_damages", c_size_t),
        ("missed", c_uint64),
        ("n_stopped", c_size_t),
    ]


class UpmuMonitorThread(Structure):
    """struct upmu_monitor_thread"""
    _fields_ = [
        ("size", c_size_t),
        ("pid", c_int),
        ("tid", c_int),
        ("name", c_char_p),
        ("ended", c_uint32),
        ("wait_kind", c_int32),
        ("object_type", c_int32),
        ("object", c_uint64),
        ("object_name", c_char_p),
        ("holder", c_int),
        ("holder_name", c_char_p),
        ("since_ns", c_uint64),
        ("site", c_uint64),
        ("waits", c_uint64),
        ("waited_ns", c_uint64),
        ("process", c_uint32),
        ("stopped_ns", c_uint64),
    ]


class UpmuMonitorLock(Structure):
    """struct upmu_monitor_lock"""
    _fields_ = [
        ("size", c_size_t),
        ("pid", c_int),
        ("type", c_int32),
        ("address", c_uint64),
        ("generation", c_uint32),
        ("name", c_char_p),
        ("waiters", c_uint32),
        ("holder", c_int),
        ("waits", c_uint64),
        ("waited_ns", c_uint64),
        ("total_ns", c_uint64),
        ("group", c_char_p),
    ]


class UpmuMpiJob(Structure):
    """struct upmu_mpi_job"""
    _fields_ = [
        ("size", c_size_t),
        ("ranks", c_uint32),
        ("world", c_uint32),
        ("begin_ns", c_uint64),
        ("end_ns", c_uint64),
        ("useful_max_ns", c_uint64),
        ("useful_mean_ns", c_double),
        ("parallel", c_double),
        ("load_balance", c_double),
        ("communication", c_double),
        ("messages", c_uint64),
        ("unmatched", c_uint64),
        ("reversed", c_uint64),
        ("collectives", c_uint64),
        ("partial", c_uint64),
        ("ideal_ns", c_uint64),
        ("serialization", c_double),
        ("transfer", c_double),
        ("reversed_ns", c_uint64),
    ]


class UpmuMpiRank(Structure):
    """struct upmu_mpi_rank"""
    _fields_ = [
        ("size", c_size_t),
        ("job", c_size_t),
        ("rank", c_int32),
        ("pid", c_int32),
        ("host", c_char_p),
        ("library", c_char_p),
        ("wrapped", c_uint32),
        ("end", c_uint32),
        ("in_call", c_uint32),
        ("reserved", c_uint32),
        ("time_ns", c_uint64),
        ("useful_ns", c_uint64),
        ("mpi_ns", c_uint64),
        ("wait_ns", c_uint64),
        ("calls", c_uint64),
        ("sent", c_uint64),
        ("sent_bytes", c_uint64),
        ("received", c_uint64),
        ("received_bytes", c_uint64),
        ("unknown_bytes", c_uint64),
        ("process", c_uint32),
        ("tid", c_int32),
    ]


class UpmuMpiCall(Structure):
    """struct upmu_mpi_call"""
    _fields_ = [
        ("size", c_size_t),
        ("job", c_size_t),
        ("name", c_char_p),
        ("calls", c_uint64),
        ("ns", c_uint64),
        ("max_ns", c_uint64),
        ("max_rank", c_int32),
        ("reserved", c_int32),
        ("bytes", c_uint64),
    ]


class UpmuMpiWait(Structure):
    """struct upmu_mpi_wait"""
    _fields_ = [
        ("size", c_size_t),
        ("job", c_size_t),
        ("name", c_char_p),
        ("pattern", c_int32),
        ("rank", c_int32),
        ("cause", c_int32),
        ("reserved", c_int32),
        ("count", c_uint64),
        ("ns", c_uint64),
        ("max_ns", c_uint64),
    ]


class UpmuMpiPartner(Structure):
    """struct upmu_mpi_partner"""
    _fields_ = [
        ("size", c_size_t),
        ("job", c_size_t),
        ("rank", c_int32),
        ("partner", c_int32),
        ("sent", c_uint64),
        ("received", c_uint64),
    ]


class UpmuMpiCallWait(Structure):
    """struct upmu_mpi_call_wait"""
    _fields_ = [
        ("size", c_size_t),
        ("job", c_size_t),
        ("name", c_char_p),
        ("call_ns", c_uint64),
        ("ns", c_uint64),
        ("process", c_uint32),
        ("pattern", c_int32),
        ("rank", c_int32),
        ("cause", c_int32),
    ]


class UpmuMpiDelay(Structure):
    """struct upmu_mpi_delay"""
    _fields_ = [
        ("size", c_size_t),
        ("job", c_size_t),
        ("rank", c_int32),
        ("inside", c_uint32),
        ("region", c_char_p),
        ("name", c_char_p),
        ("process", c_uint32),
        ("stack", c_uint32),
        ("site", c_uint64),
        ("waits", c_uint64),
        ("ns", c_uint64),
    ]


class UpmuMpiPath(Structure):
    """struct upmu_mpi_path"""
    _fields_ = [
        ("size", c_size_t),
        ("job", c_size_t),
        ("rank", c_int32),
        ("inside", c_uint32),
        ("region", c_char_p),
        ("name", c_char_p),
        ("process", c_uint32),
        ("stack", c_uint32),
        ("site", c_uint64),
        ("ns", c_uint64),
    ]


class UpmuMpiPathStep(Structure):
    """struct upmu_mpi_path_step"""
    _fields_ = [
        ("size", c_size_t),
        ("job", c_size_t),
        ("rank", c_int32),
        ("tid", c_int32),
        ("process", c_uint32),
        ("reserved", c_uint32),
        ("begin_ns", c_uint64),
        ("end_ns", c_uint64),
    ]


class UpmuMpiMessage(Structure):
    """struct upmu_mpi_message"""
    _fields_ = [
        ("size", c_size_t),
        ("job", c_size_t),
        ("source", c_int32),
        ("destination", c_int32),
        ("send_process", c_uint32),
        ("receive_process", c_uint32),
        ("send_tid", c_int32),
        ("receive_tid", c_int32),
        ("send_ns", c_uint64),
        ("receive_ns", c_uint64),
        ("bytes", c_uint64),
        ("comm", c_uint64),
        ("tag", c_int32),
        ("reserved", c_int32),
    ]


class UpmuMpiDeadlock(Structure):
    """struct upmu_mpi_deadlock"""
    _fields_ = [
        ("size", c_size_t),
        ("job", c_size_t),
        ("kind", c_int32),
        ("reserved", c_int32),
        ("n_threads", c_size_t),
        ("n_behind", c_size_t),
    ]


class UpmuMpiDeadlockThread(Structure):
    """struct upmu_mpi_deadlock_thread"""
    _fields_ = [
        ("size", c_size_t),
        ("process", c_uint32),
        ("rank", c_int32),
        ("pid", c_int32),
        ("tid", c_int32),
        ("host", c_char_p),
        ("name", c_char_p),
        ("comm", c_uint64),
        ("sequence", c_uint64),
        ("peer", c_int32),
        ("tag", c_int32),
        ("cause", c_int32),
        ("n_causes", c_uint32),
        ("object", c_uint64),
        ("wait_kind", c_int32),
        ("holder", c_int32),
        ("since_ns", c_uint64),
        ("site", c_uint64),
        ("stack", c_uint32),
        ("behind", c_uint32),
    ]


class UpmuOpenmpProcess(Structure):
    """struct upmu_openmp_process"""
    _fields_ = [
        ("size", c_size_t),
        ("process", c_size_t),
        ("pid", c_int32),
        ("method", c_uint32),
        ("runtime", c_char_p),
        ("time_ns", c_uint64),
        ("parallel_ns", c_uint64),
        ("regions", c_uint64),
        ("unfinished", c_uint64),
        ("threads", c_uint64),
        ("strays", c_uint64),
    ]


class UpmuOpenmpRegion(Structure):
    """struct upmu_openmp_region"""
    _fields_ = [
        ("size", c_size_t),
        ("process", c_size_t),
        ("site", c_uint64),
        ("parent", c_size_t),
        ("count", c_uint64),
        ("unfinished", c_uint64),
        ("threads", c_uint64),
        ("elapsed_ns", c_uint64),
        ("time_ns", c_uint64),
        ("work_ns", c_uint64),
        ("wait_ns", c_uint64),
        ("nested_ns", c_uint64),
        ("gain_ns", c_uint64),
        ("tasks", c_uint64),
    ]


class UpmuOpenmpMember(Structure):
    """struct upmu_openmp_member"""
    _fields_ = [
        ("size", c_size_t),
        ("thread", c_size_t),
        ("tid", c_int32),
        ("number", c_uint32),
        ("count", c_uint64),
        ("time_ns", c_uint64),
        ("work_ns", c_uint64),
        ("wait_ns", c_uint64),
        ("nested_ns", c_uint64),
        ("tasks", c_uint64),
    ]


class UpmuOpenmpThread(Structure):
    """struct upmu_openmp_thread"""
    _fields_ = [
        ("size", c_size_t),
        ("process", c_size_t),
        ("tid", c_int32),
        ("begins", c_uint32),
        ("time_ns", c_uint64),
        ("work_ns", c_uint64),
        ("wait_ns", c_uint64),
        ("outside_ns", c_uint64),
    ]


class UpmuOpenmpConstruct(Structure):
    """struct upmu_openmp_construct"""
    _fields_ = [
        ("size", c_size_t),
        ("process", c_size_t),
        ("region", c_size_t),
        ("site", c_uint64),
        ("construct", c_uint32),
        ("reserved", c_uint32),
        ("count", c_uint64),
        ("ns", c_uint64),
        ("max_ns", c_uint64),
        ("held_ns", c_uint64),
        ("max_held_ns", c_uint64),
    ]


class UpmuOverflowSample(Structure):
    """struct upmu_overflow_sample"""
    _fields_ = [
        ("size", c_size_t),
        ("overflow", c_void_p),
        ("pc", c_uint64),
        ("events", c_uint64),
        ("context", c_void_p),
    ]


class UpmuOverflowOpts(Structure):
    """struct upmu_overflow_opts"""
    _fields_ = [
        ("size", c_size_t),
        ("event", c_char_p),
        ("period", c_uint64),
        ("callback", c_void_p),
        ("arg", c_void_p),
    ]


class UpmuOverflowInfo(Structure):
    """struct upmu_overflow_info"""
    _fields_ = [
        ("size", c_size_t),
        ("event", c_char_p),
        ("reason", c_char_p),
        ("period", c_uint64),
        ("calls", c_uint64),
        ("events", c_uint64),
        ("count", c_uint64),
        ("source", c_int32),
        ("signal", c_int32),
        ("user_only", c_uint32),
        ("reserved", c_uint32),
    ]


class UpmuRegion(Structure):
    """struct upmu_region"""
    _fields_ = [
        ("name", c_char_p),
        ("id", c_uint32),
        ("reserved", c_uint32),
    ]


class UpmuRegionOpts(Structure):
    """struct upmu_region_opts"""
    _fields_ = [
        ("size", c_size_t),
        ("events", c_char_p),
        ("report", c_char_p),
        ("output", c_char_p),
        ("trace", c_char_p),
        ("backend", c_char_p),
    ]


class UpmuStat(Structure):
    """struct upmu_stat"""
    _fields_ = [
        ("count", c_uint64),
        ("sum", c_uint64),
        ("min", c_uint64),
        ("max", c_uint64),
        ("last", c_uint64),
        ("sum_squares", c_double),
    ]


class UpmuRegionEventStats(Structure):
    """struct upmu_region_event_stats"""
    _fields_ = [
        ("size", c_size_t),
        ("stat", UpmuStat),
        ("enabled", c_uint64),
        ("running", c_uint64),
        ("without_value", c_uint64),
        ("status", c_int32),
        ("cause", c_int32),
    ]


class UpmuRegionStats(Structure):
    """struct upmu_region_stats"""
    _fields_ = [
        ("size", c_size_t),
        ("count", c_uint64),
        ("open", c_uint64),
        ("wall", UpmuStat),
        ("self_ns", c_uint64),
        ("descheduled", c_uint64),
        ("deschedule_unknown", c_uint64),
        ("threads", c_uint32),
        ("n_events", c_uint32),
    ]


class UpmuRegionHealth(Structure):
    """struct upmu_region_health"""
    _fields_ = [
        ("size", c_size_t),
        ("end_without_begin", c_uint64),
        ("closed_by_outer", c_uint64),
        ("too_deep", c_uint64),
        ("names_cut", c_uint64),
        ("names_refused", c_uint64),
        ("interrupted", c_uint64),
        ("never_ended", c_uint64),
        ("threads_without_counters", c_uint64),
        ("threads_merged", c_uint64),
        ("marks", c_uint64),
        ("trace_lost", c_uint64),
        ("begin_ns", c_uint64),
        ("end_ns", c_uint64),
    ]


class UpmuSamplerOpts(Structure):
    """struct upmu_sampler_opts"""
    _fields_ = [
        ("size", c_size_t),
        ("event", c_char_p),
        ("frequency", c_uint64),
        ("period", c_uint64),
        ("stacks", c_int32),
        ("stack_bytes", c_uint32),
        ("ring_bytes", c_size_t),
    ]


class UpmuSamplerResult(Structure):
    """struct upmu_sampler_result"""
    _fields_ = [
        ("size", c_size_t),
        ("samples", c_uint64),
        ("lost", c_uint64),
        ("unwritten", c_uint64),
        ("count", c_uint64),
    ]


class UpmuSamplesOpts(Structure):
    """struct upmu_samples_opts"""
    _fields_ = [
        ("size", c_size_t),
        ("debug_dir", c_char_p),
        ("with_code", c_uint32),
        ("stacks", c_int32),
        ("from_ns", c_uint64),
        ("to_ns", c_uint64),
    ]


class UpmuSamplesTotals(Structure):
    """struct upmu_samples_totals"""
    _fields_ = [
        ("size", c_size_t),
        ("event", c_char_p),
        ("samples", c_uint64),
        ("weight", c_uint64),
        ("count", c_uint64),
        ("kernel", c_uint64),
        ("lost", c_uint64),
        ("throttled", c_uint64),
        ("unwritten", c_uint64),
        ("damages", c_uint64),
        ("whole", c_uint64),
        ("cut", c_uint64),
        ("broken", c_uint64),
        ("frequency", c_uint64),
        ("period", c_uint64),
        ("processes", c_uint64),
        ("threads", c_uint64),
        ("source", c_int32),
        ("stacks", c_int32),
        ("is_time", c_uint32),
        ("with_kernel", c_uint32),
        ("ended", c_uint32),
        ("is_calls", c_uint32),
        ("returned", c_uint64),
        ("not_returned", c_uint64),
        ("shortest_ns", c_uint64),
        ("longest_ns", c_uint64),
        ("call_cost_ns", c_uint64),
    ]


class UpmuSample(Structure):
    """struct upmu_sample"""
    _fields_ = [
        ("size", c_size_t),
        ("raw_ns", c_uint64),
        ("time_ns", c_uint64),
        ("weight", c_uint64),
        ("thread", c_uint32),
        ("cpu", c_uint32),
        ("path", c_uint32),
        ("kernel", c_uint32),
        ("stack", c_int32),
        ("reserved", c_uint32),
    ]


class UpmuSampleThread(Structure):
    """struct upmu_sample_thread"""
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("pid", c_int),
        ("tid", c_int),
        ("samples", c_uint64),
        ("weight", c_uint64),
    ]


class UpmuSampleFunction(Structure):
    """struct upmu_sample_function"""
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("file", c_char_p),
        ("module", c_char_p),
        ("problem", c_char_p),
        ("offset", c_uint64),
        ("self_samples", c_uint64),
        ("samples", c_uint64),
        ("self_weight", c_uint64),
        ("weight", c_uint64),
        ("line", c_uint32),
    ]


class UpmuSamplePath(Structure):
    """struct upmu_sample_path"""
    _fields_ = [
        ("size", c_size_t),
        ("function", c_uint32),
        ("parent", c_uint32),
        ("child", c_uint32),
        ("next", c_uint32),
        ("depth", c_uint32),
        ("reserved", c_uint32),
        ("self_samples", c_uint64),
        ("samples", c_uint64),
        ("self_weight", c_uint64),
        ("weight", c_uint64),
    ]


class UpmuAnnotationTotals(Structure):
    """struct upmu_annotation_totals"""
    _fields_ = [
        ("size", c_size_t),
        ("self_samples", c_uint64),
        ("samples", c_uint64),
        ("self_weight", c_uint64),
        ("weight", c_uint64),
    ]


class UpmuAnnotationLine(Structure):
    """struct upmu_annotation_line"""
    _fields_ = [
        ("size", c_size_t),
        ("file", c_char_p),
        ("inlined", c_char_p),
        ("inlined_file", c_char_p),
        ("line", c_uint32),
        ("inlined_line", c_uint32),
        ("self_samples", c_uint64),
        ("samples", c_uint64),
        ("self_weight", c_uint64),
        ("weight", c_uint64),
    ]


class UpmuAnnotationRange(Structure):
    """struct upmu_annotation_range"""
    _fields_ = [
        ("size", c_size_t),
        ("module", c_char_p),
        ("problem", c_char_p),
        ("begin", c_uint64),
        ("end", c_uint64),
        ("self_samples", c_uint64),
        ("self_weight", c_uint64),
        ("is_recorded", c_uint32),
        ("is_bounded", c_uint32),
    ]


class UpmuAnnotationInstruction(Structure):
    """struct upmu_annotation_instruction"""
    _fields_ = [
        ("size", c_size_t),
        ("function", c_char_p),
        ("file", c_char_p),
        ("address", c_uint64),
        ("line", c_uint32),
        ("range", c_uint32),
        ("is_own", c_uint32),
        ("own_line", c_uint32),
        ("self_samples", c_uint64),
        ("samples", c_uint64),
        ("self_weight", c_uint64),
        ("weight", c_uint64),
    ]


class UpmuSnapshot(Structure):
    """struct upmu_snapshot"""
    _fields_ = [
        ("size", c_size_t),
        ("path", c_char_p),
        ("reason", c_char_p),
        ("bytes", c_uint64),
        ("packets", c_uint64),
        ("missed", c_uint64),
        ("took_ns", c_uint64),
        ("processes", c_uint32),
    ]


class UpmuSnapshotWatchOpts(Structure):
    """struct upmu_snapshot_watch_opts"""
    _fields_ = [
        ("size", c_size_t),
        ("interval_ns", c_uint64),
        ("most", c_uint32),
    ]


class UpmuSnapshotTotals(Structure):
    """struct upmu_snapshot_totals"""
    _fields_ = [
        ("size", c_size_t),
        ("taken", c_uint64),
        ("failed", c_uint64),
        ("skipped", c_uint64),
        ("missed", c_uint64),
        ("programs", c_uint32),
        ("deadlocks", c_uint32),
    ]


class UpmuTraceFilterOpts(Structure):
    """struct upmu_trace_filter_opts"""
    _fields_ = [
        ("size", c_size_t),
        ("kinds", POINTER(c_int)),
        ("n_kinds", c_size_t),
        ("from_ns", c_uint64),
        ("to_ns", c_uint64),
        ("pid", c_int),
        ("tid", c_int),
    ]


class UpmuSubscriptionOpts(Structure):
    """struct upmu_subscription_opts"""
    _fields_ = [
        ("size", c_size_t),
        ("dir", c_char_p),
        ("interval_ms", c_uint32),
        ("queue", c_uint32),
        ("filter", POINTER(UpmuTraceFilterOpts)),
        ("update", c_void_p),
        ("arg", c_void_p),
    ]


class UpmuSubscriptionTotals(Structure):
    """struct upmu_subscription_totals"""
    _fields_ = [
        ("size", c_size_t),
        ("updates", c_uint64),
        ("events", c_uint64),
        ("dropped", c_uint64),
        ("missed", c_uint64),
        ("damages", c_uint64),
    ]


class UpmuSyncOpts(Structure):
    """struct upmu_sync_opts"""
    _fields_ = [
        ("size", c_size_t),
        ("mode", c_uint32),
        ("stack_depth", c_uint32),
        ("trace", c_char_p),
        ("sample", c_uint32),
        ("sched", c_uint32),
        ("counters", c_uint32),
        ("requests", c_uint32),
        ("all_stacks", c_uint32),
        ("no_calls", c_uint32),
    ]


class UpmuTimelineOpts(Structure):
    """struct upmu_timeline_opts"""
    _fields_ = [
        ("size", c_size_t),
        ("debug_dir", c_char_p),
        ("thread", c_char_p),
        ("object", c_char_p),
        ("kinds", c_uint32),
        ("object_types", c_uint32),
        ("from_ns", c_uint64),
        ("to_ns", c_uint64),
        ("number", c_uint64),
        ("skip", c_uint64),
        ("rows", c_size_t),
        ("stacks", c_int32),
        ("reserved", c_uint32),
    ]


class UpmuTimelineTotals(Structure):
    """struct upmu_timeline_totals"""
    _fields_ = [
        ("size", c_size_t),
        ("rows", c_uint64),
        ("matched", c_uint64),
        ("skipped", c_uint64),
        ("shown", c_size_t),
    ]


class UpmuTimelineRow(Structure):
    """struct upmu_timeline_row"""
    _fields_ = [
        ("size", c_size_t),
        ("number", c_uint64),
        ("kind", c_int32),
        ("event", c_int32),
        ("thread", c_uint32),
        ("process", c_uint32),
        ("object", c_uint32),
        ("holder", c_uint32),
        ("begin_ns", c_uint64),
        ("end_ns", c_uint64),
        ("ended", c_uint32),
        ("wait_kind", c_int32),
        ("result", c_int32),
        ("flags", c_uint32),
        ("text", c_char_p),
        ("count", c_uint64),
        ("peer", c_int),
        ("site", c_uint64),
        ("stack", c_uint32),
        ("holder_site", c_uint64),
        ("holder_since", c_uint64),
        ("n_counts", c_size_t),
        ("counts", POINTER(UpmuValue)),
    ]


class UpmuTraceLockBlock(Structure):
    """struct upmu_trace_lock_block"""
    _fields_ = [
        ("holder_site", c_uint64),
        ("holder_since", c_uint64),
        ("holder", c_int),
        ("holder_stack", c_uint32),
    ]


class UpmuTraceLockRelease(Structure):
    """struct upmu_trace_lock_release"""
    _fields_ = [
        ("held_site", c_uint64),
        ("held_since", c_uint64),
    ]


class UpmuTraceLockOrder(Structure):
    """struct upmu_trace_lock_order"""
    _fields_ = [
        ("held", c_uint64),
        ("held_site", c_uint64),
        ("n_held", c_uint32),
        ("permits", c_uint32),
        ("held_stack", c_uint32),
    ]


class UpmuTraceLockCounts(Structure):
    """struct upmu_trace_lock_counts"""
    _fields_ = [
        ("acquisitions", c_uint64),
        ("contended", c_uint64),
        ("thread", c_int),
    ]


class UpmuTraceCond(Structure):
    """struct upmu_trace_cond"""
    _fields_ = [
        ("mutex", c_uint64),
        ("held_site", c_uint64),
        ("held_since", c_uint64),
    ]


class UpmuTraceSemValue(Structure):
    """struct upmu_trace_sem_value"""
    _fields_ = [
        ("value", c_uint64),
    ]


class UpmuTraceThread(Structure):
    """struct upmu_trace_thread"""
    _fields_ = [
        ("peer", c_int),
    ]


class UpmuTraceThreadExit(Structure):
    """struct upmu_trace_thread_exit"""
    _fields_ = [
        ("switches", c_uint64),
        ("cpu_ns", c_uint64),
        ("ready_ns", c_uint64),
        ("cpus", c_uint32),
    ]


class UpmuTraceFutexWait(Structure):
    """struct upmu_trace_futex_wait"""
    _fields_ = [
        ("n_futexes", c_uint64),
    ]


class UpmuTraceFutexWoken(Structure):
    """struct upmu_trace_futex_woken"""
    _fields_ = [
        ("index", c_uint64),
    ]


class UpmuTraceFutexWake(Structure):
    """struct upmu_trace_futex_wake"""
    _fields_ = [
        ("moved_to", c_uint64),
        ("n_woken", c_uint64),
    ]


class UpmuTraceCall(Structure):
    """struct upmu_trace_call"""
    _fields_ = [
        ("call", c_uint32),
        ("descriptor", c_int32),
        ("descriptor_type", c_uint32),
        ("waker", c_int),
    ]


class UpmuTraceMpi(Structure):
    """struct upmu_trace_mpi"""
    _fields_ = [
        ("comm", c_uint64),
        ("bytes", c_uint64),
        ("request", c_uint64),
        ("sequence", c_uint64),
        ("call", c_uint32),
        ("peer", c_int32),
        ("tag", c_int32),
    ]


class UpmuTraceMpiPoll(Structure):
    """struct upmu_trace_mpi_poll"""
    _fields_ = [
        ("calls", c_uint64),
        ("since", c_uint64),
        ("busy_ns", c_uint64),
        ("call", c_uint32),
    ]


class UpmuTraceMpiComm(Structure):
    """struct upmu_trace_mpi_comm"""
    _fields_ = [
        ("comm", c_uint64),
        ("parent", c_uint64),
        ("rank", c_int32),
        ("size", c_int32),
    ]


class UpmuTraceMpiEnv(Structure):
    """struct upmu_trace_mpi_env"""
    _fields_ = [
        ("job", c_uint64),
        ("rank", c_int32),
        ("size", c_int32),
        ("thread_level", c_int32),
        ("wrapped", c_int32),
    ]


class UpmuTraceMpiCount(Structure):
    """struct upmu_trace_mpi_count"""
    _fields_ = [
        ("calls", c_uint64),
        ("call", c_uint32),
    ]


class UpmuTraceSample(Structure):
    """struct upmu_trace_sample"""
    _fields_ = [
        ("cpu_ns", c_uint64),
        ("total_ns", c_uint64),
        ("period_ns", c_uint64),
    ]


class UpmuTraceOmp(Structure):
    """struct upmu_trace_omp"""
    _fields_ = [
        ("value", c_uint64),
        ("event", c_uint32),
        ("construct", c_uint32),
        ("number", c_uint32),
    ]


class UpmuTraceOmpParallel(Structure):
    """struct upmu_trace_omp_parallel"""
    _fields_ = [
        ("region", c_uint64),
        ("threads", c_uint32),
    ]


class UpmuTraceOmpEnv(Structure):
    """struct upmu_trace_omp_env"""
    _fields_ = [
        ("method", c_uint32),
    ]


class UpmuTraceHeap(Structure):
    """struct upmu_trace_heap"""
    _fields_ = [
        ("bytes", c_uint64),
        ("weight", c_uint64),
        ("period", c_uint64),
    ]


class UpmuTraceSched(Structure):
    """struct upmu_trace_sched"""
    _fields_ = [
        ("cpu", c_uint32),
    ]


class UpmuTraceSchedCount(Structure):
    """struct upmu_trace_sched_count"""
    _fields_ = [
        ("switches", c_uint64),
    ]


class UpmuTraceSchedWake(Structure):
    """struct upmu_trace_sched_wake"""
    _fields_ = [
        ("woken", c_int),
    ]


class UpmuTraceKernelLock(Structure):
    """struct upmu_trace_kernel_lock"""
    _fields_ = [
        ("kinds", c_uint32),
    ]


class UpmuTraceFutexCounts(Structure):
    """struct upmu_trace_futex_counts"""
    _fields_ = [
        ("waits", c_uint64),
        ("recorded", c_uint64),
    ]


class UpmuTraceEventUnion(Union):
    _fields_ = [
        ("lock_block", UpmuTraceLockBlock),
        ("lock_release", UpmuTraceLockRelease),
        ("lock_order", UpmuTraceLockOrder),
        ("lock_counts", UpmuTraceLockCounts),
        ("cond", UpmuTraceCond),
        ("sem_value", UpmuTraceSemValue),
        ("thread", UpmuTraceThread),
        ("thread_exit", UpmuTraceThreadExit),
        ("futex_wait", UpmuTraceFutexWait),
        ("futex_woken", UpmuTraceFutexWoken),
        ("futex_wake", UpmuTraceFutexWake),
        ("sched", UpmuTraceSched),
        ("sched_count", UpmuTraceSchedCount),
        ("sched_wake", UpmuTraceSchedWake),
        ("kernel_lock", UpmuTraceKernelLock),
        ("futex_counts", UpmuTraceFutexCounts),
        ("call", UpmuTraceCall),
        ("mpi", UpmuTraceMpi),
        ("mpi_poll", UpmuTraceMpiPoll),
        ("mpi_comm", UpmuTraceMpiComm),
        ("mpi_env", UpmuTraceMpiEnv),
        ("mpi_count", UpmuTraceMpiCount),
        ("sample", UpmuTraceSample),
        ("omp", UpmuTraceOmp),
        ("omp_parallel", UpmuTraceOmpParallel),
        ("omp_env", UpmuTraceOmpEnv),
        ("heap", UpmuTraceHeap),
        ("reserved", c_uint64 * 8),
    ]


class UpmuTraceEvent(Structure):
    """struct upmu_trace_event"""
    _anonymous_ = ("of_kind",)
    _fields_ = [
        ("size", c_size_t),
        ("time_ns", c_uint64),
        ("tick", c_uint64),
        ("kind", c_int32),
        ("process", c_uint32),
        ("pid", c_int),
        ("tid", c_int),
        ("name", c_char_p),
        ("object", c_uint64),
        ("object_type", c_int32),
        ("result", c_int32),
        ("site", c_uint64),
        ("stack", c_uint32),
        ("flags", c_uint32),
        ("n_values", c_size_t),
        ("values", POINTER(UpmuValue)),
        ("of_kind", UpmuTraceEventUnion),
    ]


class UpmuTraceProcess(Structure):
    """struct upmu_trace_process"""
    _fields_ = [
        ("size", c_size_t),
        ("pid", c_int),
        ("host", c_char_p),
        ("command", c_char_p),
        ("kernel", c_char_p),
        ("start_ns", c_uint64),
        ("clock_hz", c_uint64),
        ("n_counters", c_uint32),
        ("complete", c_uint32),
        ("events", c_uint64),
        ("lost", c_uint64),
        ("overwritten", c_uint64),
        ("clock_error_ns", c_uint64),
        ("event_cost_ps", c_uint64),
        ("compact_cost_ps", c_uint64),
        ("stack_cost_ps", c_uint64),
        ("sched_note", c_char_p),
        ("stopped", c_uint32),
        ("futex_note", c_char_p),
        ("execed", c_uint32),
        ("lost_note", c_char_p),
        ("snapshot", c_char_p),
        ("lost_any", c_uint64),
        ("memory_bytes", c_uint64),
        ("memory_threads", c_uint32),
        ("children_filtered", c_uint32),
        ("children_failed", c_uint32),
        ("pauses", c_uint32),
        ("children_unrecorded", c_uint32),
        ("paused_more_ns", c_uint64),
    ]


class UpmuTracePause(Structure):
    """struct upmu_trace_pause"""
    _fields_ = [
        ("size", c_size_t),
        ("begin_ns", c_uint64),
        ("end_ns", c_uint64),
        ("counted", c_uint32),
        ("reserved", c_uint32),
    ]


class UpmuTraceStack(Structure):
    """struct upmu_trace_stack"""
    _fields_ = [
        ("size", c_size_t),
        ("frames", POINTER(c_uint64)),
        ("n_frames", c_uint32),
        ("method", c_uint32),
        ("truncated", c_uint32),
    ]


class UpmuTraceModule(Structure):
    """struct upmu_trace_module"""
    _fields_ = [
        ("size", c_size_t),
        ("base", c_uint64),
        ("start", c_uint64),
        ("end", c_uint64),
        ("path", c_char_p),
        ("build_id", c_char_p),
    ]


class UpmuTraceRepairResult(Structure):
    """struct upmu_trace_repair_result"""
    _fields_ = [
        ("size", c_size_t),
        ("processes", c_uint32),
        ("running", c_uint32),
        ("trimmed", c_uint32),
        ("bytes", c_uint64),
        ("reordered", c_uint32),
    ]


class UpmuEventInfo(Structure):
    """struct upmu_event_info"""
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("summary", c_char_p),
        ("unit", c_char_p),
        ("papi", c_char_p),
        ("perf", c_char_p),
        ("pmu", c_char_p),
        ("type", c_uint32),
        ("match", c_int32),
        ("config", c_uint64),
        ("config1", c_uint64),
        ("config2", c_uint64),
        ("encoding", c_char_p),
        ("counters", c_char_p),
        ("note", c_char_p),
        ("source", c_char_p),
        ("raw_encoding", c_uint64),
        ("generic_event", c_char_p),
        ("choice", c_char_p),
        ("formula", c_char_p),
        ("scale", c_double),
        ("scale_unit", c_char_p),
        ("cpus", c_char_p),
        ("exclude", c_uint32),
        ("precise", c_uint32),
    ]


class UpmuCpuInfo(Structure):
    """struct upmu_cpu_info"""
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("title", c_char_p),
        ("vendor", c_char_p),
        ("remark", c_char_p),
        ("rule", c_char_p),
        ("counters", c_uint32),
        ("fixed_counters", c_uint32),
        ("counter_bits", c_uint32),
    ]


class UpmuMetricInfo(Structure):
    """struct upmu_metric_info"""
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("summary", c_char_p),
        ("formula", c_char_p),
        ("unit", c_char_p),
        ("events", c_char_p),
        ("missing_event", c_char_p),
        ("on_demand", c_int32),
    ]


class UpmuMetricGroupInfo(Structure):
    """struct upmu_metric_group_info"""
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("summary", c_char_p),
        ("metrics", c_char_p),
        ("events", c_char_p),
    ]


class UpmuMetricValue(Structure):
    """struct upmu_metric_value"""
    _fields_ = [
        ("value", c_double),
        ("status", c_int32),
        ("cause", c_int32),
    ]


class UpmuSetOpts(Structure):
    """struct upmu_set_opts"""
    _fields_ = [
        ("size", c_size_t),
        ("target", c_uint32),
        ("flags", c_uint32),
        ("pid", c_int),
        ("cpu", c_int),
        ("argv", c_void_p),
        ("backend", c_char_p),
    ]


class UpmuUsage(Structure):
    """struct upmu_usage"""
    _fields_ = [
        ("size", c_size_t),
        ("user_ns", c_uint64),
        ("system_ns", c_uint64),
        ("minor_faults", c_uint64),
        ("major_faults", c_uint64),
        ("switches", c_uint64),
    ]


class UpmuPlanEntry(Structure):
    """struct upmu_plan_entry"""
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("pmu", c_char_p),
        ("encoding", c_char_p),
        ("counter", c_char_p),
        ("reason", c_char_p),
        ("role", c_uint32),
        ("event", c_uint32),
        ("same_as", c_uint32),
        ("group", c_int32),
        ("multiplexed", c_uint32),
        ("cause", c_int32),
    ]


class UpmuDiagnosis(Structure):
    """struct upmu_diagnosis"""
    _fields_ = [
        ("topic", c_char_p),
        ("state", c_int32),
        ("text", c_char_p),
        ("remedy", c_char_p),
    ]


class UpmuFilterCall(Structure):
    """struct upmu_filter_call"""
    _fields_ = [
        ("name", c_char_p),
        ("number", c_int32),
        ("answer", c_int32),
        ("at_start", c_uint32),
        ("later", c_uint32),
        ("with_counters", c_uint32),
    ]


#: The struct of each class, by its C name.
STRUCTS = {
    "upmu_overview_opts": UpmuOverviewOpts,
    "upmu_overview_totals": UpmuOverviewTotals,
    "upmu_overview_recorded": UpmuOverviewRecorded,
    "upmu_wait_sum": UpmuWaitSum,
    "upmu_overview_thread": UpmuOverviewThread,
    "upmu_overview_thread_wait": UpmuOverviewThreadWait,
    "upmu_overview_sched": UpmuOverviewSched,
    "upmu_overview_waker": UpmuOverviewWaker,
    "upmu_overview_kernel_lock": UpmuOverviewKernelLock,
    "upmu_longest_wait": UpmuLongestWait,
    "upmu_overview_object": UpmuOverviewObject,
    "upmu_overview_object_thread": UpmuOverviewObjectThread,
    "upmu_overview_call_site": UpmuOverviewCallSite,
    "upmu_overview_pair": UpmuOverviewPair,
    "upmu_overview_path": UpmuOverviewPath,
    "upmu_overview_path_segment": UpmuOverviewPathSegment,
    "upmu_overview_path_object": UpmuOverviewPathObject,
    "upmu_overview_count": UpmuOverviewCount,
    "upmu_overview_section": UpmuOverviewSection,
    "upmu_overview_region": UpmuOverviewRegion,
    "upmu_symbol": UpmuSymbol,
    "ArrowSchema": ArrowSchema,
    "ArrowArray": ArrowArray,
    "ArrowArrayStream": ArrowArrayStream,
    "upmu_arrow_opts": UpmuArrowOpts,
    "upmu_control_status": UpmuControlStatus,
    "upmu_deadlocks_opts": UpmuDeadlocksOpts,
    "upmu_deadlock": UpmuDeadlock,
    "upmu_deadlock_thread": UpmuDeadlockThread,
    "upmu_deadlock_held": UpmuDeadlockHeld,
    "upmu_lock_cycle": UpmuLockCycle,
    "upmu_lock_acquisition": UpmuLockAcquisition,
    "upmu_deadlocks_totals": UpmuDeadlocksTotals,
    "upmu_deadlock_inspect_thread": UpmuDeadlockInspectThread,
    "upmu_export_opts": UpmuExportOpts,
    "upmu_export_result": UpmuExportResult,
    "upmu_export_format": UpmuExportFormat,
    "upmu_findings_opts": UpmuFindingsOpts,
    "upmu_finding": UpmuFinding,
    "upmu_func_selection": UpmuFuncSelection,
    "upmu_functions_opts": UpmuFunctionsOpts,
    "upmu_functions_totals": UpmuFunctionsTotals,
    "upmu_function": UpmuFunction,
    "upmu_function_edge": UpmuFunctionEdge,
    "upmu_function_path": UpmuFunctionPath,
    "upmu_function_counter": UpmuFunctionCounter,
    "upmu_function_counts": UpmuFunctionCounts,
    "upmu_function_event": UpmuFunctionEvent,
    "upmu_heap_process": UpmuHeapProcess,
    "upmu_heap_path": UpmuHeapPath,
    "upmu_monitor_totals": UpmuMonitorTotals,
    "upmu_monitor_thread": UpmuMonitorThread,
    "upmu_monitor_lock": UpmuMonitorLock,
    "upmu_mpi_job": UpmuMpiJob,
    "upmu_mpi_rank": UpmuMpiRank,
    "upmu_mpi_call": UpmuMpiCall,
    "upmu_mpi_wait": UpmuMpiWait,
    "upmu_mpi_partner": UpmuMpiPartner,
    "upmu_mpi_call_wait": UpmuMpiCallWait,
    "upmu_mpi_delay": UpmuMpiDelay,
    "upmu_mpi_path": UpmuMpiPath,
    "upmu_mpi_path_step": UpmuMpiPathStep,
    "upmu_mpi_message": UpmuMpiMessage,
    "upmu_mpi_deadlock": UpmuMpiDeadlock,
    "upmu_mpi_deadlock_thread": UpmuMpiDeadlockThread,
    "upmu_openmp_process": UpmuOpenmpProcess,
    "upmu_openmp_region": UpmuOpenmpRegion,
    "upmu_openmp_member": UpmuOpenmpMember,
    "upmu_openmp_thread": UpmuOpenmpThread,
    "upmu_openmp_construct": UpmuOpenmpConstruct,
    "upmu_overflow_sample": UpmuOverflowSample,
    "upmu_overflow_opts": UpmuOverflowOpts,
    "upmu_overflow_info": UpmuOverflowInfo,
    "upmu_region": UpmuRegion,
    "upmu_region_opts": UpmuRegionOpts,
    "upmu_stat": UpmuStat,
    "upmu_region_event_stats": UpmuRegionEventStats,
    "upmu_region_stats": UpmuRegionStats,
    "upmu_region_health": UpmuRegionHealth,
    "upmu_sampler_opts": UpmuSamplerOpts,
    "upmu_sampler_result": UpmuSamplerResult,
    "upmu_samples_opts": UpmuSamplesOpts,
    "upmu_samples_totals": UpmuSamplesTotals,
    "upmu_sample": UpmuSample,
    "upmu_sample_thread": UpmuSampleThread,
    "upmu_sample_function": UpmuSampleFunction,
    "upmu_sample_path": UpmuSamplePath,
    "upmu_annotation_totals": UpmuAnnotationTotals,
    "upmu_annotation_line": UpmuAnnotationLine,
    "upmu_annotation_range": UpmuAnnotationRange,
    "upmu_annotation_instruction": UpmuAnnotationInstruction,
    "upmu_snapshot": UpmuSnapshot,
    "upmu_snapshot_watch_opts": UpmuSnapshotWatchOpts,
    "upmu_snapshot_totals": UpmuSnapshotTotals,
    "upmu_subscription_opts": UpmuSubscriptionOpts,
    "upmu_subscription_totals": UpmuSubscriptionTotals,
    "upmu_sync_opts": UpmuSyncOpts,
    "upmu_timeline_opts": UpmuTimelineOpts,
    "upmu_timeline_totals": UpmuTimelineTotals,
    "upmu_timeline_row": UpmuTimelineRow,
    "upmu_trace_lock_block": UpmuTraceLockBlock,
    "upmu_trace_lock_release": UpmuTraceLockRelease,
    "upmu_trace_lock_order": UpmuTraceLockOrder,
    "upmu_trace_lock_counts": UpmuTraceLockCounts,
    "upmu_trace_cond": UpmuTraceCond,
    "upmu_trace_sem_value": UpmuTraceSemValue,
    "upmu_trace_thread": UpmuTraceThread,
    "upmu_trace_thread_exit": UpmuTraceThreadExit,
    "upmu_trace_futex_wait": UpmuTraceFutexWait,
    "upmu_trace_futex_woken": UpmuTraceFutexWoken,
    "upmu_trace_futex_wake": UpmuTraceFutexWake,
    "upmu_trace_call": UpmuTraceCall,
    "upmu_trace_mpi": UpmuTraceMpi,
    "upmu_trace_mpi_poll": UpmuTraceMpiPoll,
    "upmu_trace_mpi_comm": UpmuTraceMpiComm,
    "upmu_trace_mpi_env": UpmuTraceMpiEnv,
    "upmu_trace_mpi_count": UpmuTraceMpiCount,
    "upmu_trace_sample": UpmuTraceSample,
    "upmu_trace_omp": UpmuTraceOmp,
    "upmu_trace_omp_parallel": UpmuTraceOmpParallel,
    "upmu_trace_omp_env": UpmuTraceOmpEnv,
    "upmu_trace_heap": UpmuTraceHeap,
    "upmu_trace_sched": UpmuTraceSched,
    "upmu_trace_sched_count": UpmuTraceSchedCount,
    "upmu_trace_sched_wake": UpmuTraceSchedWake,
    "upmu_trace_kernel_lock": UpmuTraceKernelLock,
    "upmu_trace_futex_counts": UpmuTraceFutexCounts,
    "upmu_trace_event": UpmuTraceEvent,
    "upmu_trace_process": UpmuTraceProcess,
    "upmu_trace_filter_opts": UpmuTraceFilterOpts,
    "upmu_trace_pause": UpmuTracePause,
    "upmu_trace_stack": UpmuTraceStack,
    "upmu_trace_module": UpmuTraceModule,
    "upmu_trace_repair_result": UpmuTraceRepairResult,
    "upmu_value": UpmuValue,
    "upmu_event_info": UpmuEventInfo,
    "upmu_cpu_info": UpmuCpuInfo,
    "upmu_metric_info": UpmuMetricInfo,
    "upmu_metric_group_info": UpmuMetricGroupInfo,
    "upmu_metric_value": UpmuMetricValue,
    "upmu_set_opts": UpmuSetOpts,
    "upmu_usage": UpmuUsage,
    "upmu_plan_entry": UpmuPlanEntry,
    "upmu_diagnosis": UpmuDiagnosis,
    "upmu_filter_call": UpmuFilterCall,
}

#: name: (result, arguments) of the functions of each library.
FUNCTIONS = {
    "core": {
        "upmu_overflow_open": (c_int, [c_void_p, POINTER(UpmuOverflowOpts)]),
        "upmu_overflow_start": (c_int, [c_void_p]),
        "upmu_overflow_stop": (c_int, [c_void_p]),
        "upmu_overflow_info_read": (c_int, [c_void_p, POINTER(UpmuOverflowInfo)]),
        "upmu_overflow_close": (c_int, [c_void_p]),
        "upmu_region_setup": (c_int, [POINTER(UpmuRegionOpts)]),
        "upmu_region_switch": (c_int, [c_int]),
        "upmu_region_stats_read": (c_int, [c_char_p, c_int, POINTER(UpmuRegionStats)]),
        "upmu_region_event_stats_at": (c_int, [c_char_p, c_int, c_size_t, POINTER(UpmuRegionEventStats)]),
        "upmu_region_stats_read_all": (c_int, [c_char_p, c_int, POINTER(UpmuRegionStats), POINTER(UpmuRegionEventStats), c_size_t]),
        "upmu_region_count": (c_size_t, []),
        "upmu_region_name_at": (c_int, [c_size_t, c_void_p]),
        "upmu_region_event_count": (c_size_t, []),
        "upmu_region_event_name_at": (c_int, [c_size_t, c_void_p]),
        "upmu_region_health_read": (c_int, [POINTER(UpmuRegionHealth)]),
        "upmu_region_report": (c_int, [c_int]),
        "upmu_region_begin": (c_int, [c_char_p]),
        "upmu_region_end": (c_int, [c_char_p]),
        "upmu_region_enter": (c_int, [POINTER(UpmuRegion)]),
        "upmu_region_leave": (c_int, [POINTER(UpmuRegion)]),
        "upmu_mark": (c_int, [c_char_p]),
        "upmu_strerror": (c_char_p, [c_int]),
        "upmu_error": (c_char_p, []),
        "upmu_error_code": (c_int, []),
        "upmu_error_copy": (c_size_t, [c_char_p, c_size_t]),
        "upmu_version": (c_char_p, []),
        "upmu_status_name": (c_char_p, [c_int]),
        "upmu_status_weakest": (c_int, [c_int, c_int]),
        "upmu_event_find": (c_int, [c_char_p, POINTER(UpmuEventInfo)]),
        "upmu_event_probe": (c_int, [c_char_p, POINTER(c_uint64)]),
        "upmu_event_count": (c_size_t, []),
        "upmu_event_name_at": (c_int, [c_size_t, c_void_p]),
        "upmu_cpu_find": (c_int, [c_char_p, POINTER(UpmuCpuInfo)]),
        "upmu_cpu_count": (c_size_t, []),
        "upmu_cpu_at": (c_int, [c_size_t, POINTER(UpmuCpuInfo)]),
        "upmu_cpu_event_find": (c_int, [c_char_p, c_char_p, POINTER(UpmuEventInfo)]),
        "upmu_cpu_event_count": (c_size_t, [c_char_p]),
        "upmu_cpu_event_name_at": (c_int, [c_char_p, c_size_t, c_void_p]),
        "upmu_metric_at": (c_int, [c_size_t, POINTER(UpmuMetricInfo)]),
        "upmu_cpu_metric_at": (c_int, [c_char_p, c_size_t, POINTER(UpmuMetricInfo)]),
        "upmu_metric_count": (c_size_t, []),
        "upmu_metric_load": (c_int, [c_char_p]),
        "upmu_metric_group_at": (c_int, [c_char_p, c_size_t, POINTER(UpmuMetricGroupInfo)]),
        "upmu_metric_group_count": (c_size_t, []),
        "upmu_metric_eval": (c_int, [c_char_p, c_void_p, POINTER(UpmuValue), c_size_t, c_double, POINTER(UpmuMetricValue)]),
        "upmu_set_open": (c_int, [c_void_p, c_char_p, POINTER(UpmuSetOpts)]),
        "upmu_set_event_count": (c_size_t, [c_void_p]),
        "upmu_set_name": (c_char_p, [c_void_p, c_size_t]),
        "upmu_set_reason": (c_char_p, [c_void_p, c_size_t]),
        "upmu_set_group_count": (c_size_t, [c_void_p]),
        "upmu_set_instance_count": (c_size_t, [c_void_p]),
        "upmu_set_user_read": (c_int, [c_void_p, c_size_t]),
        "upmu_set_start": (c_int, [c_void_p]),
        "upmu_set_stop": (c_int, [c_void_p]),
        "upmu_set_reset": (c_int, [c_void_p]),
        "upmu_set_read": (c_int, [c_void_p, POINTER(UpmuValue), c_size_t]),
        "upmu_set_core_type": (c_char_p, [c_void_p, c_size_t, c_size_t]),
        "upmu_set_read_core_type": (c_int, [c_void_p, c_size_t, c_size_t, POINTER(UpmuValue)]),
        "upmu_set_wait": (c_int, [c_void_p, POINTER(c_int)]),
        "upmu_set_alive": (c_int, [c_void_p]),
        "upmu_set_overhead": (c_int, [c_void_p, POINTER(UpmuValue), c_size_t]),
        "upmu_set_usage_read": (c_int, [c_void_p, POINTER(UpmuUsage)]),
        "upmu_set_pid": (c_int, [c_void_p]),
        "upmu_set_close": (None, [c_void_p]),
        "upmu_plan_open": (c_int, [c_void_p, c_char_p, c_char_p]),
        "upmu_plan_entry_count": (c_size_t, [c_void_p]),
        "upmu_plan_group_count": (c_size_t, [c_void_p]),
        "upmu_plan_proven": (c_int, [c_void_p]),
        "upmu_plan_note": (c_char_p, [c_void_p]),
        "upmu_plan_entry_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuPlanEntry)]),
        "upmu_plan_close": (None, [c_void_p]),
        "upmu_diagnose": (c_int, [c_void_p, c_void_p]),
        "upmu_filter_judge": (c_int, [c_void_p, c_size_t, c_void_p, c_void_p]),
    },
    "sync": {
        "upmu_sync_begin": (c_int, [POINTER(UpmuSyncOpts)]),
        "upmu_sync_end": (c_int, []),
        "upmu_sync_set_mode": (c_int, [c_int]),
        "upmu_lock_announce": (None, [c_void_p, c_char_p]),
        "upmu_lock_will_acquire": (None, [c_void_p]),
        "upmu_lock_acquired": (None, [c_void_p]),
        "upmu_lock_tried": (None, [c_void_p]),
        "upmu_lock_released": (None, [c_void_p]),
        "upmu_lock_retired": (None, [c_void_p]),
        "upmu_lock_name": (None, [c_void_p, c_char_p]),
    },
    "analysis": {
        "upmu_overview_open": (c_int, [c_void_p, c_char_p, POINTER(UpmuOverviewOpts)]),
        "upmu_overview_close": (None, [c_void_p]),
        "upmu_overview_totals_read": (c_int, [c_void_p, POINTER(UpmuOverviewTotals)]),
        "upmu_overview_process_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuTraceProcess)]),
        "upmu_overview_process_count": (c_size_t, [c_void_p]),
        "upmu_overview_recorded_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuOverviewRecorded)]),
        "upmu_overview_pause_at": (c_int, [c_void_p, c_size_t, c_size_t, POINTER(UpmuTracePause)]),
        "upmu_overview_pause_count": (c_size_t, [c_void_p, c_size_t]),
        "upmu_overview_damage_message": (c_char_p, [c_void_p, c_size_t]),
        "upmu_overview_damage_count": (c_size_t, [c_void_p]),
        "upmu_wait_kind_name": (c_char_p, [c_int]),
        "upmu_overview_thread_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuOverviewThread)]),
        "upmu_overview_thread_name": (c_char_p, [c_void_p, c_size_t, c_int]),
        "upmu_overview_thread_count": (c_size_t, [c_void_p]),
        "upmu_overview_thread_wait_at": (c_int, [c_void_p, c_size_t, c_int, POINTER(UpmuOverviewThreadWait)]),
        "upmu_overview_thread_wait_count": (c_size_t, [c_void_p, c_size_t]),
        "upmu_sched_state_name": (c_char_p, [c_int]),
        "upmu_overview_sched_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuOverviewSched)]),
        "upmu_overview_cpu_count": (c_size_t, [c_void_p, c_size_t]),
        "upmu_overview_waker_at": (c_int, [c_void_p, c_size_t, c_size_t, POINTER(UpmuOverviewWaker)]),
        "upmu_overview_waker_count": (c_size_t, [c_void_p, c_size_t]),
        "upmu_overview_kernel_lock_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuOverviewKernelLock)]),
        "upmu_overview_kernel_lock_count": (c_size_t, [c_void_p]),
        "upmu_overview_object_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuOverviewObject)]),
        "upmu_overview_object_count": (c_size_t, [c_void_p]),
        "upmu_overview_object_find": (c_int, [c_void_p, c_size_t, c_int, c_uint64, POINTER(UpmuOverviewObject)]),
        "upmu_overview_object_thread_at": (c_int, [c_void_p, c_size_t, c_size_t, POINTER(UpmuOverviewObjectThread)]),
        "upmu_overview_object_thread_count": (c_size_t, [c_void_p, c_size_t]),
        "upmu_overview_call_site_at": (c_int, [c_void_p, c_size_t, c_size_t, POINTER(UpmuOverviewCallSite)]),
        "upmu_overview_call_site_count": (c_size_t, [c_void_p, c_size_t]),
        "upmu_overview_pair_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuOverviewPair)]),
        "upmu_overview_pair_count": (c_size_t, [c_void_p]),
        "upmu_overview_path_read": (c_int, [c_void_p, c_size_t, POINTER(UpmuOverviewPath)]),
        "upmu_overview_path_segment_at": (c_int, [c_void_p, c_size_t, c_size_t, POINTER(UpmuOverviewPathSegment)]),
        "upmu_overview_path_segment_count": (c_size_t, [c_void_p, c_size_t]),
        "upmu_overview_path_object_at": (c_int, [c_void_p, c_size_t, c_size_t, POINTER(UpmuOverviewPathObject)]),
        "upmu_overview_path_object_count": (c_size_t, [c_void_p, c_size_t]),
        "upmu_overview_section_read": (c_int, [c_void_p, c_size_t, c_int, POINTER(UpmuOverviewSection)]),
        "upmu_overview_region_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuOverviewRegion)]),
        "upmu_overview_region_count": (c_size_t, [c_void_p]),
        "upmu_overview_counter_name": (c_char_p, [c_void_p, c_size_t, c_size_t]),
        "upmu_overview_counter_count": (c_size_t, [c_void_p, c_size_t]),
        "upmu_overview_stack_find": (c_int, [c_void_p, c_size_t, c_uint32, POINTER(UpmuTraceStack)]),
        "upmu_frame_kind_name": (c_char_p, [c_int]),
        "upmu_frame_label": (c_char_p, [POINTER(UpmuSymbol)]),
        "upmu_overview_symbol_at": (c_int, [c_void_p, c_size_t, c_uint64, c_size_t, POINTER(UpmuSymbol)]),
        "upmu_overview_line_at": (c_int, [c_void_p, c_size_t, c_uint64, c_uint32, POINTER(UpmuSymbol)]),
        "upmu_overview_frame_at": (c_int, [c_void_p, c_size_t, c_uint32, c_size_t, POINTER(UpmuSymbol)]),
        "upmu_overview_tail_caller": (c_int, [c_void_p, c_size_t, c_uint64, POINTER(UpmuSymbol)]),
        "upmu_overview_save_jit_maps": (c_int, [c_char_p]),
        "upmu_trace_arrow": (c_int, [c_void_p, POINTER(UpmuArrowOpts), POINTER(ArrowArrayStream)]),
        "upmu_control_open": (c_int, [c_void_p, c_char_p]),
        "upmu_control_open_pid": (c_int, [c_void_p, c_int]),
        "upmu_control_process_count": (c_size_t, [c_void_p]),
        "upmu_control_status_read": (c_int, [c_void_p, c_size_t, POINTER(UpmuControlStatus)]),
        "upmu_control_start": (c_int, [c_void_p, c_size_t]),
        "upmu_control_stop": (c_int, [c_void_p, c_size_t]),
        "upmu_control_set_mode": (c_int, [c_void_p, c_size_t, c_int]),
        "upmu_control_mark": (c_int, [c_void_p, c_size_t, c_char_p]),
        "upmu_control_functions_start": (c_int, [c_void_p, c_size_t]),
        "upmu_control_functions_stop": (c_int, [c_void_p, c_size_t]),
        "upmu_control_functions_select": (c_int, [c_void_p, c_size_t, POINTER(UpmuFuncSelection)]),
        "upmu_control_close": (None, [c_void_p]),
        "upmu_deadlocks_open": (c_int, [c_void_p, c_char_p, POINTER(UpmuDeadlocksOpts)]),
        "upmu_deadlocks_close": (None, [c_void_p]),
        "upmu_deadlocks_overview": (c_void_p, [c_void_p]),
        "upmu_deadlock_kind_name": (c_char_p, [c_int]),
        "upmu_deadlock_certainty_name": (c_char_p, [c_int]),
        "upmu_deadlocks_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuDeadlock)]),
        "upmu_deadlocks_count": (c_size_t, [c_void_p]),
        "upmu_deadlocks_thread_at": (c_int, [c_void_p, c_size_t, c_size_t, POINTER(UpmuDeadlockThread)]),
        "upmu_deadlocks_thread_count": (c_size_t, [c_void_p, c_size_t]),
        "upmu_deadlocks_held_at": (c_int, [c_void_p, c_size_t, c_size_t, c_size_t, POINTER(UpmuDeadlockHeld)]),
        "upmu_deadlocks_held_count": (c_size_t, [c_void_p, c_size_t, c_size_t]),
        "upmu_lock_cycle_class_name": (c_char_p, [c_int]),
        "upmu_deadlocks_cycle_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuLockCycle)]),
        "upmu_deadlocks_cycle_count": (c_size_t, [c_void_p]),
        "upmu_deadlocks_acquisition_at": (c_int, [c_void_p, c_size_t, c_size_t, POINTER(UpmuLockAcquisition)]),
        "upmu_deadlocks_acquisition_count": (c_size_t, [c_void_p, c_size_t]),
        "upmu_deadlocks_acquisition_held_at": (c_int, [c_void_p, c_size_t, c_size_t, c_size_t, POINTER(UpmuDeadlockHeld)]),
        "upmu_deadlocks_acquisition_held_count": (c_size_t, [c_void_p, c_size_t, c_size_t]),
        "upmu_deadlocks_totals_read": (c_int, [c_void_p, POINTER(UpmuDeadlocksTotals)]),
        "upmu_deadlock_watch_open": (c_int, [c_void_p, c_char_p]),
        "upmu_deadlock_watch_poll": (c_int, [c_void_p, c_void_p]),
        "upmu_deadlock_watch_take": (c_int, [c_void_p, c_void_p]),
        "upmu_deadlock_watch_close": (None, [c_void_p]),
        "upmu_deadlock_inspect_open": (c_int, [c_void_p, c_int]),
        "upmu_deadlock_inspect_thread_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuDeadlockInspectThread)]),
        "upmu_deadlock_inspect_stalled": (c_int, [c_void_p]),
        "upmu_deadlock_inspect_thread_count": (c_size_t, [c_void_p]),
        "upmu_deadlock_inspect_frame_at": (c_int, [c_void_p, c_size_t, c_size_t, c_size_t, POINTER(UpmuSymbol)]),
        "upmu_deadlock_inspect_close": (None, [c_void_p]),
        "upmu_export": (c_int, [c_char_p, c_char_p, c_int, POINTER(UpmuExportOpts), POINTER(UpmuExportResult)]),
        "upmu_export_format_at": (c_int, [c_size_t, POINTER(UpmuExportFormat)]),
        "upmu_export_format_count": (c_size_t, []),
        "upmu_findings_open": (c_int, [c_void_p, c_void_p, c_void_p, POINTER(UpmuFindingsOpts)]),
        "upmu_findings_close": (None, [c_void_p]),
        "upmu_finding_kind_name": (c_char_p, [c_int]),
        "upmu_findings_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuFinding)]),
        "upmu_findings_count": (c_size_t, [c_void_p]),
        "upmu_functions_open": (c_int, [c_void_p, c_char_p, POINTER(UpmuFunctionsOpts)]),
        "upmu_functions_close": (None, [c_void_p]),
        "upmu_functions_totals_read": (c_int, [c_void_p, POINTER(UpmuFunctionsTotals)]),
        "upmu_functions_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuFunction)]),
        "upmu_functions_count": (c_size_t, [c_void_p]),
        "upmu_functions_edge_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuFunctionEdge)]),
        "upmu_functions_edge_count": (c_size_t, [c_void_p]),
        "upmu_functions_path_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuFunctionPath)]),
        "upmu_functions_path_count": (c_size_t, [c_void_p]),
        "upmu_functions_counter_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuFunctionCounter)]),
        "upmu_functions_counter_count": (c_size_t, [c_void_p]),
        "upmu_functions_counts_read": (c_int, [c_void_p, c_int, c_size_t, c_size_t, POINTER(UpmuFunctionCounts)]),
        "upmu_functions_events_begin": (c_int, [c_void_p]),
        "upmu_functions_event_next": (c_int, [c_void_p, POINTER(UpmuFunctionEvent)]),
        "upmu_heap_open": (c_int, [c_void_p, c_char_p]),
        "upmu_heap_open_between": (c_int, [c_void_p, c_char_p, c_uint64, c_uint64]),
        "upmu_heap_close": (None, [c_void_p]),
        "upmu_heap_process_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuHeapProcess)]),
        "upmu_heap_path_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuHeapPath)]),
        "upmu_monitor_open": (c_int, [c_void_p, c_char_p]),
        "upmu_monitor_update": (c_int, [c_void_p]),
        "upmu_monitor_totals_read": (c_int, [c_void_p, POINTER(UpmuMonitorTotals)]),
        "upmu_monitor_thread_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuMonitorThread)]),
        "upmu_monitor_thread_count": (c_size_t, [c_void_p]),
        "upmu_monitor_lock_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuMonitorLock)]),
        "upmu_monitor_lock_count": (c_size_t, [c_void_p]),
        "upmu_monitor_line_at": (c_int, [c_void_p, c_size_t, c_uint64, c_uint32, POINTER(UpmuSymbol)]),
        "upmu_monitor_symbol_at": (c_int, [c_void_p, c_size_t, c_uint64, c_size_t, POINTER(UpmuSymbol)]),
        "upmu_monitor_close": (None, [c_void_p]),
        "upmu_mpi_open": (c_int, [c_void_p, c_char_p]),
        "upmu_mpi_open_between": (c_int, [c_void_p, c_char_p, c_uint64, c_uint64]),
        "upmu_mpi_close": (None, [c_void_p]),
        "upmu_mpi_job_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuMpiJob)]),
        "upmu_mpi_rank_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuMpiRank)]),
        "upmu_mpi_call_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuMpiCall)]),
        "upmu_mpi_wait_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuMpiWait)]),
        "upmu_mpi_partner_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuMpiPartner)]),
        "upmu_mpi_call_wait_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuMpiCallWait)]),
        "upmu_mpi_delay_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuMpiDelay)]),
        "upmu_mpi_path_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuMpiPath)]),
        "upmu_mpi_path_step_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuMpiPathStep)]),
        "upmu_mpi_pattern_name": (c_char_p, [c_int]),
        "upmu_mpi_message_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuMpiMessage)]),
        "upmu_mpi_deadlock_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuMpiDeadlock)]),
        "upmu_mpi_deadlock_thread_at": (c_int, [c_void_p, c_size_t, c_size_t, POINTER(UpmuMpiDeadlockThread)]),
        "upmu_mpi_deadlock_name": (c_char_p, [c_int]),
        "upmu_mpi_watch_open": (c_int, [c_void_p, c_char_p]),
        "upmu_mpi_watch_poll": (c_int, [c_void_p, c_void_p]),
        "upmu_mpi_watch_close": (None, [c_void_p]),
        "upmu_openmp_open": (c_int, [c_void_p, c_char_p]),
        "upmu_openmp_open_between": (c_int, [c_void_p, c_char_p, c_uint64, c_uint64]),
        "upmu_openmp_close": (None, [c_void_p]),
        "upmu_openmp_process_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuOpenmpProcess)]),
        "upmu_openmp_region_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuOpenmpRegion)]),
        "upmu_openmp_member_at": (c_int, [c_void_p, c_size_t, c_size_t, POINTER(UpmuOpenmpMember)]),
        "upmu_openmp_thread_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuOpenmpThread)]),
        "upmu_openmp_construct_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuOpenmpConstruct)]),
        "upmu_openmp_region_wait_ns": (c_uint64, [c_void_p, c_size_t, c_size_t, c_uint32]),
        "upmu_openmp_thread_wait_ns": (c_uint64, [c_void_p, c_size_t, c_uint32]),
        "upmu_openmp_host_length": (c_size_t, [c_char_p]),
        "upmu_sampler_open": (c_int, [c_void_p, c_char_p, POINTER(UpmuSamplerOpts)]),
        "upmu_sampler_attach": (c_int, [c_void_p, c_int, c_int]),
        "upmu_sampler_drain": (c_int, [c_void_p]),
        "upmu_sampler_close": (c_int, [c_void_p, POINTER(UpmuSamplerResult)]),
        "upmu_samples_open": (c_int, [c_void_p, c_char_p, POINTER(UpmuSamplesOpts)]),
        "upmu_samples_close": (None, [c_void_p]),
        "upmu_samples_totals_read": (c_int, [c_void_p, POINTER(UpmuSamplesTotals)]),
        "upmu_samples_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuSample)]),
        "upmu_samples_count": (c_size_t, [c_void_p]),
        "upmu_samples_thread_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuSampleThread)]),
        "upmu_samples_function_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuSampleFunction)]),
        "upmu_samples_function_count": (c_size_t, [c_void_p]),
        "upmu_samples_path_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuSamplePath)]),
        "upmu_samples_path_count": (c_size_t, [c_void_p]),
        "upmu_samples_annotate": (c_int, [c_void_p, c_size_t, c_void_p]),
        "upmu_annotation_close": (None, [c_void_p]),
        "upmu_annotation_totals_read": (c_int, [c_void_p, POINTER(UpmuAnnotationTotals)]),
        "upmu_annotation_line_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuAnnotationLine)]),
        "upmu_annotation_range_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuAnnotationRange)]),
        "upmu_annotation_instruction_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuAnnotationInstruction)]),
        "upmu_snapshot_take": (c_int, [c_char_p, c_char_p, c_char_p, POINTER(UpmuSnapshot)]),
        "upmu_trigger_check": (c_int, [c_char_p]),
        "upmu_snapshot_watch_open": (c_int, [c_void_p, c_char_p, c_char_p, POINTER(UpmuSnapshotWatchOpts)]),
        "upmu_snapshot_watch_poll": (c_int, [c_void_p, POINTER(UpmuSnapshot)]),
        "upmu_snapshot_watch_take": (c_int, [c_void_p, c_char_p, POINTER(UpmuSnapshot)]),
        "upmu_snapshot_watch_totals_read": (c_int, [c_void_p, POINTER(UpmuSnapshotTotals)]),
        "upmu_snapshot_watch_close": (None, [c_void_p]),
        "upmu_subscription_open": (c_int, [c_void_p, POINTER(UpmuSubscriptionOpts)]),
        "upmu_subscription_read": (c_int, [c_void_p, c_void_p, c_size_t, c_int]),
        "upmu_subscription_totals_read": (c_int, [c_void_p, POINTER(UpmuSubscriptionTotals)]),
        "upmu_subscription_close": (None, [c_void_p]),
        "upmu_row_kind_name": (c_char_p, [c_int]),
        "upmu_timeline_open": (c_int, [c_void_p, c_char_p, POINTER(UpmuTimelineOpts)]),
        "upmu_timeline_close": (None, [c_void_p]),
        "upmu_timeline_overview": (c_void_p, [c_void_p]),
        "upmu_timeline_totals_read": (c_int, [c_void_p, POINTER(UpmuTimelineTotals)]),
        "upmu_timeline_row_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuTimelineRow)]),
        "upmu_timeline_row_count": (c_size_t, [c_void_p]),
        "upmu_trace_open": (c_int, [c_void_p, c_char_p]),
        "upmu_trace_filter": (c_int, [c_void_p, POINTER(UpmuTraceFilterOpts)]),
        "upmu_trace_next": (c_int, [c_void_p, c_void_p]),
        "upmu_trace_read": (c_int, [c_void_p, c_void_p, c_size_t]),
        "upmu_trace_update": (c_int, [c_void_p]),
        "upmu_trace_missed_packets": (c_uint64, [c_void_p]),
        "upmu_trace_begin_ns": (c_uint64, [c_void_p]),
        "upmu_trace_time_of_raw": (c_uint64, [c_void_p, c_size_t, c_uint64]),
        "upmu_trace_now": (c_int, [c_void_p, c_size_t, POINTER(c_uint64)]),
        "upmu_trace_kind_name": (c_char_p, [c_int]),
        "upmu_object_type_name": (c_char_p, [c_int]),
        "upmu_trace_mpi_call_name": (c_char_p, [c_uint32]),
        "upmu_trace_omp_event_name": (c_char_p, [c_uint32]),
        "upmu_trace_omp_construct_name": (c_char_p, [c_uint32]),
        "upmu_trace_process_count": (c_size_t, [c_void_p]),
        "upmu_trace_process_at": (c_int, [c_void_p, c_size_t, POINTER(UpmuTraceProcess)]),
        "upmu_trace_pause_at": (c_int, [c_void_p, c_size_t, c_size_t, POINTER(UpmuTracePause)]),
        "upmu_trace_pause_count": (c_size_t, [c_void_p, c_size_t]),
        "upmu_trace_counter_name": (c_char_p, [c_void_p, c_size_t, c_size_t]),
        "upmu_trace_counter_count": (c_size_t, [c_void_p, c_size_t]),
        "upmu_trace_stack_find": (c_int, [c_void_p, c_size_t, c_uint32, POINTER(UpmuTraceStack)]),
        "upmu_trace_module_at": (c_int, [c_void_p, c_size_t, c_size_t, POINTER(UpmuTraceModule)]),
        "upmu_trace_module_count": (c_size_t, [c_void_p, c_size_t]),
        "upmu_trace_close": (None, [c_void_p]),
        "upmu_trace_repair": (c_int, [c_char_p, POINTER(UpmuTraceRepairResult)]),
    },
}
