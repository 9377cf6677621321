/* Nine clients of a library that read together or write alone; the sets of a monitor are masks. Nobody begins to read
   while somebody waits to write. 321,193 states. */
short want_to_read, want_to_write, readers, writers;

#define ME (1 << _pid)

active [9] proctype client() {
  do
  :: d_step { ((want_to_read | want_to_write | readers | writers) & ME) == 0 -> want_to_read = want_to_read | ME }
  :: d_step { ((want_to_read | want_to_write | readers | writers) & ME) == 0 -> want_to_write = want_to_write | ME }
  :: d_step { (want_to_read & ME) != 0 && want_to_write == 0 && writers == 0 ->
       want_to_read = want_to_read & ~ME; readers = readers | ME }
  :: d_step { (want_to_write & ME) != 0 && readers == 0 && writers == 0 ->
       want_to_write = want_to_write & ~ME; writers = writers | ME }
  :: d_step { (readers & ME) != 0 -> readers = readers & ~ME }
  :: d_step { (writers & ME) != 0 -> writers = writers & ~ME }
  od
}
