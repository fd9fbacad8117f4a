import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSample, type Sample } from './sample.ts'

let sample: Sample
beforeAll(async () => {
  sample = await openSample()
})
afterAll(() => sample.close())

test.each(['recommended', 'recommended-strict'])(
  'redocly finds nothing by its rules %s',
  async (rules) => {
    const printed = await sample.run(
      'redocly',
      'lint',
      sample.file,
      '--extends',
      rules,
      '--format',
      'json',
    )
    const found = JSON.parse(printed.slice(printed.indexOf('{'), printed.lastIndexOf('}') + 1)) as {
      readonly totals: object
    }
    expect(found.totals).toEqual({ errors: 0, warnings: 0, ignored: 0 })
  },
)

test('spectral finds nothing', async () => {
  const rules = sample.write('spectral.yaml', 'extends: ["spectral:oas"]\n')
  const args = ['lint', sample.file, '--ruleset', rules, '--format', 'json', '--quiet']
  expect(JSON.parse(await sample.run('spectral', ...args, '--fail-severity', 'hint'))).toEqual([])
})

test('spectral finds a mistake that was made on purpose', async () => {
  const { document } = sample
  const file = sample.write('wrong.json', JSON.stringify({ ...document, tags: [] }))
  const rules = sample.write('spectral.yaml', 'extends: ["spectral:oas"]\n')
  const args = ['lint', file, '--ruleset', rules, '--fail-severity', 'hint']
  await expect(sample.run('spectral', ...args)).rejects.toThrow('operation-tag-defined')
})
