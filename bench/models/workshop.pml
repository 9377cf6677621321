/* A workshop: pieces are milled, those of some kinds are painted, and all are inspected. A piece that fails is reworked once. */
#define BARE 0
#define RED 1
#define BLUE 2
chan to_mill = [1] of { byte, bit };
chan to_painter = [1] of { byte, bit };
chan to_inspector = [2] of { byte, bit };

active proctype source() {
  do
  :: to_mill!BARE,0
  :: to_mill!RED,0
  :: to_mill!BLUE,0
  od
}

active proctype mill() {
  byte kind; bit reworked;
  do
  :: to_mill?kind,reworked;
     if
     :: d_step { kind == BARE && nfull(to_inspector) -> to_inspector!kind,reworked; kind = 0; reworked = 0 }
     :: d_step { kind != BARE && nfull(to_painter) -> to_painter!kind,reworked; kind = 0; reworked = 0 }
     fi
  od
}

active proctype painter() {
  byte kind; bit reworked;
  do
  :: to_painter?kind,reworked;
     d_step { to_inspector!kind,reworked; kind = 0; reworked = 0 }
  od
}

active proctype inspector() {
  byte kind; bit reworked;
  do
  :: to_inspector?kind,reworked;
     if
     :: d_step { kind = 0; reworked = 0 }                                                /* ship */
     :: d_step { reworked -> kind = 0; reworked = 0 }                                    /* scrap */
     :: d_step { !reworked && nfull(to_mill) -> to_mill!kind,1; kind = 0 }               /* rework */
     fi
  od
}
