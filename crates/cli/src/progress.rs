//! The one progress bar: shown on terminals only, drawn from a counter that the work advances.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Once, Weak};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use lts::Progress;

use crate::terminal::Terminal;

/// Runs `work` with a counter to advance, drawing it while it runs. Ctrl-C asks the work to stop; a second one
/// ends the program.
pub fn with_progress<T>(terminal: &Terminal, what: &str, work: impl FnOnce(&Progress) -> T) -> T {
    let progress = Arc::new(Progress::new());
    stop_on_interrupt(&progress);
    if terminal.quiet || !std::io::stderr().is_terminal() {
        return work(&progress);
    }
    let finished = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| draw(what, &progress, &finished));
        // Set even if the work panics, or the drawing thread would wait forever.
        struct Finish<'a>(&'a AtomicBool);
        impl Drop for Finish<'_> {
            fn drop(&mut self) {
                self.0.store(true, Relaxed);
            }
        }
        let _finish = Finish(&finished);
        work(&progress)
    })
}

fn draw(what: &str, progress: &Progress, finished: &AtomicBool) {
    // Quick work gets no bar at all.
    for _ in 0..20 {
        std::thread::sleep(Duration::from_millis(10));
        if finished.load(Relaxed) {
            return;
        }
    }
    let bar = ProgressBar::new(0);
    let known = "{msg} {wide_bar} {percent}% {elapsed}";
    let unknown = "{msg} {spinner} {human_pos} {per_sec} {elapsed}";
    let style = |template: &str| {
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
    };
    bar.set_message(what.to_owned());
    while !finished.load(Relaxed) {
        let total = progress.total();
        bar.set_style(style(if total > 0 { known } else { unknown }));
        bar.set_length(total);
        bar.set_position(progress.done());
        bar.tick();
        std::thread::sleep(Duration::from_millis(50));
    }
    bar.finish_and_clear();
}

/// The work that Ctrl-C stops.
static CURRENT: Mutex<Weak<Progress>> = Mutex::new(Weak::new());

fn stop_on_interrupt(progress: &Arc<Progress>) {
    static HANDLER: Once = Once::new();
    *CURRENT.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Arc::downgrade(progress);
    HANDLER.call_once(|| {
        let handler = || {
            let current = CURRENT.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).upgrade();
            match current {
                Some(progress) if !progress.is_cancelled() => progress.cancel(),
                _ => std::process::exit(130),
            }
        };
        // Without a handler, Ctrl-C simply ends the program.
        let _ = ctrlc::set_handler(handler);
    });
}
