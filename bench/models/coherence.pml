/* A cache coherence protocol with a directory, after German (2000): four caches share a line or one of them owns it.
   The directory serves one request at a time, and invalidates the copies of others first. 504,360 states. */
#define N 4
#define INVALID 0
#define SHARED 1
#define EXCLUSIVE 2
#define INVALIDATE 3

byte state[N];
byte request[N];                  /* from each cache: 0 is none */
byte command[N];                  /* to each cache: 0 is none; SHARED and EXCLUSIVE are grants */
byte answers, sharers, to_invalidate;          /* masks of caches */
byte serving, whom;               /* serving 0 is idle */
bit owned;

#define ME (1 << _pid)

active [N] proctype cache() {
  do
  :: d_step { state[_pid] == INVALID && request[_pid] == 0 -> request[_pid] = SHARED }
  :: d_step { state[_pid] != EXCLUSIVE && request[_pid] == 0 -> request[_pid] = EXCLUSIVE }
  :: d_step { command[_pid] == SHARED || command[_pid] == EXCLUSIVE -> state[_pid] = command[_pid]; command[_pid] = 0 }
  :: d_step { command[_pid] == INVALIDATE && (answers & ME) == 0 ->
       answers = answers | ME; state[_pid] = INVALID; command[_pid] = 0 }
  /* What the directory does about this cache. */
  :: d_step { serving == 0 && request[_pid] != 0 ->
       serving = request[_pid]; whom = _pid; request[_pid] = 0; to_invalidate = sharers }
  :: d_step { (serving == EXCLUSIVE || (serving == SHARED && owned)) && (to_invalidate & ME) != 0 &&
              command[_pid] == 0 ->
       command[_pid] = INVALIDATE; to_invalidate = to_invalidate & ~ME }
  :: d_step { serving != 0 && (answers & ME) != 0 -> answers = answers & ~ME; sharers = sharers & ~ME; owned = 0 }
  od
}

active proctype directory() {
  do
  :: d_step { serving == SHARED && !owned && command[whom] == 0 ->
       command[whom] = SHARED; sharers = sharers | (1 << whom); to_invalidate = 0; serving = 0; whom = 0 }
  :: d_step { serving == EXCLUSIVE && sharers == 0 && command[whom] == 0 ->
       command[whom] = EXCLUSIVE; sharers = 1 << whom; owned = 1; serving = 0; whom = 0 }
  od
}
