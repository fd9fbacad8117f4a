import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programOf } from './build.ts'
import { figuresFrom } from './server-process.ts'
import type { OutboxFigures } from './servers/outbox.ts'

/** The name by which `--only` selects the deliveries of an outbox. */
export const outbox = 'outbox'

/** Measures 1,000 deliveries over 40 lanes on SQLite, of which a third of the calls fails. */
export async function measureOutbox(program = programOf(outbox)): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'rowgate-outbox-'))
  try {
    const figures = (await figuresFrom(program, [join(folder, 'data.db')])) as OutboxFigures
    const { enqueueMilliseconds, deliverMilliseconds, calls, effects } = figures
    const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`
    const line = `| ${seconds(enqueueMilliseconds)} | ${seconds(deliverMilliseconds)} | ${calls} | ${effects} |`
    console.log(line)
    return [
      '### An outbox: 1,000 deliveries over 40 lanes, on SQLite, a third of the calls fails',
      '',
      '| Stored in | Delivered in, 8 at a time | Calls | Effects by key |',
      '| --------: | ------------------------: | ----: | -------------: |',
      line,
    ].join('\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
