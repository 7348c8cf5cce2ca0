! SPDX-License-Identifier: MIT
! Nanoseconds of CPU time of a pair in a loop while regions are off, the loop's included: the least of 20 readings.
program off
    use upmu
    implicit none
    integer, parameter :: n = 5000000
    type(upmu_region) :: region
    real(kind(1d0)) :: handle, name, start, now
    integer :: i, reading

    region = upmu_region_handle('measured')
    handle = huge(handle)
    name = huge(name)
    do reading = 1, 20
        call cpu_time(start)
        do i = 1, n
            call upmu_enter(region)
            call upmu_leave(region)
        end do
        call cpu_time(now)
        handle = min(handle, (now - start) * 1d9 / n)
        call cpu_time(start)
        do i = 1, n
            call upmu_region_begin('measured')
            call upmu_region_end('measured')
        end do
        call cpu_time(now)
        name = min(name, (now - start) * 1d9 / n)
    end do
    print '(a,f0.3,a)', 'Fortran handle, off' // achar(9), handle, achar(9)
    print '(a,f0.3,a)', 'Fortran name, off' // achar(9), name, achar(9)
end program
