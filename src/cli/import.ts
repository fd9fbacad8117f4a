import { resolve } from 'node:path'
import { OpenApiError } from '../consume/openapi/document.ts'
import {
  importOpenApi,
  type ImportedEndpoints,
  type ImportOptions,
} from '../consume/openapi/import-openapi.ts'
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
  const imported = await read(resolve(context.workingFolder, file), options, context)
  await saveFile(path, Buffer.from(imported.text))
  for (const note of imported.notes) context.note(printable(note))
  const result = { file: path, endpoints: imported.count, notes: imported.notes }
  context.result(
    result,
    () => `Wrote ${counted(imported.count, 'endpoint')} to ${printable(path)}.`,
  )
}

async function read(
  file: string,
  options: ImportOptions,
  { messages }: CommandContext,
): Promise<ImportedEndpoints> {
  try {
    return await importOpenApi(file, options)
  } catch (error) {
    if (!(error instanceof OpenApiError)) throw error
    for (const { place, advice } of error.mistakes)
      messages.write(`${printable(place)}: ${errorMessage(advice)}\n`)
    throw new CommandError('The document can not be imported.')
  }
}
