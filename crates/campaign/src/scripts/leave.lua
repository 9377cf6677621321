-- A worker goes. ARGV: worker, its consumers
redis.call('HDEL', key('workers'), ARGV[1])
redis.call('HDEL', key('beats'), ARGV[1])
for position = 2, #ARGV do
  -- A job that a consumer has without knowing it, because the answer was lost, would vanish with the consumer.
  if #redis.call('XPENDING', key('jobs'), 'workers', '-', '+', 1, ARGV[position]) == 0 then
    redis.call('XGROUP', 'DELCONSUMER', key('jobs'), 'workers', ARGV[position])
  end
end
return 1
