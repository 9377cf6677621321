/* Mutual exclusion after Ricart and Agrawala (1981). The network is a set of messages; there is at most one request from one
   node to another, whose stamp is kept, or zero. */
#define N 4
#define LAST_STAMP 1
#define IDLE 0
#define WAITING 1
#define INSIDE 2
#define ALL ((1 << N) - 1)

byte request[N * N];    /* from, dest */
byte reply[N];          /* dest: a mask of senders */

#define req(from) request[from * N + _pid]
#define defer(from) (s == INSIDE || (s == WAITING && (stamp < req(from) || (stamp == req(from) && _pid < from))))
#define hear(from) if :: req(from) > clock -> clock = req(from) :: else fi; req(from) = 0
#define ask(dest) request[_pid * N + dest] = (_pid == dest -> 0 : clock)
#define answer(dest) reply[dest] = reply[dest] | (((deferred >> dest) & 1) << _pid)

#define receive_and_answer(x) :: d_step { req(x) != 0 && !defer(x) -> hear(x); from = x }
#define receive(x) \
  :: d_step { req(x) != 0 && defer(x) -> hear(x); deferred = deferred | (1 << x) } \
  :: d_step { reply[_pid] & (1 << x) -> reply[_pid] = reply[_pid] & ~(1 << x); answered = answered | (1 << x) }

active [N] proctype node() {
  byte s, clock, stamp, answered, deferred, from;
  do
  :: d_step { s == IDLE && clock < LAST_STAMP ->
       clock++; stamp = clock; s = WAITING; ask(0); ask(1); ask(2); ask(3) }
  :: if
     receive_and_answer(0)
     receive_and_answer(1)
     receive_and_answer(2)
     receive_and_answer(3)
     fi;
     d_step { reply[from] = reply[from] | (1 << _pid); from = 0 }
  receive(0)
  receive(1)
  receive(2)
  receive(3)
  :: d_step { s == WAITING && answered == (ALL & ~(1 << _pid)) -> answered = 0; s = INSIDE }
  :: d_step { s == INSIDE ->
       answer(0); answer(1); answer(2); answer(3);
       deferred = 0; stamp = 0; s = IDLE }
  od
}
