import { dump } from 'js-yaml'
import * as z from 'zod/mini'
import { completeOptions } from '../checks/options.ts'
import type { Principal } from '../definition/principal.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { isServiceError } from '../errors.ts'
import { keepLatest } from '../keep-latest.ts'
import {
  pageSource,
  type Page,
  type PageContent,
  type PageFile,
  type PageRequest,
} from '../pages/page.ts'
import { viewOf } from '../request/view.ts'
import { rolesNamedIn, type DescribedService } from './described.ts'
import { describeService, type OpenApiDocument } from './document.ts'
import {
  documentOptions,
  openApiShape,
  type OpenApiOptions,
  type WithDocumentOptions,
} from './options.ts'

/** Returns an OpenAPI document as YAML. */
export function toYaml(document: OpenApiDocument): string {
  return dump(document, { noRefs: true, lineWidth: -1 })
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

type Format = keyof typeof formats

const formats = {
  json: { mediaType: 'application/json; charset=utf-8', write: JSON.stringify },
  yaml: { mediaType: 'application/yaml; charset=utf-8', write: toYaml },
}

/** Which document a caller requests. */
interface WantedDocument {
  readonly application: string | undefined
  readonly format: Format
  readonly request: PageRequest
  readonly caller: Principal
}

// The documents of so many combinations of roles and mounts.
const maxDocuments = 50

/** Returns a function that writes the document of a caller, and keeps it for callers with the same rights. */
function documentsOf(
  service: DescribedService,
  options: OpenApiOptions,
): (wanted: WantedDocument) => PageContent {
  const kept = new Map<string, PageContent>()
  const named = rolesNamedIn(service.collections)
  const ruled = service.collections.filter(({ rows }) => rows !== undefined)
  return ({ application, format, request: { prefix }, caller }) => {
    const roles = named.filter((role) => caller.roles.includes(role))
    const hidden = ruled.filter((collection) => !hasRows(collection, caller))
    const places = hidden.map((each) => [each.application, each.name])
    const key = JSON.stringify([application, format, prefix, roles, places])
    const known = kept.get(key)
    if (known !== undefined) return known
    const audience = {
      application,
      roles,
      prefix,
      hides: (each: PublishedCollection) => hidden.includes(each),
    }
    const { mediaType, write } = formats[format]
    const content = { mediaType, text: write(describeService(service, options, audience)) }
    keepLatest(kept, key, content, maxDocuments)
    return content
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
