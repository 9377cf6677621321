-- A heartbeat: renews the leases of a worker's jobs and publishes those of silent workers again.
-- ARGV: worker, what it says of itself, lease in milliseconds, then consumer and ticket of each job that it has
local now = milliseconds()
-- A script whose first change needs no memory is carried out even when there is none left, and a heartbeat must be.
redis.call('HDEL', key('beats'), ARGV[1])
redis.call('HSET', key('workers'), ARGV[1], ARGV[2])
redis.call('HSET', key('beats'), ARGV[1], string.format('%.0f', now))
for position = 4, #ARGV, 2 do
  local consumer, ticket = ARGV[position], ARGV[position + 1]
  -- A job that was taken away stays with whoever has it now.
  local pending = redis.call('XPENDING', key('jobs'), 'workers', ticket, ticket, 1)
  if pending[1] and pending[1][2] == consumer then
    redis.call('XCLAIM', key('jobs'), 'workers', consumer, 0, ticket, 'JUSTID')
  end
end
local lost = redis.call('XAUTOCLAIM', key('jobs'), 'workers', 'lost', ARGV[3], '0-0', 'COUNT', 100)
for _, entry in ipairs(lost[2]) do
  if entry then
    withdraw(entry[1])
    if redis.call('HEXISTS', key('records'), entry[2][2]) == 1 then
      publish(entry[2][2])
    end
  end
end
local beats = redis.call('HGETALL', key('beats'))
for position = 1, #beats, 2 do
  if now - tonumber(beats[position + 1]) > 3600000 then
    redis.call('HDEL', key('workers'), beats[position])
    redis.call('HDEL', key('beats'), beats[position])
  end
end
return 1
