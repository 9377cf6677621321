/* Election of a leader in a ring of five nodes without names, after Itai and Rodeh (1990), with links that keep the
   order: nodes draw identities, the greatest survive, and those that find themselves equal draw again.
   165,406 states. */
#define N 5

mtype = { drawing, announcing, waiting, repeating, chosen, ended, relaying, listening };

chan link[N] = [N] of { byte, byte, bit };        /* identity, hops, still unique */

active [N] proctype node() {
  mtype mode = drawing;
  byte id, got, hop;
  bit unique;
  do
  :: d_step { mode == drawing -> id = 1; mode = announcing }
  :: d_step { mode == drawing -> id = 2; mode = announcing }
  :: d_step { mode == announcing && nfull(link[(_pid + 1) % N]) -> link[(_pid + 1) % N]!id, 1, 1; mode = waiting }
  :: d_step { mode == waiting && nempty(link[_pid]) ->
       link[_pid]?got, hop, unique;
       if
       :: hop == N && unique -> mode = chosen; id = 0; got = 0; hop = 0; unique = 0
       :: hop == N && !unique -> mode = drawing; id = 0; got = 0; hop = 0
       :: hop != N && got == id -> mode = repeating
       :: hop != N && got > id -> mode = relaying; id = 0
       :: hop != N && got < id -> got = 0; hop = 0; unique = 0
       fi }
  :: d_step { mode == repeating && nfull(link[(_pid + 1) % N]) ->
       link[(_pid + 1) % N]!id, hop + 1, 0; mode = waiting; got = 0; hop = 0; unique = 0 }
  :: d_step { mode == chosen -> mode = ended }
  :: d_step { mode == relaying && nfull(link[(_pid + 1) % N]) ->
       link[(_pid + 1) % N]!got, hop + 1, unique; mode = listening; got = 0; hop = 0; unique = 0 }
  :: d_step { mode == listening && nempty(link[_pid]) -> link[_pid]?got, hop, unique; mode = relaying }
  od
}
