import { parseArgs } from 'node:util'

export interface Options {
  rounds: number
  seconds: number
  warmUpSeconds: number
  /** How long the whole run may wait for other programs of the machine. */
  waitSeconds: number
  scenarios: string[]
  servers: string[]
  write: boolean
}

interface Choices {
  scenarios: string[]
  servers: string[]
}

const flags = {
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  only: { type: 'string' },
  servers: { type: 'string' },
  quick: { type: 'boolean', default: false },
  write: { type: 'boolean', default: false },
} as const

function chosen(flag: string, text: string | undefined, known: string[]): string[] {
  if (text === undefined) return known
  const names = text.split(',')
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length === 0) return known.filter((name) => names.includes(name))
  throw new Error(`--${flag}: no ${unknown.join(', ')}; there are ${known.join(', ')}.`)
}

function count(name: string, text: string | undefined, otherwise: number): number {
  const value = Number(text ?? otherwise)
  if (Number.isInteger(value) && value > 0) return value
  throw new Error(`${name} must be a whole number above 0.`)
}

export function readOptions(args: string[], env: NodeJS.ProcessEnv, known: Choices): Options {
  const { values } = parseArgs({ args, options: flags })
  const { quick, write } = values
  return {
    rounds: count('rounds', values.rounds ?? env['ROUNDS'], quick ? 2 : 5),
    seconds: count('seconds', values.seconds ?? env['SECONDS'], quick ? 1 : 2),
    warmUpSeconds: quick ? 1 : 2,
    waitSeconds: quick ? 0 : 600,
    scenarios: chosen('only', values.only, known.scenarios),
    servers: chosen('servers', values.servers, known.servers),
    write,
  }
}
