/* A small file system: a directory of names, inodes with the number of their links and a list of blocks, and a mask of the blocks
   that are free. */
#define MAX 3                /* blocks of a file */
byte order[3];               /* the names in the directory (1 to 3), the oldest first */
byte entries;
byte ino[3];                 /* of a name: 1 to 3, or 0 */
byte links[3];
byte blocks[3];              /* how many an inode has */
byte block[9];               /* which ones: 0 to 4, or 0 behind the end */
byte free = 31;
hidden byte i, k;

#define room (links[0] == 0 || links[1] == 0 || links[2] == 0)

#define create(n) d_step { ino[n] == 0 && room -> \
    k = (links[0] == 0 -> 0 : (links[1] == 0 -> 1 : 2)); \
    links[k] = 1; ino[n] = k + 1; order[entries] = n + 1; entries++; k = 0 }

#define link(m, n) d_step { ino[m] != 0 && ino[n] == 0 -> \
    ino[n] = ino[m]; links[ino[m] - 1]++; order[entries] = n + 1; entries++ }

#define unlink(n) d_step { ino[n] != 0 -> \
    k = ino[n] - 1; ino[n] = 0; links[k]--; \
    if \
    :: links[k] == 0 -> \
       i = 0; \
       do \
       :: i < blocks[k] -> free = free | (1 << block[k * MAX + i]); block[k * MAX + i] = 0; i++ \
       :: else -> break \
       od; \
       blocks[k] = 0 \
    :: else \
    fi; \
    entries--; \
    i = 0; \
    do \
    :: order[i] != n + 1 -> i++ \
    :: else -> break \
    od; \
    do \
    :: i < entries -> order[i] = order[i + 1]; i++ \
    :: else -> break \
    od; \
    order[entries] = 0; i = 0; k = 0 }

#define extend(n) d_step { ino[n] != 0 && free != 0 && blocks[ino[n] - 1] < MAX -> \
    k = ino[n] - 1; \
    i = 0; \
    do \
    :: (free & (1 << i)) == 0 -> i++ \
    :: else -> break \
    od; \
    free = free & ~(1 << i); block[k * MAX + blocks[k]] = i; blocks[k]++; i = 0; k = 0 }

#define shorten(n) d_step { ino[n] != 0 && blocks[ino[n] - 1] > 0 -> \
    k = ino[n] - 1; \
    free = free | (1 << block[k * MAX]); \
    block[k * MAX] = block[k * MAX + 1]; block[k * MAX + 1] = block[k * MAX + 2]; block[k * MAX + 2] = 0; \
    blocks[k]--; k = 0 }

active proctype user() {
  do
  :: create(0) :: create(1) :: create(2)
  :: link(0, 1) :: link(0, 2) :: link(1, 0) :: link(1, 2) :: link(2, 0) :: link(2, 1)
  :: unlink(0) :: unlink(1) :: unlink(2)
  :: extend(0) :: extend(1) :: extend(2)
  :: shorten(0) :: shorten(1) :: shorten(2)
  od
}
