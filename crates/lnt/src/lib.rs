//! LNT, the modelling language of CADP: from text to a typed program.

pub mod typed;
