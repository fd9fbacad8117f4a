import { system, type Principal } from '../../src/entries/index.ts'

const whole = { user: 'eve', roles: [], attributes: {}, provider: null, keyId: null }
const nameless = { ...whole, user: null }

/** Returns a value on the first reads of a member, and the rights of `system` on all later reads. */
function changing(reads: number): object {
  let read = 0
  return {
    ...nameless,
    get kind() {
      read++
      return read > reads ? 'system' : 'anonymous'
    },
  }
}

/** Values that claim to be `system`, none of which is accepted. */
export const forgedSystems: Readonly<Record<string, () => unknown>> = {
  'a copy of system': () => ({ ...system }),
  'a deep copy of system': () => structuredClone(system),
  'system from JSON': () => JSON.parse(JSON.stringify(system)) as unknown,
  'a frozen copy of system': () => Object.freeze({ ...system }),
  'a user of the kind system': () => ({ ...whole, kind: 'system' }),
  'a kind that is a String object': () => ({ ...nameless, kind: new String('system') }),
  'a kind in capital letters': () => ({ ...nameless, kind: 'SYSTEM' }),
  'an unknown kind': () => ({ ...whole, kind: 'admin' }),
  'no user, but the kind user': () => ({ ...nameless, kind: 'user' }),
  'a user of the kind anonymous': () => ({ ...whole, kind: 'anonymous' }),
  'system as the prototype': () => Object.create(system) as unknown,
  'a kind in the prototype': () =>
    Object.assign(Object.create({ kind: 'system' }) as object, whole),
  'a getter of the kind': () =>
    Object.defineProperty({ ...nameless }, 'kind', { get: () => 'system' }),
  'a Proxy of system': () => new Proxy(system, {}),
  'a frozen Proxy of a copy': () => Object.freeze(new Proxy({ ...system }, {})),
}

/** Values that are accepted with the rights of a caller without roles, whatever they become later. */
export const harmlessClaims: Readonly<Record<string, () => unknown>> = {
  'a kind that changes after the first read': () => changing(1),
  'a kind that changes after the second read': () => changing(2),
  'a frozen object whose getter changes': () => Object.freeze(changing(1)),
  'a Proxy whose kind changes': () => {
    let read = 0
    return new Proxy(nameless, {
      get: (target, name) =>
        name === 'kind'
          ? read++ === 0
            ? 'anonymous'
            : 'system'
          : (Reflect.get(target, name) as unknown),
    })
  },
  'a Proxy that equals everything': () =>
    new Proxy(nameless, { has: (_, name) => name !== 'rejected', getPrototypeOf: () => system }),
  'a user of the name system': () => ({ ...whole, user: 'system', roles: ['system', '*'] }),
  'an attribute kind': () => ({ ...whole, attributes: { kind: 'system' } }),
  'an own member __proto__': () =>
    Object.defineProperty({ ...whole }, '__proto__', {
      value: { kind: 'system' },
      enumerable: true,
    }),
}

/** A value that becomes `system` when it is changed after it was accepted. */
export function becomeSystem(given: object): void {
  Reflect.set(given, 'kind', 'system')
  Reflect.set(given, 'user', null)
  Reflect.setPrototypeOf(given, system)
}

/** A claim as the type of principals, as JavaScript code could give it. */
export function asPrincipal(claim: unknown): Principal {
  return claim as Principal
}
