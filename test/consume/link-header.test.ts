import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nextLink, parseLinks } from '../../src/entries/consume.ts'
import { processorTime } from '../kit/processor-time.ts'

describe('a Link header', () => {
  test.each([
    ['<https://a.example/?page=2>; rel="next"', 'https://a.example/?page=2'],
    ['</1>; rel=prev, </3>; rel=next', '/3'],
    ['</1>; title="a, b; rel=next"; rel=prev, </3>; rel="next"', '/3'],
    ['</3>; REL="Last NEXT"', '/3'],
    ['</3> ; rel = next ;', '/3'],
    ['</a,b>;rel="next"', '/a,b'],
    ['</3>; title="say \\"hi\\""; rel=next', '/3'],
    [',, </1>; rel=first ,,</3>; rel=next,', '/3'],
    ['broken, </3>; rel=next', '/3'],
    ['</3>; rel="next" broken, </4>; rel=next', '/4'],
  ])('%s leads to %s', (header, target) => {
    expect(nextLink(header)).toBe(target)
  })

  test.each([
    null,
    '',
    '</3>',
    '</3>; rel=nextish',
    '</3>; title="rel=next"',
    '</3>; rel=prev; rel=next',
    '</3>; rel=next; anchor="/other"',
    '</3; rel=next',
    '</3>; rel="next',
  ])('%s has no next page', (header) => {
    expect(nextLink(header)).toBeUndefined()
  })

  test('is parsed as it was written', () => {
    const token = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/)
    const value = fc.stringMatching(/^[ -~]{0,20}$/)
    const link = fc.record({
      target: fc.stringMatching(/^[!-;=?-~]{0,20}$/),
      relations: fc.array(token, { maxLength: 3 }),
      title: value,
    })
    fc.assert(
      fc.property(fc.array(link), (links) => {
        const header = links
          .map(({ target, relations, title }) => {
            const text = title.replace(/[\\"]/g, '\\$&')
            return `<${target}>; title="${text}"; rel="${relations.join(' ')}"`
          })
          .join(', ')
        const expected = links.map(({ target, relations }) => ({ target, relations }))
        expect(parseLinks(header)).toEqual(expected)
      }),
      { numRuns: 1000 },
    )
  })

  test('of any content is parsed without an error', () => {
    const piece = fc.constantFrom('<', '>', ';', ',', '"', '\\', '=', ' ', 'rel', 'next', 'é')
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        for (const { target } of parseLinks(pieces.join(''))) expect(target).not.toContain('>')
      }),
      { numRuns: 2000 },
    )
  })

  test('of 200 kB is parsed in linear time', () => {
    const parse = () => {
      for (const piece of ['<', '</1>;', '</1>; rel="', '</1>; a="\\', ' ', ','])
        parseLinks(piece.repeat(200_000 / piece.length))
    }
    expect(processorTime(parse)).toBeLessThan(5000)
  })
})
