import type { CallOptions, EndpointResponse, ResponseFormat } from './call.ts'
import { CallError, callErrorCodes } from './call-error.ts'
import type { Connection, ReadStream } from './connection/connection.ts'
import { excerptOf } from './connection/read-response.ts'
import { completeEndpoint, type EndpointData, type EndpointOptions } from './endpoint-options.ts'
import type { Parameters, ValueOf } from './parameters.ts'
import { type PathParameterNames, pathTemplate } from './path-template.ts'
import { stringifyJson } from '../protocol/json-text.ts'
import { transactionDetector } from '../observation/open-transaction.ts'
import { buildRequest } from './request.ts'
import { placeOf, type InputOf, type OutputOf, type Schema, type SchemaIssue } from './schema.ts'

/** The part of a URL that an API accepts calls at: a method and a path of a connection. */
export interface Endpoint<Input = unknown, Response = unknown> extends EndpointData {
  readonly connection: Connection
  /**
   * Sends a request and returns the response. Rejects with a CallError, or with the reason of
   * `options.signal` once that is aborted.
   */
  call(input: Input, options?: CallOptions): Promise<EndpointResponse<Response>>
}

// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- There are no parameters.
type None = {}

type Simplified<Members> = { [Name in keyof Members]: Members[Name] }

// Makes the type of a path parameter that is not in the path a compile error.
interface NoOthers<PathTypes, Names> {
  readonly parameters?: Readonly<Record<Exclude<keyof PathTypes, Names>, never>>
}

type RequiredNames<Of extends Parameters> = {
  [Name in keyof Of]: Of[Name] extends { readonly required: true } ? Name : never
}[keyof Of]

type InputOfParameters<Of extends Parameters> = {
  [Name in RequiredNames<Of>]: ValueOf<Of[Name]>
} & { [Name in Exclude<keyof Of, RequiredNames<Of>>]?: ValueOf<Of[Name]> | null | undefined }

/** The input of an endpoint: its parameters by name, and `body` if its requests have one. */
export type EndpointInput<
  Path extends string,
  PathTypes,
  Query extends Parameters,
  HeaderTypes extends Parameters,
  Body,
> = Simplified<
  {
    [Name in PathParameterNames<Path>]: Name extends keyof PathTypes
      ? ValueOf<PathTypes[Name]>
      : string
  } & InputOfParameters<Query> &
    InputOfParameters<HeaderTypes> &
    (undefined extends Body ? unknown : { body: InputOf<Body> })
>

/** The type of the body of an endpoint's response. */
export type ResponseBody<Response, As> = [Response] extends [undefined]
  ? As extends 'text'
    ? string
    : As extends 'lines'
      ? readonly unknown[]
      : unknown
  : OutputOf<Response>

const transactions = transactionDetector()

/**
 * Describes an endpoint of a connection. Path parameters are strings unless `parameters` states another
 * type. Throws a TypeError that lists every mistake.
 */
export function endpoint<
  const Path extends string,
  const PathTypes extends Parameters = None,
  const Query extends Parameters = None,
  const HeaderTypes extends Parameters = None,
  Body extends Schema | undefined = undefined,
  Response extends Schema | undefined = undefined,
  const As extends ResponseFormat | undefined = undefined,
>(
  connection: Connection,
  options: EndpointOptions<Path, PathTypes, Query, HeaderTypes, Body, Response, As> &
    NoOthers<PathTypes, PathParameterNames<Path>>,
): Endpoint<EndpointInput<Path, PathTypes, Query, HeaderTypes, Body>, ResponseBody<Response, As>> {
  const description = completeEndpoint(options)
  const { template: _template, largeNumbers: _largeNumbers, ...data } = description
  type Input = EndpointInput<Path, PathTypes, Query, HeaderTypes, Body>
  type Output = ResponseBody<Response, As>
  transactions.start()

  async function call(
    input: Input,
    callOptions: CallOptions = {},
  ): Promise<EndpointResponse<Output>> {
    requireOutside(data.name)
    const request = await buildRequest(description, input, callOptions)
    const response = await connection.exchange(request)
    return Object.freeze({ ...response, body: await checked(response) })
  }

  async function checked({ status, body }: EndpointResponse): Promise<Output> {
    if (data.response === undefined) return body as Output
    let cause: unknown
    let detail: string | undefined
    try {
      const result = await data.response['~standard'].validate(body)
      if (result.issues === undefined) return result.value as Output
      detail = mismatch(result.issues, data.response)
    } catch (error) {
      // A check or a transformation of the application. The call had its effect.
      cause = error
    }
    const excerpt = excerptOf(Buffer.from(stringifyJson(body) ?? ''))
    throw new CallError('INVALID_RESPONSE', data.name, { status, excerpt, cause, detail })
  }

  return Object.freeze({ ...data, connection, call })
}

/**
 * Calls an endpoint and has `read` read the bytes of its response as they arrive, for responses that are
 * larger than the memory should hold. The time of the call includes reading. The limit for the response is
 * `options.maxResponseBytes`; its nesting, its numbers and its type are not checked. Resolves to what `read`
 * resolves to. Rejects with a CallError, with the reason of `options.signal`, or with what `read` throws.
 */
export async function readStream<Input, Result>(
  endpoint: Endpoint<Input>,
  input: Input,
  read: ReadStream<Result>,
  options: CallOptions = {},
): Promise<Result> {
  const { connection: _connection, call: _call, response: _response, ...data } = endpoint
  const description = { ...data, template: pathTemplate(data.path), largeNumbers: undefined }
  requireOutside(data.name)
  return endpoint.connection.stream(await buildRequest(description, input, options), read)
}

/** Describes where a response does not match its schema. The message of an issue may quote the value. */
function mismatch(issues: readonly SchemaIssue[], schema: Schema): string {
  const [issue] = issues
  const place = placeOf(issues)
  const isOwn = schema['~standard'].vendor === 'rowgate' && issue !== undefined
  const keyword = isOwn ? ` (${issue.message})` : ''
  return `${callErrorCodes.INVALID_RESPONSE}${place === '' ? '' : ` at ${place}`}${keyword}`
}

// Other writers would wait for the response, and a rollback could not undo the call.
function requireOutside(name: string): void {
  if (transactions.isInside()) throw new CallError('IN_TRANSACTION', name)
}
