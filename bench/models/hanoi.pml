/* The towers of Hanoi with nine discs and four pegs; a peg is a mask of discs, the smallest is the lowest bit:
   4^9 = 262,144 states. */
short peg[4] = { 511, 0, 0, 0 };

#define top(p) (peg[p] & -peg[p])
#define MOVE(f, t) \
  :: d_step { peg[f] != 0 && (peg[t] == 0 || top(f) < top(t)) -> \
       peg[t] = peg[t] | top(f); peg[f] = peg[f] & (peg[f] - 1) }

active proctype hand() {
  do
  MOVE(0, 1) MOVE(0, 2) MOVE(0, 3)
  MOVE(1, 0) MOVE(1, 2) MOVE(1, 3)
  MOVE(2, 0) MOVE(2, 1) MOVE(2, 3)
  MOVE(3, 0) MOVE(3, 1) MOVE(3, 2)
  od
}
