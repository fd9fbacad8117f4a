import { resolve } from 'node:path'
import { OpenApiError } from '../consume/openapi/document.ts'
import { importOpenApi, type ImportOptions } from '../consume/openapi/import-openapi.ts'
import { requiredArgument, requiredOf, type CommandContext, type Given } from './command.ts'
import { CommandError } from './command-error.ts'
import { placeFor, requireEnding, saveFile } from './save-file.ts'
import { errorMessage, printable } from './text.ts'
import { counted } from './time.ts'

/** Runs `rowgate import openapi`: writes the endpoints of another service's document. */
export async function importDocument(given: Given, context: CommandContext): Promise<void> {
  const out = requiredOf(given, 'out', 'file')
  requireEnding(out, ['ts', 'mts', 'cts'])
  const file = requiredArgument(given, 'file')
  const path = await placeFor(out, context.workingFolder, {
    writes: 'endpoints',
    reads: [file],
  })
  const options = {
    isStrict: given.has('strict'),
    check: given.has('check'),
    largeNumbers: given.one('large-numbers') as ImportOptions['largeNumbers'],
  }
  const source = resolve(context.workingFolder, file)
  const failure = 'The document cannot be imported.'
  const imported = await withMistakes(importOpenApi(source, options), context, failure)
  await saveFile(path, Buffer.from(imported.text))
  for (const note of imported.notes) context.note(printable(note))
  const result = { file: path, endpoints: imported.count, notes: imported.notes }
  context.result(
    result,
    () => `Wrote ${counted(imported.count, 'endpoint')} to ${printable(path)}.`,
  )
}

/** Waits for what is read from a document. Writes the mistakes of the document and a message, if it can't be read. */
export async function withMistakes<Result>(
  reading: Promise<Result>,
  { messages }: CommandContext,
  message: string,
): Promise<Result> {
  try {
    return await reading
  } catch (error) {
    if (!(error instanceof OpenApiError)) throw error
    for (const { place, advice } of error.mistakes)
      messages.write(`${printable(place)}: ${errorMessage(advice)}\n`)
    throw new CommandError(message)
  }
}
