//! Takes a structure or map apart: the name and the JSON text of each field.

use serde::ser::{self, Impossible, Serialize, SerializeMap, SerializeStruct};
use serde_json::Error;

/// Collects the fields of the outermost value; what lies within is written as JSON.
#[derive(Default)]
pub(crate) struct Fields {
    fields: Vec<(String, String)>,
    key: Option<String>,
}

fn refused<T>() -> Result<T, Error> {
    Err(ser::Error::custom("a structure with named fields is needed"))
}

macro_rules! refuse {
    ($($method:ident: $kind:ty),*) => {
        $(fn $method(self, _: $kind) -> Result<Self::Ok, Error> { refused() })*
    };
}

impl ser::Serializer for Fields {
    type Ok = Vec<(String, String)>;
    type Error = Error;
    type SerializeSeq = Impossible<Self::Ok, Error>;
    type SerializeTuple = Impossible<Self::Ok, Error>;
    type SerializeTupleStruct = Impossible<Self::Ok, Error>;
    type SerializeTupleVariant = Impossible<Self::Ok, Error>;
    type SerializeMap = Fields;
    type SerializeStruct = Fields;
    type SerializeStructVariant = Impossible<Self::Ok, Error>;

    refuse!(serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_f32: f32,
        serialize_f64: f64, serialize_char: char, serialize_str: &str, serialize_bytes: &[u8]);

    fn serialize_none(self) -> Result<Self::Ok, Error> {
        refused()
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Self::Ok, Error> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<Self::Ok, Error> {
        refused()
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<Self::Ok, Error> {
        refused()
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<Self::Ok, Error> {
        refused()
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Self::Ok, Error> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Self::Ok, Error> {
        refused()
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Error> {
        refused()
    }
    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Error> {
        refused()
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, Error> {
        refused()
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Error> {
        refused()
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Fields, Error> {
        Ok(self)
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Fields, Error> {
        Ok(self)
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Error> {
        refused()
    }
}

impl SerializeStruct for Fields {
    type Ok = Vec<(String, String)>;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        self.fields.push((name.to_owned(), serde_json::to_string(value)?));
        Ok(())
    }
    fn end(self) -> Result<Self::Ok, Error> {
        Ok(self.fields)
    }
}

impl SerializeMap for Fields {
    type Ok = Vec<(String, String)>;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.key = match serde_json::to_value(key)? {
            serde_json::Value::String(text) => Some(text),
            other => Some(other.to_string()),
        };
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let key = self.key.take().unwrap_or_default();
        self.fields.push((key, serde_json::to_string(value)?));
        Ok(())
    }
    fn end(self) -> Result<Self::Ok, Error> {
        Ok(self.fields)
    }
}
