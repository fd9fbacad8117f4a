import { expect } from 'vitest'
import { programs } from '../docs/blocks.ts'

/** Sends requests to a server with the notes of the guide, and compares the responses. */
export async function expectNotes(address: string, prefix = ''): Promise<void> {
  const notes = `${address}${prefix}/rest/v1/desk/notes`
  const inserted = { name: 'a b', words: 'Grüße' }
  expect(await post(notes, inserted)).toMatchObject({ status: 200, item: inserted })
  expect(await post(notes, { name: 5, more: 1 })).toMatchObject({
    status: 400,
    validations: [{ field: 'name' }, { field: 'more' }],
  })
  expect(await post(`${notes}/a%20b`, { words: 'new' })).toMatchObject({ item: { words: 'new' } })
  expect(await get(`${notes}?words=new&$count=true`)).toMatchObject({
    status: 200,
    items: [{ name: 'a b', words: 'new' }],
    count: 1,
  })
  expect(await get(`${notes}/nothing`)).toMatchObject({ status: 404 })
  expect(await get(notes, 'DELETE')).toMatchObject({ status: 405 })
  expect(await get(`${notes}/a%20b`, 'DELETE')).toMatchObject({ status: 200 })
  const head = await fetch(notes, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([405, ''])
}

/** Sends requests to a server of `secured.ts`. */
export async function expectKeys(address: string): Promise<void> {
  const notes = `${address}/rest/v1/desk/notes`
  expect(await get(notes)).toMatchObject({ status: 401 })
  const key = await (await fetch(`${address}/key`)).text()
  const headers = { 'x-api-key': key }
  const answer = await fetch(notes, { headers })
  expect([answer.status, await answer.json()]).toMatchObject([200, { items: [] }])
  const wrong = await fetch(notes, { headers: { 'x-api-key': `${key.slice(0, -1)}_` } })
  expect([wrong.status, await wrong.json()]).toMatchObject([401, { status: 401 }])
}

/** The one program of the guide to bindings that contains a text. */
export function guideProgram(text: string): string {
  const found = programs.filter(
    (block) => block.page === 'docs/guides/bindings.md' && block.text.includes(text),
  )
  expect(found).toHaveLength(1)
  return found[0]?.text ?? ''
}

async function get(address: string, method = 'GET'): Promise<unknown> {
  return check(await fetch(address, { method }))
}

async function post(address: string, body: object): Promise<unknown> {
  const headers = { 'Content-Type': 'application/json' }
  return check(await fetch(address, { method: 'POST', headers, body: JSON.stringify(body) }))
}

async function check(answer: Response): Promise<unknown> {
  return { ...((await answer.json()) as object), status: answer.status }
}
