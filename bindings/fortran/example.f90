! SPDX-License-Identifier: MIT
!> Counts a sum and measures it as a region: UPMU_REPORT=text ./example
program example
    use upmu
    implicit none
    type(upmu_region) :: sum_up
    type(upmu_set) :: counters
    type(upmu_value) :: values(3)
    real :: numbers(1000000), total
    integer :: i, ierr

    sum_up = upmu_region_handle('sum up')
    call upmu_set_open(counters, 'task-clock,page-faults,instructions', ierr=ierr)
    if (ierr < 0) stop 1
    call upmu_set_start(counters)
    call upmu_region_begin('fill')
    do i = 1, size(numbers)
        numbers(i) = real(mod(i, 7919))
    end do
    call upmu_region_end('fill')
    call upmu_enter(sum_up)
    total = sum(numbers)
    call upmu_leave(sum_up)
    call upmu_set_stop(counters)
    call upmu_set_read(counters, values)
    print '(a, es10.3)', 'sum ', total
    do i = 1, upmu_set_count(counters)
        if (upmu_has_number(values(i))) then
            print '(a, 1x, i0, 3a)', upmu_set_name(counters, i), values(i)%value, ' (', &
                upmu_status_name(int(values(i)%status)), ')'
        else
            print '(2a)', upmu_set_name(counters, i)//': ', upmu_set_reason(counters, i)
        end if
    end do
    call upmu_set_close(counters)
end program
