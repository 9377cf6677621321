-- Makes a campaign with its first job, unless there is one. Returns whether it was made.
-- KEYS[1]: prefix. ARGV: settings, name of the job, its record
if redis.call('SETNX', KEYS[1] .. 'settings', ARGV[1]) == 0 then
  return 0
end
local time = redis.call('TIME')
redis.call('HSET', KEYS[1] .. 'records', ARGV[2], ARGV[3])
redis.call('SADD', KEYS[1] .. 'starts', ARGV[2])
redis.call('ZADD', KEYS[1] .. 'waiting', 0, ARGV[2])
redis.call('HSET', KEYS[1] .. 'layers', '0.jobs', 1)
local started = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('HSET', KEYS[1] .. 'counts', 'layer', 0, 'started', started)
redis.call('SET', KEYS[1] .. 'state', 'running')
redis.call('XGROUP', 'CREATE', KEYS[1] .. 'jobs', 'workers', '0', 'MKSTREAM')
return 1
