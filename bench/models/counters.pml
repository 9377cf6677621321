/* Six counters modulo ten, side by side. */
active [6] proctype counter() {
  byte n;
  do
  :: n = (n + 1) % 10
  od
}
