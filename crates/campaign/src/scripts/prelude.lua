-- In front of every script. KEYS[1] is the prefix of the campaign's keys; braces in it keep them on one node of a cluster.
local function key(name)
  return KEYS[1] .. name
end
if redis.call('EXISTS', key('settings')) == 0 then
  return redis.error_reply('GONE the campaign is not there')
end

local function add_all(set, names)
  for first = 1, #names, 1000 do
    redis.call('SADD', key(set), unpack(names, first, math.min(first + 999, #names)))
  end
end

-- A job is in the stream from the moment it may be fetched until it is done: the length of the stream is the number of
-- jobs that are not, apart from those in `waiting`.
local function publish(id)
  redis.call('XADD', key('jobs'), '*', 'id', id)
end

local function withdraw(ticket)
  redis.call('XACK', key('jobs'), 'workers', ticket)
  redis.call('XDEL', key('jobs'), ticket)
end

-- Moves a job from those of this layer to those that nobody tries any more.
local function set_aside(id, record, reason)
  redis.call('HDEL', key('records'), id)
  redis.call('HSET', key('poison'), id, record)
  redis.call('HSET', key('reasons'), id, reason)
  redis.call('HDEL', key('deliveries'), id)
  redis.call('HDEL', key('crashes'), id)
  redis.call('HINCRBY', key('layers'), redis.call('HGET', key('counts'), 'layer') .. '.poison', 1)
end

local function milliseconds()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function finish_campaign(state)
  redis.call('SET', key('state'), state)
  redis.call('HSET', key('counts'), 'ended', string.format('%.0f', milliseconds()))
end
