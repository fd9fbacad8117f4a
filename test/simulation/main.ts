import { parseArgs } from 'node:util'
import { simulate } from './simulate.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    steps: { type: 'string', default: '200000' },
    seconds: { type: 'string', default: 'Infinity' },
    only: { type: 'string' },
    forgets: { type: 'boolean', default: false },
  },
})

const isPassed = await simulate(
  {
    seed: Number(values.seed ?? Math.floor(Math.random() * 1e9)),
    steps: Number(values.steps),
    seconds: Number(values.seconds),
    only: values.only?.split(','),
    forgets: values.forgets,
  },
  (line) => process.stdout.write(`${line}\n`),
)
process.exitCode = isPassed ? 0 : 1
