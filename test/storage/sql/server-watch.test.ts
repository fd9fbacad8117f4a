import { expect, onTestFinished, test } from 'vitest'
import { serverWatch } from '../../../src/storage/pool/server-watch.ts'
import { replaceRuntime, runtime } from '../../../src/runtime.ts'

const primary = (identity: string) => ({ identity, readOnly: undefined })
const ofCluster = (timeline: number) => ({ cluster: 'one', timeline })

test('a former primary is rejected for a minute, and is the primary again if it is still there then', () => {
  let now = 0
  replaceRuntime({ ...runtime, performanceNow: () => now })
  onTestFinished(() => replaceRuntime())
  const watch = serverWatch()
  watch.admit(primary('first'))
  watch.opened(primary('first'))
  expect(watch.isOther(primary('second'))).toBe(true)
  const mark = watch.admit(primary('second'), ofCluster(2))
  expect(watch.isCurrent(mark)).toBe(true)

  const former = () => watch.admit(primary('first'), ofCluster(1))
  expect(former).toThrow('unavailable')
  now = 40_000
  expect(former).toThrow('unavailable')
  // The address led to its successor meanwhile.
  watch.admit(primary('second'))
  now = 70_000
  expect(former).toThrow('unavailable')
  now = 129_000
  expect(former).toThrow('unavailable')
  expect(watch.isCurrent(mark)).toBe(true)
  now = 131_000
  former()
  expect(watch.isCurrent(mark)).toBe(false)
  expect(watch.isOther(primary('first'))).toBe(false)
})

test('a server of another cluster, or with a newer history, is used at once', () => {
  const watch = serverWatch()
  watch.admit(primary('first'))
  watch.opened(primary('first'))
  watch.admit(primary('second'), ofCluster(5))
  watch.admit(primary('other'), { cluster: 'two', timeline: 1 })
  watch.admit(primary('third'), { cluster: 'two', timeline: 2 })
  watch.admit(primary('same'), { cluster: 'two', timeline: 2 })
  expect(watch.isOther(primary('same'))).toBe(false)
})
