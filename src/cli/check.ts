import type { StorageProblem } from '../storage/problem.ts'
import { serviceModule, type CommandContext, type Given } from './command.ts'
import { CommandError, UsageError } from './command-error.ts'
import { openProgress, type Progress } from './progress.ts'
import { printable } from './text.ts'
import { counted } from './time.ts'

/** Runs `rowgate check`: finds tables and rows of a service that do not fit its definition. */
export async function check(given: Given, context: CommandContext): Promise<void> {
  const { argument } = given
  if (argument !== undefined && given.one('service') !== undefined)
    throw new UsageError('Name the module once: as the argument, or with --service.')
  const module = argument ?? serviceModule(given, context)
  const service = await context.loadService(module, context.workingFolder, 'read')
  try {
    if (service.inspect === undefined)
      throw new CommandError('The service has no inspect. It may use another version of rowgate.')
    const progress = openProgress(context)
    const show = progressOf(progress)
    const problems = await service
      .inspect(({ application, name }, rows, total) => {
        show(`${application}/${name}`, rows, total)
      })
      .finally(() => {
        progress.end()
      })
    context.result(problems, () =>
      problems.length === 0 ? 'No problems found.' : problems.map(problemText).join('\n\n'),
    )
    // A slow order or condition is no reason to stop a deployment.
    const found = problems.filter(({ kind }) => kind !== 'order' && kind !== 'condition').length
    if (found > 0) throw new CommandError(`Found ${counted(found, 'problem')}.`)
  } finally {
    await service.close()
  }
}

// A small table is read before its progress could be seen.
const rowsToShow = 100_000

function progressOf(progress: Progress): (place: string, rows: number, total: number) => void {
  return (place, rows, total) => {
    if (total < rowsToShow) return
    const percent = Math.floor((Math.min(rows, total) / total) * 100)
    progress.show(`${printable(place)}: ${percent - (percent % 10)} % of ${total} rows`)
  }
}

function problemText({ collection, message, examples }: StorageProblem): string {
  // The statements of a table that does not fit have lines of their own.
  const [first = '', ...others] = message.split('\n').map(printable)
  const lines = [...others, ...examples.map(printable)].map((line) => `  ${line}`)
  const place = first.startsWith(collection) ? '' : `${printable(collection)}: `
  return [`${place}${first}`, ...lines].join('\n')
}
