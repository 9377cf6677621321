/* Six one-place buffers in a row that pass on values from 1 to 8; 0 is empty. */
byte cell[6];
active proctype producer() {
  do
  :: d_step { cell[0] == 0 -> cell[0] = 1 }
  :: d_step { cell[0] == 0 -> cell[0] = 2 }
  :: d_step { cell[0] == 0 -> cell[0] = 3 }
  :: d_step { cell[0] == 0 -> cell[0] = 4 }
  :: d_step { cell[0] == 0 -> cell[0] = 5 }
  :: d_step { cell[0] == 0 -> cell[0] = 6 }
  :: d_step { cell[0] == 0 -> cell[0] = 7 }
  :: d_step { cell[0] == 0 -> cell[0] = 8 }
  od
}
active [5] proctype mover() {
  do
  :: d_step { cell[_pid - 1] != 0 && cell[_pid] == 0 -> cell[_pid] = cell[_pid - 1]; cell[_pid - 1] = 0 }
  od
}
active proctype consumer() {
  do
  :: d_step { cell[5] != 0 -> cell[5] = 0 }
  od
}
