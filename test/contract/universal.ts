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
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
  })
  if (leave.fails !== true) expect(answer.status, answer.text).toBeLessThan(500)
  expect(answer.milliseconds).toBeLessThan(1000)
  if (method === 'HEAD') return
  expect(answer.headers['content-length']).toBe(String(answer.bytes.length))
  expect(answer.headers).not.toHaveProperty('transfer-encoding')
  checkEnvelope(answer)
  checkSecrecy(answer)
}

function checkEnvelope({ status, body }: Answer): void {
  const names = Object.keys(body).join(',')
  expect(members).toContain(names)
  for (const entry of body.validations) {
    expect(Object.keys(entry).join(',')).toMatch(entryMembers)
    expect(['error', 'warning', 'information']).toContain(entry.severity)
    expect(typeof entry.message === 'string' && entry.message !== '').toBe(true)
    expect('validationId' in entry).toBe(entry.severity === 'warning')
  }
  if (status === 200) {
    expect(names).not.toBe(members[2])
    expect(body).toMatchObject({ message: null, status: 200 })
    return
  }
  expect(names).not.toBe(members[0])
  expect(typeof body.message === 'string' && body.message !== '').toBe(true)
  if (status === 400) expect([200, 400]).toContain(body.status)
  else expect(body).toEqual({ message: body.message, validations: [], status })
}

// Values of the client are in items only; all other strings are those of the library.
function checkSecrecy({ body, headers }: Answer): void {
  const { message, validations } = body
  const own = JSON.stringify({ message, validations, headers })
  for (const leak of leaks) expect(own).not.toMatch(leak)
}
