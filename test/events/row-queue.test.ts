import { expect, test } from 'vitest'
import { RowQueue } from '../../src/events/units/row-queue.ts'

test('who gives up waiting for a row leaves it to who has it, so that later ones wait as well', async () => {
  const rows = new RowQueue()
  const leave = await rows.enter('row')
  await expect(rows.enter('row', 5)).rejects.toMatchObject({ kind: 'unavailable' })
  expect(rows.tryEnter('row')).toBeUndefined()
  await expect(rows.enter('row', 5)).rejects.toMatchObject({ kind: 'unavailable' })
  const later = rows.enter('row', 1_000)
  leave()
  ;(await later)()
  rows.tryEnter('row')?.()
  expect(rows.tryEnter('row')).toBeDefined()
})

test('a row is free once who has it has left, although others have given up before', async () => {
  const rows = new RowQueue()
  const leave = await rows.enter('row')
  await expect(rows.enter('row', 5)).rejects.toMatchObject({ kind: 'unavailable' })
  leave()
  await Promise.resolve()
  await Promise.resolve()
  expect(rows.tryEnter('row')).toBeDefined()
})
