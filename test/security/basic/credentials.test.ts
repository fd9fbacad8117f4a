import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Credentials } from '../../../src/request/request.ts'
import { authorizationFinder } from '../../../src/security/find-authorization.ts'
import { decodeBasic } from '../../../src/security/basic/http-basic.ts'
import { requestWith } from './context.ts'

const find = (request: Credentials) => authorizationFinder('Basic')(request)

describe('the Authorization header', () => {
  test.each(['Basic', 'basic', 'BASIC', 'bAsIc'])('is found with the scheme %s', (scheme) => {
    expect(find(requestWith(`${scheme} YTpi`))).toEqual({
      place: 'header authorization',
      value: 'YTpi',
    })
  })

  test('may have more than one space', () => {
    expect(find(requestWith('Basic   YTpi '))?.value).toBe('YTpi')
  })

  test('without anything after the scheme is a credential, a bad one', () => {
    expect(find(requestWith('Basic'))?.value).toBe('')
  })

  test.each([undefined, '', 'Bearer x', 'Basics YTpi', 'Basic\tYTpi', 'YTpi', 'Digest Basic="x"'])(
    'of the form %j belongs to another scheme',
    (header) => {
      expect(find(requestWith(header))).toBeUndefined()
    },
  )

  test.each([
    'Basic YTpi, Basic YTpj',
    'Basic YTpi,Bearer x.y.z',
    'Basic YTpi, Bearer  x',
    'Basic , Basic YTpi',
  ])('that came twice, as %j, is rejected', (header) => {
    expect(() => find(requestWith(header))).toThrow(
      expect.objectContaining({ code: 'MULTIPLE_CREDENTIALS' }) as Error,
    )
  })

  test('with a comma that parts nothing is one bad credential', () => {
    expect(find(requestWith('Basic a,b'))?.value).toBe('a,b')
  })
})

describe('a credential', () => {
  test('that the standard shows is read', () => {
    // RFC 7617, sections 2 and 2.1.
    expect(decodeBasic('QWxhZGRpbjpvcGVuIHNlc2FtZQ==')).toEqual({
      user: 'Aladdin',
      password: 'open sesame',
    })
    expect(decodeBasic('dGVzdDoxMjPCow==')).toEqual({ user: 'test', password: '123£' })
  })

  test.each([
    ['colons in the password', 'maria:a:b::c', 'maria', 'a:b::c'],
    ['an empty password', 'maria:', 'maria', ''],
    [
      'names and passwords of any script',
      'Zoë Müller:пароль 密码 🔑',
      'Zoë Müller',
      'пароль 密码 🔑',
    ],
    ['a byte order mark, which is a character', '\ufeffm:\ufeffp', '\ufeffm', '\ufeffp'],
    ['spaces, which belong to it', ' m : p ', ' m ', ' p '],
    ['the longest user', `${'🔑'.repeat(200)}:p`, '🔑'.repeat(200), 'p'],
    ['the longest password', `m:${'é'.repeat(512)}`, 'm', 'é'.repeat(512)],
  ])('may have %s', (_, text, user, password) => {
    expect(decodeBasic(encode(text))).toEqual({ user, password })
  })

  test.each([
    ['nothing', ''],
    ['no colon', encode('maria')],
    ['no user', encode(':secret')],
    ['a user that is too long', encode(`${'a'.repeat(201)}:p`)],
    ['a password that is too long', encode(`m:${'a'.repeat(1025)}`)],
    ['a control character in the user', encode('ma\nria:p')],
    ['a control character in the password', encode('m:p\0')],
    ['a control character beyond ASCII', encode('m:p\u0085')],
    ['bytes that are not UTF-8', Buffer.from([0x6d, 0x3a, 0xe9]).toString('base64')],
    ['an overlong form', Buffer.from([0x6d, 0x3a, 0xc0, 0xaf]).toString('base64')],
    ['a lone surrogate', Buffer.from([0x6d, 0x3a, 0xed, 0xa0, 0x80]).toString('base64')],
    ['no padding', 'YTpiYw'],
    ['too much padding', 'YTpi===='],
    ['padding within', 'YT==OmI='],
    ['left-over bits', 'YTpiYx=='],
    ['characters of base64url', 'YTo_Pz4-'],
    ['white space', 'YTpi YTpi'],
    ['no base64 at all', 'maria:secret'],
  ])('with %s is malformed', (_, text) => {
    expect(decodeBasic(text)).toBeUndefined()
  })

  test('comes back as it was sent, whatever it is', () => {
    const printable = fc
      .string({ unit: 'binary', maxLength: 60 })
      .map((text) => text.toWellFormed().replace(/\p{Cc}/gu, ''))
    const name = printable.map((text) => `m${text.replaceAll(':', '')}`)
    fc.assert(
      fc.property(name, printable, (user, password) => {
        expect(decodeBasic(encode(`${user}:${password}`))).toEqual({ user, password })
      }),
    )
  })

  test('has one form only', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.base64String(), fc.string(), fc.string({ unit: 'binary' })),
        (text) => {
          const read = decodeBasic(text)
          if (read !== undefined) expect(encode(`${read.user}:${read.password}`)).toBe(text)
        },
      ),
      { examples: [['YTpi'], ['YTpiYx=='], ['YTpiYw==']] },
    )
  })
})

function encode(text: string): string {
  return Buffer.from(text).toString('base64')
}
