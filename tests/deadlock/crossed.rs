// SPDX-License-Identifier: MIT
// Two threads of a Rust program that each hold one account and want the other's.
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

static COME: AtomicU32 = AtomicU32::new(0);

mod bank {
    use super::{AtomicU32, Mutex, Ordering};

    pub struct Account<T> {
        pub balance: Mutex<T>,
    }

    impl<T: Copy> Account<T> {
        #[inline(never)]
        pub fn move_to(&self, other: &Mutex<T>, come: &AtomicU32) -> T {
            let _mine = self.balance.lock().unwrap();
            come.fetch_add(1, Ordering::SeqCst);
            while come.load(Ordering::SeqCst) < 2 {
                std::thread::yield_now();
            }
            let theirs = other.lock().unwrap();
            *theirs
        }
    }
}

fn main() {
    println!("{}", std::process::id());
    let a = Arc::new(bank::Account { balance: Mutex::new(1u32) });
    let b = Arc::new(bank::Account { balance: Mutex::new(2u32) });
    let (c, d) = (a.clone(), b.clone());
    let t = thread::spawn(move || c.move_to(&d.balance, &COME));
    println!("{}", b.move_to(&a.balance, &COME));
    t.join().unwrap();
}
