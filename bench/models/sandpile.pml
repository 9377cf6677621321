/* The abelian sandpile on a table of three by three; a cell with four grains topples: 4^9 = 262,144 states. */
byte pile[9];
hidden byte at;

inline settle() {
  at = 0;
  do
  :: at == 9 -> break
  :: at < 9 && pile[at] < 4 -> at++
  :: at < 9 && pile[at] >= 4 ->
     pile[at] = pile[at] - 4;
     if :: at / 3 > 0 -> pile[at - 3]++ :: else fi;
     if :: at / 3 < 2 -> pile[at + 3]++ :: else fi;
     if :: at % 3 > 0 -> pile[at - 1]++ :: else fi;
     if :: at % 3 < 2 -> pile[at + 1]++ :: else fi;
     at = 0
  od;
  at = 0
}

active proctype table() {
  do
  :: d_step { pile[0]++; settle() }
  :: d_step { pile[1]++; settle() }
  :: d_step { pile[2]++; settle() }
  :: d_step { pile[3]++; settle() }
  :: d_step { pile[4]++; settle() }
  :: d_step { pile[5]++; settle() }
  :: d_step { pile[6]++; settle() }
  :: d_step { pile[7]++; settle() }
  :: d_step { pile[8]++; settle() }
  od
}
