import { escapeHidden } from '../checks/hidden-characters.ts'
import type { OpenApiDocument } from '../openapi/document.ts'
import { openApiDocument } from '../openapi/openapi.ts'
import { toYaml } from '../openapi/page.ts'
import { documentOptions, hasDocumentOptions, type OpenApiOptions } from '../openapi/options.ts'
import { pageHost, type WithPageHost } from '../pages/page.ts'
import { indentedJson } from '../protocol/json-text.ts'
import { serviceModule, type CommandContext, type Given } from './command.ts'
import { CommandError, UsageError } from './command-error.ts'
import { placeFor, requireEnding, saveFile } from './save-file.ts'
import { printable } from './text.ts'

/** Runs `rowgate openapi`: writes or prints the OpenAPI document of a service, which is not opened. */
export async function writeDocument(given: Given, context: CommandContext): Promise<void> {
  const out = given.one('out')
  requireEnding(out, ['json', 'yaml', 'yml'])
  const path =
    out === undefined
      ? undefined
      : await placeFor(out, context.workingFolder, { writes: 'description' })
  const document = await documentOf(given, context)
  const isYaml = !context.json && /\.ya?ml$/i.test(out ?? '')
  const text = isYaml ? toYaml(document) : escapeHidden(`${indentedJson(document)}\n`)
  if (path === undefined) {
    context.output.write(text)
    return
  }
  await saveFile(path, Buffer.from(text))
  const count = Object.keys(document.paths).length
  context.result({ file: path, paths: count }, () => `Wrote ${count} paths to ${printable(path)}.`)
}

async function documentOf(given: Given, context: CommandContext): Promise<OpenApiDocument> {
  const module = serviceModule(given, context)
  const service = await context.loadService(module, context.workingFolder, 'read')
  try {
    if (!isDescribed(service))
      throw new CommandError(
        'The service cannot be described. It may use another version of rowgate.',
      )
    return openApiDocument(service, {
      ...titled(service, given),
      ...applicationOf(service, given),
      ...(given.has('role') && { roles: given.all('role') }),
    })
  } finally {
    await service.close()
  }
}

function isDescribed(service: object): service is WithPageHost {
  return pageHost in service
}

/** Returns the options of the page that serves the document, with the title of the command line. */
function titled(service: WithPageHost, given: Given): OpenApiOptions {
  const page = Object.values(service[pageHost].pages).find(hasDocumentOptions)
  const title = given.one('title') ?? page?.[documentOptions].title
  if (title !== undefined && title !== '') return { ...page?.[documentOptions], title }
  throw new UsageError('--title <title> is required, because the service has no page of openapi().')
}

function applicationOf(service: WithPageHost, given: Given): { readonly application?: string } {
  const application = given.one('application')
  if (application === undefined) return {}
  const names = Object.keys(service[pageHost].applications)
  if (names.includes(application)) return { application }
  throw new UsageError(`--application must be one of ${names.join(', ')}.`)
}
