-- Gives a job to a consumer: {'job', name, ticket, record}, {'wait'} or {'finished'}.
-- ARGV: consumer, most layers, jobs, sequences, failures ('' for no limit), most deliveries, why it would be set aside
local consumer = ARGV[1]
local most_layers, most_jobs = tonumber(ARGV[2]), tonumber(ARGV[3])
local most_sequences, most_failures = tonumber(ARGV[4]), tonumber(ARGV[5])
local most_deliveries = tonumber(ARGV[6])

-- Begins the next layer, or finds that there is none.
local function promote()
  local count = redis.call('HLEN', key('next'))
  if count == 0 then
    return finish_campaign('complete')
  end
  local layer = tonumber(redis.call('HGET', key('counts'), 'layer')) + 1
  if most_layers and layer >= most_layers then
    return finish_campaign('layers')
  end
  local budget = count
  if most_jobs then
    budget = most_jobs
    for earlier = 0, layer - 1 do
      budget = budget - tonumber(redis.call('HGET', key('layers'), earlier .. '.jobs'))
    end
    if budget <= 0 then
      return finish_campaign('jobs')
    end
  end
  local names
  if count <= budget then
    redis.call('RENAME', key('next'), key('records'))
    names = redis.call('HKEYS', key('records'))
  else
    names = {}
    local all = redis.call('HKEYS', key('next'))
    table.sort(all)
    for position = 1, budget do
      local name = all[position]
      redis.call('HSET', key('records'), name, redis.call('HGET', key('next'), name))
      redis.call('HDEL', key('next'), name)
      names[position] = name
    end
  end
  add_all('starts', names)
  for _, name in ipairs(names) do
    redis.call('ZADD', key('waiting'), 0, name)
  end
  redis.call('HSET', key('counts'), 'layer', layer)
  redis.call('HSET', key('layers'), layer .. '.jobs', #names)
end

local function reached_limit()
  if most_sequences then
    local sequences = 0
    for _, set in ipairs({'accepted', 'rejected', 'undecided'}) do
      sequences = sequences + redis.call('SCARD', key(set))
    end
    if sequences >= most_sequences then
      return 'sequences'
    end
  end
  if most_failures and redis.call('HLEN', key('failures')) >= most_failures then
    return 'failures'
  end
end

while true do
  if redis.call('GET', key('state')) ~= 'running' then
    return {'finished'}
  end
  local limit = reached_limit()
  if limit then
    finish_campaign(limit)
    return {'finished'}
  end
  local reply = redis.call('XREADGROUP', 'GROUP', 'workers', consumer, 'COUNT', 1, 'STREAMS', key('jobs'), '>')
  if reply and reply[1] then
    local ticket, id = reply[1][2][1][1], reply[1][2][1][2][2]
    local record = redis.call('HGET', key('records'), id)
    if not record then
      withdraw(ticket)
    elseif redis.call('HINCRBY', key('deliveries'), id, 1) > most_deliveries then
      withdraw(ticket)
      set_aside(id, record, ARGV[7])
    else
      return {'job', id, ticket, record}
    end
  else
    -- The stream is filled a little at a time: it is what costs most memory for each job.
    local names = redis.call('ZPOPMIN', key('waiting'), 64)
    for position = 1, #names, 2 do
      publish(names[position])
    end
    if #names == 0 then
      if redis.call('XLEN', key('jobs')) > 0 then
        return {'wait'}
      end
      promote()
    end
  end
end
