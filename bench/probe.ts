import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import type { Contestant } from './contestants.ts'
import type { Probe, Scenario } from './scenario.ts'
import type { RunningServer } from './server-process.ts'
import type { Headers } from './servers/announce.ts'

/** A key in the right form that no user has. */
const unknownKey = 'A'.repeat(43)

function headersWith(key: Probe['key'], { headers }: RunningServer): Headers {
  if (key === 'missing') return {}
  if (key === 'unknown') return { 'x-api-key': unknownKey }
  return headers
}

async function check(server: RunningServer, { request, status, body, key }: Probe): Promise<void> {
  const response = await fetch(server.url + request.path, {
    method: request.method,
    headers: { ...headersWith(key, server), 'content-type': 'application/json' },
    ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
  })
  const answer: unknown = await response.json()
  strictEqual(response.status, status, `${response.status}: ${JSON.stringify(answer)}`)
  if (body !== undefined) deepStrictEqual(answer, body)
}

/** Sends the probes of a scenario and compares the responses: wrong ones are never timed. */
export async function checkAnswers(
  scenario: Scenario,
  contestant: Contestant,
  server: RunningServer,
): Promise<void> {
  for (const probe of scenario.probes(contestant.dialect)) {
    try {
      await check(server, probe)
    } catch (error) {
      const { method, path } = probe.request
      throw new Error(`${contestant.name} answers ${method} ${path} wrong.`, { cause: error })
    }
  }
}
