-- Puts a job back for others, because its program has failed or because its worker stops.
-- ARGV: name, ticket, most crashes ('' if it did not crash), why it would be set aside
local id, ticket, most = ARGV[1], ARGV[2], tonumber(ARGV[3])
-- A ticket that is not in the stream any more was dealt with, perhaps by this script when its answer was lost.
if #redis.call('XRANGE', key('jobs'), ticket, ticket) == 0 then
  return 0
end
withdraw(ticket)
local record = redis.call('HGET', key('records'), id)
if not record then
  return 0
end
-- Only deliveries to workers that vanish count as such.
redis.call('HINCRBY', key('deliveries'), id, -1)
if most and redis.call('HINCRBY', key('crashes'), id, 1) >= most then
  set_aside(id, record, ARGV[4])
else
  publish(id)
end
return 1
