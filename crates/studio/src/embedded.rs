//! Files that are part of the program: the built page and the bundled models.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// The page, where it was built.
pub fn page() -> Option<&'static str> {
    let (_, bytes) = PAGE.iter().find(|(name, _)| *name == "index.html")?;
    std::str::from_utf8(bytes).ok()
}

/// What is served in its place otherwise.
pub const HOW_TO_BUILD: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
<title>Watershed Studio</title><body style=\"font:16px/1.5 sans-serif;max-width:40em;margin:4em auto\">\
<h1>The page is not built yet</h1><p>This program was built without its page, which needs Node.js 20 or later. \
Build both with</p><pre>make</pre><p>in the folder of the sources and start <code>watershed studio</code> again. \
Every other command works as it is.</p></body></html>";
