/* The snapshot of Chandy and Lamport (1985): three branches of a bank send money to each other over links that keep
   the order; the first one starts a snapshot, and markers tell the others to record what they have and what is on its
   way. 243,363 states. */
#define MONEY 0
#define MARKER 1

chan link[9] = [2] of { bit };                    /* from each branch to each */
byte balance[3] = { 1, 1, 1 };
bit recorded[3];
byte saved[3], watched[3], arrived[3];            /* watched is a mask of branches */
hidden byte i;

/* The link from a branch to itself stays empty. */
#define has_room(b) (nfull(link[3 * b]) && nfull(link[3 * b + 1]) && nfull(link[3 * b + 2]))

inline start(b) {
  recorded[b] = 1; saved[b] = balance[b]; watched[b] = 7 & ~(1 << b);
  for (i : 0 .. 2) { if :: i != b -> link[3 * b + i]!MARKER :: else fi }
  i = 0
}

#define LINK(f, t) \
  :: d_step { balance[f] > 0 && nfull(link[3 * f + t]) -> balance[f]--; link[3 * f + t]!MONEY } \
  :: d_step { link[3 * f + t]?[MONEY] -> \
       link[3 * f + t]?MONEY; \
       balance[t]++; \
       if :: (watched[t] & (1 << f)) != 0 -> arrived[t]++ :: else fi } \
  :: d_step { link[3 * f + t]?[MARKER] && (recorded[t] || has_room(t)) -> \
       link[3 * f + t]?MARKER; \
       if :: !recorded[t] -> start(t) :: else fi; \
       watched[t] = watched[t] & ~(1 << f) }

active proctype bank() {
  do
  :: d_step { !recorded[0] && has_room(0) -> start(0) }
  :: d_step { recorded[0] && recorded[1] && recorded[2] && watched[0] + watched[1] + watched[2] == 0 ->
       assert(saved[0] + saved[1] + saved[2] + arrived[0] + arrived[1] + arrived[2] == 3) }
  LINK(0, 1) LINK(0, 2) LINK(1, 0) LINK(1, 2) LINK(2, 0) LINK(2, 1)
  od
}
