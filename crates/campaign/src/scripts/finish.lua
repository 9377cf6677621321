-- Applies what a job has found, all of it and only once. Returns whether it was applied now.
-- ARGV: name, ticket, layer, width of a rank, accepted, rejected, undecided, states (16 bytes each), expanded (8 bytes each), then
-- three lists with the length of each in front: counts (name, number), frontier (name, record), failures (name, record)
local id, ticket, layer = ARGV[1], ARGV[2], ARGV[3]
local rank = tonumber(ARGV[4])
-- Like that, a script is carried out even when the server's memory is full: results may be handed in when nothing is fetched.
withdraw(ticket)
-- A job is done if it is not among the records any more.
if redis.call('HDEL', key('records'), id) == 0 then
  return 0
end
local function add_packed(set, packed, width)
  local names = {}
  for first = 1, #packed, width do
    names[#names + 1] = string.sub(packed, first, first + width - 1)
  end
  add_all(set, names)
end

for position, set in ipairs({'accepted', 'rejected', 'undecided', 'states'}) do
  add_packed(set, ARGV[4 + position], 16)
end
-- By layer: jobs know what was expanded in the layers before theirs, whoever is faster.
add_packed('expanded.' .. layer, ARGV[9], 8)

local at = 10
local function each_pair(apply)
  local length = tonumber(ARGV[at])
  for position = at + 1, at + 2 * length, 2 do
    apply(ARGV[position], ARGV[position + 1])
  end
  at = at + 1 + 2 * length
end

local function keep_first(hash, name, found)
  local kept = redis.call('HGET', key(hash), name)
  if not kept or string.sub(found, 1, rank) < string.sub(kept, 1, rank) then
    redis.call('HSET', key(hash), name, found)
  end
end

each_pair(function(name, number)
  redis.call('HINCRBY', key('counts'), name, number)
end)
each_pair(function(name, record)
  if redis.call('SISMEMBER', key('starts'), name) == 0 then
    keep_first('next', name, record)
  end
end)
each_pair(function(name, record)
  keep_first('failures', name, record)
end)
redis.call('HINCRBY', key('layers'), layer .. '.done', 1)
redis.call('HDEL', key('deliveries'), id)
redis.call('HDEL', key('crashes'), id)
return 1
