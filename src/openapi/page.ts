import { dump } from 'js-yaml'
import * as z from 'zod/mini'
import { completeOptions } from '../checks/options.ts'
import { requirePlainObject } from '../checks/plain-object.ts'
import type { Principal } from '../definition/principal.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { isServiceError } from '../errors.ts'
import { keepBySize } from '../keep-latest.ts'
import {
  pageSource,
  type Page,
  type PageContent,
  type PageFile,
  type PageRequest,
} from '../pages/page.ts'
import { indentedJson, isPlainJson, stringifyJson } from '../protocol/json-text.ts'
import { viewOf } from '../request/view.ts'
import { rolesNamedIn, type DescribedService } from './described.ts'
import { describeService, serversOf, type OpenApiDocument } from './document.ts'
import {
  documentOptions,
  openApiShape,
  type OpenApiOptions,
  type WithDocumentOptions,
} from './options.ts'

/** Returns an OpenAPI document as YAML; one with numbers that only JSON text can have as JSON, which YAML contains. */
export function toYaml(document: OpenApiDocument): string {
  requirePlainObject('The document', document, 'toYaml')
  const { openapi, info, servers, ...after } = document
  const text = formats.yaml.split({ openapi, info }, after)
  return `${text.before}${text.servers(servers)}${text.after}`
}

/**
 * A page that serves the OpenAPI document of its service, as JSON and YAML: `pages: { openapi: openapi({ title:
 * 'Northwind' }) }` serves `/rest/v1/openapi.json` and `/rest/v1/openapi.yaml`, and for each application
 * `/rest/v1/openapi/sales.json`. Each caller gets a description of what the caller may do. Throws a TypeError that
 * lists every mistake in the options.
 */
export function openapi(given: OpenApiOptions): Page {
  const options = completeOptions('openapi', z.strictObject(openApiShape), given) as OpenApiOptions
  return Object.freeze({
    [documentOptions]: options,
    [pageSource]: {
      open: (service) => {
        const documents = documentsOf(service, options)
        const files = [undefined, ...Object.keys(service.applications)].flatMap((application) => {
          const name = application === undefined ? '' : `/${application}`
          return Object.keys(formats).map((format): [string, PageFile] => [
            `${name}.${format}`,
            {
              access: 'caller',
              content: (request, caller) =>
                documents({ application, format: format as Format, request, caller }),
            },
          ])
        })
        return Object.fromEntries(files)
      },
    },
  } satisfies Page & WithDocumentOptions)
}

type Format = 'json' | 'yaml'

/** A document as text, around the part that depends on the path of the mount. */
interface DocumentText {
  readonly before: string
  readonly after: string
  /** Writes the servers as the part between. */
  servers(servers: OpenApiDocument['servers']): string
}

interface DocumentFormat {
  readonly mediaType: string
  /** Splits a document around its servers. */
  split(before: object, after: object): DocumentText
}

const formats: Readonly<Record<Format, DocumentFormat>> = {
  json: {
    mediaType: 'application/json; charset=utf-8',
    split: (before, after) => jsonText(before, after, { write: compact, end: '}' }),
  },
  yaml: {
    mediaType: 'application/yaml; charset=utf-8',
    split: (before, after) =>
      isPlainJson(before) && isPlainJson(after)
        ? {
            before: yamlOf(before),
            after: yamlOf(after),
            servers: (servers) => yamlOf({ servers }),
          }
        : jsonText(before, after, { write: indentedJson, end: '\n}' }),
  },
}

const compact = (value: object): string => stringifyJson(value) ?? ''

function jsonText(
  before: object,
  after: object,
  { write, end }: { readonly write: (value: object) => string; readonly end: string },
): DocumentText {
  const membersOf = (value: object): string => write(value).slice(1, -end.length)
  return {
    before: `{${membersOf(before)},`,
    after: `${membersOf(after)}${end}`,
    servers: (servers) => `${membersOf({ servers })},`,
  }
}

function yamlOf(value: object): string {
  return dump(value, { noRefs: true, lineWidth: -1 })
}

/** Which document a caller requests. */
interface WantedDocument {
  readonly application: string | undefined
  readonly format: Format
  readonly request: PageRequest
  readonly caller: Principal
}

// In characters: of the documents of all combinations of roles, and of those with the path of a mount. A client can
// choose that path where the mount has a parameter.
const maxKept = 16 * 1024 * 1024

/**
 * Returns a function that writes the document of a caller, and keeps it for callers with the same rights. A document is
 * computed once for all mounts.
 */
function documentsOf(
  service: DescribedService,
  options: OpenApiOptions,
): (wanted: WantedDocument) => PageContent {
  const texts = keepBySize<DocumentText>(
    maxKept,
    ({ before, after }) => before.length + after.length,
  )
  const contents = keepBySize<PageContent>(maxKept, ({ text }) => text.length)
  const named = rolesNamedIn(service.collections)
  const ruled = service.collections.filter(({ rows }) => rows !== undefined)
  return ({ application, format, request: { prefix = '' }, caller }) => {
    const roles = named.filter((role) => caller.roles.includes(role))
    const hidden = ruled.filter((collection) => !hasRows(collection, caller))
    const places = hidden.map((each) => [each.application, each.name])
    const key = JSON.stringify([application, format, roles, places])
    const { mediaType, split } = formats[format]
    return contents(JSON.stringify([key, prefix]), () => {
      const { before, after, servers } = texts(key, () => {
        const hides = (each: PublishedCollection): boolean => hidden.includes(each)
        const document = describeService(service, options, { application, roles, hides })
        const { openapi, info, security, tags, paths, components } = document
        return split({ openapi, info }, { security, tags, paths, components })
      })
      return { mediaType, text: `${before}${servers(serversOf(options, prefix))}${after}` }
    })
  }
}

/** Returns whether the row rule of a collection allows a caller any rows. */
function hasRows(collection: PublishedCollection, caller: Principal): boolean {
  try {
    viewOf(collection, caller)
    return true
  } catch (error) {
    if (isServiceError(error)) return false
    throw error
  }
}
