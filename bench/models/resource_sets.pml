/* queue of waiting demands, the oldest first: client in qc, wants in qw (bit mask 1..7) */
byte qc[5], qw[5], n, free = 7;
byte st[6], wants[6];      /* 0 ask, 1 waiting for wants, 2 has wants */
hidden byte x, y;
#define ASK(c,m) :: d_step { st[c] == 0 -> st[c] = 1; wants[c] = m; qc[n] = c; qw[n] = m; n++ }
/* who has waited longest and can be served */
#define OK(k) (n > k && (qw[k] & free) == qw[k])
#define GO(k) x = k; free = free - qw[k]; st[qc[k]] = 2; do :: x + 1 < n -> qc[x] = qc[x+1]; qw[x] = qw[x+1]; x++ :: else -> break od; n--; qc[n] = 0; qw[n] = 0; x = 0
#define FREE(c,b) :: d_step { st[c] == 2 && (wants[c] & b) -> wants[c] = wants[c] - b; free = free + b; if :: wants[c] == 0 -> st[c] = 0 :: else fi }
#define CLIENT(c) ASK(c,1) ASK(c,2) ASK(c,4) ASK(c,3) ASK(c,5) ASK(c,6) FREE(c,1) FREE(c,2) FREE(c,4)
active proctype Main() {
  do
  CLIENT(1)
  CLIENT(2)
  CLIENT(3)
  CLIENT(4)
  CLIENT(5)
  :: d_step { OK(0) -> GO(0) }
  :: d_step { !OK(0) && OK(1) -> GO(1) }
  :: d_step { !OK(0) && !OK(1) && OK(2) -> GO(2) }
  :: d_step { !OK(0) && !OK(1) && !OK(2) && OK(3) -> GO(3) }
  :: d_step { !OK(0) && !OK(1) && !OK(2) && !OK(3) && OK(4) -> GO(4) }
  od
}
