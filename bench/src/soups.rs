//! Receiving from a soup of messages, however that is written: the Paxos of the benchmark with other ways to say that a
//! message comes from the soup. All of them have the same states and transitions.

use std::fs;
use std::time::Instant;

use crate::RESULTS;
use crate::exploration::{Explored, LIMIT, TIME, TURNS};

const MODEL: &str = "bench/models/paxos.lnt";
const RECEIVE: &str = "RECEIVE (?m) where member (m, soup)";

/// A style: its name, and what stands in its place.
type Style = (&'static str, &'static [(&'static str, &'static str)]);

const STYLES: [Style; 11] = [
    ("`where member (m, soup)`", &[]),
    ("a recursive function of one's own", &[(RECEIVE, "RECEIVE (?m) where holds (soup, m)"), FUNCTIONS]),
    ("a loop of one's own", &[(RECEIVE, "RECEIVE (?m) where finds (soup, m)"), FUNCTIONS]),
    (
        "a function with other conditions",
        &[(RECEIVE, "RECEIVE (?m) where may_come (m, soup, true)"), FUNCTIONS],
    ),
    (
        "a pattern for each kind of message",
        &[
            (
                RECEIVE,
                "RECEIVE (?prepare (b)) where member (prepare (b), soup)
         [] RECEIVE (?promise (a, b, v)) where member (promise (a, b, v), soup)
         [] RECEIVE (?propose (b, c)) where member (propose (b, c), soup)
         [] RECEIVE (?accepted (a, b, c)) where member (accepted (a, b, c), soup)",
            ),
            VARIABLES,
        ],
    ),
    ("chosen first", &[(RECEIVE, "m := any message where member (m, soup); RECEIVE (m)")]),
    (
        "chosen, then asked",
        &[(RECEIVE, "m := any message; only if member (m, soup) then RECEIVE (m) end if")],
    ),
    (
        "a field of a record",
        &[
            (RECEIVE, "RECEIVE (?m) where member (m, net.soup)"),
            ("soup := {};", "net := net ({}, 0);"),
            ("soup := insert (m, soup)", "net := net.{soup => insert (m, net.soup)}"),
            ("var soup : messages, m : message in", "var net : net, m : message in"),
            (
                "channel network is",
                "type net is net (soup : messages, n : ballot) with \"get\", \"set\" end type\nchannel network is",
            ),
        ],
    ),
    (
        "a soup for each kind",
        &[
            (RECEIVE, "RECEIVE (?m) where member (m, soup[kind (m)])"),
            ("soup := {};", "soup := soups ({});"),
            ("soup := insert (m, soup)", "soup[kind (m)] := insert (m, soup[kind (m)])"),
            ("var soup : messages, m : message in", "var soup : soups, m : message in"),
            ("channel network is", "type soups is array [1 .. 3] of messages end type\nchannel network is"),
            FUNCTIONS,
        ],
    ),
    (
        "packets with addresses",
        &[
            (RECEIVE, "RECEIVE (?to, ?m) where member (packet (to, m), soup)"),
            ("SEND (?m);", "SEND (?to, ?m);"),
            ("soup := insert (m, soup)", "soup := insert (packet (to, m), soup)"),
            ("soup : messages, m : message in", "soup : messages, m : message, to : node in"),
            ("SEND (prepare", "SEND (0, prepare"),
            ("SEND (propose", "SEND (0, propose"),
            ("SEND (accepted", "SEND (0, accepted"),
            ("SEND (promise", "SEND (node (nat (b)), promise"),
            ("RECEIVE (?promise", "RECEIVE (node (nat (me)), ?promise"),
            ("RECEIVE (?prepare", "RECEIVE (0, ?prepare"),
            ("RECEIVE (?propose", "RECEIVE (0, ?propose"),
            ("channel network is (message)", "channel network is (node, message)"),
            (
                "type messages is sorted set of message",
                "type node is range 0 .. 6 of nat with \"==\" end type
type packet is packet (to : node, body : message) with \"==\", \"<\" end type
type messages is sorted set of packet",
            ),
        ],
    ),
    (
        "more messages that nobody sends",
        &[(
            "range 0 .. 3 of nat with \"==\", \">\", \">=\"",
            "range 0 .. 5 of nat with \"==\", \">\", \">=\"",
        )],
    ),
];

const VARIABLES: (&str, &str) = (
    "soup : messages, m : message in",
    "soup : messages, m : message, a : acceptor, b : ballot, v : vote, c : colour in",
);

const FUNCTIONS: (&str, &str) = (
    "-- The ballot of a vote",
    "function holds (s : messages, m : message) : bool is
   case s in
   var first : message, others : messages in
      {} -> return false
   |  cons (first, others) -> if first == m then return true else return holds (others, m) end if
   end case
end function

function finds (s : messages, m : message) : bool is
   var rest : messages in
      rest := s;
      while not (empty (rest)) loop
         if head (rest) == m then return true end if;
         rest := tail (rest)
      end loop;
      return false
   end var
end function

function may_come (m : message, s : messages, open : bool) : bool is
   return open and member (m, s)
end function

function kind (m : message) : acceptor is
   case m in
      prepare (any ballot) -> return 1
   |  promise (any acceptor, any ballot, any vote) -> return 2
   |  any message -> return 3
   end case
end function

-- The ballot of a vote",
);

pub fn section() {
    println!("## Receiving from a soup\n");
    println!("The same Paxos with the receipt in other words; whole processes on one thread, in turns.\n");
    println!("| style | states | transitions | time | over `member` |");
    println!("|---|---:|---:|---:|---:|");
    let text = fs::read_to_string(MODEL).expect("the model");
    let folder = format!("{RESULTS}/soups");
    fs::create_dir_all(&folder).expect("a folder");
    let files: Vec<String> = STYLES
        .iter()
        .enumerate()
        .map(|(number, (name, changes))| {
            let file = format!("{folder}/paxos_{number}.lnt");
            let changed = changes.iter().fold(text.clone(), |text, (from, to)| {
                assert!(text.contains(from), "{name}: `{from}` is not in {MODEL}");
                text.replace(from, to)
            });
            // What functions of one's own need besides.
            let needs = "with \"insert\", \"member\" end type\n\nchannel";
            let has = "with \"insert\", \"member\", \"empty\", \"head\", \"tail\" end type\n\nchannel";
            let module = format!("module paxos_{number} is");
            let changed = changed.replace(needs, has).replacen("module paxos is", &module, 1);
            fs::write(&file, changed).expect("a model that can be written");
            file
        })
        .collect();
    let mut best: Vec<Explored> = files.iter().map(|file| Explored::new(file, 1)).collect();
    let (start, mut turns) = (Instant::now(), 1);
    while start.elapsed() < LIMIT * 3 && (turns < TURNS || start.elapsed() < TIME) {
        turns += 1;
        best = best.into_iter().zip(&files).map(|(best, file)| best.better(Explored::new(file, 1))).collect();
    }
    for ((name, _), found) in STYLES.iter().zip(&best) {
        assert_eq!(
            (found.states, found.transitions),
            (best[0].states, best[0].transitions),
            "{name}: another system"
        );
        println!(
            "| {name} | {} | {} | {:.2} s | {:.2} |",
            found.states,
            found.transitions,
            found.process.seconds,
            found.process.seconds / best[0].process.seconds
        );
    }
    println!();
}
