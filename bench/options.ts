import { parseArgs } from 'node:util'

export interface Options {
  rounds: number
  seconds: number
  warmUpSeconds: number
  /** How long the whole run may wait for other programs of the machine. */
  waitSeconds: number
  scenarios: string[]
  servers: string[]
  /** The folder of another checkout, whose servers of rowgate are measured as well. */
  against?: string
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
  against: { type: 'string' },
  quick: { type: 'boolean', default: false },
  write: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

function helpText({ scenarios, servers }: Choices): string {
  return `Options:
  --only NAMES      the scenarios and figures to measure, separated by commas: ${scenarios.join(', ')}
  --servers NAMES   the servers to measure, separated by commas: ${servers.join(', ')}
  --against FOLDER  measures rowgate as another checkout has it as well; it must have measured it before
  --rounds NUMBER   how often each server is measured (5; with --quick 2)
  --seconds NUMBER  how long a round takes (2; with --quick 1)
  --quick           short rounds, and no wait for a quiet machine
  --write           write the results to the README of this folder`
}

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
  throw new Error(`${name} must be an integer above 0.`)
}

/** Reads the command line. Prints the help, or what is wrong, and ends the process. */
export function readOptions(args: string[], env: NodeJS.ProcessEnv, known: Choices): Options {
  try {
    const options = parse(args, env, known)
    if (options !== 'help') return options
    console.log(helpText(known))
    process.exit(0)
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${helpText(known)}`)
    process.exit(2)
  }
}

function parse(args: string[], env: NodeJS.ProcessEnv, known: Choices): Options | 'help' {
  const { values } = parseArgs({ args, options: flags })
  const { quick, write, help } = values
  if (help) return 'help'
  return {
    rounds: count('rounds', values.rounds ?? env['ROUNDS'], quick ? 2 : 5),
    seconds: count('seconds', values.seconds ?? env['SECONDS'], quick ? 1 : 2),
    warmUpSeconds: quick ? 1 : 2,
    waitSeconds: quick ? 0 : 600,
    scenarios: chosen('only', values.only, known.scenarios),
    servers: chosen('servers', values.servers, known.servers),
    ...(values.against !== undefined && { against: values.against }),
    write,
  }
}
