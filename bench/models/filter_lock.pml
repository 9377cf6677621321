/* The filter lock: Peterson's mutual exclusion for five processes, which pass through four levels. 230,965 states. */
#define N 5
byte level[N];
byte last_to_enter[N];

#define others_as_far(l) \
  ((_pid != 0 && level[0] >= l) || (_pid != 1 && level[1] >= l) || \
   (_pid != 2 && level[2] >= l) || (_pid != 3 && level[3] >= l) || \
   (_pid != 4 && level[4] >= l))

active [N] proctype competitor() {
  byte l = 1;
  do
  :: d_step { l < N -> level[_pid] = l };
     last_to_enter[l] = _pid;
     d_step { last_to_enter[l] != _pid || !others_as_far(l) -> l++ }
  :: d_step { l == N -> l++ };
     d_step { level[_pid] = 0; l = 1 }
  od
}
