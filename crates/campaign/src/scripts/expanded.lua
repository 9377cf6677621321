-- What the layers before that of a job have expanded: hashes of 8 bytes, and what they are in the end ('hashes', 'too many',
-- 'gone'). They are final while the job is there, for it is there only if those layers are finished.
-- ARGV: name, layer, the most hashes
local layer, most = tonumber(ARGV[2]), tonumber(ARGV[3])
if redis.call('HEXISTS', key('records'), ARGV[1]) == 0 then
  return {'gone'}
end
local count = 0
for earlier = 0, layer - 1 do
  count = count + redis.call('SCARD', key('expanded.' .. earlier))
end
if count > most then
  return {'too many'}
end
local hashes = {}
for earlier = 0, layer - 1 do
  for _, hash in ipairs(redis.call('SMEMBERS', key('expanded.' .. earlier))) do
    hashes[#hashes + 1] = hash
  end
end
hashes[#hashes + 1] = 'hashes'
return hashes
