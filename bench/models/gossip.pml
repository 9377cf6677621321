#define N 5
typedef row { bool k[N] };
row m[N]; byte l[N];   /* l: 0 free, otherwise 1 + partner */
hidden byte x;
#define pair(a,b) \
  :: d_step { l[a] == 0 && l[b] == 0 -> l[a] = b + 1; l[b] = a + 1 } \
  :: d_step { l[a] == b + 1 -> x = 0; do :: x < N -> if :: K(a,x) || K(b,x) -> m[a].k[x] = (a != x); m[b].k[x] = (b != x) :: else fi; x++ :: else -> break od; x = 0; l[a] = 0; l[b] = 0 }
/* m holds what was learnt; everybody knows their own secret (m[a].k[a] stays as it is unless told) */
#define K(a,y) (m[a].k[y] || a == y)
#define expert(a) :: d_step { K(a,0) && K(a,1) && K(a,2) && K(a,3) && K(a,4) -> skip }
active proctype Main() {
  do
  expert(0)
  pair(0,1)
  pair(0,2)
  pair(0,3)
  pair(0,4)
  expert(1)
  pair(1,2)
  pair(1,3)
  pair(1,4)
  expert(2)
  pair(2,3)
  pair(2,4)
  expert(3)
  pair(3,4)
  expert(4)
  od
}
