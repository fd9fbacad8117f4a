import { mistaken, type Mistake } from '../../checks/mistakes.ts'
import { completeOptions } from '../../checks/options.ts'
import type { RuleEndpoint } from '../rules/rule.ts'
import { readingShape } from './flatten.ts'
import type { Escaped, Levels, Names, Scalar } from './response-types.ts'

/** The options of {@link readAs}: which parts of a response become tables. They are those of {@link FlattenOptions}. */
export interface ReadOptions<Path extends string = string> {
  /** The paths of objects that are dictionaries; the empty path is the response itself. Default: none. */
  readonly entries?: readonly (Path | '')[]
  /** The paths of arrays of which a service sends a single element without the array. Default: none. */
  readonly arrays?: readonly Path[]
  /** The paths of objects whose arrays belong together. Default: none. */
  readonly zip?: readonly Path[]
}

/** The paths of the objects and arrays of a response. */
export type PlacePath<T> = unknown extends T ? string : Places<T, '', Levels>

type Places<T, Prefix extends string, Left extends unknown[]> = Left extends [
  unknown,
  ...infer Rest,
]
  ? T extends Scalar
    ? never
    : T extends readonly (infer Element)[]
      ? Places<Element, Prefix, Rest>
      : T extends object
        ? { [K in Names<T>]-?: PlaceAt<T[K], `${Prefix}${Escaped<K>}`, Rest> }[Names<T>]
        : never
  : never

type PlaceAt<V, Path extends string, Left extends unknown[]> = unknown extends V
  ? Path | `${Path}/${string}`
  : V extends Scalar
    ? never
    : Path | Places<V, `${Path}/`, Left>

/** A response as rules see it: with an array where the options say that there is a table. */
export type ReadOf<T, Options> = ReadEach<
  ReadEach<ReadEach<T, ListOf<Options, 'arrays'>, 'arrays'>, ListOf<Options, 'zip'>, 'zip'>,
  ListOf<Options, 'entries'>,
  'entries'
>

type How = 'arrays' | 'zip' | 'entries'

type ListOf<Options, Name extends How> =
  Options extends Readonly<Record<Name, readonly (infer Path extends string)[]>> ? Path : never

type ReadEach<T, Path extends string, Kind extends How> = [Path] extends [never]
  ? T
  : unknown extends T
    ? T
    : '' extends Path
      ? Converted<T, Kind>
      : ReadAt<T, Path, Kind, Levels>

type ReadAt<T, Path extends string, Kind extends How, Left extends unknown[]> = Left extends [
  unknown,
  ...infer Rest,
]
  ? [Path] extends [never]
    ? T
    : T extends Scalar
      ? T
      : T extends readonly (infer Element)[]
        ? readonly ReadAt<Element, Path, Kind, Rest>[]
        : {
            readonly [K in keyof T]: K extends string
              ? Escaped<K> extends Path
                ? Converted<ReadAt<T[K], Below<Path, Escaped<K>>, Kind, Rest>, Kind>
                : ReadAt<T[K], Below<Path, Escaped<K>>, Kind, Rest>
              : T[K]
          }
  : T

type Below<Path extends string, Key extends string> = Path extends `${Key}/${infer Rest}`
  ? Rest
  : never

type Converted<T, Kind extends How> = T extends null | undefined
  ? T
  : Kind extends 'arrays'
    ? T extends readonly unknown[]
      ? T
      : readonly T[]
    : Kind extends 'entries'
      ? T extends readonly unknown[]
        ? T
        : readonly T[keyof T][]
      : Zipped<T> | Unzipped<T>

/** The members that are not arrays, which stay columns. */
type Unzipped<T> = {
  readonly [K in keyof T as T[K] extends readonly unknown[] ? never : K]: T[K]
}

/** The rows of the table. */
type Zipped<T> = readonly {
  readonly [
    K in keyof T as T[K] extends readonly unknown[] | null | undefined ? K : never
  ]: T[K] extends readonly (infer Element)[] ? Element : never
}[]

/**
 * Returns an endpoint as rules read its responses: with tables for single elements, dictionaries and parallel arrays.
 * Throws a TypeError that lists every mistake.
 *
 * ```ts
 * const weather = readAs(getForecast, { zip: ['hourly'] })
 * const hours = rule(weather, { from: 'hourly', into: temperatures, set: { time: 'time', celsius: 'temperature' } })
 * ```
 */
export function readAs<Response, const Options extends ReadOptions<NoInfer<PlacePath<Response>>>>(
  endpoint: RuleEndpoint<Response>,
  options: Options,
): RuleEndpoint<Response, ReadOf<Response, Options>> {
  const reading = completeOptions(`readAs ${endpoint.name}`, readingShape, options)
  const seen = new Map<string, string>()
  const mistakes: Mistake[] = []
  if (endpoint.reading !== undefined)
    mistakes.push({
      place: `readAs ${endpoint.name}`,
      advice: 'has an endpoint that readAs returned: give all options to one readAs',
    })
  for (const [name, paths] of Object.entries(reading)) {
    for (const path of paths) {
      const other = seen.get(path)
      const place = `readAs ${endpoint.name}.${name}`
      if (other !== undefined) mistakes.push({ place, advice: `has ${path}, which is in ${other}` })
      seen.set(path, name)
    }
  }
  if (mistakes.length > 0) throw mistaken(mistakes)
  const { name, call, response } = endpoint
  return Object.freeze({ name, call, response, reading: Object.freeze(reading) })
}
