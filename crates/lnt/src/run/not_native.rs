//! In place of machine code, where it was left out: everything is interpreted.

use std::sync::Arc;

use model::Layout;

use super::bounds::Bounds;
use super::machine::{Halt, Machine};
use super::rendezvous::Configuration;
use super::solved::Solved;
use super::sources::Source;
use crate::compile::Compiled;

/// No machine code.
pub enum Native {}

/// No rendezvous as machine code.
pub enum MeetingPiece {}

impl MeetingPiece {
    pub fn is_marked(&self) -> bool {
        match *self {}
    }

    pub fn values(&self) -> usize {
        match *self {}
    }

    pub fn opening(&self) -> &Opening {
        match *self {}
    }
}

/// A rendezvous that has steps.
#[derive(Clone, Copy)]
pub struct Met {
    pub number: u32,
    pub first: u32,
    pub steps: u32,
}

/// The places of a rendezvous that nobody fixes.
pub struct Opening {
    pub places: Vec<u32>,
    pub ranges: Option<Vec<(u32, u32)>>,
    pub values: u32,
    pub tried: usize,
    pub source: Option<Source>,
    pub bounds: Vec<Bounds>,
    pub solved: Vec<Solved>,
}

impl Native {
    pub fn new(_: &Compiled, _: &Layout, _: Option<Chosen<'_>>, _: bool) -> Option<Self> {
        None
    }

    pub fn extending(self, _: Arc<Self>) -> Self {
        self
    }

    pub fn unpack(&self, _: &[u32], _: &mut [u32], _: &mut [u32]) -> bool {
        match *self {}
    }

    pub fn meeting_of(&self, _: usize) -> Option<&MeetingPiece> {
        match *self {}
    }

    pub fn scout_of(&self, _: usize) -> Option<&MeetingPiece> {
        match *self {}
    }

    pub fn record_length(&self, _: &MeetingPiece) -> usize {
        match *self {}
    }

    pub fn meet(&self, _: &MeetingPiece, _: &mut Machine<'_>, _: Meeting<'_>) -> Option<usize> {
        match *self {}
    }

    pub fn meet_fixed(
        &self,
        _: &mut Machine<'_>,
        _: Meeting<'_>,
        _: usize,
        _: &mut u64,
        _: &mut Vec<Met>,
    ) -> Option<usize> {
        match *self {}
    }

    pub fn run(&self, _: &mut Machine<'_>, _: u32, _: &mut [u32]) -> Option<Halt> {
        match *self {}
    }

    pub fn call(&self, _: &mut Machine<'_>, _: u32) -> bool {
        match *self {}
    }
}

/// Rendezvous and scouts to be translated.
#[derive(Clone, Copy)]
pub struct Chosen<'c> {
    pub configuration: &'c Configuration,
    pub which: &'c [bool],
}

/// What a rendezvous works on.
pub struct Meeting<'m> {
    pub state: &'m mut [u32],
    pub before: &'m [u32],
    pub packed: &'m [u32],
    pub list: &'m [u32],
    pub records: &'m mut Vec<u32>,
    pub first: usize,
}
