/* A memory of twelve cells and four clients that ask for one to four cells each; they get the first free cells that
   lie together. The memory is a mask of the cells that are taken. 245,341 states. */
#define CELLS 12
short used;
hidden byte at;

#define fits(size) ((used & (((1 << size) - 1) << at)) == 0)

inline find(size) {
  at = 0;
  do
  :: !fits(size) -> at++
  :: else -> break
  od;
  start = at; length = size; used = used | (((1 << size) - 1) << at); at = 0
}

/* Bit i says whether this many cells are free from cell i on. */
#define free1 (~used & 4095)
#define free2 (free1 & (free1 >> 1))
#define free3 (free2 & (free1 >> 2))
#define free4 (free3 & (free1 >> 3))

active [4] proctype client() {
  byte start, length;
  do
  :: d_step { length == 0 && free1 != 0 -> find(1) }
  :: d_step { length == 0 && free2 != 0 -> find(2) }
  :: d_step { length == 0 && free3 != 0 -> find(3) }
  :: d_step { length == 0 && free4 != 0 -> find(4) }
  :: d_step { length != 0 -> used = used & ~(((1 << length) - 1) << start); start = 0; length = 0 }
  od
}
