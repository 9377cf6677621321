#define N 5
#define MAXWORK 3
#define MAXAGE 2
#define IDLE 0
#define READY 1
#define RUNNING 2
#define BLOCKED 3

typedef task { byte st, left, age };
task ts[N];
byte finished;		/* a task that has just finished, plus one */
hidden byte i, best, cur, nready;

#define urgency(k) ((k)/2 + ts[k].age)

/* sets best (N if there is none) and cur (N if there is none) */
inline look()
{
	best = N; cur = N; i = 0;
	do
	:: i < N ->
		if
		:: ts[i].st == READY ->
			if
			:: best == N -> best = i
			:: best != N && urgency(i) > urgency(best) -> best = i
			:: else
			fi
		:: ts[i].st == RUNNING -> cur = i
		:: else
		fi;
		i++
	:: else -> break
	od
}

#define some_running (ts[0].st == RUNNING || ts[1].st == RUNNING || ts[2].st == RUNNING || ts[3].st == RUNNING || ts[4].st == RUNNING)
#define some_ready (ts[0].st == READY || ts[1].st == READY || ts[2].st == READY || ts[3].st == READY || ts[4].st == READY)
#define above(k, r) (ts[k].st == READY && urgency(k) > (r)/2)
#define preempt(r) (ts[r].st == RUNNING && (above(0,r) || above(1,r) || above(2,r) || above(3,r) || above(4,r)))

active proctype scheduler()
{
	do
	:: d_step { finished == 0 && ts[0].st == IDLE -> ts[0].st = READY; ts[0].left = 1 }
	:: d_step { finished == 0 && ts[0].st == IDLE -> ts[0].st = READY; ts[0].left = 2 }
	:: d_step { finished == 0 && ts[0].st == IDLE -> ts[0].st = READY; ts[0].left = 3 }
	:: d_step { finished == 0 && ts[0].st == BLOCKED -> ts[0].st = READY }
	:: d_step { preempt(0) -> ts[0].st = READY }
	:: d_step { finished == 0 && ts[1].st == IDLE -> ts[1].st = READY; ts[1].left = 1 }
	:: d_step { finished == 0 && ts[1].st == IDLE -> ts[1].st = READY; ts[1].left = 2 }
	:: d_step { finished == 0 && ts[1].st == IDLE -> ts[1].st = READY; ts[1].left = 3 }
	:: d_step { finished == 0 && ts[1].st == BLOCKED -> ts[1].st = READY }
	:: d_step { preempt(1) -> ts[1].st = READY }
	:: d_step { finished == 0 && ts[2].st == IDLE -> ts[2].st = READY; ts[2].left = 1 }
	:: d_step { finished == 0 && ts[2].st == IDLE -> ts[2].st = READY; ts[2].left = 2 }
	:: d_step { finished == 0 && ts[2].st == IDLE -> ts[2].st = READY; ts[2].left = 3 }
	:: d_step { finished == 0 && ts[2].st == BLOCKED -> ts[2].st = READY }
	:: d_step { preempt(2) -> ts[2].st = READY }
	:: d_step { finished == 0 && ts[3].st == IDLE -> ts[3].st = READY; ts[3].left = 1 }
	:: d_step { finished == 0 && ts[3].st == IDLE -> ts[3].st = READY; ts[3].left = 2 }
	:: d_step { finished == 0 && ts[3].st == IDLE -> ts[3].st = READY; ts[3].left = 3 }
	:: d_step { finished == 0 && ts[3].st == BLOCKED -> ts[3].st = READY }
	:: d_step { preempt(3) -> ts[3].st = READY }
	:: d_step { finished == 0 && ts[4].st == IDLE -> ts[4].st = READY; ts[4].left = 1 }
	:: d_step { finished == 0 && ts[4].st == IDLE -> ts[4].st = READY; ts[4].left = 2 }
	:: d_step { finished == 0 && ts[4].st == IDLE -> ts[4].st = READY; ts[4].left = 3 }
	:: d_step { finished == 0 && ts[4].st == BLOCKED -> ts[4].st = READY }
	:: d_step { preempt(4) -> ts[4].st = READY }
	:: d_step { finished == 0 && !some_running && some_ready -> look(); ts[best].st = RUNNING; ts[best].age = 0 }
	:: d_step { some_running -> look();
		i = 0;
		do
		:: i < N -> if :: ts[i].st == READY && ts[i].age < MAXAGE -> ts[i].age++ :: else fi; i++
		:: else -> break
		od;
		ts[cur].left--;
		if :: ts[cur].left == 0 -> ts[cur].st = IDLE; finished = cur + 1 :: else fi }
	:: d_step { some_running -> look(); ts[cur].st = BLOCKED }
	:: d_step { finished > 0 -> finished = 0 }
	od
}
