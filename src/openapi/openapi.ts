import { requirePlainObject } from '../checks/plain-object.ts'
import * as z from 'zod/mini'
import { completeOptions } from '../checks/options.ts'
import type { ApplicationDefinitions } from '../definition/application.ts'
import { checkApplications } from '../definition/check.ts'
import { pageHost, type PageHostOptions, type WithPageHost } from '../pages/page.ts'
import { defaultBrand, defaultServiceVersion } from '../protocol/names.ts'
import { isMountPath } from '../protocol/path.ts'
import { publish } from '../publication.ts'
import type { OpenAccess, SecurityProvider } from '../security/provider.ts'
import { rolesNamedIn, type DescribedService } from './described.ts'
import { describeService, type OpenApiDocument } from './document.ts'
import { openApiShape, type OpenApiOptions } from './options.ts'

/** Options of {@link openApiDocument}. */
export interface OpenApiDocumentOptions extends OpenApiOptions {
  /** The only application that is described. Default: all. */
  readonly application?: string
  /** The roles whose rights the document shows. Default: every role that the definitions name. */
  readonly roles?: readonly string[]
  /** The path at which the service is mounted, such as `/api`. Default: none. */
  readonly prefix?: string
}

/** The options of a service that its document depends on. */
export interface DefinitionToDescribe extends Partial<PageHostOptions> {
  readonly applications: ApplicationDefinitions
  /** Default: requests need no credentials. */
  readonly security?: SecurityProvider | OpenAccess | readonly (SecurityProvider | OpenAccess)[]
  /** The largest page maximum of the service, in items. Default 100. */
  readonly maxPageSize?: number
}

const documentShape = z.strictObject({
  ...openApiShape,
  application: z.optional(z.string()),
  roles: z.optional(z.array(z.string())),
  prefix: z.optional(
    z.string().check(
      z.refine(isMountPath, {
        error: 'must be a literal path, such as /api, or an empty string',
      }),
    ),
  ),
} satisfies Record<keyof OpenApiDocumentOptions, z.ZodMiniType>)

/**
 * Returns the OpenAPI 3.1 document of a service, or of the options of one. It describes what callers with the roles
 * may do; row rules are not part of it. Throws a TypeError for a mistake in the options or definitions.
 */
export function openApiDocument(
  described: WithPageHost | DefinitionToDescribe,
  given: OpenApiDocumentOptions,
): OpenApiDocument {
  const options = completeOptions('openApiDocument', documentShape, given) as OpenApiDocumentOptions
  if (!(pageHost in described))
    requirePlainObject('The described service', described, 'openApiDocument')
  const service = pageHost in described ? described[pageHost] : publishedService(described)
  const { application, roles = rolesNamedIn(service.collections), prefix } = options
  requireApplication(service, application)
  return describeService(service, options, { application, roles, prefix })
}

function publishedService({
  applications,
  security = [],
  maxPageSize = 100,
  brand = defaultBrand,
  serviceVersion = defaultServiceVersion,
  limitExcess = 'clamp',
  bodyStatus = 'contract',
}: DefinitionToDescribe): DescribedService {
  checkApplications(applications, { maxPageSize, brand })
  return {
    applications,
    collections: publish(applications, { maxPageSize }).collections,
    security: [security].flat(),
    options: { brand, serviceVersion, limitExcess, bodyStatus },
  }
}

function requireApplication(
  { applications }: DescribedService,
  application: string | undefined,
): void {
  if (application === undefined || Object.hasOwn(applications, application)) return
  throw new TypeError(`openApiDocument: there is no application ${application}`)
}
