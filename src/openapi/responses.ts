import type { PublishedEventName } from '../definition/handler.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { JsonSchema } from '../definition/schema.ts'
import { brandedHeaders } from '../protocol/names.ts'
import type { DescribedCollection, DescribedService } from './described.ts'
import { schemaReference } from './envelope.ts'
import { hasKeys, keyHeaders, keyResponses } from './idempotency.ts'

/** Returns the headers of responses by the name of their component. */
export function sharedHeaders({
  options: { serviceVersion },
}: DescribedService): Readonly<Record<string, JsonSchema>> {
  const text = { type: 'string' }
  return {
    ...keyHeaders,
    ...(serviceVersion !== false && {
      Version: {
        description: 'The version of the contract.',
        schema: text,
        example: serviceVersion,
      },
    }),
    NextCursor: {
      description: 'The cursor of the next page. Absent if there is none.',
      schema: text,
    },
    EstimatedCount: {
      description: 'Present if count is an estimate.',
      schema: { type: 'string', enum: ['true'] },
    },
    ETag: { description: 'The version of the item, or of the page.', schema: text },
    RetryAfter: { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0 } },
    Challenge: { description: 'The kinds of credentials that are accepted.', schema: text },
    Allow: { description: 'The methods that are supported here.', schema: text },
    Accept: { description: 'The media type of bodies.', schema: text },
  }
}

/** Returns the member `headers` of a response: the version, and others by name, each with its component. */
export function headersOf(
  { options: { brand, serviceVersion } }: DescribedService,
  others: Readonly<Record<string, string>> = {},
): JsonSchema {
  const all = {
    ...(serviceVersion !== false && { [brandedHeaders(brand).version]: 'Version' }),
    ...others,
  }
  if (Object.keys(all).length === 0) return {}
  const headers = Object.entries(all).map(([name, component]) => [
    name,
    { $ref: `#/components/headers/${component}` },
  ])
  return { headers: Object.fromEntries(headers) as JsonSchema }
}

interface ErrorResponse {
  readonly description: string
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}

const retry = { 'Retry-After': 'RetryAfter' }

const errorResponses: Readonly<Record<string, ErrorResponse & { readonly status: number }>> = {
  Unauthorized: {
    status: 401,
    description: 'The caller is not authenticated.',
    message: 'Valid credentials are required.',
    headers: { 'WWW-Authenticate': 'Challenge' },
  },
  Forbidden: {
    status: 403,
    description: 'The caller does not have the right, or sent a credential over plain HTTP.',
    message: 'You do not have the right to do this.',
  },
  NotFound: {
    status: 404,
    description: 'There is no such item.',
    message: 'Not found.',
  },
  MethodNotAllowed: {
    status: 405,
    description: 'The method is not supported here.',
    message: 'The method is not supported here.',
    headers: { Allow: 'Allow' },
  },
  NotAcceptable: {
    status: 406,
    description: 'The Accept header excludes JSON.',
    message: 'The Accept header must allow application/json.',
  },
  Conflict: {
    status: 409,
    description: 'Other items refer to this one.',
    message: 'Other items still refer to this one.',
  },
  PreconditionFailed: {
    status: 412,
    description: 'The item has another version than If-Match names.',
    message: 'The item has changed since it was read. Read it again.',
  },
  BodyTooLarge: {
    status: 413,
    description: 'The body is too large.',
    message: 'The request body is larger than 1048576 bytes.',
  },
  TargetTooLong: {
    status: 414,
    description: 'The path and query are too long.',
    message: 'The request target is longer than 8192 bytes.',
  },
  UnsupportedMediaType: {
    status: 415,
    description: 'The body is not JSON in UTF-8.',
    message: 'The request body must be application/json in UTF-8.',
    headers: { Accept: 'Accept' },
  },
  PreconditionRequired: {
    status: 428,
    description: 'If-Match is missing.',
    message: 'The header If-Match is required: send the ETag of the item as it was read.',
  },
  TooManyRequests: {
    status: 429,
    description: 'There were too many requests.',
    message: 'There were too many requests. Try again later.',
    headers: retry,
  },
  InternalError: {
    status: 500,
    description: 'An internal error.',
    message: 'The request could not be served because of an internal error.',
  },
  Unavailable: {
    status: 503,
    description: 'Storage cannot be reached, or the service is closing.',
    message: 'The service is not available at the moment. Try again later.',
    headers: retry,
  },
}

/** Returns the responses of errors by the name of their component. Some may be unused. */
export function sharedResponses(service: DescribedService): Readonly<Record<string, JsonSchema>> {
  const all: typeof errorResponses = { ...errorResponses, ...keyResponses }
  const responses = Object.entries(all).map(([name, { status, description, message, headers }]) => {
    const examples = { [`status${status}`]: { value: { message, validations: [], status } } }
    const body = jsonContent(schemaReference('Rejection'), examples)
    return [name, { description, ...headersOf(service, headers), ...body }] as const
  })
  return {
    BadRequest: {
      description: 'The request cannot be parsed, or names something unknown.',
      ...headersOf(service),
      ...jsonContent(schemaReference('Rejection'), { unknown: unknownParameter }),
    },
    RejectedRead: {
      description:
        'The request cannot be parsed or names something unknown, or the service rejects it.',
      ...headersOf(service),
      ...jsonContent(rejectionSchema(service), { unknown: unknownParameter }),
    },
    RejectedWrite: {
      description: `A validation failed${hasBodyStatus200(service) ? ' (body status 200)' : ''}, warnings wait for confirmation, or the request cannot be parsed.`,
      ...headersOf(service),
      ...jsonContent(rejectionSchema(service), writeExamples(service)),
    },
    NotModified: {
      description: 'The client has the response already.',
      ...headersOf(service, { ETag: 'ETag' }),
    },
    ...Object.fromEntries(responses),
  }
}

/** Returns references to the error responses of an event, by status. */
export function errorReferences(
  service: DescribedService,
  described: DescribedCollection,
  event: PublishedEventName,
): Readonly<Record<string, JsonSchema>> {
  const { security } = service
  const { collection } = described
  const isKeyed = event !== 'Filter' && hasKeys(service, described)
  const hasBody = event === 'Insert' || event === 'Update'
  const hasProviders = security.some((each) => !('anyone' in each))
  const rejection = event === 'Filter' ? 'RejectedRead' : 'RejectedWrite'
  const writesItem = event === 'Update' || event === 'Delete'
  const hasFailures = event !== 'Filter' || !collection.filtersDirectly
  const others = Object.entries(errorResponses).filter(([, { status }]) => {
    if (status === 401) return hasProviders
    if (status === 412) return collection.concurrency !== undefined && writesItem
    if (status === 428) return collection.concurrency?.isRequired === true && writesItem
    if (status === 409) return event === 'Delete' || runsApplicationCode(collection, event)
    return hasBody || (status !== 413 && status !== 415)
  })
  return {
    400: responseReference(hasFailures ? rejection : 'BadRequest'),
    ...Object.fromEntries(others.map(([name, { status }]) => [status, responseReference(name)])),
    ...(isKeyed && { 409: responseReference('KeyConflict'), 422: responseReference('KeyReused') }),
  }
}

// It may delete an item to which others refer, or throw that error itself.
function runsApplicationCode(
  { serve, events, rulesOn }: PublishedCollection,
  event: PublishedEventName,
): boolean {
  if (serve !== undefined || events[event] !== undefined) return true
  return event !== 'Filter' && rulesOn[event].length > 0
}

/** Returns the member `content` of a response or request. */
export function jsonContent(schema: JsonSchema, examples: JsonSchema = {}): JsonSchema {
  const named = Object.keys(examples).length === 0 ? {} : { examples }
  return { content: { 'application/json': { schema, ...named } } }
}

function responseReference(name: string): JsonSchema {
  return { $ref: `#/components/responses/${name}` }
}

function hasBodyStatus200({ options }: DescribedService): boolean {
  return options.bodyStatus === 'contract'
}

// The status of the body distinguishes both, so that types of generated clients do as well.
function rejectionSchema(service: DescribedService): JsonSchema {
  const rejection = schemaReference('Rejection')
  return hasBodyStatus200(service)
    ? { oneOf: [schemaReference('FailedValidation'), rejection] }
    : rejection
}

const unknownParameter = {
  value: { message: 'Unknown query parameter: citty.', validations: [], status: 400 },
}

function writeExamples(service: DescribedService): JsonSchema {
  return {
    failed: {
      summary: 'A validation failed',
      value: {
        item: { name: '' },
        message: 'The changes could not be saved.',
        validations: [{ message: 'name is required.', severity: 'error', field: 'name' }],
        status: hasBodyStatus200(service) ? 200 : 400,
      },
    },
    warnings: {
      summary: 'Warnings wait for confirmation',
      value: {
        item: { quantity: 5 },
        message: 'The changes need confirmation.',
        validations: [
          {
            validationId: '57c29a364331bed376c5fe8576dcd30b',
            message: 'Only 3 units are in stock.',
            severity: 'warning',
            field: 'quantity',
          },
        ],
        status: 400,
      },
    },
    malformed: {
      summary: 'The request cannot be parsed',
      value: {
        message: 'The request body must be one JSON object.',
        validations: [],
        status: 400,
      },
    },
  }
}
