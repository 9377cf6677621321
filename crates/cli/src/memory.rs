//! What the system tells about memory.

use std::fs;
use std::path::Path;

/// The most memory that this process has used so far, in bytes, where the system tells.
pub fn peak_bytes() -> Option<u64> {
    kilobytes_in("/proc/self/status", "VmHWM:")
}

/// How much memory is free, in bytes, where the system tells: that of the machine, or what the control groups that the
/// process is in leave of it. Containers are such groups.
pub fn available_bytes() -> Option<u64> {
    let of_machine = kilobytes_in("/proc/meminfo", "MemAvailable:")?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    groups.lines().filter_map(left_to_groups).chain([of_machine]).min()
}

/// The number in a line of a file that begins with a name and is in kilobytes, in bytes.
fn kilobytes_in(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// What the limits of a group and those around it leave. Groups of the second version are one line of the system's list,
/// those of the first one line for each kind of thing that they limit.
fn left_to_groups(line: &str) -> Option<u64> {
    let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
    let (root, limit, used) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.max", "memory.current"),
        "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
        _ => return None,
    };
    let left = |group: &Path| {
        let folder = Path::new(root).join(group);
        let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
        Some(number(limit)?.saturating_sub(number(used)?))
    };
    // Inside a container, groups may have names that mean something outside only: then the root is its own group.
    Path::new(group.trim_start_matches('/')).ancestors().filter_map(left).min()
}
