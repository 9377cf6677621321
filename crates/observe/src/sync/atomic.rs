//! Atomic variables, to be used in place of [`std::sync::atomic`]. Every order is sequentially consistent, as in shuttle.

use crate::footprint::{Object, Operation};
use crate::recorder;

pub use shuttle::sync::atomic::{AtomicPtr, Ordering, fence};

macro_rules! atomic {
    ($name:ident, $value:ty) => {
        /// The atomic variable of this name in [`std::sync::atomic`].
        #[derive(Debug)]
        pub struct $name {
            object: Object,
            inner: shuttle::sync::atomic::$name,
        }

        impl $name {
            /// A variable with a value.
            #[track_caller]
            pub fn new(value: $value) -> Self {
                $name { object: recorder::new_object(), inner: shuttle::sync::atomic::$name::new(value) }
            }

            fn read<R>(&self, action: impl FnOnce(&shuttle::sync::atomic::$name) -> R) -> R {
                recorder::announce(Operation::Read(self.object));
                let result = action(&self.inner);
                recorder::over();
                result
            }

            fn write<R>(&self, action: impl FnOnce(&shuttle::sync::atomic::$name) -> R) -> R {
                recorder::announce(Operation::Write(self.object));
                let result = action(&self.inner);
                recorder::over();
                result
            }

            /// The value.
            pub fn load(&self, order: Ordering) -> $value {
                self.read(|inner| inner.load(order))
            }

            /// Another value.
            pub fn store(&self, value: $value, order: Ordering) {
                self.write(|inner| inner.store(value, order));
            }

            /// Another value in place of the one that is returned.
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.write(|inner| inner.swap(value, order))
            }

            /// Another value if it is the current one.
            ///
            /// # Errors
            ///
            /// The value, if it is another one.
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.write(|inner| inner.compare_exchange(current, new, success, failure))
            }

            /// As [`compare_exchange`](Self::compare_exchange); it does not fail without reason here.
            ///
            /// # Errors
            ///
            /// The value, if it is another one.
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }
        }
    };
}

macro_rules! number {
    ($name:ident, $value:ty) => {
        atomic!($name, $value);

        impl $name {
            /// Adds, and returns the value before.
            pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.write(|inner| inner.fetch_add(value, order))
            }

            /// Subtracts, and returns the value before.
            pub fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.write(|inner| inner.fetch_sub(value, order))
            }

            /// The larger value stays; returns the value before.
            pub fn fetch_max(&self, value: $value, order: Ordering) -> $value {
                self.write(|inner| inner.fetch_max(value, order))
            }

            /// The smaller value stays; returns the value before.
            pub fn fetch_min(&self, value: $value, order: Ordering) -> $value {
                self.write(|inner| inner.fetch_min(value, order))
            }
        }
    };
}

atomic!(AtomicBool, bool);
number!(AtomicI8, i8);
number!(AtomicI16, i16);
number!(AtomicI32, i32);
number!(AtomicI64, i64);
number!(AtomicIsize, isize);
number!(AtomicU8, u8);
number!(AtomicU16, u16);
number!(AtomicU32, u32);
number!(AtomicU64, u64);
number!(AtomicUsize, usize);
