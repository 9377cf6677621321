/* A directory protocol with the states modified, shared and invalid, over a network that reorders messages, after Sorin, Hill and
   Wood. The network is a set of messages: a bit for each. */
#define N 4
#define INVALID 0
#define SHARED 1
#define MODIFIED 2
#define READING 3
#define WRITING 4
#define UPGRADING 5
#define WRITING_BACK 6

byte status[N], needed[N], counted[N];
bool have[N], obsolete[N];

#define NOBODY 0
#define READERS 1
#define OWNER 2
#define BUSY_READ 3
#define BUSY_WRITE 4
byte dir;
byte who;          /* READERS: a mask */
byte old, new;     /* OWNER: old, BUSY_READ: old and new, BUSY_WRITE: new */

/* Messages: masks. */
byte get_s, get_m, put_m, put_done, copy_back, transferred;      /* by cache */
byte fwd_s[N], fwd_m[N], inv[N];                                 /* of who is told, by requester */
byte data[N];                                                    /* of who gets them, by the number of acknowledgements to wait for */
byte ack[N];                                                     /* of who gets them, by sender */

#define ME (1 << _pid)
#define ready (dir <= OWNER)

inline fresh(s) { status[_pid] = s; needed[_pid] = 0; counted[_pid] = 0; have[_pid] = 0; obsolete[_pid] = 0 }

inline complete() {
  if
  :: have[_pid] && needed[_pid] == counted[_pid] ->
     if
     :: obsolete[_pid] -> fresh(INVALID)
     :: else ->
        if
        :: status[_pid] == READING -> fresh(SHARED)
        :: else -> fresh(MODIFIED)
        fi
     fi
  :: else
  fi
}

#define invalidate(c) inv[c] = inv[c] | (((who >> c) & 1) << _pid)

#define forward(r) \
  :: d_step { (fwd_s[_pid] & (1 << r)) && (status[_pid] == MODIFIED || status[_pid] == WRITING_BACK) -> \
       fwd_s[_pid] = fwd_s[_pid] & ~(1 << r); data[r] = data[r] | 1; copy_back = copy_back | ME; \
       if :: status[_pid] == MODIFIED -> fresh(SHARED) :: else fi } \
  :: d_step { (fwd_m[_pid] & (1 << r)) && (status[_pid] == MODIFIED || status[_pid] == WRITING_BACK) -> \
       fwd_m[_pid] = fwd_m[_pid] & ~(1 << r); data[r] = data[r] | 1; transferred = transferred | ME; \
       if :: status[_pid] == MODIFIED -> fresh(INVALID) :: else fi } \
  :: d_step { inv[_pid] & (1 << r) -> \
       inv[_pid] = inv[_pid] & ~(1 << r); ack[r] = ack[r] | ME; \
       if \
       :: status[_pid] == SHARED -> fresh(INVALID) \
       :: status[_pid] == UPGRADING -> status[_pid] = WRITING \
       :: status[_pid] == READING -> obsolete[_pid] = 1 \
       :: else \
       fi } \
  :: d_step { ack[_pid] & (1 << r) -> \
       ack[_pid] = ack[_pid] & ~(1 << r); counted[_pid]++; complete() } \
  :: d_step { data[_pid] & (1 << r) -> \
       data[_pid] = data[_pid] & ~(1 << r); have[_pid] = 1; needed[_pid] = r; complete() }

active [N] proctype cache() {
  do
  /* What the cache wants. */
  :: d_step { status[_pid] == INVALID -> status[_pid] = READING; get_s = get_s | ME }
  :: d_step { status[_pid] == INVALID -> status[_pid] = WRITING; get_m = get_m | ME }
  :: d_step { status[_pid] == SHARED -> status[_pid] = UPGRADING; get_m = get_m | ME }
  :: d_step { status[_pid] == SHARED -> status[_pid] = INVALID }
  :: d_step { status[_pid] == MODIFIED -> status[_pid] = WRITING_BACK; put_m = put_m | ME }
  /* What it receives. */
  forward(0)
  forward(1)
  forward(2)
  forward(3)
  :: d_step { put_done & ME -> put_done = put_done & ~ME; fresh(INVALID) }
  /* What the directory receives from it. */
  :: d_step { (get_s & ME) && ready ->
       get_s = get_s & ~ME;
       if
       :: dir == OWNER -> dir = BUSY_READ; new = _pid; fwd_s[old] = fwd_s[old] | ME
       :: else -> dir = READERS; who = who | ME; data[_pid] = data[_pid] | 1
       fi }
  :: d_step { (get_m & ME) && ready ->
       get_m = get_m & ~ME;
       if
       :: dir == OWNER -> dir = BUSY_WRITE; new = _pid; fwd_m[old] = fwd_m[old] | ME; old = 0
       :: else ->
          who = who & ~ME;
          data[_pid] = data[_pid] | (1 << ((who & 1) + ((who >> 1) & 1) + ((who >> 2) & 1) + (who >> 3)));
          invalidate(0); invalidate(1); invalidate(2); invalidate(3);
          dir = OWNER; who = 0; old = _pid
       fi }
  :: d_step { (put_m & ME) && ready ->
       put_m = put_m & ~ME; put_done = put_done | ME;
       if :: dir == OWNER && old == _pid -> dir = NOBODY; old = 0 :: else fi }
  :: d_step { copy_back & ME ->
       copy_back = copy_back & ~ME;
       if :: dir == BUSY_READ -> dir = READERS; who = (1 << old) | (1 << new); old = 0; new = 0 :: else fi }
  :: d_step { transferred & ME ->
       transferred = transferred & ~ME;
       if :: dir == BUSY_WRITE -> dir = OWNER; old = new; new = 0 :: else fi }
  od
}
