/* Rush Hour: cars and lorries on a board of six by six, each of which moves along its row or column. Each row of the board is
   a mask of the places that are taken. */
byte row[6] = { 39, 61, 23, 19, 12, 7 };
byte pos[10] = { 1, 0, 3, 0, 2, 0, 0, 2, 1, 0 };

#define horizontal(n, l, size) \
  :: d_step { pos[n] + size < 6 && !(row[l] & (1 << (pos[n] + size))) -> \
       row[l] = row[l] ^ ((1 << pos[n]) | (1 << (pos[n] + size))); pos[n]++ } \
  :: d_step { pos[n] > 0 && !(row[l] & (1 << (pos[n] - 1))) -> \
       pos[n]--; row[l] = row[l] ^ ((1 << pos[n]) | (1 << (pos[n] + size))) }

#define vertical(n, l, size) \
  :: d_step { pos[n] + size < 6 && !(row[pos[n] + size] & (1 << l)) -> \
       row[pos[n]] = row[pos[n]] ^ (1 << l); row[pos[n] + size] = row[pos[n] + size] ^ (1 << l); pos[n]++ } \
  :: d_step { pos[n] > 0 && !(row[pos[n] - 1] & (1 << l)) -> \
       pos[n]--; row[pos[n]] = row[pos[n]] ^ (1 << l); row[pos[n] + size] = row[pos[n] + size] ^ (1 << l) }

active proctype player() {
  do
  horizontal(0, 2, 2)
  horizontal(1, 0, 2)
  horizontal(2, 1, 2)
  horizontal(3, 3, 2)
  horizontal(4, 4, 2)
  horizontal(5, 5, 3)
  vertical(6, 5, 2)
  vertical(7, 4, 2)
  vertical(8, 0, 2)
  vertical(9, 2, 2)
  od
}
