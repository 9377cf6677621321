byte b[12] = { 1,1,1,1,2,2,2,0,3,3,3,0 };
#define go(from,to) :: d_step { b[from] != 0 && b[to] == 0 -> b[to] = b[from]; b[from] = 0 }
#define both(p,q) go(p,q) go(q,p)
active proctype Main() {
  do
  both(0,1)
  both(0,4)
  both(1,2)
  both(1,5)
  both(2,3)
  both(2,6)
  both(3,7)
  both(4,5)
  both(4,8)
  both(5,6)
  both(5,9)
  both(6,7)
  both(6,10)
  both(7,11)
  both(8,9)
  both(9,10)
  both(10,11)
  od
}
