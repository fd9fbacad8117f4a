import { runInNewContext } from 'node:vm'

/** A class whose instances have members that their keys do not show. */
class Filters {
  readonly #id = 1

  get id(): number {
    return this.#id
  }
}

/** Values that are not plain objects, and what a message says of them. */
export const oddObjects: readonly (readonly [what: string, value: unknown, found: string])[] = [
  ['a promise', Promise.resolve({ id: 1 }), 'a Promise; is an await missing?'],
  [
    'a promise of another realm',
    runInNewContext('Promise.resolve({ id: 1 })'),
    'a Promise; is an await missing?',
  ],
  ['what can be awaited', { then: () => undefined }, 'a Promise; is an await missing?'],
  ['a Map', new Map([['id', 1]]), 'an instance of Map.'],
  ['a Set', new Set(['id']), 'an instance of Set.'],
  ['a WeakMap', new WeakMap(), 'an instance of WeakMap.'],
  ['a Date', new Date(0), 'an instance of Date.'],
  ['a RegExp', /id/u, 'an instance of RegExp.'],
  ['an Error', new Error('id'), 'an instance of Error.'],
  ['URL parameters', new URLSearchParams('id=1'), 'an instance of URLSearchParams.'],
  ['a typed array', new Uint8Array(2), 'an instance of Uint8Array.'],
  ['an ArrayBuffer', new ArrayBuffer(2), 'an instance of ArrayBuffer.'],
  ['a boxed string', Object('id'), 'an instance of String.'],
  ['a boxed number', Object(1), 'an instance of Number.'],
  ['an iterator', [1].values(), 'an '],
  ['an instance with getters', new Filters(), 'an instance of Filters.'],
  ['an object that inherits its members', Object.create({ id: 1 }), 'inherits members.'],
  [
    'an object of an object without prototype',
    Object.create(Object.create(null) as object),
    'inherits',
  ],
  [
    'an object with a symbol',
    { [Symbol('id')]: 1 },
    'an object whose member Symbol(id) is a symbol, hidden or an accessor.',
  ],
  [
    'an object with a member that is not enumerable',
    Object.defineProperty({}, 'id', { value: 1 }),
    'an object whose member id is a symbol, hidden or an accessor.',
  ],
  [
    'an object with an accessor',
    {
      get id() {
        return 1
      },
    },
    'an object whose member id is a symbol, hidden or an accessor.',
  ],
]
