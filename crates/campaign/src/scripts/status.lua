-- Everything that a status shows, at one moment. A script, because a transaction is refused when the memory is full.
local parts = {redis.call('GET', key('state'))}
for _, hash in ipairs({'counts', 'layers', 'poison', 'reasons', 'workers', 'beats'}) do
  parts[#parts + 1] = redis.call('HGETALL', key(hash))
end
parts[#parts + 1] = redis.call('XPENDING', key('jobs'), 'workers')[1]
parts[#parts + 1] = redis.call('HLEN', key('next'))
for _, set in ipairs({'accepted', 'rejected', 'undecided', 'states'}) do
  parts[#parts + 1] = redis.call('SCARD', key(set))
end
parts[#parts + 1] = redis.call('HKEYS', key('failures'))
parts[#parts + 1] = redis.call('TIME')
return parts
