// SPDX-License-Identifier: MIT
// The C headers by cgo: a region by name, its statistics, counters of a set, and an error in the same call.
package main

/*
#include <stdlib.h>
#include <upmu/region.h>
#include <upmu/upmu.h>

// The calling goroutine may change threads between two calls: the error is fetched in the call that failed.
static int open_set(struct upmu_set **set, const char *events, char *error, size_t n)
{
    int rc = upmu_set_open(set, events, NULL);
    if (rc != 0)
        upmu_error_copy(error, n);
    return rc;
}
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"
)

func check(ok bool, what string) {
	if !ok {
		fmt.Println("FAILED:", what)
		os.Exit(1)
	}
}

func main() {
	runtime.LockOSThread()
	opts := C.struct_upmu_region_opts{size: C.sizeof_struct_upmu_region_opts}
	check(C.upmu_region_setup(&opts) == 0, "setup")
	name := C.CString("go")
	defer C.free(unsafe.Pointer(name))
	for i := 0; i < 3; i++ {
		C.upmu_region_begin(name)
		C.upmu_region_end(name)
	}
	stats := C.struct_upmu_region_stats{size: C.sizeof_struct_upmu_region_stats}
	check(C.upmu_region_stats_read(name, C.UPMU_ALL_THREADS, &stats) == 0, "stats")
	check(stats.count == 3 && stats.wall.sum > 0, fmt.Sprint(stats))

	var set *C.struct_upmu_set
	text := make([]byte, 200)
	events := C.CString("no-such-event")
	defer C.free(unsafe.Pointer(events))
	rc := C.open_set(&set, events, (*C.char)(unsafe.Pointer(&text[0])), 200)
	check(rc == C.UPMU_E_NAME && set == nil && text[0] != 0, "error")
	fmt.Println(C.GoString(C.upmu_version()), "go", stats.count)
}
