/* Szymanski's mutual exclusion algorithm for six processes */
#define OUTSIDE 0
#define WISHES  1
#define WAITS   2
#define DOORWAY 3
#define INSIDE  4

byte f[6];
byte inside;

#define open(j)  (f[j] <= WAITS)
#define low(j)   (_pid <= j || f[j] <= WISHES)
#define high(j)  (_pid >= j || (f[j] != WAITS && f[j] != DOORWAY))

#define all_open   (open(0) && open(1) && open(2) && open(3) && open(4) && open(5))
#define some(x)    (f[0] == x || f[1] == x || f[2] == x || f[3] == x || f[4] == x || f[5] == x)
#define all_low    (low(0) && low(1) && low(2) && low(3) && low(4) && low(5))
#define all_high   (high(0) && high(1) && high(2) && high(3) && high(4) && high(5))

active [6] proctype contender()
{
	do
	:: f[_pid] = WISHES;
	   all_open;
	   f[_pid] = DOORWAY;
	   if
	   :: some(WISHES) ->
		f[_pid] = WAITS;
		some(INSIDE)
	   :: !some(WISHES)
	   fi;
	   f[_pid] = INSIDE;
	   all_low;
	   inside++;
	   inside--;
	   all_high;
	   f[_pid] = OUTSIDE
	od
}
