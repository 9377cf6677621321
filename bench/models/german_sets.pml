#define N 4
/* 0 none; 1 req_shared 2 req_exclusive 3 invalidate 4 ack 5 grant_shared 6 grant_exclusive */
byte up[5], down[5], back[5];
bool sh[5], inv[5], ex;
byte cmd, who;
hidden byte x;
active [N] proctype Client() {
  byte l;  /* 0 invalid 1 shared 2 exclusive 3 must acknowledge */
#define self (_pid+1)
  do
  :: d_step { l == 0 && up[self] == 0 -> up[self] = 1 }
  :: d_step { l < 2 && up[self] == 0 -> up[self] = 2 }
  :: d_step { l != 3 && down[self] == 3 -> down[self] = 0; l = 3 }
  :: d_step { l != 3 && down[self] == 5 -> down[self] = 0; l = 1 }
  :: d_step { l != 3 && down[self] == 6 -> down[self] = 0; l = 2 }
  :: d_step { l == 3 && back[self] == 0 -> back[self] = 4; l = 0 }
  od
}
#define home(c) \
  :: d_step { cmd == 0 && up[c] != 0 -> cmd = up[c]; who = c; up[c] = 0; for (x : 1 .. N) { inv[x] = sh[x] } x = 0 } \
  :: d_step { down[c] == 0 && inv[c] && cmd != 0 && (cmd == 2 || ex) -> down[c] = 3; inv[c] = false } \
  :: d_step { cmd != 0 && back[c] != 0 -> back[c] = 0; sh[c] = false; ex = false } \
  :: d_step { cmd == 1 && who == c && !ex && down[c] == 0 -> down[c] = 5; sh[c] = true; cmd = 0; who = 0 } \
  :: d_step { cmd == 2 && who == c && !ex && down[c] == 0 && !sh[1] && !sh[2] && !sh[3] SH4 -> down[c] = 6; sh[c] = true; ex = true; cmd = 0; who = 0 }
#define SH4 && !sh[4]
active proctype Home() {
  do
  home(1)
  home(2)
  home(3)
  home(4)
  od
}
