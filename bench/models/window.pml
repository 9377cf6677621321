/* A sliding window (go back n) of three frames, numbered modulo four, over channels that keep the order, hold three
   messages each, and may lose the oldest one. 469,960 states. */
#define WINDOW 3
#define MODULUS 4

chan frames = [3] of { byte, bit };               /* number, load */
chan answers = [3] of { byte };
hidden byte n;

active proctype sender() {
  byte first, count;
  bit pending[WINDOW];
  do
  :: d_step { count < WINDOW -> pending[count] = 0; count++ }
  :: d_step { count < WINDOW -> pending[count] = 1; count++ }
  :: d_step { count > 0 && nfull(frames) -> frames!first, pending[0] }
  :: d_step { count > 1 && nfull(frames) -> frames!(first + 1) % MODULUS, pending[1] }
  :: d_step { count > 2 && nfull(frames) -> frames!(first + 2) % MODULUS, pending[2] }
  :: d_step { nempty(answers) ->
       answers?n;
       do
       :: first != n && count > 0 ->
          pending[0] = pending[1]; pending[1] = pending[2]; pending[2] = 0; count--; first = (first + 1) % MODULUS
       :: else -> break
       od;
       n = 0 }
  od
}

active proctype receiver() {
  byte expected;
  bit load;
  bit got, reply;
  do
  :: d_step { !got && !reply && nempty(frames) ->
       frames?n, load;
       if
       :: n == expected -> got = 1
       :: else -> reply = 1; load = 0
       fi;
       n = 0 }
  :: d_step { got -> got = 0; load = 0; expected = (expected + 1) % MODULUS; reply = 1 }
  :: d_step { reply && nfull(answers) -> answers!expected; reply = 0 }
  od
}

active proctype loss() {
  bit ignored;
  do
  :: d_step { nempty(frames) -> frames?n, ignored; n = 0; ignored = 0 }
  :: d_step { nempty(answers) -> answers?n; n = 0 }
  od
}
