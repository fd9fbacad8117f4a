import type { JsonSchema } from '../definition/schema.ts'
import { pathRoot } from '../protocol/names.ts'
import { conditionalParameters } from './conditional-requests.ts'
import { sharedSchemas } from './envelope.ts'
import {
  describedCollections,
  type Audience,
  type DescribedCollection,
  type DescribedService,
} from './described.ts'
import { itemSchemas } from './item-schemas.ts'
import type { OpenApiOptions } from './options.ts'
import { sharedParameters } from './parameters.ts'
import { pathsOf } from './paths.ts'
import { sharedHeaders, sharedResponses } from './responses.ts'
import { describedSecurity } from './security-schemes.ts'

/** An OpenAPI 3.1 document as plain data. */
export interface OpenApiDocument {
  readonly openapi: '3.1.1'
  readonly info: JsonSchema
  readonly servers: readonly JsonSchema[]
  readonly security: readonly JsonSchema[]
  readonly tags: readonly JsonSchema[]
  readonly paths: Readonly<Record<string, JsonSchema>>
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>
}

/** Returns the document of a service for an audience. `prefix` is the path of the mount, such as `/api`. */
export function describeService(
  service: DescribedService,
  options: OpenApiOptions,
  { prefix, ...audience }: Audience & { readonly prefix?: string | undefined },
): OpenApiDocument {
  const all = describedCollections(service, audience)
  const paths = pathsOf(service, all)
  const { schemes, security } = describedSecurity(service.security)
  const components = {
    schemas: Object.assign(sharedSchemas(), ...all.map(itemSchemas)) as JsonSchema,
    parameters: { ...sharedParameters(service), ...conditionalParameters },
    headers: sharedHeaders(service),
    responses: sharedResponses(service),
  }
  const { title, version = '1.0.0', contact, license } = options
  const description = descriptionFor(service, options, audience)
  return {
    openapi: '3.1.1',
    info: {
      title,
      version,
      ...(description !== undefined && { description }),
      ...(contact !== undefined && { contact }),
      ...(license !== undefined && { license }),
    },
    servers: serversOf(options, prefix),
    security,
    tags: all.map(tagOf),
    paths,
    components: {
      ...usedComponents(components as OpenApiDocument['components'], paths),
      ...(security.length > 0 && { securitySchemes: schemes }),
    },
  }
}

/** Returns the servers of a document: the only part of it that depends on the path of the mount. */
export function serversOf({ servers }: OpenApiOptions, prefix = ''): OpenApiDocument['servers'] {
  return servers ?? [{ url: `${prefix}${pathRoot}`.replace(/\/$/, '') }]
}

function descriptionFor(
  { applications }: DescribedService,
  { description }: OpenApiOptions,
  { application }: Audience,
): string | undefined {
  const own = application === undefined ? undefined : applications[application]?.description
  return own ?? description
}

function tagOf({ collection, names }: DescribedCollection): JsonSchema {
  const { definition, name } = collection
  return { name: names.tag, description: definition.description ?? `The collection ${name}.` }
}

/** Returns the components that something refers to, directly or through other components. */
function usedComponents(
  components: OpenApiDocument['components'],
  paths: OpenApiDocument['paths'],
): OpenApiDocument['components'] {
  const used = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      if (name !== '$ref' || typeof member !== 'string') visit(member)
      else if (!used.has(member)) {
        used.add(member)
        const [kind = '', component = ''] = member.replace('#/components/', '').split('/')
        visit(components[kind]?.[component])
      }
    }
  }
  visit(paths)
  return Object.fromEntries(
    Object.entries(components).flatMap(([kind, all]) => {
      const kept = Object.entries(all).filter(([name]) => used.has(`#/components/${kind}/${name}`))
      return kept.length === 0 ? [] : [[kind, Object.fromEntries(kept)]]
    }),
  )
}
