#define N 4
byte x, y; bool b[5];
#define self (_pid+1)
active [N] proctype P() {
  byte j;
start:
  b[self] = true;
  x = self;
  if
  :: d_step { y != 0 -> skip };
     b[self] = false;
     y == 0; goto start
  :: d_step { y == 0 -> skip }
  fi;
  y = self;
  if
  :: d_step { x == self -> skip }; goto crit
  :: d_step { x != self -> skip }
  fi;
  d_step { b[self] = false; j = 1 };
  do
  :: d_step { j < N && !b[j] -> j++ }
  :: d_step { j == N && !b[j] -> j = 0 }; break
  od;
  if
  :: d_step { y == self -> skip }; goto crit
  :: d_step { y != self -> skip }; y == 0; goto start
  fi;
crit:
  skip;
  y = 0;
  b[self] = false;
  goto start
}
