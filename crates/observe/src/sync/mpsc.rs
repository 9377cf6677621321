//! Channels, to be used in place of [`std::sync::mpsc`].

use crate::footprint::{Object, Operation};
use crate::recorder;

pub use std::sync::mpsc::{RecvError, SendError, TryRecvError, TrySendError};

/// A channel without a bound.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let object = recorder::new_object();
    let (sender, receiver) = shuttle::sync::mpsc::channel();
    (Sender { object, inner: sender }, Receiver { object, inner: receiver })
}

/// A channel that holds so many messages; with none, sender and receiver meet.
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let object = recorder::new_object();
    let (sender, receiver) = shuttle::sync::mpsc::sync_channel(bound);
    (SyncSender { object, inner: sender }, Receiver { object, inner: receiver })
}

fn using<R>(object: Object, action: impl FnOnce() -> R) -> R {
    recorder::announce(Operation::Write(object));
    let result = action();
    recorder::over();
    result
}

/// The end of a channel without a bound that sends.
#[derive(Debug)]
pub struct Sender<T> {
    object: Object,
    inner: shuttle::sync::mpsc::Sender<T>,
}

impl<T> Sender<T> {
    /// Sends a message.
    ///
    /// # Errors
    ///
    /// If nobody can receive it any more.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        using(self.object, || self.inner.send(message))
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Sender { object: self.object, inner: self.inner.clone() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        recorder::taint();
    }
}

/// The end of a bounded channel that sends.
#[derive(Debug)]
pub struct SyncSender<T> {
    object: Object,
    inner: shuttle::sync::mpsc::SyncSender<T>,
}

impl<T> SyncSender<T> {
    /// Sends a message, as soon as there is room.
    ///
    /// # Errors
    ///
    /// If nobody can receive it any more.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        using(self.object, || self.inner.send(message))
    }

    /// Sends a message if there is room.
    ///
    /// # Errors
    ///
    /// If there is none, or nobody can receive it any more.
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        using(self.object, || self.inner.try_send(message))
    }
}

impl<T> Clone for SyncSender<T> {
    fn clone(&self) -> Self {
        SyncSender { object: self.object, inner: self.inner.clone() }
    }
}

impl<T> Drop for SyncSender<T> {
    fn drop(&mut self) {
        recorder::taint();
    }
}

/// The end of a channel that receives.
#[derive(Debug)]
pub struct Receiver<T> {
    object: Object,
    inner: shuttle::sync::mpsc::Receiver<T>,
}

impl<T> Receiver<T> {
    /// Waits for a message.
    ///
    /// # Errors
    ///
    /// If nobody can send one any more.
    pub fn recv(&self) -> Result<T, RecvError> {
        using(self.object, || self.inner.recv())
    }

    /// A message, if there is one.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        using(self.object, || self.inner.try_recv())
    }

    /// All messages, until nobody can send any more.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.recv().ok())
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        recorder::taint();
    }
}
