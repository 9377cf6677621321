//! A Redis server of a test's own, on a port of its own, in a folder of its own.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use campaign::{Broker, Place};

pub struct Server {
    child: Option<Child>,
    folder: tempfile::TempDir,
    pub port: u16,
    options: Vec<String>,
}

impl Server {
    /// A server that logs what it is told, or nothing where Redis is not installed.
    pub fn start(options: &[&str]) -> Option<Self> {
        let found = Command::new("redis-server").arg("--version").stdout(Stdio::null()).status();
        if !found.is_ok_and(|status| status.success()) {
            eprintln!("skipped: redis-server is not installed");
            return None;
        }
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let port = listener.local_addr().expect("it has a number").port();
        drop(listener);
        Self::start_on(port, options)
    }

    /// The same on a certain port; nothing if the server refuses its options.
    pub fn start_on(port: u16, options: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let options = options.iter().map(|&option| option.to_owned()).collect();
        let mut server = Self { child: None, folder, port, options };
        server.restart().then_some(server)
    }

    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Whether it listens then.
    pub fn restart(&mut self) -> bool {
        let mut command = Command::new("redis-server");
        command.args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
        command.args(["--appendonly", "yes", "--appendfsync", "everysec"]);
        command.arg("--dir").arg(self.folder.path()).args(&self.options);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("redis-server can be started");
        let since = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(since.elapsed() < Duration::from_secs(20), "redis-server does not listen");
            if child.try_wait().expect("redis-server can be waited for").is_some() {
                return false;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        self.child = Some(child);
        true
    }

    /// As `kill -9` does it.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    pub fn address(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub fn place(&self, name: &str) -> Place {
        let broker = Broker::parse(&self.address()).expect("that is an address");
        Place::broker(broker, name).expect("that is a name")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
