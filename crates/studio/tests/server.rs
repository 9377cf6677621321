//! The real server on loopback: who is refused, what is served, and what happens to wrong input.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use studio::{Patience, Settings, Studio};

/// A server that stops with the test.
struct Server {
    runtime: Option<tokio::runtime::Runtime>,
    port: u16,
    token: String,
}

/// An answer: its status and its body.
struct Reply {
    status: u16,
    headers: String,
    body: Vec<u8>,
}

impl Reply {
    fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Server {
    fn start(open: impl FnOnce(&Studio) + Send + 'static) -> Self {
        Self::with_limit(2_000, open)
    }

    /// A server that does not wait long for slow clients.
    fn impatient(milliseconds: u64) -> Self {
        let patience = Duration::from_millis(milliseconds);
        Self::with(2_000, Patience { head: patience, body: patience }, |_| ())
    }

    fn with_limit(most_states: usize, open: impl FnOnce(&Studio) + Send + 'static) -> Self {
        Self::with(most_states, Patience::default(), open)
    }

    fn with(most_states: usize, patience: Patience, open: impl FnOnce(&Studio) + Send + 'static) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let address = runtime.block_on(async {
            let settings = Settings { port: 0, most_states };
            let studio = Studio::bind(&settings).await.unwrap().with_patience(patience);
            open(&studio);
            let address = studio.address();
            tokio::spawn(studio.serve(std::future::pending()));
            address
        });
        let rest = address.strip_prefix("http://127.0.0.1:").unwrap();
        let (port, token) = rest.split_once("/?token=").unwrap();
        Self { runtime: Some(runtime), port: port.parse().unwrap(), token: token.into() }
    }

    /// Sends exactly these lines; `Connection: close` makes the answer end.
    fn raw(&self, request: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        // A server that refuses early may close before everything is sent.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("an answer has a head");
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut body = answer[end + 4..].to_vec();
        if head.to_lowercase().contains("transfer-encoding: chunked") {
            body = unchunked(&body);
        }
        Reply { status, headers: head, body }
    }

    fn send(&self, method: &str, path: &str, body: &str, headers: &str) -> Reply {
        self.raw(
            format!(
                "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\nContent-Type: \
                 application/json\r\nContent-Length: {}\r\n{headers}\r\n{body}",
                self.port,
                body.len()
            )
            .as_bytes(),
        )
    }

    fn get(&self, path: &str) -> Reply {
        self.send("GET", path, "", &format!("X-Watershed-Token: {}\r\n", self.token))
    }

    fn post(&self, path: &str, body: &serde_json::Value) -> Reply {
        self.send("POST", path, &body.to_string(), &format!("X-Watershed-Token: {}\r\n", self.token))
    }

    /// The first status of a project in which nothing is running any more.
    fn wait(&self, id: u32) -> serde_json::Value {
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < Duration::from_secs(30), "the project never comes to rest");
            let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
            let request = format!(
                "GET /api/projects/{id}/events?token={} HTTP/1.1\r\nHost: localhost:{}\r\n\r\n",
                self.token, self.port
            );
            stream.write_all(request.as_bytes()).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            let mut seen = String::new();
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
                for line in seen.lines().filter_map(|line| line.strip_prefix("data: ")) {
                    let Ok(status) = serde_json::from_str::<serde_json::Value>(line) else { continue };
                    if status["running"] == false && status["settled"] == true {
                        return status;
                    }
                }
            }
        }
    }

    fn open_texts(&self, model: &str, property: &str) -> u32 {
        let body = serde_json::json!({ "texts": {
            "files": [{ "name": "m.lnt", "text": model }],
            "property": { "name": "p.mcl", "text": property },
        }});
        let reply = self.post("/api/projects", &body);
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()["id"].as_u64().unwrap() as u32
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.runtime.take().unwrap().shutdown_background();
    }
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            break;
        }
        out.extend(&body[end + 2..end + 2 + size]);
        body = &body[end + 4 + size..];
    }
    out
}

const MODEL: &str = "module m is process MAIN [COIN, TEA, BROKEN : none] is
   COIN; select TEA [] BROKEN end select
end process end module";
const PROPERTY: &str = "[ true* . \"BROKEN\" ] false";

#[test]
fn without_the_token_nothing_is_told() {
    let server = Server::start(|_| ());
    for path in ["/", "/api/gallery", "/api/projects", "/api/projects/1", "/nothing"] {
        assert_eq!(server.send("GET", path, "", "").status, 403, "{path}");
        assert_eq!(server.send("GET", path, "", "X-Watershed-Token: 00\r\n").status, 403, "{path}");
        assert_eq!(server.send("GET", &format!("{path}?token=guess"), "", "").status, 403, "{path}");
    }
    let refused = server.send("GET", "/api/gallery", "", "");
    assert!(refused.json()["error"].as_str().unwrap().contains("token"), "{}", refused.text());
    assert_eq!(server.get("/api/gallery").status, 200);
    assert_eq!(server.send("GET", &format!("/?token={}", server.token), "", "").status, 200);
}

/// A connection on which some bytes are sent one by one until the server closes it: what it said, and how long that took.
fn dripping(server: &Server, start: &str, drip: &str) -> (String, Duration) {
    let began = Instant::now();
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    stream.write_all(start.as_bytes()).unwrap();
    let mut said = Vec::new();
    let mut buffer = [0; 4096];
    for byte in drip.bytes().cycle() {
        assert!(began.elapsed() < Duration::from_secs(20), "the connection is still open");
        // It fails once the server has closed.
        let _ = stream.write_all(&[byte]);
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => said.extend(&buffer[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => break,
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    (String::from_utf8_lossy(&said).into_owned(), began.elapsed())
}

#[test]
fn clients_that_never_finish_are_not_waited_for() {
    let server = Server::impatient(300);
    // Nothing at all.
    let mut silent = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    silent.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert_eq!(silent.read(&mut [0; 64]).unwrap_or(0), 0, "closed without a word");
    // A head drop by drop, and the body of a request that may be asked.
    let (said, took) = dripping(&server, "GET / HTTP/1.1\r\nX-Slow: ", "a");
    assert!(said.is_empty() || said.starts_with("HTTP/1.1 408"), "{said}");
    assert!(took >= Duration::from_millis(250), "{took:?}");
    let head = format!(
        "POST /api/projects HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nX-Watershed-Token: {}\r\nContent-Type: \
         application/json\r\nContent-Length: 1000000\r\n\r\n",
        server.port, server.token
    );
    let (said, _) = dripping(&server, &head, " ");
    assert!(said.starts_with("HTTP/1.1 408") && said.contains("took too long"), "{said}");
    // Between two requests.
    let mut idle = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    idle.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let request = format!(
        "GET /api/projects?token={} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n",
        server.token, server.port
    );
    idle.write_all(request.as_bytes()).unwrap();
    let mut said = Vec::new();
    idle.read_to_end(&mut said).unwrap();
    assert!(said.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&said));
    // Those who say what they want are answered all the while, and a stream of events stays open.
    let id = server.open_texts(MODEL, PROPERTY);
    let mut events = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let request = format!(
        "GET /api/projects/{id}/events?token={} HTTP/1.1\r\nHost: localhost:{}\r\n\r\n",
        server.token, server.port
    );
    events.write_all(request.as_bytes()).unwrap();
    server.wait(id);
    std::thread::sleep(Duration::from_millis(700));
    events.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let mut seen = 0;
    let ended = loop {
        match events.read(&mut [0; 4096]) {
            Ok(0) => break true,
            Ok(count) => seen += count,
            Err(error) => break !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    };
    assert!(seen > 0 && !ended);
}

#[test]
fn other_hosts_and_origins_are_refused() {
    let server = Server::start(|_| ());
    let (port, token) = (server.port, server.token.clone());
    let ask = |host: &str, more: &str| {
        server
            .raw(
                format!(
                    "GET /api/gallery?token={token} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n"
                )
                .as_bytes(),
            )
            .status
    };
    assert_eq!(ask(&format!("127.0.0.1:{port}"), ""), 200);
    assert_eq!(ask(&format!("localhost:{port}"), &format!("Origin: http://localhost:{port}\r\n")), 200);
    // A name that was rebound to this machine.
    assert_eq!(ask(&format!("evil.example:{port}"), ""), 403);
    assert_eq!(ask("127.0.0.1", ""), 403);
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"] {
        assert_eq!(ask(&format!("127.0.0.1:{port}"), &format!("Origin: {origin}\r\n")), 403, "{origin}");
    }
    // Twice is once too often, whichever comes first: two readers could believe different ones.
    let [ours, origin] = [format!("127.0.0.1:{port}"), format!("Origin: http://localhost:{port}\r\n")];
    for second in ["evil.example", ours.as_str(), ""] {
        assert_eq!(ask(&ours, &format!("Host: {second}\r\n")), 403, "{second}");
        assert_eq!(ask(second, &format!("Host: {ours}\r\n")), 403, "{second}");
    }
    for second in ["http://evil.example", "null"] {
        assert_eq!(ask(&ours, &format!("{origin}Origin: {second}\r\n")), 403, "{second}");
        assert_eq!(ask(&ours, &format!("Origin: {second}\r\n{origin}")), 403, "{second}");
    }
    let line = |address: &str| {
        let head = format!("GET {address}/api/gallery?token={token} HTTP/1.1\r\nHost: {ours}\r\n");
        server.raw(format!("{head}Connection: close\r\n\r\n").as_bytes()).status
    };
    assert_eq!(line(&format!("http://{ours}")), 200);
    assert_eq!(line("http://evil.example"), 403);
    let twice = format!("X-Watershed-Token: {token}\r\nX-Watershed-Token: guess\r\n");
    assert_eq!(ask(&ours, &twice), 403);
}

#[test]
fn the_server_listens_on_this_machine_only() {
    let server = Server::start(|_| ());
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let port = format!(":{:04X}", server.port);
    let listening: Vec<&str> = table
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .filter(|local| local.ends_with(&port))
        .collect();
    assert!(
        !listening.is_empty() && listening.iter().all(|local| local.starts_with("0100007F")),
        "{listening:?}"
    );
}

#[test]
fn files_outside_the_model_are_not_readable() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("model");
    std::fs::create_dir(&inside).unwrap();
    let secret = "module secret is type hidden_secret is a end type end module";
    std::fs::write(folder.path().join("secret.lnt"), secret).unwrap();
    std::fs::write(folder.path().join("secret.mcl"), "macro HIDDEN_SECRET () = true end_macro").unwrap();
    std::fs::write(inside.join("m.lnt"), MODEL).unwrap();
    let path = inside.join("m.lnt");
    let server = Server::start(move |studio| studio.open(&path, &Default::default()).unwrap());
    server.wait(1);
    for path in [
        "/../secret.lnt",
        "/..%2fsecret.lnt",
        "/api/projects/1/../../secret.lnt",
        "/api/projects/1/%2e%2e/%2e%2e/etc/passwd",
        "/etc/passwd",
        "//etc/passwd",
    ] {
        let reply = server.get(path);
        assert!(reply.status == 404 || reply.status == 400, "{path}: {}", reply.status);
        assert!(!reply.text().contains("hidden_secret") && !reply.text().contains("root:"), "{path}");
    }
    let gallery = server.post("/api/projects", &serde_json::json!({ "gallery": "../../secret" }));
    assert_eq!(gallery.status, 404);
    // Names of texts are names only, and neither imports nor libraries reach out of the model's folder.
    let secret = |name: &str| folder.path().join(name).display().to_string();
    let texts = |model: &str, property: &str| {
        serde_json::json!({
            "files": [{ "name": secret("secret.lnt"), "text": model }],
            "property": { "name": secret("secret.mcl"), "text": property },
        })
    };
    let importing = "module m (SECRET) is process MAIN [A : none] is A end process end module";
    let library = secret("secret.mcl");
    let plain = format!("library \"{library}\" end_library [ true* . \"A\" ] false");
    let beside = format!("[ true* . \"COIN\"{{1library \"{library}\" end_library}} ] false");
    let no_library = "can't include a library";
    for (model, property, said) in
        [(importing, "", "can't find module"), (MODEL, &plain, no_library), (MODEL, &beside, no_library)]
    {
        assert_eq!(server.post("/api/projects/1/run", &texts(model, property)).status, 202);
        let status = server.wait(1);
        assert!(status["failure"].to_string().contains(said), "{status}");
        assert!(!status.to_string().contains("hidden_secret"), "{status}");
        assert!(!server.get("/api/projects/1").text().to_lowercase().contains("hidden_secret"));
    }
}

#[test]
fn oversized_bodies_are_refused() {
    let server = Server::start(|_| ());
    let large = format!("{{\"gallery\": \"{}\"}}", "x".repeat(9 << 20));
    let reply =
        server.send("POST", "/api/projects", &large, &format!("X-Watershed-Token: {}\r\n", server.token));
    assert_eq!(reply.status, 413);
    // A length that is only claimed is refused as well, before anything is read.
    let claimed = server.raw(
        format!(
            "POST /api/projects HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nX-Watershed-Token: {}\r\nConnection: \
             close\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n",
            server.port, server.token
        )
        .as_bytes(),
    );
    assert_eq!(claimed.status, 413);
    assert_eq!(server.get("/api/gallery").status, 200);
}

#[test]
fn the_page_may_not_be_framed_or_load_anything_from_elsewhere() {
    let server = Server::start(|_| ());
    let page = server.get("/");
    assert_eq!(page.status, 200);
    let headers = page.headers.to_lowercase();
    assert!(
        headers.contains("default-src 'none'") && headers.contains("frame-ancestors 'none'"),
        "{headers}"
    );
    assert!(headers.contains("referrer-policy: no-referrer"));
}

#[test]
fn a_violation_is_opened_walked_and_explained() {
    let server = Server::start(|_| ());
    let id = server.open_texts(MODEL, PROPERTY);
    let status = server.wait(id);
    assert!(status["failure"].is_null(), "{status}");
    let base = format!("/api/projects/{id}");
    let summary = server.get(&base).json();
    assert_eq!(summary["explanation"]["shape"]["name"], "unique choice");
    assert_eq!(summary["explanation"]["neighbourhoods"]["ci"], 1);
    let initial = server.get(&format!("{base}/state/0")).json();
    assert_eq!(initial["outgoing"][0]["label"], "COIN");
    let choice = server.get(&format!("{base}/state/{}", initial["outgoing"][0]["target"])).json();
    assert_eq!(choice["kind"], "ci");
    let tags: Vec<(&str, &str)> = choice["outgoing"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| (step["label"].as_str().unwrap(), step["tag"].as_str().unwrap()))
        .collect();
    assert_eq!(tags, [("TEA", "correct"), ("BROKEN", "incorrect")]);
    // Both ways between transitions and lines.
    let wrong = choice["outgoing"][1]["edge"].as_u64().unwrap();
    let edge = server.get(&format!("{base}/edge/{wrong}")).json();
    assert_eq!(
        (&edge["constructs"][0]["file"], &edge["constructs"][0]["line"]),
        (&"m.lnt".into(), &2.into())
    );
    let line = server.get(&format!("{base}/line?file=m.lnt&line=2")).json();
    assert_eq!(line["total"], 3);
    let found = server.get(&format!("{base}/search?among=labels&pattern=%5Ebro")).json();
    assert_eq!((&found["total"], &found["texts"][0]), (&1.into(), &"BROKEN".into()));
    assert_eq!(server.get(&format!("{base}/search?among=labels&pattern=(")).status, 422);
    let run = server.post(&format!("{base}/counterexample"), &serde_json::json!({ "nth": 1 })).json();
    assert_eq!(run["steps"][1]["label"], "BROKEN");
    let trace = |text: &str| {
        let body = serde_json::json!({ "trace": { "name": "t.txt", "text": text } });
        server.post(&format!("{base}/counterexample"), &body).status
    };
    assert_eq!((trace("COIN\nBROKEN\n"), trace("COIN\nTEA\n"), trace("TEA\n")), (200, 422, 422));
    let told = |body: serde_json::Value| server.post(&format!("{base}/counterexample"), &body).text();
    // A label that begins like an AUT file is still a label.
    let label = told(serde_json::json!({ "trace": { "name": "t.txt", "text": "destroy\n" } }));
    assert!(label.contains("this is not a counterexample"), "{label}");
    let second = told(serde_json::json!({ "nth": 2 }));
    assert!(second.contains("1 counterexample in all"), "{second}");
    let closed = server.post(&format!("{base}/scene"), &serde_json::json!({ "close_around": 1 }));
    assert!(closed.text().contains("not in an open super-node"), "{}", closed.text());
    assert_eq!(server.get(&format!("{base}/state/99")).status, 404);
    // The scene and its positions speak of the same nodes.
    let scene = server.get(&format!("{base}/scene")).body;
    let positions = server.get(&format!("{base}/positions")).body;
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().unwrap());
    assert_eq!((&scene[..4], &positions[..4]), (&b"WSG1"[..], &b"WSP1"[..]));
    assert_eq!((word(&scene, 1), word(&scene, 2), word(&scene, 3)), (word(&positions, 1), 5, 4));
    assert_eq!(positions.len(), 16 + 12 * 5);
}

#[test]
fn wrong_input_is_said_and_what_was_open_stays() {
    let server = Server::start(|_| ());
    let id = server.open_texts(MODEL, PROPERTY);
    server.wait(id);
    let run = |model: &str, property: &str| {
        let body = serde_json::json!({
            "files": [{ "name": "m.lnt", "text": model }],
            "property": { "name": "p.mcl", "text": property },
        });
        assert_eq!(server.post(&format!("/api/projects/{id}/run"), &body).status, 202);
        server.wait(id)
    };
    let model = run(&MODEL.replace("TEA []", "TEE []"), PROPERTY);
    let message = &model["failure"]["messages"][0];
    assert_eq!((&message["place"]["line"], &message["place"]["column"]), (&2.into(), &17.into()), "{model}");
    let formula = run(MODEL, "[ true* . BROKEN ] false");
    assert_eq!(formula["failure"]["messages"][0]["place"]["file"], "p.mcl", "{formula}");
    // Two counters of sixty values each have 3,600 states.
    let large = "module m is
        process COUNT [A : any] is
           var n : nat in n := 0; loop A (n); n := (n + 1) mod 60 end loop end var
        end process
        process MAIN [A, B : any] is par COUNT [A] || COUNT [B] end par end process
    end module";
    let limit = run(large, "");
    let said = limit["failure"]["messages"][0]["message"].as_str().unwrap();
    assert!(said.contains("exceeds the limit"), "{said}");
    let alone = large.replace(" mod 60", "").replace("par COUNT [A] || COUNT [B] end par", "COUNT [A]");
    let overflow = run(&alone, "");
    assert_eq!(overflow["failure"]["messages"][0]["place"]["line"], 3, "{overflow}");
    // The last good state is still there to be looked at, with its text, and the wrong one to be edited.
    let summary = server.get(&format!("/api/projects/{id}")).json();
    assert_eq!(
        (&summary["files"][0]["text"], &summary["texts"]["files"][0]["text"]),
        (&MODEL.into(), &alone.into())
    );
    assert_eq!(overflow["attempt"], 5);
    assert_eq!(server.get(&format!("/api/projects/{id}/state/0")).json()["outgoing"][0]["label"], "COIN");
    let good = run(MODEL, PROPERTY);
    assert!(good["failure"].is_null() && good["generation"] == 2, "{good}");
    let broken = server.send(
        "POST",
        "/api/projects",
        "{\"texts\":",
        &format!("X-Watershed-Token: {}\r\n", server.token),
    );
    assert_eq!(broken.status, 400);
}

#[test]
fn imported_modules_keep_their_names_when_they_are_edited() {
    let folder = tempfile::tempdir().unwrap();
    let main = "module m (SUB) is process MAIN [A : none] is P [A] end process end module";
    let sub = "module sub is process P [A : none] is A end process end module";
    std::fs::write(folder.path().join("m.lnt"), main).unwrap();
    std::fs::write(folder.path().join("sub.lnt"), sub).unwrap();
    let path = folder.path().join("m.lnt");
    let server = Server::start(move |studio| studio.open(&path, &Default::default()).unwrap());
    server.wait(1);
    let files = |server: &Server| server.get("/api/projects/1").json()["files"].clone();
    let before = files(&server);
    assert_eq!(before[1]["name"], folder.path().join("sub.lnt").display().to_string());
    assert_eq!(server.post("/api/projects/1/run", &serde_json::json!({ "files": before })).status, 202);
    assert!(server.wait(1)["failure"].is_null());
    assert_eq!(files(&server), before);
    // Coverage speaks of the same files, and so does what is wrong in them.
    let covered = server.post("/api/projects/1/coverage", &serde_json::json!({ "roots": ["MAIN"] })).json();
    let named: Vec<&serde_json::Value> =
        covered["items"].as_array().unwrap().iter().map(|item| &item["file"]).collect();
    assert!(named.contains(&&before[1]["name"]), "{named:?}");
    let mut wrong = before.clone();
    wrong[1]["text"] = sub.replace("is A end", "is B end").into();
    assert_eq!(server.post("/api/projects/1/run", &serde_json::json!({ "files": wrong })).status, 202);
    let status = server.wait(1);
    assert_eq!(status["failure"]["messages"][0]["place"]["file"], before[1]["name"], "{status}");
}

#[test]
fn a_packed_model_has_a_source() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lnt.gz");
    lts::write_file(&path, |out| out.write_all(MODEL.as_bytes())).unwrap();
    let server = Server::start(move |studio| studio.open(&path, &Default::default()).unwrap());
    assert!(server.wait(1)["failure"].is_null());
    assert_eq!(server.get("/api/projects/1").json()["files"][0]["text"], MODEL);
}

#[test]
fn a_wrong_suite_is_told_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let (model, suite) = (folder.path().join("m.lnt"), folder.path().join("suite.toml"));
    std::fs::write(&model, MODEL).unwrap();
    std::fs::write(&suite, "[[example]]\nrot = 'MAIN'\n").unwrap();
    Server::start(move |studio| {
        let examples = [suite];
        let beside = studio::Beside { examples: &examples, ..Default::default() };
        let wrong = studio.open(&model, &beside).unwrap_err().to_string();
        assert!(wrong.contains("suite.toml:2:1") && wrong.contains("did you mean `root`?"), "{wrong}");
    });
}

#[test]
fn an_exported_view_holds_what_the_page_sends_and_says_whether_it_is_complete() {
    let server = Server::start(|_| ());
    let long = MODEL.replace("COIN; select", "COIN; COIN; COIN; COIN; select");
    let id = server.open_texts(&long, PROPERTY);
    server.wait(id);
    let base = format!("/api/projects/{id}");
    let export = || server.post(&format!("{base}/export"), &serde_json::json!({ "theme": "</script>" }));
    if server.get("/").text().contains("not built") {
        assert!(export().json()["error"].as_str().unwrap().contains("not built"));
        return;
    }
    let snapshot = || {
        let page = export().text();
        let start = page.find("id=\"snapshot\">").unwrap() + "id=\"snapshot\">".len();
        let end = start + page[start..].find("</script>").unwrap();
        serde_json::from_str::<serde_json::Value>(&page[start..end]).unwrap()
    };
    let whole = snapshot();
    assert_eq!((&whole["look"]["theme"], &whole["complete"]), (&"</script>".into(), &true.into()));
    let collapsed = server.post(&format!("{base}/scene"), &serde_json::json!({ "detail": "collapsed" }));
    assert_eq!(collapsed.status, 202);
    server.wait(id);
    // The states before the last coin are drawn as one.
    let part = snapshot();
    assert_eq!((&part["complete"], &part["drawing"]), (&false.into(), &serde_json::Value::Null));
}

#[test]
fn networks_are_composed_of_systems_that_come_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let network = "par A in \"one.aut\" || \"two.aut\" end par";
    let one = "des (0, 2, 2)\n(0, A, 1)\n(1, B, 0)\n";
    std::fs::write(folder.path().join("net.exp"), network).unwrap();
    std::fs::write(folder.path().join("one.aut"), one).unwrap();
    std::fs::write(folder.path().join("two.aut"), one.replace('B', "C")).unwrap();
    let path = folder.path().join("net.exp");
    let server = Server::start(move |studio| studio.open(&path, &Default::default()).unwrap());
    let status = server.wait(1);
    assert!(status["failure"].is_null(), "{status}");
    assert_eq!(server.get("/api/projects/1").json()["nodes"], 4);
    // From the page: the text of one system is there, the other is only on disk.
    let file = |name: &str, text: &str| serde_json::json!({ "name": name, "text": text });
    let named = network.replace("two.aut", &folder.path().join("two.aut").display().to_string());
    let files = [file("net.exp", &named), file("one.aut", one)];
    let reply = server.post("/api/projects", &serde_json::json!({ "texts": { "files": files } }));
    let status = server.wait(reply.json()["id"].as_u64().unwrap() as u32);
    assert!(status["failure"].to_string().contains("open it together with the network"), "{status}");
}

#[test]
fn several_models_are_open_at_once_and_can_be_closed() {
    let server = Server::start(|_| ());
    let first = server.open_texts(MODEL, PROPERTY);
    let second = server.open_texts(MODEL, "");
    assert_eq!(server.get("/api/projects").json().as_array().unwrap().len(), 2);
    server.wait(first);
    assert!(server.wait(second)["failure"].is_null());
    assert!(server.get(&format!("/api/projects/{second}")).json()["explanation"].is_null());
    let token = format!("X-Watershed-Token: {}\r\n", server.token);
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let path = format!("/api/projects/{first}/events?token={}", server.token);
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n\r\n", server.port);
    stream.write_all(request.as_bytes()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
    assert_eq!(server.send("DELETE", &format!("/api/projects/{first}"), "", &token).status, 204);
    // Those who watch are let go.
    stream.read_to_end(&mut Vec::new()).expect("the stream ends");
    assert_eq!(server.get(&format!("/api/projects/{first}")).status, 410);
}

#[test]
fn long_work_tells_how_far_it_is_and_can_be_cancelled() {
    let server = Server::with_limit(1_000_000_000, |_| ());
    // A counter for each of five processes: 10^12 states.
    let large = "module m is
        process COUNT [A : any] is
           var n : nat in n := 0; loop A (n); n := (n + 1) mod 250 end loop end var
        end process
        process MAIN [A : any] is
           par COUNT [A] || COUNT [A] || COUNT [A] || COUNT [A] || COUNT [A] end par
        end process
    end module";
    let id = server.open_texts(large, "");
    let start = Instant::now();
    loop {
        assert!(start.elapsed() < Duration::from_secs(30), "nothing is explored");
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        let request = format!(
            "GET /api/projects/{id}/events?token={} HTTP/1.1\r\nHost: localhost:{}\r\n\r\n",
            server.token, server.port
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut buffer = [0; 4096];
        let mut seen = String::new();
        while !seen.contains("\n\n") || !seen.contains("data: ") {
            let count = stream.read(&mut buffer).unwrap();
            seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        if seen.contains("\"stage\":\"exploring\"") && !seen.contains("\"done\":0,") {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(server.post(&format!("/api/projects/{id}/cancel"), &serde_json::json!({})).status, 202);
    let status = server.wait(id);
    assert_eq!(status["failure"]["summary"], "cancelled", "{status}");
    // Another model opens as if nothing had happened.
    let next = server.open_texts(MODEL, PROPERTY);
    assert!(server.wait(next)["failure"].is_null());
}

/// A net with two markings, and two transitions of the same name.
const NET: &str = "net CROSSING is
   place Waiting : nat
   place Road
   net CARS is
      transition Go (n) take Waiting (n), Road where n < 2 put Road end transition
   end net
   net TRAMS is
      transition Go (n) take Waiting (n) where n >= 2 end transition
   end net
   marking RUSH is Waiting (1), Waiting (2), 2 * Road end marking
   marking NIGHT is Waiting (3) end marking
end net
";

impl Server {
    /// Opens texts and waits until they are open.
    fn open_files(&self, files: &[(&str, &str)], property: &str, root: Option<&str>) -> String {
        let files: Vec<serde_json::Value> =
            files.iter().map(|(name, text)| serde_json::json!({ "name": name, "text": text })).collect();
        let property = serde_json::json!({ "name": "p.mcl", "text": property });
        let texts = serde_json::json!({ "files": files, "property": property, "root": root });
        let reply = self.post("/api/projects", &serde_json::json!({ "texts": texts }));
        let id = reply.json()["id"].as_u64().unwrap() as u32;
        let status = self.wait(id);
        assert!(status["failure"].is_null(), "{status}");
        format!("/api/projects/{id}")
    }

    /// The lines behind a transition.
    fn lines(&self, base: &str, edge: &serde_json::Value) -> Vec<u64> {
        let answer = self.get(&format!("{base}/edge/{edge}")).json();
        answer["constructs"].as_array().unwrap().iter().map(|one| one["line"].as_u64().unwrap()).collect()
    }
}

#[test]
fn a_net_is_drawn_and_its_steps_say_what_fires() {
    let server = Server::start(|_| ());
    let base = server.open_files(&[("crossing.net", NET)], "", None);
    assert_eq!(server.get(&base).json()["drawing"], true);
    let drawing = server.get(&format!("{base}/drawing")).json();
    let parts = drawing["parts"].as_array().unwrap();
    let kinds = |kind: &str| -> Vec<(&str, &str)> {
        let parts = parts.iter().filter(|part| part["kind"] == kind);
        parts.map(|part| (part["id"].as_str().unwrap(), part["name"].as_str().unwrap())).collect()
    };
    assert_eq!(kinds("place"), [("p0", "Waiting"), ("p1", "Road")]);
    assert_eq!(kinds("transition"), [("t0", "GO"), ("t1", "GO")]);
    assert!(drawing["svg"].as_str().unwrap().contains("id=\"p0-tokens\""));
    // The car and the tram have the same gate; where they are written tells which is which.
    let state = server.get(&format!("{base}/state/0")).json();
    let values: Vec<(&str, &str)> = state["instances"][0]["values"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["name"].as_str().unwrap(), one["value"].as_str().unwrap()))
        .collect();
    assert_eq!(values, [("Waiting", "{1, 2}"), ("Road", "2")]);
    let mut fired: Vec<(String, String, Vec<u64>)> = Vec::new();
    for step in state["outgoing"].as_array().unwrap() {
        let lines = server.lines(&base, &step["edge"]);
        fired.push((step["label"].as_str().unwrap().into(), step["parts"].to_string(), lines));
    }
    fired.sort();
    let expected = [("GO !1", "[\"t0\"]", vec![5]), ("GO !2", "[\"t1\"]", vec![8])];
    assert_eq!(fired, expected.map(|(label, parts, lines)| (label.into(), parts.into(), lines)));
    // What has no drawing says so.
    let plain = server.open_files(&[("m.lnt", MODEL)], PROPERTY, None);
    assert_eq!(server.get(&plain).json()["drawing"], false);
    assert!(server.get(&format!("{plain}/drawing")).json().is_null());
    assert!(server.get(&format!("{plain}/state/0")).json()["outgoing"][0]["parts"].is_null());
}

#[test]
fn named_markings_are_offered_to_start_with() {
    let server = Server::start(|_| ());
    let roots = |base: &str| -> Vec<String> {
        let starts = server.get(base).json()["starts"].clone();
        starts.as_array().unwrap().iter().map(|start| start["root"].as_str().unwrap().to_owned()).collect()
    };
    let base = server.open_files(&[("crossing.net", NET)], "", None);
    assert_eq!(roots(&base), ["RUSH", "NIGHT"]);
    let base = server.open_files(&[("crossing.net", NET)], "", Some("NIGHT"));
    assert_eq!(server.get(&format!("{base}/state/0")).json()["instances"][0]["values"][0]["value"], "{3}");
    // The marking that the net starts with by itself comes first.
    let main = NET.replace("NIGHT", "Main");
    let base = server.open_files(&[("crossing.net", &main)], "", None);
    assert_eq!(roots(&base), ["Main", "RUSH"]);
    assert_eq!(server.get(&format!("{base}/state/0")).json()["instances"][0]["values"][0]["value"], "{3}");
    // A net with one marking, or a model without any, leaves no choice.
    let one: String = NET.lines().filter(|line| !line.contains("NIGHT")).collect::<Vec<_>>().join("\n");
    assert!(roots(&server.open_files(&[("one.net", &one)], "", None)).is_empty());
    assert!(roots(&server.open_files(&[("m.lnt", MODEL)], "", None)).is_empty());
}

#[test]
fn pnml_and_networks_are_opened_with_properties_and_lines() {
    let server = Server::start(|_| ());
    let pnml = "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n\
        <net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">\n\
        <place id=\"a\"><initialMarking><text>1</text></initialMarking></place>\n\
        <place id=\"b\"/>\n\
        <transition id=\"move\"/>\n\
        <arc id=\"x\" source=\"a\" target=\"move\"/>\n\
        <arc id=\"y\" source=\"move\" target=\"b\"/>\n\
        </page></net></pnml>\n";
    let base = server.open_files(&[("n.pnml", pnml)], "[ true* . \"MOVE\" ] false", None);
    let summary = server.get(&base).json();
    assert_eq!((&summary["drawing"], &summary["explanation"]["verdict"]), (&true.into(), &false.into()));
    let step = server.get(&format!("{base}/state/0")).json()["outgoing"][0].clone();
    assert_eq!((&step["label"], &step["parts"]), (&"MOVE".into(), &serde_json::json!(["t0"])));
    assert_eq!(server.lines(&base, &step["edge"]), [5]);
    let systems = [
        ("n.exp", "par A in\n   \"one.aut\"\n||\n   \"two.aut\"\nend par\n"),
        ("one.aut", "des (0, 2, 2)\n(0, A, 1)\n(1, B, 0)\n"),
        ("two.aut", "des (0, 2, 2)\n(0, A, 1)\n(1, C, 0)\n"),
    ];
    let base = server.open_files(&systems, "[ true* . \"B\" ] false", None);
    let summary = server.get(&base).json();
    assert_eq!((&summary["drawing"], &summary["explanation"]["verdict"]), (&false.into(), &false.into()));
    let step = server.get(&format!("{base}/state/0")).json()["outgoing"][0].clone();
    assert_eq!(step["label"], "A");
    assert_eq!(server.lines(&base, &step["edge"]), [2, 4], "both components take part");
}

#[test]
fn the_page_is_told_which_files_there_are() {
    let server = Server::start(|_| ());
    let files = server.get("/api/languages").json();
    assert_eq!(files["models"], serde_json::json!(languages::registry().extensions()));
    assert_eq!(files["systems"], serde_json::json!(["aut", "dot", "json"]));
    assert_eq!(
        files["hint"],
        "A model (.lnt, .net, .pnml, .maude or .exp) or a transition system (.aut, .dot or .json), the files it refers to, and \
         a property (.mcl)"
    );
}

#[test]
fn a_state_with_very_many_steps_says_how_many() {
    let server = Server::start(|_| ());
    let net = "net WIDE is type R is range 1 .. 600 of nat with \"==\" end type\n\
               place P transition T (n : R) take P end transition marking MAIN is P end marking end net";
    let base = server.open_files(&[("wide.net", net)], "", None);
    let state = server.get(&format!("{base}/state/0")).json();
    assert_eq!((&state["steps"], state["outgoing"].as_array().unwrap().len()), (&600.into(), 500));
}

/// A lock; its traces give it back twice.
const LOCK: &str = "module lock is process MAIN [TAKE, GIVE : none] is
   var taken : bool in
      taken := false;
      loop
         select
            only if not (taken) then TAKE; taken := true end if
         [] only if taken then GIVE; taken := false end if
         end select
      end loop
   end var
end process end module";

fn with_traces(text: &str) -> (Server, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let (model, traces) = (folder.path().join("lock.lnt"), folder.path().join("log.txt"));
    std::fs::write(&model, LOCK).unwrap();
    std::fs::write(&traces, text).unwrap();
    let server = Server::start(move |studio| {
        let traces = studio::Traces {
            files: vec![traces],
            format: conform::Format::Auto,
            term: None,
            include: Vec::new(),
            relation: conform::Relation::default(),
            settings: conform::Settings::default(),
            module: None,
        };
        let beside = studio::Beside { traces: Some(&traces), ..Default::default() };
        studio.open(&model, &beside).unwrap();
    });
    (server, folder)
}

/// The verdict, once there is one.
fn verdict(server: &Server) -> serde_json::Value {
    let start = Instant::now();
    loop {
        assert!(start.elapsed() < Duration::from_secs(30), "the traces are never checked");
        let found = server.get("/api/projects/1/conformance").json();
        if found["running"] == false && (!found["verdict"].is_null() || found["messages"][0].is_object()) {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn traces_are_checked_and_walked() {
    let (server, folder) = with_traces("TAKE\nGIVE\nGIVE\n[]\nTAKE\n");
    let found = verdict(&server);
    assert_eq!((&found["verdict"]["rejected"], &found["verdict"]["sequences"]), (&1.into(), &2.into()));
    let status = server.wait(1);
    assert!(status["conformance"].as_u64() > Some(0));
    // Nothing is read again for a walk.
    std::fs::remove_file(folder.path().join("log.txt")).unwrap();
    let walk = server.get("/api/projects/1/conformance/0").json();
    assert_eq!(walk["total"], 4);
    let stations = walk["stations"].as_array().unwrap();
    assert_eq!((&stations[0]["index"], &stations[0]["node"]), (&serde_json::Value::Null, &0.into()));
    assert_eq!(stations[1]["steps"][0]["label"], "TAKE");
    assert_eq!(stations[1]["steps"][0]["places"][0]["line"], 6);
    assert_eq!(stations[1]["model"][0]["changed"], true);
    assert_eq!((&stations[3]["rejected"], &stations[3]["event"]), (&true.into(), &"GIVE".into()));
    let rest = server.get("/api/projects/1/conformance/0?from=3").json();
    assert_eq!(rest["stations"][0], stations[3]);
    assert!(
        server.get("/api/projects/1/conformance/0?from=99").json()["stations"].as_array().unwrap().is_empty()
    );
    assert_eq!(server.get("/api/projects/1/conformance/7").status, 404);
    assert_eq!(server.get("/api/projects/2/conformance").status, 410);
    assert_eq!(server.send("GET", "/api/projects/1/conformance", "", "").status, 403);
}

#[test]
fn of_many_failures_some_are_listed() {
    let (server, _folder) = with_traces(&"GIVE\n[]\n".repeat(2_000));
    let found = verdict(&server);
    assert_eq!(found["verdict"]["rejected"], 2_000);
    assert_eq!(found["verdict"]["causes"][0]["failures"], 2_000);
    assert_eq!(found["verdict"]["failures"].as_array().unwrap().len(), 300);
    assert_eq!(server.get("/api/projects/1/conformance/299").status, 200);
    assert_eq!(server.get("/api/projects/1/conformance/300").status, 404);
}

#[test]
fn a_model_without_traces_has_no_verdict() {
    let (server, _folder) = with_traces("\n");
    assert!(verdict(&server)["messages"][0]["message"].as_str().unwrap().contains("no sequence"));
    let id = server.open_texts(LOCK, "");
    assert_eq!(server.wait(id)["conformance"], 0);
    let none = server.get(&format!("/api/projects/{id}/conformance")).json();
    assert_eq!((&none["running"], &none["verdict"]), (&false.into(), &serde_json::Value::Null));
    assert_eq!(server.get(&format!("/api/projects/{id}/conformance/0")).status, 404);
}

/// Two counters side by side, which may count for ever.
const COUNTERS: &str = "module c is
process COUNTER [STEP : any] (self : Nat) is
   var n : Nat in n := 0; loop STEP (self, n); n := (n + 1) mod 3 end loop end var
end process
process MAIN [STEP : any] is par COUNTER [STEP] (1) || COUNTER [STEP] (2) end par end process
end module";

#[test]
fn a_walk_is_told_step_by_step() {
    let server = Server::start(|_| ());
    let base = server.open_files(&[("c.lnt", COUNTERS)], "[ true* . \"STEP !2 !1\" ] false", None);
    let way = |node: u64| server.get(&format!("{base}/way/{node}"));
    let run = server.post(&format!("{base}/counterexample"), &serde_json::json!({ "nth": 1 })).json();
    let steps = run["steps"].as_array().unwrap();
    let edges: Vec<&serde_json::Value> = steps.iter().map(|step| &step["edge"]).collect();
    let body = serde_json::json!({ "start": 0, "edges": edges });
    let trace = server.post(&format!("{base}/trace"), &body).json();
    assert_eq!(trace["lanes"], serde_json::json!({ "names": ["COUNTER (2)"], "touched": [[0], [0]] }));
    assert_eq!(trace["steps"][1]["label"], "STEP !2 !1");
    assert_eq!(trace["steps"][1]["tag"], "incorrect");
    let value = |at: usize, instance: &str| {
        let instances = trace["states"][at].as_array().unwrap();
        instances.iter().find(|one| one["instance"] == instance).unwrap()["values"][0].clone()
    };
    let counted = serde_json::json!({ "name": "n", "value": "2", "before": "1", "changed": true });
    assert_eq!(value(2, "COUNTER (2)"), counted);
    assert_eq!(value(2, "COUNTER (1)")["changed"], false);
    assert_eq!(value(0, "COUNTER (2)")["changed"], false, "nothing changes at the start");
    // A shortest way is as long as the state is far away.
    let end = run["nodes"].as_array().unwrap().last().unwrap().as_u64().unwrap();
    assert_eq!(way(end).json()["steps"].as_array().unwrap().len(), 2);
    assert_eq!(way(0).json()["steps"], serde_json::json!([]));
    assert_eq!(way(1_000_000).status, 422);
    // What is not a walk is refused.
    for (start, edges) in
        [(1, vec![0]), (0, vec![4_000_000_000u32]), (4_000_000_000u32, vec![]), (0, vec![0, 0])]
    {
        let body = serde_json::json!({ "start": start, "edges": edges });
        let reply = server.post(&format!("{base}/trace"), &body);
        assert_eq!(reply.status, 422, "{body}: {}", reply.text());
    }
}

#[test]
fn a_column_tells_actions_of_one_line_apart() {
    let server = Server::start(|_| ());
    let base = server.open_files(&[("m.lnt", MODEL)], PROPERTY, None);
    let found =
        |column: &str| server.get(&format!("{base}/line?file=m.lnt&line=2{column}")).json()["total"].clone();
    let at = |word: &str| format!("&column={}", MODEL.lines().nth(1).unwrap().find(word).unwrap() + 1);
    assert_eq!(found(""), 3);
    assert_eq!(found(&at("TEA")), 1);
    assert_eq!(found(&at("BROKEN")), 1);
    assert_eq!(found(&at("end")), 3, "no action is there");
}

#[test]
fn states_are_found_by_a_condition() {
    let server = Server::start(|_| ());
    let base = server.open_files(&[("c.lnt", COUNTERS)], "", None);
    let ask = |condition: &str| {
        let text: String = condition.bytes().map(|byte| format!("%{byte:02X}")).collect();
        server.get(&format!("{base}/where?condition={text}"))
    };
    let total = |condition: &str| ask(condition).json()["total"].clone();
    // Three by three states.
    assert_eq!(total("COUNTER (1).n = 2"), 3);
    assert_eq!(total("n ≥ 2"), 5, "one of the two is enough");
    assert_eq!(total("COUNTER (1).n = COUNTER (2).n"), 3);
    assert_eq!(total("can \"STEP !1 !0\" and not can \"STEP !2 !0\""), 2);
    let reply = ask("m = 2");
    assert_eq!(reply.status, 422);
    assert!(reply.text().contains("no state has a variable `m`"), "{}", reply.text());
    assert!(ask("n").text().contains("expected a comparison"));
    assert_eq!(ask("can STOP").json()["notes"].as_array().unwrap().len(), 1);
}

#[test]
fn nodes_are_put_somewhere_and_equivalent_states_are_one() {
    let server = Server::start(|_| ());
    // Both ways do the same.
    let aut = "des (0, 4, 4)\n(0, A, 1)\n(0, A, 2)\n(1, B, 3)\n(2, B, 3)\n";
    let base = server.open_files(&[("m.aut", aut)], "", None);
    let id: u32 = base.rsplit('/').next().unwrap().parse().unwrap();
    let change = |body: serde_json::Value| server.post(&format!("{base}/scene"), &body).status;
    assert_eq!(change(serde_json::json!({ "pin": { "node": 2, "at": [1.5, -2.0, 0.25] } })), 202);
    assert_eq!(server.wait(id)["pins"], 1);
    let bytes = server.get(&format!("{base}/positions")).body;
    let place: Vec<f32> = bytes[16 + 2 * 12..16 + 3 * 12]
        .chunks(4)
        .map(|four| f32::from_le_bytes(four.try_into().unwrap()))
        .collect();
    assert_eq!(place, [1.5, -2.0, 0.25]);
    assert_eq!(change(serde_json::json!({ "pin": { "node": 9, "at": [0, 0, 0] } })), 409);
    assert_eq!(change(serde_json::json!({ "pin": { "node": 1, "at": [1e30, 0, 0] } })), 409);
    assert_eq!(change(serde_json::json!({ "reduce": "strong" })), 202);
    let status = server.wait(id);
    assert_eq!(
        (&status["detail"], &status["relation"], &status["pins"]),
        (&"reduced".into(), &"strong".into(), &0.into())
    );
    let scene = server.get(&format!("{base}/scene")).body;
    let counts: Vec<u32> =
        scene[8..16].chunks(4).map(|four| u32::from_le_bytes(four.try_into().unwrap())).collect();
    assert_eq!(counts, [3, 2], "nodes and transitions");
    // Where the transitions are drawn now.
    let drawn = server.post(&format!("{base}/drawn"), &serde_json::json!([0, 1, 2, 3, 4])).json();
    assert_eq!(drawn, serde_json::json!([0, 0, 1, 1, null]));
    assert_eq!(change(serde_json::json!({ "reduce": "stronk" })), 409);
    assert_eq!(change(serde_json::json!({ "detail": "all" })), 202);
    assert!(server.wait(id)["relation"].is_null());
}

#[test]
fn two_models_are_compared() {
    let server = Server::start(|_| ());
    let one = server.open_files(&[("one.aut", "des (0, 2, 3)\n(0, A, 1)\n(1, B, 2)\n")], "", None);
    let two = server.open_files(&[("two.aut", "des (0, 2, 3)\n(0, i, 1)\n(1, A, 2)\n")], "", None);
    let number = |base: &str| base.rsplit('/').next().unwrap().parse::<u32>().unwrap();
    let compare = |base: &str, with: u32, relation: &str| {
        server.post(&format!("{base}/compare"), &serde_json::json!({ "with": with, "relation": relation }))
    };
    let found = compare(&one, number(&two), "weak-trace").json();
    assert_eq!((&found["equivalent"], &found["only"]), (&false.into(), &"left".into()));
    assert_eq!(found["trace"], serde_json::json!(["A", "B"]));
    assert_eq!(found["left"]["after"], serde_json::json!([0, 1, 2]));
    assert_eq!(found["right"]["after"], serde_json::json!([0, 2]), "an internal step comes first");
    assert_eq!(compare(&one, number(&one), "strong").json()["equivalent"], true);
    assert!(compare(&one, number(&two), "branching").json()["formula"].is_string());
    assert_eq!(compare(&one, number(&two), "stronk").status, 422);
    assert_eq!(compare(&one, 99, "strong").status, 404);
    // The first chooses after A, the second with it: a game tells them apart.
    let late = "des (0, 3, 4)\n(0, A, 1)\n(1, B, 2)\n(1, C, 3)\n";
    let late = server.open_files(&[("late.aut", late)], "", None);
    let early = "des (0, 4, 5)\n(0, A, 1)\n(0, A, 2)\n(1, B, 3)\n(2, C, 4)\n";
    let early = server.open_files(&[("early.aut", early)], "", None);
    let found = compare(&late, number(&early), "strong").json();
    assert_eq!((&found["only"], &found["moves"][1]), (&"left".into(), &"left".into()));
    assert_eq!(found["trace"].as_array().unwrap().len(), 2);
    assert_eq!(found["left"]["steps"].as_array().unwrap().len(), 2);
    assert_eq!(found["right"]["steps"].as_array().unwrap().len(), 1);
    // What is safe for good is not drawn, and that is said.
    let safe = server.open_files(
        &[("three.aut", "des (0, 3, 4)\n(0, X, 3)\n(0, A, 1)\n(1, C, 2)\n")],
        "[ true* . \"X\" ] false",
        None,
    );
    let less = server.open_files(&[("less.aut", "des (0, 2, 3)\n(0, X, 1)\n(0, A, 2)\n")], "", None);
    let found = compare(&safe, number(&less), "trace").json();
    assert_eq!((&found["trace"], &found["only"]), (&serde_json::json!(["A", "C"]), &"left".into()));
    assert_eq!((&found["left"]["cut"], &found["left"]["after"]), (&true.into(), &serde_json::json!([0, 1])));
    assert_eq!(
        (&found["right"]["cut"], &found["right"]["after"]),
        (&false.into(), &serde_json::json!([0, 1]))
    );
}
