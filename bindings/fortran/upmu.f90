! SPDX-License-Identifier: MIT
!> libupmu for Fortran 2008: regions, marks, counter sets and lock tracing.
!>
!>     use upmu
!>     type(upmu_region) :: parse
!>     parse = upmu_region_handle('parse')
!>     call upmu_enter(parse)
!>     ...
!>     call upmu_leave(parse)
!>
!> Each procedure has an optional last argument `ierr`: 0 or more on success, a negative UPMU_E_ code on failure, of which
!> upmu_error() has the message. While regions are off, enter and leave test one variable; names are not copied.
!> Compile this file with the program: a .mod file is tied to the compiler that made it.
module upmu
    use, intrinsic :: iso_c_binding
    implicit none
    private

    public :: upmu_region, upmu_region_handle, upmu_enter, upmu_leave
    public :: upmu_region_begin, upmu_region_end, upmu_mark
    public :: upmu_setup, upmu_switch, upmu_report, upmu_stat, upmu_region_stats, upmu_region_stats_read
    public :: upmu_value, upmu_has_number, upmu_status_name
    public :: upmu_set, upmu_set_open, upmu_set_start, upmu_set_stop, upmu_set_reset, upmu_set_read
    public :: upmu_set_count, upmu_set_name, upmu_set_reason, upmu_set_close
    public :: upmu_sync_begin, upmu_sync_end, upmu_sync_set_mode
    public :: upmu_error, upmu_error_code, upmu_strerror, upmu_version

    !> Error codes, as enum upmu_code.
    integer, parameter, public :: UPMU_OK = 0, UPMU_E_INVAL = -1, UPMU_E_NOMEM = -2, UPMU_E_NAME = -3, &
        UPMU_E_UNSUPPORTED = -4, UPMU_E_NO_PMU = -5, UPMU_E_PERM = -6, UPMU_E_SECCOMP = -7, UPMU_E_STATE = -14, &
        UPMU_E_IO = -15, UPMU_E_LIMIT = -18, UPMU_E_BACKEND = -20, UPMU_E_END = -24, UPMU_E_NESTED = -25

    !> Status of a value, as enum upmu_status. Only exact and scaled values have a number.
    integer, parameter, public :: UPMU_NOT_COUNTED = 0, UPMU_EXACT = 1, UPMU_SCALED = 2, UPMU_REFUSED = 3, &
        UPMU_UNSUPPORTED = 4

    !> Modes of lock tracing, as enum upmu_sync_mode.
    integer, parameter, public :: UPMU_SYNC_HOLDERS = 0, UPMU_SYNC_CONTENDED = 1, UPMU_SYNC_ALL = 2, UPMU_SYNC_COUNTS = 3

    !> A field without a number: in C the largest unsigned one.
    integer(c_int64_t), parameter, public :: UPMU_NO_VALUE = -1_c_int64_t

    !> A region handle. Copies are of the same region; it lives as long as the program.
    type :: upmu_region
        private
        type(c_ptr) :: address = c_null_ptr
    end type

    type, bind(c) :: c_region
        type(c_ptr) :: name
        integer(c_int32_t) :: id, reserved
    end type

    !> A count and its status, as struct upmu_value.
    type, bind(c) :: upmu_value
        integer(c_int64_t) :: value = UPMU_NO_VALUE !< the count; UPMU_NO_VALUE unless exact or scaled
        integer(c_int64_t) :: raw = 0               !< the count before scaling
        integer(c_int64_t) :: enabled = 0           !< time that the event was enabled, nanoseconds
        integer(c_int64_t) :: running = 0           !< time that it was on a counter, nanoseconds
        integer(c_int32_t) :: status = UPMU_NOT_COUNTED
        integer(c_int32_t) :: cause = 0             !< code behind REFUSED and UNSUPPORTED
    end type

    !> Statistics of one quantity over the instances of a region, as struct upmu_stat.
    type, bind(c) :: upmu_stat
        integer(c_int64_t) :: count = 0, sum = 0, min = UPMU_NO_VALUE, max = 0, last = UPMU_NO_VALUE
        real(c_double) :: sum_squares = 0
    end type

    !> Statistics of a region, as struct upmu_region_stats; times in nanoseconds.
    type, bind(c) :: upmu_region_stats
        integer(c_size_t) :: size = 0
        integer(c_int64_t) :: count = 0, open = 0
        type(upmu_stat) :: wall
        integer(c_int64_t) :: self_ns = 0, descheduled = 0, deschedule_unknown = 0
        integer(c_int32_t) :: threads = 0, n_events = 0
    end type

    type, bind(c) :: c_region_opts
        integer(c_size_t) :: size
        type(c_ptr) :: events, report, output, trace, backend
    end type

    !> A list of events counted for one target; close it with upmu_set_close().
    type :: upmu_set
        private
        type(c_ptr) :: address = c_null_ptr
    end type

    type, bind(c) :: c_set_opts
        integer(c_size_t) :: size
        integer(c_int32_t) :: target, flags
        integer(c_int) :: pid, cpu
        type(c_ptr) :: argv, backend
    end type

    type, bind(c) :: c_sync_opts
        integer(c_size_t) :: size
        integer(c_int32_t) :: mode, stack_depth
        type(c_ptr) :: trace
        integer(c_int32_t) :: sample, sched, counters, requests
    end type

    integer(c_int32_t), parameter :: target_thread = 0, target_process = 1, target_cpu = 3

    !> Non-zero while regions are on; written by libupmu. Not for use: it is public because gfortran hides the symbols of private
    !> variables from the dynamic linker, and this one is that of libupmu.
    integer(c_int32_t), bind(c, name='upmu_region_gate_'), volatile, public, protected :: upmu_region_gate

    interface
        integer(c_int) function c_enter(region) bind(c, name='upmu_region_enter')
            import :: c_int, c_ptr
            type(c_ptr), value :: region
        end function
        integer(c_int) function c_leave(region) bind(c, name='upmu_region_leave')
            import :: c_int, c_ptr
            type(c_ptr), value :: region
        end function
        integer(c_int) function c_begin(name) bind(c, name='upmu_region_begin')
            import :: c_int, c_char
            character(kind=c_char), intent(in) :: name(*)
        end function
        integer(c_int) function c_end(name) bind(c, name='upmu_region_end')
            import :: c_int, c_char
            character(kind=c_char), intent(in) :: name(*)
        end function
        integer(c_int) function c_mark(text) bind(c, name='upmu_mark')
            import :: c_int, c_char
            character(kind=c_char), intent(in) :: text(*)
        end function
        integer(c_int) function c_setup(opts) bind(c, name='upmu_region_setup')
            import :: c_int, c_region_opts
            type(c_region_opts), intent(in) :: opts
        end function
        integer(c_int) function c_switch(on) bind(c, name='upmu_region_switch')
            import :: c_int
            integer(c_int), value :: on
        end function
        integer(c_int) function c_report(fd) bind(c, name='upmu_region_report')
            import :: c_int
            integer(c_int), value :: fd
        end function
        integer(c_int) function c_stats_read(name, thread, out) bind(c, name='upmu_region_stats_read')
            import :: c_int, c_char, upmu_region_stats
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int), value :: thread
            type(upmu_region_stats), intent(inout) :: out
        end function
        integer(c_int) function c_set_open(set, events, opts) bind(c, name='upmu_set_open')
            import :: c_int, c_char, c_ptr, c_set_opts
            type(c_ptr), intent(out) :: set
            character(kind=c_char), intent(in) :: events(*)
            type(c_set_opts), intent(in) :: opts
        end function
        integer(c_int) function c_set_start(set) bind(c, name='upmu_set_start')
            import :: c_int, c_ptr
            type(c_ptr), value :: set
        end function
        integer(c_int) function c_set_stop(set) bind(c, name='upmu_set_stop')
            import :: c_int, c_ptr
            type(c_ptr), value :: set
        end function
        integer(c_int) function c_set_reset(set) bind(c, name='upmu_set_reset')
            import :: c_int, c_ptr
            type(c_ptr), value :: set
        end function
        integer(c_int) function c_set_read(set, values, n) bind(c, name='upmu_set_read')
            import :: c_int, c_ptr, c_size_t, upmu_value
            type(c_ptr), value :: set
            type(upmu_value), intent(inout) :: values(*)
            integer(c_size_t), value :: n
        end function
        integer(c_size_t) function c_set_event_count(set) bind(c, name='upmu_set_event_count')
            import :: c_size_t, c_ptr
            type(c_ptr), value :: set
        end function
        type(c_ptr) function c_set_name(set, i) bind(c, name='upmu_set_name')
            import :: c_ptr, c_size_t
            type(c_ptr), value :: set
            integer(c_size_t), value :: i
        end function
        type(c_ptr) function c_set_reason(set, i) bind(c, name='upmu_set_reason')
            import :: c_ptr, c_size_t
            type(c_ptr), value :: set
            integer(c_size_t), value :: i
        end function
        subroutine c_set_close(set) bind(c, name='upmu_set_close')
            import :: c_ptr
            type(c_ptr), value :: set
        end subroutine
        integer(c_int) function c_sync_begin(opts) bind(c, name='upmu_sync_begin')
            import :: c_int, c_sync_opts
            type(c_sync_opts), intent(in) :: opts
        end function
        integer(c_int) function c_sync_end() bind(c, name='upmu_sync_end')
            import :: c_int
        end function
        integer(c_int) function c_sync_set_mode(mode) bind(c, name='upmu_sync_set_mode')
            import :: c_int
            integer(c_int), value :: mode
        end function
        type(c_ptr) function c_error() bind(c, name='upmu_error')
            import :: c_ptr
        end function
        integer(c_int) function c_error_code() bind(c, name='upmu_error_code')
            import :: c_int
        end function
        type(c_ptr) function c_strerror(code) bind(c, name='upmu_strerror')
            import :: c_ptr, c_int
            integer(c_int), value :: code
        end function
        type(c_ptr) function c_status_name(status) bind(c, name='upmu_status_name')
            import :: c_ptr, c_int
            integer(c_int), value :: status
        end function
        type(c_ptr) function c_version() bind(c, name='upmu_version')
            import :: c_ptr
        end function
        integer(c_size_t) function c_strlen(text) bind(c, name='strlen')
            import :: c_ptr, c_size_t
            type(c_ptr), value :: text
        end function
    end interface

contains

    ! ------------------------------------------------------------------------------------------------- regions

    !> A handle of region `name`, for upmu_enter() and upmu_leave(): made once, outside of loops.
    function upmu_region_handle(name) result(region)
        character(len=*), intent(in) :: name
        type(upmu_region) :: region
        type(c_region), pointer :: handle
        character(kind=c_char), pointer :: text(:)
        integer :: i

        ! The recorder keeps the addresses of both, so neither is freed.
        allocate (text(len_trim(name) + 1))
        do i = 1, len_trim(name)
            text(i) = name(i:i)
        end do
        text(size(text)) = c_null_char
        allocate (handle)
        handle = c_region(c_loc(text(1)), 0, 0)
        region%address = c_loc(handle)
    end function

    !> Begin a region by its handle.
    subroutine upmu_enter(region, ierr)
        type(upmu_region), intent(in) :: region
        integer, intent(out), optional :: ierr
        integer(c_int) :: rc

        rc = 0
        if (upmu_region_gate /= 0) rc = c_enter(region%address)
        if (present(ierr)) ierr = rc
    end subroutine

    !> End a region by its handle.
    subroutine upmu_leave(region, ierr)
        type(upmu_region), intent(in) :: region
        integer, intent(out), optional :: ierr
        integer(c_int) :: rc

        rc = 0
        if (upmu_region_gate /= 0) rc = c_leave(region%address)
        if (present(ierr)) ierr = rc
    end subroutine

    !> Begin region `name`; trailing blanks do not count.
    subroutine upmu_region_begin(name, ierr)
        character(len=*), intent(in) :: name
        integer, intent(out), optional :: ierr
        integer(c_int) :: rc

        rc = 0
        if (upmu_region_gate /= 0) rc = c_begin(trim(name)//c_null_char)
        if (present(ierr)) ierr = rc
    end subroutine

    !> End region `name`.
    subroutine upmu_region_end(name, ierr)
        character(len=*), intent(in) :: name
        integer, intent(out), optional :: ierr
        integer(c_int) :: rc

        rc = 0
        if (upmu_region_gate /= 0) rc = c_end(trim(name)//c_null_char)
        if (present(ierr)) ierr = rc
    end subroutine

    !> A mark on the timeline of the calling thread.
    subroutine upmu_mark(text, ierr)
        character(len=*), intent(in) :: text
        integer, intent(out), optional :: ierr
        integer(c_int) :: rc

        rc = 0
        if (upmu_region_gate /= 0) rc = c_mark(trim(text)//c_null_char)
        if (present(ierr)) ierr = rc
    end subroutine

    !> Switch regions on, once per process. `ierr` is 1 if the environment has done so and the arguments are ignored.
    subroutine upmu_setup(events, report, output, trace, backend, ierr)
        character(len=*), intent(in), optional :: events, report, output, trace, backend
        integer, intent(out), optional :: ierr
        character(kind=c_char, len=:), allocatable, target :: c_events, c_report_format, c_output, c_trace, c_backend
        type(c_region_opts) :: opts
        integer(c_int) :: rc

        opts%size = c_sizeof(opts)
        opts%events = c_text(events, c_events)
        opts%report = c_text(report, c_report_format)
        opts%output = c_text(output, c_output)
        opts%trace = c_text(trace, c_trace)
        opts%backend = c_text(backend, c_backend)
        rc = c_setup(opts)
        if (present(ierr)) ierr = rc
    end subroutine

    !> Pause (.false.) or resume (.true.) all regions of the process. @return whether they were on
    logical function upmu_switch(on)
        logical, intent(in) :: on

        upmu_switch = c_switch(merge(1_c_int, 0_c_int, on)) /= 0
    end function

    !> Write the report of regions to a descriptor (2: standard error).
    subroutine upmu_report(fd, ierr)
        integer, intent(in) :: fd
        integer, intent(out), optional :: ierr
        integer(c_int) :: rc

        rc = c_report(int(fd, c_int))
        if (present(ierr)) ierr = rc
    end subroutine

    !> Statistics of a region so far, of all threads or of the one with kernel id `thread`.
    subroutine upmu_region_stats_read(name, stats, thread, ierr)
        character(len=*), intent(in) :: name
        type(upmu_region_stats), intent(out) :: stats
        integer, intent(in), optional :: thread
        integer, intent(out), optional :: ierr
        integer(c_int) :: rc, tid

        tid = 0
        if (present(thread)) tid = int(thread, c_int)
        stats%size = c_sizeof(stats)
        rc = c_stats_read(trim(name)//c_null_char, tid, stats)
        if (present(ierr)) ierr = rc
    end subroutine

    ! ---------------------------------------------------------------------------------------------------- sets

    !> Open counters for the calling thread, or for process `pid` or CPU `cpu`; stopped and at zero.
    subroutine upmu_set_open(set, events, pid, cpu, ierr)
        type(upmu_set), intent(out) :: set
        character(len=*), intent(in) :: events
        integer, intent(in), optional :: pid, cpu
        integer, intent(out), optional :: ierr
        type(c_set_opts) :: opts
        integer(c_int) :: rc

        opts = c_set_opts(0, target_thread, 0, 0, 0, c_null_ptr, c_null_ptr)
        opts%size = c_sizeof(opts)
        if (present(cpu)) then
            opts%target = target_cpu
            opts%cpu = int(cpu, c_int)
        else if (present(pid)) then
            opts%target = target_process
            opts%pid = int(pid, c_int)
        end if
        rc = c_set_open(set%address, trim(events)//c_null_char, opts)
        if (present(ierr)) ierr = rc
    end subroutine

    subroutine upmu_set_start(set, ierr)
        type(upmu_set), intent(in) :: set
        integer, intent(out), optional :: ierr
        integer(c_int) :: rc

        rc = c_set_start(set%address)
        if (present(ierr)) ierr = rc
    end subroutine

    subroutine upmu_set_stop(set, ierr)
        type(upmu_set), intent(in) :: set
        integer, intent(out), optional :: ierr
        integer(c_int) :: rc

        rc = c_set_stop(set%address)
        if (present(ierr)) ierr = rc
    end subroutine

    subroutine upmu_set_reset(set, ierr)
        type(upmu_set), intent(in) :: set
        integer, intent(out), optional :: ierr
        integer(c_int) :: rc

        rc = c_set_reset(set%address)
        if (present(ierr)) ierr = rc
    end subroutine

    !> Read all events into the first upmu_set_count() values. `ierr` is their number.
    subroutine upmu_set_read(set, values, ierr)
        type(upmu_set), intent(in) :: set
        type(upmu_value), intent(inout) :: values(:)
        integer, intent(out), optional :: ierr
        integer(c_int) :: rc

        rc = c_set_read(set%address, values, size(values, kind=c_size_t))
        if (present(ierr)) ierr = rc
    end subroutine

    !> Number of events.
    integer function upmu_set_count(set)
        type(upmu_set), intent(in) :: set

        upmu_set_count = int(c_set_event_count(set%address))
    end function

    !> Name of event `i`, from 1; '' past the last one.
    function upmu_set_name(set, i) result(name)
        type(upmu_set), intent(in) :: set
        integer, intent(in) :: i
        character(len=:), allocatable :: name

        name = fortran_text(c_set_name(set%address, int(i - 1, c_size_t)))
    end function

    !> Why event `i` has no number, with a remedy; '' if it has one.
    function upmu_set_reason(set, i) result(reason)
        type(upmu_set), intent(in) :: set
        integer, intent(in) :: i
        character(len=:), allocatable :: reason

        reason = fortran_text(c_set_reason(set%address, int(i - 1, c_size_t)))
    end function

    subroutine upmu_set_close(set, ierr)
        type(upmu_set), intent(inout) :: set
        integer, intent(out), optional :: ierr

        call c_set_close(set%address)
        set%address = c_null_ptr
        if (present(ierr)) ierr = 0
    end subroutine

    !> Whether a value has a number.
    elemental logical function upmu_has_number(value)
        type(upmu_value), intent(in) :: value

        upmu_has_number = value%status == UPMU_EXACT .or. value%status == UPMU_SCALED
    end function

    !> 'exact', 'scaled', 'not counted', 'refused', 'unsupported'.
    function upmu_status_name(status) result(name)
        integer, intent(in) :: status
        character(len=:), allocatable :: name

        name = fortran_text(c_status_name(int(status, c_int)))
    end function

    ! -------------------------------------------------------------------------------------------- lock tracing

    !> Record lock and thread events of the process from here on. Link with libupmu_sync.
    subroutine upmu_sync_begin(trace, mode, ierr)
        character(len=*), intent(in), optional :: trace
        integer, intent(in), optional :: mode
        integer, intent(out), optional :: ierr
        character(kind=c_char, len=:), allocatable, target :: c_trace
        type(c_sync_opts) :: opts
        integer(c_int) :: rc

        opts = c_sync_opts(0, UPMU_SYNC_CONTENDED, 0, c_null_ptr, 0, 0, 0, 0)
        opts%size = c_sizeof(opts)
        opts%trace = c_text(trace, c_trace)
        if (present(mode)) opts%mode = int(mode, c_int32_t)
        rc = c_sync_begin(opts)
        if (present(ierr)) ierr = rc
    end subroutine

    subroutine upmu_sync_end(ierr)
        integer, intent(out), optional :: ierr
        integer(c_int) :: rc

        rc = c_sync_end()
        if (present(ierr)) ierr = rc
    end subroutine

    !> Change the mode while recording. `ierr` is the mode before.
    subroutine upmu_sync_set_mode(mode, ierr)
        integer, intent(in) :: mode
        integer, intent(out), optional :: ierr
        integer(c_int) :: rc

        rc = c_sync_set_mode(int(mode, c_int))
        if (present(ierr)) ierr = rc
    end subroutine

    ! --------------------------------------------------------------------------------------------------- texts

    !> Message of the last failure of the calling thread, with its remedy.
    function upmu_error() result(message)
        character(len=:), allocatable :: message

        message = fortran_text(c_error())
    end function

    !> Code of that message.
    integer function upmu_error_code()
        upmu_error_code = c_error_code()
    end function

    !> Short text of a code.
    function upmu_strerror(code) result(message)
        integer, intent(in) :: code
        character(len=:), allocatable :: message

        message = fortran_text(c_strerror(int(code, c_int)))
    end function

    !> Version of the library in use.
    function upmu_version() result(version)
        character(len=:), allocatable :: version

        version = fortran_text(c_version())
    end function

    !> Address of a NUL-terminated copy in `copy`; null if `text` is absent.
    type(c_ptr) function c_text(text, copy)
        character(len=*), intent(in), optional :: text
        character(kind=c_char, len=:), allocatable, target, intent(out) :: copy

        c_text = c_null_ptr
        if (.not. present(text)) return
        copy = trim(text)//c_null_char
        c_text = c_loc(copy)
    end function

    !> A text of C; '' for a null pointer.
    function fortran_text(text) result(copy)
        type(c_ptr), intent(in) :: text
        character(len=:), allocatable :: copy
        character(kind=c_char), pointer :: bytes(:)
        integer :: i

        copy = ''
        if (.not. c_associated(text)) return
        call c_f_pointer(text, bytes, [c_strlen(text)])
        deallocate (copy)
        allocate (character(len=size(bytes)) :: copy)
        do i = 1, size(bytes)
            copy(i:i) = bytes(i)
        end do
    end function

end module
