import { run, StepFailure } from './command.ts'

/** A step returns a note on what it found, or throws a StepFailure. */
export type Step = () => Promise<string | undefined>

/** Steps by name, in the order in which they run. */
export type Steps = Readonly<Record<string, Step>>

const maxReportLines = 80

/** Returns a step that runs a program and fails with its output. */
export function command(program: string, ...args: readonly string[]): Step {
  return async () => {
    await run(program, args)
    return undefined
  }
}

/** Runs steps one after the other, prints a line about each, and returns the names of those that failed. */
export async function runSteps(steps: Steps): Promise<readonly string[]> {
  const failed: string[] = []
  for (const [name, step] of Object.entries(steps)) {
    if (!(await passes(name, step))) failed.push(name)
  }
  return failed
}

/** Prints how many steps passed, and sets the exit code of the process. */
export function reportSteps(count: number, failed: readonly string[], start: number): void {
  console.log()
  if (failed.length === 0)
    console.log(`${count} of ${count} steps passed in ${seconds(start).trim()}`)
  else console.log(`${failed.length} of ${count} steps failed: ${failed.join(', ')}`)
  process.exitCode = failed.length === 0 ? 0 : 1
}

async function passes(name: string, step: Step): Promise<boolean> {
  const start = performance.now()
  try {
    const note = await step()
    console.log(`ok    ${name.padEnd(13)}${seconds(start)}${noteText(note)}`)
    return true
  } catch (error) {
    console.log(`FAIL  ${name.padEnd(13)}${seconds(start)}`)
    console.log(error instanceof StepFailure ? indented(error.message) : error)
    return false
  }
}

function seconds(from: number): string {
  return `${((performance.now() - from) / 1000).toFixed(1).padStart(5)} s`
}

function noteText(note: string | undefined): string {
  if (note === undefined) return ''
  return note.includes('\n') ? `\n${indented(note)}` : `  ${note}`
}

function indented(text: string): string {
  const lines = text.trimEnd().split('\n')
  const shown = lines.slice(0, maxReportLines)
  if (shown.length < lines.length) shown.push(`... and ${lines.length - shown.length} lines more`)
  return shown.map((line) => `      ${line}`).join('\n')
}
