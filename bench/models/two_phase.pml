/* Two-phase commit, after Gray and Lamport (2006): a transaction manager, seven resource managers, and the set of all
   messages that were ever sent: 296,448 states. */
#define N 7
#define WORKING 0
#define READY 1
#define COMMITTED 2
#define ABORTED 3

byte rm[N];
bit decided, sent_commit, sent_abort;
byte sent_prepared, tm_prepared;

active [N] proctype resource() {
  do
  :: d_step { rm[_pid] == WORKING -> rm[_pid] = READY; sent_prepared = sent_prepared | (1 << _pid) }
  :: d_step { rm[_pid] == WORKING -> rm[_pid] = ABORTED }
  :: d_step { !decided && (sent_prepared & (1 << _pid)) != 0 -> tm_prepared = tm_prepared | (1 << _pid) }
  :: d_step { sent_commit -> rm[_pid] = COMMITTED }
  :: d_step { sent_abort -> rm[_pid] = ABORTED }
  od
}

active proctype transaction() {
  do
  :: d_step { !decided && tm_prepared == (1 << N) - 1 -> decided = 1; sent_commit = 1 }
  :: d_step { !decided -> decided = 1; sent_abort = 1 }
  od
}
