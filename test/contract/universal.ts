import { inspect, isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import type { Answer } from '../kit/http-client.ts'

/** The expectations of a case about its response. */
export interface Leave {
  /** The status may be 500 or above (U3). */
  readonly fails?: boolean
}

const members = [
  'items,count,message,validations,status',
  'item,message,validations,status',
  'message,validations,status',
]
const entryMembers = /^(validationId,)?message,severity(,field)?$/
const leaks = [
  /\bat \S+ \(|\bat (file|node):|:\d+:\d+\)/,
  /\b(SELECT|INSERT INTO|DELETE FROM|PRAGMA|UNIQUE constraint|SQLITE_\w+)\b/,
  /sqlite|\bajv\b|node_modules|\.ts\b|\/src\//i,
  /\b(Type|Range|Syntax|Reference)?Error:/,
]

/** The rules for every response (U1 to U4, U8 of the catalogue). */
export function checkAnswer(method: string, answer: Answer, leave: Leave = {}): void {
  const broken = brokenRules(method, answer, leave)
  // One comparison for all rules: `expect` is slow, and this runs for each of many thousand responses.
  if (broken.length > 0) expect.fail(`${broken.join('\n')}\nof the response: ${answer.text}`)
}

function brokenRules(method: string, answer: Answer, leave: Leave): readonly string[] {
  const { status, headers, bytes, milliseconds } = answer
  const broken: string[] = []
  const rule = (holds: boolean, what: string, found: unknown) => {
    if (!holds) broken.push(`${what}, but it is ${inspect(found)}`)
  }
  const type = headers['content-type']
  rule(type === 'application/json; charset=utf-8', 'Content-Type is JSON in UTF-8', type)
  rule(headers['cache-control'] === 'no-store', 'no-store', headers['cache-control'])
  rule(leave.fails === true || status < 500, 'the status is below 500', status)
  rule(milliseconds < 1000, 'the response takes less than a second', milliseconds)
  if (method === 'HEAD') return broken
  const length = headers['content-length']
  rule(length === String(bytes.length), `Content-Length is ${bytes.length}`, length)
  rule(!('transfer-encoding' in headers), 'no Transfer-Encoding', headers['transfer-encoding'])
  checkEnvelope(answer, rule)
  checkSecrecy(answer, rule)
  return broken
}

type Rule = (holds: boolean, what: string, found: unknown) => void

function checkEnvelope({ status, body }: Answer, rule: Rule): void {
  const names = Object.keys(body).join(',')
  rule(members.includes(names), 'the envelope has the members of the contract', names)
  for (const entry of body.validations) {
    const own = Object.keys(entry).join(',')
    rule(entryMembers.test(own), 'a validation has the members of the contract', own)
    const { severity, message } = entry
    const known = ['error', 'warning', 'information'].includes(severity)
    rule(known, 'a severity is one of three', severity)
    const isText = typeof message === 'string' && message !== ''
    rule(isText, 'the message of a validation is a text', message)
    const fits = 'validationId' in entry === (severity === 'warning')
    rule(fits, 'warnings alone have an id', entry)
  }
  if (status === 200) {
    rule(names !== members[2], 'a success has items or an item', names)
    rule(body.message === null && body.status === 200, 'a success has no message', body)
    return
  }
  rule(names !== members[0], 'an error has no items', names)
  const isText = typeof body.message === 'string' && body.message !== ''
  rule(isText, 'the message of an error is a text', body.message)
  if (status === 400) {
    rule([200, 400].includes(body.status), 'the status in the body is 200 or 400', body.status)
    return
  }
  const expected = { message: body.message, validations: [], status }
  rule(isDeepStrictEqual(body, expected), 'the body has only a message and the status', body)
}

// Values of the client are in items only; all other strings are those of the library.
function checkSecrecy({ body, headers }: Answer, rule: Rule): void {
  const { message, validations } = body
  const own = JSON.stringify({ message, validations, headers })
  for (const leak of leaks) {
    if (leak.test(own)) rule(false, `nothing of the inside matches ${String(leak)}`, own)
  }
}
