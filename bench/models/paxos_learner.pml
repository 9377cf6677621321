#define NB 3
/* the soup */
bool prep[NB], acc[9];          /* acc[3*b+v] */
bool prom[108];                 /* ((a*3+b)*3+vb)*3+v, a from 1 */
bool accd[36];                  /* (a*3+b)*3+v */
#define PR(a,b,vb,v) prom[(((a)*3+(b))*3+(vb))*3+(v)]
#define AD(a,b,v) accd[((a)*3+(b))*3+(v)]

active [3] proctype Acceptor() {
  byte promised, vb, v, ph;
#define self (_pid+1)
  do
  :: d_step { ph == 0 && promised < 1 && prep[1] -> promised = 1; ph = 1 }
  :: d_step { ph == 0 && promised < 2 && prep[2] -> promised = 2; ph = 1 }
#define ACC(b,w) :: d_step { ph == 0 && promised <= b && acc[3*b+w] -> promised = b; vb = b; v = w; ph = 2 }
  ACC(1,1)
  ACC(1,2)
  ACC(2,1)
  ACC(2,2)
  :: d_step { ph == 1 -> PR(self,promised,vb,v) = true; ph = 0 }
  :: d_step { ph == 2 -> AD(self,promised,v) = true; ph = 0 }
  od
}
#define HEAR(a,pb,w) :: d_step { ph == 1 && a != h && PR(a,mine,pb,w) -> \
    if :: pb > best -> best = pb; v = w :: else fi; \
    if :: h == 0 -> h = a :: else -> h = 0; best = 0; ph = 2 fi }
#define HEARD(a) HEAR(a,0,0) HEAR(a,1,1) HEAR(a,1,2) HEAR(a,2,1) HEAR(a,2,2)
active [2] proctype Proposer() {
  byte ph, h, best, v;
#define mine (_pid-2)
  do
  :: d_step { ph == 0 -> prep[mine] = true; v = mine; ph = 1 }
  HEARD(1)
  HEARD(2)
  HEARD(3)
  :: d_step { ph == 2 -> acc[3*mine+v] = true; v = 0; ph = 3 }
  od
}
#define VOTE(a,b0,w) \
  :: d_step { ph == 0 && AD(a,b0,w) -> h = a; b = b0; v = w; ph = 1 } \
  :: d_step { ph == 1 && h != a && b == b0 && v == w && AD(a,b0,w) -> h = 0; b = 0; ph = 2 }
#define VOTES(a) VOTE(a,1,1) VOTE(a,1,2) VOTE(a,2,1) VOTE(a,2,2)
active proctype Learner() {
  byte ph, h, b, v;
  do
  VOTES(1)
  VOTES(2)
  VOTES(3)
  :: d_step { ph == 2 -> v = 0; ph = 3 }
  od
}
