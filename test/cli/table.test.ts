import { Readable, Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatTable, type Column } from '../../src/cli/table.ts'
import { openProgress } from '../../src/cli/progress.ts'
import { openTerminal } from '../../src/cli/terminal.ts'
import {
  cut,
  jsonText,
  errorMessage,
  printable,
  printableLines,
  widthOf,
} from '../../src/cli/text.ts'

type Row = readonly string[]

const sign = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  fc.constantFrom('\x1b[31m', '\u009b2J', '\r', '\n', '\u202e', '\u2028', '漢', '👩‍👩‍👧', 'e\u0301'),
)
const anyText = fc.array(sign, { maxLength: 30 }).map((parts) => parts.join(''))
// No \p{C} here: what Node calls unassigned is not the point.
const raw = /[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/

function columns(count: number, spare = 0): readonly Column<Row>[] {
  return Array.from({ length: count }, (_, at) => ({
    title: `COLUMN ${at}`,
    text: (row: Row) => row[at] ?? '',
    whole: at === 0,
    spare: at >= count - spare,
  }))
}

describe('a table', () => {
  test('aligns its columns and cuts nothing without a width', () => {
    const rows = [
      ['maria', 'Sales', ''],
      ['漢字', 'Office, Sales', 'x'.repeat(300)],
    ]
    const { lines, omitted } = formatTable(columns(3), rows)
    expect(lines).toEqual([
      'COLUMN 0  COLUMN 1       COLUMN 2',
      'maria     Sales',
      `漢字      Office, Sales  ${'x'.repeat(300)}`,
    ])
    expect(omitted).toEqual([])
  })

  test('cuts the widest column that may be cut, with an ellipsis', () => {
    const rows = [['0123456789', 'a long description', 'short']]
    expect(formatTable(columns(3), rows, 36).lines).toEqual([
      'COLUMN 0    COLUMN 1        COLUMN 2',
      '0123456789  a long descri…  short',
    ])
  })

  test('omits the last spare column first, and names it', () => {
    const rows = [['0123456789', 'abcdefgh', 'ijklmnop', 'qrstuvwx']]
    const fitting = formatTable(columns(4, 2), rows, 40)
    expect(fitting.omitted).toEqual([])
    expect(formatTable(columns(4, 2), rows, 39).omitted).toEqual(['COLUMN 3'])
    expect(formatTable(columns(4, 2), rows, 29).omitted).toEqual(['COLUMN 2', 'COLUMN 3'])
    expect(formatTable(columns(4, 2), rows, 29).lines[1]).toBe('0123456789  abcdefgh')
  })

  test('is never wider than the terminal and contains no control characters', () => {
    const rows = fc.array(fc.array(anyText, { minLength: 4, maxLength: 4 }), { maxLength: 5 })
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 120 }), (given, width) => {
        for (const line of formatTable(columns(4, 1), given, width).lines) {
          expect(widthOf(line)).toBeLessThanOrEqual(width)
          expect(line).not.toMatch(raw)
        }
      }),
    )
  })

  test('shows every row in one line', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyText, anyText)), (rows) => {
        expect(formatTable(columns(2), rows).lines).toHaveLength(rows.length + 1)
      }),
    )
  })
})

describe('strings', () => {
  test.each([
    ['maria', 5],
    ['漢字', 4],
    ['👩‍👩‍👧', 2],
    ['e\u0301', 1],
    ['', 0],
  ])('%j takes %i columns', (text, width) => expect(widthOf(text)).toBe(width))

  test.each([
    ['maria', 5, 'maria'],
    ['maria', 4, 'mar…'],
    ['漢字字', 4, '漢…'],
    ['maria', 1, '…'],
    ['maria', 0, ''],
  ])('%j in %i columns is %j', (text, width, shown) => expect(cut(text, width)).toBe(shown))

  test('invisible and control characters are escaped', () => {
    expect(printable('a\x1b[2Jb\u202ec\u{e0041}')).toBe('a\\x1b[2Jb\\u{202e}c\\u{e0041}')
    expect(printable('Zoë — 漢字 ✓')).toBe('Zoë — 漢字 ✓')
  })

  test('a text of several lines is escaped, apart from its line breaks and emphasis', () => {
    const text = '\x1b[1ma\x1b[0m\nb\x1b[2Jc\u202ed\u2028e\u009bf\x1b[11mg'
    expect(printableLines(text)).toBe(
      '\x1b[1ma\x1b[0m\nb\\x1b[2Jc\\u{202e}d\\u{2028}e\\x9bf\\x1b[11mg',
    )
  })

  test('results, notes and events of a command are escaped, whatever the command prints', async () => {
    const written = { output: '', messages: '' }
    const into = (name: keyof typeof written) =>
      new Writable({
        decodeStrings: false,
        write: (chunk: string, _, done) => {
          written[name] += chunk
          done()
        },
      })
    const program = { output: into('output'), messages: into('messages'), environment: {} }
    const terminal = openTerminal({ input: Readable.from([]), ...program } as never, false)
    terminal.result(null, () => 'a\x1b[2J\nb')
    terminal.note('c\u202ed')
    terminal.event(null, 'e\u009bf')
    openProgress({ ...terminal, redraws: true }).end()
    await setImmediate()
    expect(written.output).toBe('a\\x1b[2J\nb\n')
    expect(written.messages.replace('\r\x1b[2K', '')).toBe('c\\u{202e}d\ne\\x9bf\n')
  })

  test('a message is one line', () => {
    expect(errorMessage(new TypeError('keys.create:\n- a\n- b\x1b[2J\n'))).toBe(
      'keys.create: - a - b\\x1b[2J',
    )
    expect(errorMessage('text')).toBe('text')
  })

  test('JSON says the same with nothing that a terminal obeys', () => {
    fc.assert(
      fc.property(fc.array(anyText), (texts) => {
        const json = jsonText(texts)
        expect(JSON.parse(json)).toEqual(texts)
        expect(json.replaceAll('\n', '')).not.toMatch(raw)
      }),
    )
  })
})
