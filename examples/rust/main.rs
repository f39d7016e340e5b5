// SPDX-License-Identifier: BSD-3-Clause
// Every rank sends the next one some numbers, in a loop. The bindings are made by bindgen from nuice.h.
#![allow(dead_code, improper_ctypes, non_camel_case_types, non_snake_case, non_upper_case_globals)]
include!(concat!(env!("OUT_DIR"), "/nuice.rs"));

use std::{ffi::CStr, mem::zeroed, ptr::null_mut};

fn check(status: i32) {
    if status != 0 {
        panic!("{}", unsafe { CStr::from_ptr(nuice_error_text()) }.to_string_lossy());
    }
}

fn main() {
    unsafe {
        MPI_Init(null_mut(), null_mut());
        let (mut rank, mut n, comm) = (0, 0, world());
        MPI_Comm_rank(comm, &mut rank);
        MPI_Comm_size(comm, &mut n);
        let (next, last) = (((rank + 1) % n) as usize, ((rank + n - 1) % n) as usize);
        let (mut sc, mut rc, displs) = (vec![0; n as usize], vec![0; n as usize], vec![0; n as usize]);
        (sc[next], rc[last]) = (1000, 1000);
        let (mut s, mut r) = (vec![0f64; 1000], vec![0f64; 1000]);
        let mut x: nuice_request = zeroed();
        check(nuice_alltoallv_init(
            s.as_ptr().cast(), sc.as_ptr(), displs.as_ptr(), real8(),
            r.as_mut_ptr().cast(), rc.as_ptr(), displs.as_ptr(), real8(), comm, no_info(), &mut x));
        for step in 0..10 {
            s.fill((rank + step) as f64);
            check(nuice_start(x) as i32);
            check(nuice_wait(x) as i32);
            assert!(r.iter().all(|&v| v == (last as i32 + step) as f64));
        }
        check(nuice_free(&mut x));
        println!("rank {rank} of {n} is done");
        MPI_Finalize();
    }
}
