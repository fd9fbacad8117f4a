import fc from 'fast-check'

const digits = fc
  .array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 25 })
  .map((all) => all.join(''))
const whole = fc.oneof(
  fc.constant('0'),
  fc.tuple(fc.integer({ min: 1, max: 9 }), digits).map(([first, rest]) => `${first}${rest}`),
)
const exponent = fc
  .tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.integer({ min: 0, max: 200 }))
  .map(([letter, sign, power]) => `${letter}${sign}${power}`)

/** Numbers of JSON in any form that a double holds as a finite value. */
export const numberTexts: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '1.10',
    '1e2',
    '1E+2',
    '12345678901234567890.123',
    '0.1',
    '1e-400',
    '9007199254740993',
    '100e-2',
    '1.7976931348623157e308',
  ),
  fc
    .tuple(fc.constantFrom('', '-'), whole, fc.option(digits), fc.option(exponent))
    .map(
      ([sign, first, fraction, power]) =>
        `${sign}${first}${fraction === null ? '' : `.${fraction}`}${power ?? ''}`,
    ),
)

const units = fc.oneof(
  fc.constantFrom(
    'a',
    'é',
    '😀',
    ' ',
    ':',
    ',',
    '{',
    '}',
    '[',
    ']',
    '/',
    '\\"',
    '\\\\',
    '\\/',
    '\\n',
    '\\u0041',
    '\\u00e9',
    '\\u2028',
    '\\ud83d\\ude00',
    '\u2028',
  ),
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 2 })
    .map((text) => JSON.stringify(text).slice(1, -1)),
)
/** Strings of JSON with escapes of any kind, without U+0000 and lone surrogates. */
export const stringTexts: fc.Arbitrary<string> = fc
  .array(units, { maxLength: 4 })
  .map((all) => `"${all.join('')}"`)
  .filter((text) => !text.includes('\\u0000'))

const nameTexts = fc.oneof(
  fc.constantFrom(
    '"10"',
    '"2"',
    '"1"',
    '"b"',
    '"a"',
    '"__proto__"',
    '""',
    '"\\u0061"',
    '"toJSON"',
    '"constructor"',
  ),
  stringTexts,
)

/** JSON texts without white space and without a name twice, which a json field accepts. */
export const jsonTexts: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(numberTexts, stringTexts, fc.constantFrom('true', 'false', 'null')),
    fc.array(tie('value'), { maxLength: 4 }).map((all) => `[${all.join(',')}]`),
    fc
      .uniqueArray(fc.tuple(nameTexts, tie('value')), {
        maxLength: 5,
        selector: ([name]) => JSON.parse(name) as string,
      })
      .map((members) => `{${members.map(([name, value]) => `${name}:${value}`).join(',')}}`),
  ),
})).value

/** Returns a JSON text with white space between its tokens. */
export function spaced(text: string, spaces: Iterable<string>): string {
  const source = spaces[Symbol.iterator]()
  const space = (): string => (source.next().value as string | undefined) ?? ''
  return text.replace(/"(?:[^"\\]|\\.)*"|[[\]{}:,]/g, (token) => `${space()}${token}${space()}`)
}
