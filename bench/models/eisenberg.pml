/* Mutual exclusion of five processes after Eisenberg and McGuire (1972). Every access to a shared variable is a step. */
#define N 5
#define IDLE 0
#define WAITING 1
#define ACTIVE 2
byte flag[N];
byte turn;

active [N] proctype competitor() {
  byte index;
work:
  skip;
try:
  flag[_pid] = WAITING;
  index = turn;
  do
  :: d_step { index != _pid && flag[index] == IDLE -> index = (index + 1) % N }
  :: d_step { index != _pid && flag[index] != IDLE -> index = 0 };
     index = turn
  :: d_step { index == _pid -> flag[_pid] = ACTIVE; index = (_pid == 0 -> 1 : 0) };
     break
  od;
  do
  :: d_step { index < N && flag[index] != ACTIVE -> index = index + 1 + (index + 1 == _pid) }
  :: d_step { index < N && flag[index] == ACTIVE -> index = 0 };
     goto try
  :: d_step { index >= N && turn == _pid -> index = 0 };
     goto enter
  :: d_step { index >= N && turn != _pid -> index = turn };
     break
  od;
  if
  :: d_step { flag[index] == IDLE -> index = 0 }
  :: d_step { flag[index] != IDLE -> index = 0 };
     goto try
  fi;
enter:
  turn = _pid;
  assert(flag[_pid] == ACTIVE);     /* critical section */
  index = (_pid + 1) % N;
  do
  :: d_step { flag[index] == IDLE -> index = (index + 1) % N }
  :: flag[index] != IDLE -> break
  od;
  if
  :: d_step { turn = index; index = 0 }
  fi;
  flag[_pid] = IDLE;
  goto work
}
