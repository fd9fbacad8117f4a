import { describe } from 'vitest'
import { describeJoinedCallers } from './joined-callers.ts'
import { pooledServers } from './pooled-servers.ts'

describe.each(pooledServers)('on $name', ({ missing, start }) => {
  if (missing === undefined) describeJoinedCallers(start)
})
