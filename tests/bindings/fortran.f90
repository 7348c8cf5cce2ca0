! SPDX-License-Identifier: MIT
! Every public name of the Fortran module. The only argument is the directory of the trace.
program test_fortran
    use, intrinsic :: iso_c_binding
    use upmu
    implicit none
    character(len=300) :: folder

    call get_command_argument(1, folder)
    call regions_are_off
    call recording_and_regions
    call sets_have_values_or_reasons
    call errors_have_codes_and_messages
    print '(a)', 'fine'

contains

    subroutine check(condition, what)
        logical, intent(in) :: condition
        character(len=*), intent(in) :: what

        if (condition) return
        print '(4a)', 'FAILED: ', what, ': ', upmu_error()
        stop 1
    end subroutine

    subroutine regions_are_off
        type(upmu_region) :: region
        type(upmu_region_stats) :: stats
        integer :: ierr

        region = upmu_region_handle('off')
        call upmu_enter(region, ierr)
        call check(ierr == UPMU_OK, 'enter while off')
        call upmu_leave(region)
        call upmu_region_begin('', ierr)
        call check(ierr == UPMU_OK, 'a name is not looked at while off')
        call upmu_region_end('off')
        call upmu_mark('off')
        call upmu_region_stats_read('off', stats, ierr=ierr)
        call check(ierr == UPMU_E_STATE .and. upmu_error_code() == UPMU_E_STATE, 'statistics while off')
    end subroutine

    subroutine recording_and_regions
        type(upmu_region) :: outer, copy
        type(upmu_region_stats) :: stats
        integer :: ierr, i

        call upmu_setup(events='task-clock', report='none', trace=folder, ierr=ierr)
        call check(ierr == 0, 'setup')
        call upmu_setup(ierr=ierr)
        call check(ierr == UPMU_E_STATE, 'set up twice')
        call upmu_sync_begin(trace=folder, mode=UPMU_SYNC_HOLDERS, ierr=ierr)
        call check(ierr == 0, 'sync_begin')
        call upmu_sync_set_mode(UPMU_SYNC_ALL, ierr)
        call check(ierr == UPMU_SYNC_HOLDERS, 'the mode before')
        outer = upmu_region_handle('outer  ')
        copy = outer
        do i = 1, 3
            call upmu_enter(copy, ierr)
            call check(ierr == 0, 'enter')
            call upmu_region_begin('in ner ', ierr)
            call check(ierr == 0, 'begin')
            call upmu_mark('a mark', ierr)
            call check(ierr == 0, 'mark')
            call upmu_region_end('in ner', ierr)
            call check(ierr == 0, 'end')
            call upmu_leave(outer, ierr)
            call check(ierr == 0, 'leave')
        end do
        call upmu_leave(outer, ierr)
        call check(ierr == UPMU_E_STATE, 'leave without enter')
        call upmu_region_begin('', ierr)
        call check(ierr == UPMU_E_INVAL, 'a name of blanks')
        call check(upmu_switch(.false.), 'switched off')
        call upmu_region_begin('paused')
        call check(.not. upmu_switch(.true.), 'switched on')
        call upmu_region_stats_read('outer', stats, ierr=ierr)
        call check(ierr == 0 .and. stats%count == 3 .and. stats%open == 0 .and. stats%threads == 1, 'statistics of outer')
        call check(stats%size == c_sizeof(stats) .and. stats%n_events == 1, 'all of the struct')
        call check(stats%wall%count == 3 .and. stats%wall%min <= stats%wall%max .and. stats%wall%min > 0, 'wall times')
        call upmu_region_stats_read('in ner', stats, ierr=ierr)
        call check(ierr == 0 .and. stats%count == 3, 'statistics of inner')
        call upmu_region_stats_read('paused', stats, ierr=ierr)
        call check(ierr == UPMU_E_NAME .and. stats%wall%min == UPMU_NO_VALUE, 'statistics of paused')
        call upmu_region_stats_read('outer', stats, thread=1, ierr=ierr)
        call check(ierr == UPMU_E_NAME, 'statistics of another thread')
        call upmu_report(1, ierr)
        call check(ierr == 0, 'report')
        call upmu_sync_end(ierr)
        call check(ierr == 0, 'sync_end')
        call upmu_sync_end(ierr)
        call check(ierr == UPMU_E_STATE, 'sync_end without begin')
    end subroutine

    subroutine sets_have_values_or_reasons
        type(upmu_set) :: set
        type(upmu_value) :: values(2)
        real :: sum
        integer :: ierr, i

        call upmu_set_open(set, 'task-clock,cycles ', ierr=ierr)
        call check(ierr == 0 .and. upmu_set_count(set) == 2, 'open')
        call upmu_set_start(set, ierr)
        call check(ierr == 0, 'start')
        sum = 0
        do i = 1, 1000000
            sum = sum + real(i)
        end do
        call upmu_set_stop(set, ierr)
        call check(ierr == 0 .and. sum > 0, 'stop')
        call upmu_set_read(set, values, ierr)
        call check(ierr == 2 .and. values(1)%status == UPMU_EXACT .and. values(1)%value > 0, 'read')
        call check(upmu_set_name(set, 1) == 'task-clock' .and. upmu_set_name(set, 3) == '', 'names')
        do i = 1, 2
            call check(upmu_has_number(values(i)) .eqv. upmu_set_reason(set, i) == '', 'a number or a reason')
            call check(upmu_has_number(values(i)) .neqv. values(i)%value == UPMU_NO_VALUE, 'no number is no value')
        end do
        call upmu_set_reset(set, ierr)
        call check(ierr == 0, 'reset')
        call upmu_set_read(set, values, ierr)
        call check(ierr == 2 .and. values(1)%raw == 0, 'reset to zero')
        call upmu_set_read(set, values(1:1), ierr)
        call check(ierr == UPMU_E_INVAL, 'too few values')
        call upmu_set_close(set, ierr)
        call check(ierr == 0 .and. upmu_set_count(set) == 0, 'closed')
        call upmu_set_read(set, values, ierr)
        call check(ierr == UPMU_E_INVAL .and. index(upmu_error(), '`set` is NULL') > 0, 'read after it was closed')
        call upmu_set_open(set, 'task-clock', pid=2**30, ierr=ierr)
        call check(ierr < 0, 'a process that does not exist')
        call upmu_set_open(set, 'task-clock', cpu=-1, ierr=ierr)
        call check(ierr < 0, 'a CPU that does not exist')
        call upmu_set_close(set)
        call check(upmu_status_name(UPMU_NOT_COUNTED) == 'not counted', 'status names')
    end subroutine

    subroutine errors_have_codes_and_messages
        type(upmu_set) :: set
        integer :: ierr

        call upmu_set_open(set, 'no-such-event', ierr=ierr)
        call check(ierr == UPMU_E_NAME .and. upmu_error_code() == UPMU_E_NAME, 'code')
        call check(index(upmu_error(), 'no-such-event') > 0, 'message')
        call check(len(upmu_strerror(UPMU_E_NOMEM)) > 5, 'text of a code')
        call check(index(upmu_version(), '.') > 0, 'version')
    end subroutine

end program
