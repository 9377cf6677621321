#define W 2
#define M 3
#define CAP 4

chan data = [CAP] of { byte, bit };
chan acks = [CAP] of { byte };

hidden byte a, s, i, n;
hidden byte d;

inline lose_data(k)
{
	n = len(data); i = 1;
	do
	:: i <= n -> data?s,d; if :: i != k -> data!s,d :: else fi; i++
	:: else -> break
	od
}

inline lose_ack(k)
{
	n = len(acks); i = 1;
	do
	:: i <= n -> acks?s; if :: i != k -> acks!s :: else fi; i++
	:: else -> break
	od
}

active proctype sender()
{
	byte next, used, base;	/* the window: frames base, base+1.. (mod M), used of them */
	bit w[W];
	byte rep;	/* 0 idle, 3 a new frame is to be sent, 1..2 this one again */
	do
	:: d_step { rep == 0 && used < W -> w[used] = 0; used++; rep = 3 }
	:: d_step { rep == 0 && used < W -> w[used] = 1; used++; rep = 3 }
	:: d_step { rep == 3 && nfull(data) -> data!next,w[used-1]; next = (next + 1) % M; rep = 0 }
	:: d_step { rep == 0 && used >= 1 -> rep = 1 }
	:: d_step { rep == 0 && used >= 2 -> rep = 2 }
	:: d_step { (rep == 1 || rep == 2) && nfull(data) -> data!((base + rep - 1) % M),w[rep-1]; rep = 0 }
	:: d_step { rep == 0 && nempty(acks) ->
		acks?a;
		do
		:: used > 0 && base != a -> base = (base + 1) % M; w[0] = w[1]; w[1] = 0; used--
		:: else -> break
		od;
		a = 0 }
	od
}

active proctype receiver()
{
	byte expected, st;	/* st: 0 waiting, 1 delivering, 2 acknowledging */
	bit v;
	do
	:: d_step { st == 0 && nempty(data) -> data?s,v; if :: s == expected -> st = 1 :: else -> st = 2; v = 0 fi }
	:: d_step { st == 1 -> v = 0; expected = (expected + 1) % M; st = 2 }
	:: d_step { st == 2 && nfull(acks) -> acks!expected; st = 0 }
	od
}

active proctype loss()
{
	do
	:: d_step { len(data) >= 1 -> lose_data(1); i = 0 }
	:: d_step { len(acks) >= 1 -> lose_ack(1); i = 0 }
	:: d_step { len(data) >= 2 -> lose_data(2); i = 0 }
	:: d_step { len(acks) >= 2 -> lose_ack(2); i = 0 }
	:: d_step { len(data) >= 3 -> lose_data(3); i = 0 }
	:: d_step { len(acks) >= 3 -> lose_ack(3); i = 0 }
	:: d_step { len(data) >= 4 -> lose_data(4); i = 0 }
	:: d_step { len(acks) >= 4 -> lose_ack(4); i = 0 }
	od
}
