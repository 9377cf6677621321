/* queues as arrays, so that any element can be lost; unused places are 0 */
byte qd[4], nd;          /* frame: 1 + 2*seq + bit */
byte qa[4], na;          /* ack: 1 + seq */
byte base, sent, wl; bool w[2];
byte expected, d, ph;    /* receiver: 0 RECEIVE, 1 GET d, 2 REPLY */
hidden byte x;

#define cut(q,n,k) x = k; do :: x + 1 < n -> q[x] = q[x+1]; x++ :: else -> break od; n--; q[n] = 0; x = 0

active proctype Sender() {
  do
  :: d_step { wl < 2 -> w[wl] = false; wl++ }
  :: d_step { wl < 2 -> w[wl] = true; wl++ }
  :: d_step { sent < wl && nd < 4 -> qd[nd] = 1 + 2 * ((base + sent) % 3) + w[sent]; nd++; sent++ }
  :: d_step { na > 0 ->
       do
       :: base != qa[0] - 1 && wl > 0 ->
          w[0] = w[1]; w[1] = false; wl--; base = (base + 1) % 3;
          if :: sent > 0 -> sent-- :: else fi
       :: else -> break
       od;
       cut(qa, na, 0) }
  :: d_step { sent > 0 -> sent = 0 }
  od
}
active proctype Receiver() {
  do
  :: d_step { ph == 0 && nd > 0 ->
       if :: (qd[0] - 1) / 2 == expected -> d = (qd[0] - 1) % 2; ph = 1 :: else -> ph = 2 fi;
       cut(qd, nd, 0) }
  :: d_step { ph == 1 -> d = 0; expected = (expected + 1) % 3; ph = 2 }
  :: d_step { ph == 2 && na < 4 -> qa[na] = 1 + expected; na++; ph = 0 }
  od
}
active proctype Loss() {
  do
  :: d_step { nd > 0 -> cut(qd, nd, 0) }
  :: d_step { nd > 1 -> cut(qd, nd, 1) }
  :: d_step { nd > 2 -> cut(qd, nd, 2) }
  :: d_step { na > 0 -> cut(qa, na, 0) }
  :: d_step { na > 1 -> cut(qa, na, 1) }
  :: d_step { na > 2 -> cut(qa, na, 2) }
  :: d_step { nd > 3 -> cut(qd, nd, 3) }
  :: d_step { na > 3 -> cut(qa, na, 3) }
  od
}
