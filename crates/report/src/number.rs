//! Numbers for people.

/// A number with its digits in groups of three.
///
/// ```
/// assert_eq!(report::grouped(1234567), "1,234,567");
/// ```
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// How many of something, with the noun in the right number.
///
/// ```
/// assert_eq!(report::count(1, "deadlock"), "1 deadlock");
/// assert_eq!(report::count(2000, "state"), "2,000 states");
/// ```
pub fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// An amount of memory.
///
/// ```
/// assert_eq!(report::bytes(1_500_000), "1.5 MB");
/// ```
pub fn bytes(amount: u64) -> String {
    match amount {
        0..1_000 => format!("{amount} B"),
        1_000..1_000_000 => format!("{:.1} kB", amount as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", amount as f64 / 1e6),
        _ => format!("{:.2} GB", amount as f64 / 1e9),
    }
}

/// A duration.
///
/// ```
/// assert_eq!(report::seconds(0.00123), "1.2 ms");
/// assert_eq!(report::seconds(75.0), "1 min 15 s");
/// ```
pub fn seconds(seconds: f64) -> String {
    if seconds < 1.0 {
        format!("{:.1} ms", seconds * 1e3)
    } else if seconds < 60.0 {
        format!("{seconds:.2} s")
    } else {
        format!("{} min {:.0} s", (seconds / 60.0) as u64, seconds % 60.0)
    }
}
