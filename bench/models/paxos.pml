/* Paxos for a single decision (Lamport, 1998): three proposers with a ballot each, three acceptors, and the soup of all
   messages that were ever sent. A vote is 2 * ballot + colour, 0 is none; red is 0, blue is 1. 1,639,116 states. */

/* The soup. Ballots and acceptors are numbered from 0. */
byte prepare;                     /* a mask of ballots */
byte promise[9];                  /* by acceptor and ballot: 1 + the last vote */
byte propose[3];                  /* by ballot: 1 + the colour */
short accepted;                   /* a mask of acceptors and ballots: the colour is that of the proposal */

#define PROMISED(a) \
  :: d_step { step == 1 && promise[3 * a + _pid] != 0 && (heard & (1 << a)) == 0 -> \
       if \
       :: (promise[3 * a + _pid] - 1) / 2 > highest / 2 -> highest = promise[3 * a + _pid] - 1 \
       :: else \
       fi; \
       if \
       :: heard == 0 -> heard = 1 << a \
       :: else -> \
          heard = 0; step = 2; \
          if \
          :: highest == 0 -> highest = _pid % 2 \
          :: else -> highest = highest % 2 \
          fi \
       fi }

active [3] proctype proposer() {
  byte step, heard, highest;
  do
  :: d_step { step == 0 -> prepare = prepare | (1 << _pid); step = 1 }
  PROMISED(0) PROMISED(1) PROMISED(2)
  :: d_step { step == 2 -> propose[_pid] = 1 + highest; highest = 0; step = 3 }
  od
}

#define ME (_pid - 3)
#define PREPARE(b) \
  :: d_step { answer == 0 && (prepare & (1 << b)) != 0 && b + 1 > promised -> promised = b + 1; answer = 1 }
#define PROPOSE(b) \
  :: d_step { answer == 0 && propose[b] != 0 && b + 1 >= promised -> \
       promised = b + 1; last = 2 * (b + 1) + propose[b] - 1; answer = 2 }

active [3] proctype acceptor() {
  byte promised, last, answer;
  do
  PREPARE(0) PREPARE(1) PREPARE(2)
  PROPOSE(0) PROPOSE(1) PROPOSE(2)
  :: d_step { answer == 1 -> promise[3 * ME + promised - 1] = 1 + last; answer = 0 }
  :: d_step { answer == 2 -> accepted = accepted | (1 << (3 * ME + promised - 1)); answer = 0 }
  od
}
