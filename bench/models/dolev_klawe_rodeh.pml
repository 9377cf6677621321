#define N 9
#define ONE 1
#define TWO 2
#define WIN 3
#define self _pid
#define right ((_pid+1)%N)
chan q[N] = [2] of { byte, byte };
hidden byte nr;
/* phase: 0 must send pk/pn, 1 receiving, 2 must send winner then wait for it, 3 wait own winner, 4 elected, 5 done, 6 send winner and elect */
#define NUM(p) (p==0 -> 3 : (p==1 -> 6 : (p==2 -> 1 : (p==3 -> 8 : (p==4 -> 5 : (p==5 -> 2 : (p==6 -> 9 : (p==7 -> 4 : 7))))))))
active [N] proctype Node() {
  bool active_ = true;
  byte max = NUM(_pid), nb, pk = ONE, pn = NUM(_pid), ph = 0;
  do
  :: d_step { ph == 0 && nfull(q[right]) -> q[right]!pk,pn; pk = 0; pn = 0; ph = 1 }
  :: d_step { ph == 1 && nempty(q[self]) && q[self]?[ONE,_] -> q[self]?ONE,nr; 
       ph = 0; pn = nr;
       if
       :: active_ -> if
          :: nr != max -> nb = nr; pk = TWO
          :: else -> pk = WIN; ph = 2; max = 0; nb = 0; active_ = false
          fi
       :: else -> pk = ONE
       fi; nr = 0 }
  :: d_step { ph == 1 && q[self]?[TWO,_] -> q[self]?TWO,nr;
       if
       :: active_ && nb > nr && nb > max -> max = nb; pk = ONE; pn = nb; ph = 0
       :: active_ && !(nb > nr && nb > max) -> active_ = false; ph = 1
       :: else -> pk = TWO; pn = nr; ph = 0
       fi; nr = 0 }
  :: d_step { ph == 1 && q[self]?[WIN,_] -> q[self]?WIN,nr; pn = nr; pk = WIN; ph = 6; max = 0; nb = 0; active_ = false; nr = 0 }
  :: d_step { ph == 2 && nfull(q[right]) -> q[right]!pk,pn; pk = 0; pn = 0; ph = 3 }
  :: d_step { ph == 3 && q[self]?[WIN,_] -> q[self]?WIN,nr; pn = nr; ph = 4; nr = 0 }
  :: d_step { ph == 6 && nfull(q[right]) -> q[right]!pk,pn; pk = 0; ph = 4 }
  :: d_step { ph == 4 -> ph = 5; pn = 0 }
  od
}
