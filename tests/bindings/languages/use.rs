// SPDX-License-Identifier: MIT
// The C headers by bindgen: a region by name, its statistics, and an error.
#![allow(dead_code, non_camel_case_types, non_snake_case, non_upper_case_globals, clippy::all)]
include!(concat!(env!("BINDINGS"), "/bindings.rs"));

use std::ffi::{CStr, CString};
use std::mem::{size_of, zeroed};

fn main() {
    unsafe {
        let mut opts: upmu_region_opts = zeroed();
        opts.size = size_of::<upmu_region_opts>() as _;
        assert_eq!(upmu_region_setup(&opts), 0);
        let name = CString::new("rust").unwrap();
        for _ in 0..3 {
            upmu_region_begin(name.as_ptr());
            upmu_region_end(name.as_ptr());
        }
        let mut stats: upmu_region_stats = zeroed();
        stats.size = size_of::<upmu_region_stats>() as _;
        assert_eq!(upmu_region_stats_read(name.as_ptr(), 0, &mut stats), 0);
        assert_eq!(stats.count, 3);
        assert!(stats.wall.sum > 0);

        let mut set: *mut upmu_set = std::ptr::null_mut();
        let events = CString::new("no-such-event").unwrap();
        assert_eq!(upmu_set_open(&mut set, events.as_ptr(), std::ptr::null()), upmu_code_UPMU_E_NAME);
        assert!(set.is_null());
        assert!(CStr::from_ptr(upmu_error()).to_str().unwrap().contains("no-such-event"));
        println!("{} rust {}", CStr::from_ptr(upmu_version()).to_str().unwrap(), stats.count);
    }
}
