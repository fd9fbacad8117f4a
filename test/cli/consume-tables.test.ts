import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderOf } from '../kit/folder.ts'
import { openCommandLine } from './command-line.ts'

/** Runs the command on a file with this text. */
function run(text: string, ...line: readonly string[]) {
  const workingFolder = folderOf()
  writeFileSync(join(workingFolder, 'a.json'), text)
  const words = ['consume', 'tables', 'a.json', ...line]
  return openCommandLine().run(words, { workingFolder })
}

const response = {
  id: 'S1',
  parcels: [
    { no: 1, tags: [] },
    { no: null, weight: 2.5 },
  ],
  hourly: { time: ['00', '01'], rain: [0, 1] },
}

test('prints the tables, columns and types of a response', async () => {
  const { code, output } = await run(JSON.stringify(response), '--zip', 'hourly')
  expect({ code, output }).toEqual({
    code: 0,
    output: `(root): 1 row
  id  string

parcels: 2 rows
  no      null | number
  tags    array, not in every row
  weight  number, not in every row

hourly: 2 rows
  time  string
  rain  number
`,
  })
})

test('prints JSON for programs', async () => {
  const { output } = await run('[{"a":1}]', '--json')
  expect(JSON.parse(output)).toEqual([
    { path: null, rows: 1, columns: [{ name: 'a', types: ['number'], inEveryRow: true }] },
  ])
})

test.each([
  ['text that is not JSON', '{', [], 'is not JSON.'],
  ['arrays of different lengths', '{"a":{"b":[1],"c":[]}}', ['--zip', 'a'], 'a/b has 1, a/c has 0'],
])('rejects %s', async (_what, text, line, message) => {
  const { code, messages } = await run(text, ...line)
  expect(code).toBe(1)
  expect(messages).toContain(message)
})
