import * as z from 'zod/mini'
import { nonEmpty } from '../checks/option-shapes.ts'
import { mistaken, type Mistake } from '../checks/mistakes.ts'
import { completeOptions } from '../checks/options.ts'
import { suggestion } from '../checks/nearest-name.ts'
import { formStyles } from './body/form.ts'
import { bodyKind, isMediaType } from './body/media-type.ts'
import type { BodyEncoding } from './body/request-body.ts'
import type { EndpointMethod, ResponseFormat } from './call.ts'
import { headerMistakes } from './connection/header-names.ts'
import { largeNumbersOption, type LargeNumbers } from './connection/json-text.ts'
import { optionsOf, type Parameters } from './parameters.ts'
import { pathTemplate, type PathTemplate } from './path-template.ts'
import type { Schema } from './schema.ts'

/** The options of {@link endpoint}. */
export interface EndpointOptions<
  Path extends string = string,
  PathTypes extends Parameters = Parameters,
  Query extends Parameters = Parameters,
  HeaderTypes extends Parameters = Parameters,
  Body extends Schema | undefined = Schema | undefined,
  Response extends Schema | undefined = Schema | undefined,
  As extends ResponseFormat | undefined = ResponseFormat | undefined,
> {
  /** Names the endpoint in errors and traces: `create-shipment`. */
  readonly name: string
  /** Default: GET. */
  readonly method?: EndpointMethod | undefined
  /** The path template below the base URL: `/orders/{orderId}`. */
  readonly path: Path
  /** The parameters of the path that are not strings. */
  readonly parameters?: PathTypes | undefined
  /** The parameters of the query. Default: none. */
  readonly query?: Query | undefined
  /** The parameters that are sent as headers. Default: none. */
  readonly headers?: HeaderTypes | undefined
  /** The schema of the request's body. Default: no body. */
  readonly body?: Body | undefined
  /**
   * The media type of the request's body. `application/json` and types that end with `+json` are sent as JSON,
   * `application/x-www-form-urlencoded` and `multipart/form-data` as forms; the body of another type is a string, bytes,
   * or a file. Default: `application/json`.
   */
  readonly bodyType?: string | undefined
  /** How the lists and objects of a form are sent. Default: `repeated`. */
  readonly encoding?: BodyEncoding | undefined
  /** The schema of the response's body. Default: any JSON. */
  readonly response?: Response | undefined
  /**
   * How the response is read, whatever its media type is: `json`, `lines` (NDJSON), which becomes a list, or `text`.
   * Default: as JSON, which its media type must state.
   */
  readonly as?: As
  /** The media types that the `Accept` header names. Default: JSON, or by `as`. */
  readonly accept?: string | undefined
  /** What happens to numbers in a response that a double can't hold. Default: as the connection states. */
  readonly largeNumbers?: LargeNumbers | undefined
}

/** What is known of an endpoint. */
export interface EndpointData {
  /** Names the endpoint in errors and traces. */
  readonly name: string
  readonly method: EndpointMethod
  /** The path template: `/orders/{orderId}`. */
  readonly path: string
  /** The parameters of the path, the query and the headers, by their names in the input. */
  readonly parameters: Parameters
  readonly query: Parameters
  readonly headers: Parameters
  /** The schema of the request's body; undefined if requests have none. */
  readonly body: Schema | undefined
  /** The media type of the request's body. */
  readonly bodyType: string
  readonly encoding: BodyEncoding | undefined
  readonly as: ResponseFormat | undefined
  readonly accept: string | undefined
  /** The schema of the response's body; undefined if any JSON is accepted. */
  readonly response: Schema | undefined
}

/** The complete options of an endpoint. */
export interface EndpointDescription extends EndpointData {
  readonly largeNumbers: LargeNumbers | undefined
  readonly template: PathTemplate
}

const types = z.enum(['string', 'integer', 'number', 'boolean'])
const parameter = z.union([
  types,
  z.strictObject({
    type: types,
    required: z.optional(z.boolean()),
    values: z.optional(
      z.array(z.union([z.string(), z.number(), z.boolean()])).check(z.minLength(1)),
    ),
    list: z.optional(z.enum(['repeated', 'comma'])),
    name: z.optional(nonEmpty),
  }),
])
const parameters = z._default(z.record(z.string(), parameter), {})
const schema = z.custom<Schema>(isSchema, {
  error: 'must be a schema: of zod, sample(...), typed<...>() or jsonSchema(...)',
})

function isSchema(value: unknown): boolean {
  const { '~standard': standard } = Object(value) as Partial<Schema>
  return typeof standard?.validate === 'function'
}

const mediaType = z.string().check(z.refine(isMediaType, { error: 'must be a media type' }))
const style = z.enum(formStyles)
const encoding = z.strictObject({
  style: z.optional(style),
  contentType: z.optional(mediaType),
})

const shape = z.strictObject({
  name: z
    .string()
    .check(z.regex(/^[\w./-]{1,100}$/, 'must consist of letters, digits, _, ., / and -')),
  method: z._default(z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']), 'GET'),
  path: z.string(),
  parameters,
  query: parameters,
  headers: parameters,
  body: z.optional(schema),
  bodyType: z._default(mediaType, 'application/json'),
  encoding: z.optional(z.union([style, z.record(z.string(), z.union([style, encoding]))])),
  response: z.optional(schema),
  as: z.optional(z.enum(['json', 'lines', 'text'])),
  accept: z.optional(z.string().check(z.regex(/^[\x20-\x7e]+$/, 'must be media types'))),
  largeNumbers: z.optional(largeNumbersOption),
} satisfies Record<keyof EndpointOptions, z.ZodMiniType>)

/** Checks and completes the options of an endpoint. Throws a TypeError that lists every mistake. */
export function completeEndpoint(given: object): EndpointDescription {
  const completed = completeOptions('endpoint', shape, given)
  const { body, response, largeNumbers, encoding, as, accept, ...complete } = completed
  const template = pathTemplate(complete.path)
  const optional = { body, response, largeNumbers, encoding, as, accept }
  const description = { ...complete, ...optional, template }
  const mistakes = mistakesOf(description)
  if (mistakes.length > 0) throw mistaken(mistakes)
  return Object.freeze({
    ...description,
    parameters: Object.freeze(
      Object.fromEntries(
        description.template.names.map((name) => [
          name,
          { ...optionsOf(description.parameters[name] ?? 'string'), required: true },
        ]),
      ),
    ),
  })
}

function mistakesOf(description: EndpointDescription): readonly Mistake[] {
  const { method, template, body } = description
  const place = (group: string, name: string): string => `endpoint.${group}.${name}`
  const unknown = Object.keys(description.parameters)
    .filter((name) => !template.names.includes(name))
    .map((name) => ({
      place: place('parameters', name),
      advice: `is not in the path; ${suggestion(name, template.names, 'parameters of the path')}`,
    }))
  const names = [
    ...template.names,
    ...Object.keys(description.query),
    ...Object.keys(description.headers),
  ]
  const repeated = [...names, 'body']
    .filter((name, index, all) => all.indexOf(name) !== index)
    .map((name) => ({
      place: `endpoint.${name}`,
      advice: 'has the name of another part of the input; rename it and state `name`',
    }))
  const headers = [
    ...(description.accept === undefined ? [] : [{ place: 'endpoint.accept', name: 'accept' }]),
    ...Object.entries(description.headers).map(([name, options]) => ({
      place: place('headers', name),
      name: optionsOf(options).name ?? name,
    })),
  ]
  const lists = (['parameters', 'headers'] as const).flatMap((group) =>
    Object.entries(description[group])
      .filter(([, options]) => optionsOf(options).list === 'repeated')
      .map(([name]) => ({ place: place(group, name), advice: 'can only be a list with `comma`' })),
  )
  const bodies =
    body !== undefined && method === 'GET'
      ? [{ place: 'endpoint.body', advice: 'must be absent: a GET request has no body' }]
      : bodyMistakes(description)
  return [...unknown, ...repeated, ...headerMistakes(headers), ...lists, ...bodies]
}

function bodyMistakes({ body, bodyType, encoding }: EndpointDescription): readonly Mistake[] {
  const kind = bodyKind(bodyType)
  const isForm = kind === 'form' || kind === 'multipart'
  const mistakes: Mistake[] = []
  if (body === undefined && bodyType !== 'application/json')
    mistakes.push({ place: 'endpoint.body', advice: 'is missing: bodyType needs its schema' })
  if (/^multipart\//i.test(bodyType) && bodyType !== 'multipart/form-data')
    mistakes.push({ place: 'endpoint.bodyType', advice: 'must be multipart/form-data' })
  if (encoding !== undefined && !isForm)
    mistakes.push({
      place: 'endpoint.encoding',
      advice: 'is only possible in a form: state bodyType',
    })
  if (kind !== 'form' || typeof encoding !== 'object') return mistakes
  const others = Object.entries(encoding).filter(
    ([, own]) => typeof own === 'object' && own.contentType !== undefined,
  )
  return [
    ...mistakes,
    ...others.map(([name]) => ({
      place: `endpoint.encoding.${name}.contentType`,
      advice: 'is only possible in multipart/form-data; for JSON, state the style json',
    })),
  ]
}
