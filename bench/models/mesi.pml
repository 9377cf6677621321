/* The MESI protocol: three caches with two lines each, and a bus with a queue of requests */
#define INVALID   0
#define SHARED    1
#define EXCLUSIVE 2
#define MODIFIED  3
#define FETCH 0
#define OWN   1

byte st[6], dat[6];		/* 2 * cache + address */
bool waiting[3];
bit memory[2];
chan queue = [3] of { byte, byte, byte };	/* cache, kind, address */
bool busy, others;
byte j;				/* the cache to be asked next; 3: all have been asked */

#define l0 (2 * _pid)
#define l1 (2 * _pid + 1)

active [3] proctype cache()
{
	do
	:: d_step { !waiting[_pid] && st[l0] == INVALID -> queue!_pid,FETCH,0; waiting[_pid] = true }
	:: d_step { !waiting[_pid] && st[l1] == INVALID -> queue!_pid,FETCH,1; waiting[_pid] = true }
	:: d_step { !waiting[_pid] && st[l0] <= SHARED -> queue!_pid,OWN,0; waiting[_pid] = true }
	:: d_step { !waiting[_pid] && st[l1] <= SHARED -> queue!_pid,OWN,1; waiting[_pid] = true }
	:: d_step { !waiting[_pid] && st[l0] != INVALID -> skip }
	:: d_step { !waiting[_pid] && st[l1] != INVALID -> skip }
	:: d_step { !waiting[_pid] && st[l0] >= EXCLUSIVE -> st[l0] = MODIFIED; dat[l0] = 0 }
	:: d_step { !waiting[_pid] && st[l1] >= EXCLUSIVE -> st[l1] = MODIFIED; dat[l1] = 0 }
	:: d_step { !waiting[_pid] && st[l0] >= EXCLUSIVE -> st[l0] = MODIFIED; dat[l0] = 1 }
	:: d_step { !waiting[_pid] && st[l1] >= EXCLUSIVE -> st[l1] = MODIFIED; dat[l1] = 1 }
	:: d_step { !waiting[_pid] && st[l0] == MODIFIED && !busy -> memory[0] = dat[l0]; st[l0] = INVALID; dat[l0] = 0 }
	:: d_step { !waiting[_pid] && st[l1] == MODIFIED && !busy -> memory[1] = dat[l1]; st[l1] = INVALID; dat[l1] = 0 }
	:: d_step { !waiting[_pid] && (st[l0] == SHARED || st[l0] == EXCLUSIVE) -> st[l0] = INVALID; dat[l0] = 0 }
	:: d_step { !waiting[_pid] && (st[l1] == SHARED || st[l1] == EXCLUSIVE) -> st[l1] = INVALID; dat[l1] = 0 }
	od
}

active proctype bus()
{
	byte r, k, a;		/* only used within a step */
	do
	:: d_step { nempty(queue) && j < 3 ->
		queue?<r,k,a>;
		if :: !busy && r == 0 -> j = 1 :: else fi;
		if :: st[2 * j + a] != INVALID -> others = true :: else fi;
		if :: st[2 * j + a] == MODIFIED -> memory[a] = dat[2 * j + a] :: else fi;
		if
		:: k == OWN -> st[2 * j + a] = INVALID; dat[2 * j + a] = 0
		:: k == FETCH && st[2 * j + a] >= EXCLUSIVE -> st[2 * j + a] = SHARED
		:: else
		fi;
		busy = true;
		j++;
		if :: r == j -> j++ :: else fi;
		r = 0; k = 0; a = 0 }
	:: d_step { j == 3 ->
		queue?r,k,a;
		if
		:: k == OWN -> st[2 * r + a] = MODIFIED
		:: k == FETCH && others -> st[2 * r + a] = SHARED
		:: else -> st[2 * r + a] = EXCLUSIVE
		fi;
		dat[2 * r + a] = memory[a];
		waiting[r] = false; busy = false; others = false; j = 0;
		r = 0; k = 0; a = 0 }
	od
}
