//! The predefined operations.

use super::TypeId;

/// A predefined operation. The operands' types say on what it works, the expression's type what it yields;
/// in the signatures below, `T` is a list or set of `E`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// `==` on two values of any type.
    Equal,
    /// `!=`
    NotEqual,
    /// `<` on any type: numbers by size, false before true, constructors in order of declaration then by
    /// fields, lists and strings in lexicographic order.
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,

    /// `not`
    Not,
    /// Conjunction with both operands evaluated. The checker writes [`Builtin::AndThen`] for `and`.
    And,
    /// Disjunction with both operands evaluated. The checker writes [`Builtin::OrElse`] for `or`.
    Or,
    /// `xor`
    Xor,
    /// `implies`, both operands evaluated.
    Implies,
    /// `iff`
    Iff,
    /// `and then`, and `and`: the second operand only where the first one is true. Models rely on it for `and`
    /// too: `(length (l) == 1) and (element (l, 1) == x)` would otherwise fail on an empty list.
    AndThen,
    /// `or else`, and `or`: the second operand only where the first one is false.
    OrElse,

    /// `+` on two nat, int or real.
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `div` and `/`; on nat and int, truncated towards zero; by zero, a run-time error.
    Divide,
    /// `mod`: the result has the sign of the divisor.
    Modulo,
    /// `rem`: the result has the sign of the dividend.
    Remainder,
    /// `**`
    Power,
    /// `-` with one operand.
    Negate,
    /// `abs`
    Absolute,
    /// `sign`: -1, 0 or 1.
    Sign,
    /// `min`
    Minimum,
    /// `max`
    Maximum,
    /// `gcd`, greatest common divisor.
    GreatestCommonDivisor,
    /// `scm`, smallest common multiple.
    SmallestCommonMultiple,
    /// `succ`: the next number, character or value of an enumeration; a run-time error at the last one.
    Successor,
    /// `pred`
    Predecessor,

    /// `T (V)` from the operand's type to the expression's: between nat, int and real (truncating), nat and
    /// char (code), a range or predicate type and its base. A run-time error where the value does not fit.
    Convert,
    /// `string (V)`: as printed.
    ToString,

    /// `ord (V)`: position among the values of the type, from 0.
    Ordinal,
    /// `val (n)`: the value of the expression's type at a position, from 0.
    Value,
    /// `first`: the least value of the expression's type; no operand.
    First,
    /// `last` without operand: the greatest value of the expression's type.
    Last,
    /// `card`: the number of values of this finite type; no operand.
    Cardinality(TypeId),

    /// `cons (E, T) : T`
    Cons,
    /// `insert (E, T) : T`: keeps a sorted type sorted, and a set without duplicates.
    Insert,
    /// `append (E, T) : T`: at the end.
    Append,
    /// `concat (T, T) : T`, also `&` on strings.
    Concatenate,
    /// `length (T) : nat`, also of strings.
    Length,
    /// `empty (T) : bool`, also of strings.
    IsEmpty,
    /// `member (E, T) : bool`
    Member,
    /// `element (T, nat) : E` and `access (T, nat) : E`: counts from 1. Also the character of a string.
    Access,
    /// `head (T) : E`
    Head,
    /// `tail (T) : T`
    Tail,
    /// `last (T) : E`
    LastElement,
    /// `reverse (T) : T`
    Reverse,
    /// `delete (T, nat) : T`: without the element at a position, counted from 1.
    Delete,
    /// `remove (E, T) : T`: without the occurrences of an element.
    Remove,
    /// `union (T, T) : T`
    Union,
    /// `inter (T, T) : T`
    Intersection,
    /// `diff (T, T) : T` and `minus (T, T) : T`
    Difference,
    /// `subset (T, T) : bool`: whether all elements of the first are in the second.
    Subset,
    /// `set (a, i, V)` on an array: a copy with one element changed.
    Store,

    /// `substr (s, start, length) : string`, counts from 1.
    Substring,
    /// `prefix (s, n) : string`: the first n characters.
    Prefix,
    /// `suffix (s, n) : string`: the characters from position n on, counted from 1.
    Suffix,
    /// `index (s, t) : nat`: where t first occurs in s, from 1; 0 where it does not.
    Index,
    /// `rindex (s, t) : nat`: where t last occurs in s, from 1; 0 where it does not.
    ReverseIndex,
    /// `IsLower (c) : bool`
    IsLower,
    /// `IsUpper (c) : bool`
    IsUpper,
    /// `IsAlpha (c) : bool`
    IsAlpha,
    /// `IsAlnum (c) : bool`
    IsAlphanumeric,
    /// `IsDigit (c) : bool`
    IsDigit,
    /// `IsXDigit (c) : bool`
    IsHexadecimalDigit,
    /// `ToLower (c) : char`, also of strings.
    ToLower,
    /// `ToUpper (c) : char`, also of strings.
    ToUpper,
}

impl Builtin {
    /// Whether it takes lists, sets or arrays apart, or makes them.
    pub fn is_on_parts(self) -> bool {
        use Builtin::*;
        matches!(
            self,
            Cons | Insert
                | Append
                | Concatenate
                | Length
                | IsEmpty
                | Member
                | Access
                | Head
                | Tail
                | LastElement
                | Reverse
                | Delete
                | Remove
                | Union
                | Intersection
                | Difference
                | Subset
                | Store
        )
    }
}
