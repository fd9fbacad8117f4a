import { expect, onTestFinished, test } from 'vitest'
import { startTls } from '../kit/tls.ts'
import { serveDuringTest } from '../kit/server.ts'
import { openReleases, runAlone, runRelease } from './command-line.ts'

const list = ['list', '--solution', 'northwind']

test.each([
  ['a wrong key', 'wrong-key', 401],
  ['a key without the role', undefined, 403],
])('%s is the service’s error response', async (_, wrong, status) => {
  const { url, poorKey } = await openReleases()
  const run = await runRelease(list, { url, key: wrong ?? poorKey })
  expect(run).toMatchObject({ code: 1, output: '' })
  expect(run.messages).toMatch(new RegExp(`^rowgate: The service responded ${status}: .+\\n$`))
})

test('another brand is another application', async () => {
  const { run } = await openReleases()
  const other = await run([...list, '--brand', 'acme'])
  expect(other).toMatchObject({ code: 1, output: '' })
  expect(other.messages).toContain('404')
})

test('a service that is not there is exit code 3', async () => {
  const run = await runRelease(list, { url: 'http://127.0.0.1:1', key: 'k-1' })
  expect(run).toMatchObject({ code: 3, output: '' })
  expect(run.messages).toMatch(/^rowgate: The service could not be reached: .+\n$/)
})

test('a service in trouble is exit code 3', async () => {
  const url = await serveDuringTest((_, response) => {
    response.writeHead(503).end('{"message":"Later.","validations":[],"status":503}')
  })
  const run = await runRelease(list, { url, key: 'k-1' })
  expect(run).toMatchObject({ code: 3, messages: 'rowgate: The service responded 503: Later.\n' })
})

test('an unknown certificate is exit code 3, and the key is not sent', async () => {
  let asked = 0
  const server = await startTls((_, response) => {
    asked++
    response.end()
  })
  onTestFinished(() => server.close())
  const run = await runRelease(list, { url: `https://localhost:${server.port}`, key: 'k-1' })
  expect(run).toMatchObject({ code: 3, output: '' })
  expect(run.messages).toMatch(/certificate|self.signed/i)
  expect(asked).toBe(0)
})

test('a redirect is not followed: it would take the key along', async () => {
  const asked: string[] = []
  const other = await serveDuringTest((request, response) => {
    asked.push(request.url ?? '')
    response.end()
  })
  const url = await serveDuringTest((_, response) => {
    response.writeHead(307, { Location: other }).end()
  })
  const run = await runRelease(['build', '--solution', 'northwind'], { url, key: 'k-1' })
  expect(run).toMatchObject({ code: 1, output: '' })
  expect(run.messages).toContain('The URL redirects (307)')
  expect(asked).toEqual([])
})

test.each([
  ['plain http to another machine', ['--url', 'http://example.com'], /plain HTTP/],
  ['plain http to what only looks local', ['--url', 'http://127.0.0.1.example.com'], /plain HTTP/],
  ['no address', ['--url', 'example.com'], /must be a URL such as/],
  ['another protocol', ['--url', 'file:///etc'], /must be a URL such as/],
  ['credentials', ['--url', 'https://maria:secret@example.com'], /must have no credentials/],
  ['a query', ['--url', 'https://example.com/?key=secret'], /must have no credentials/],
  ['no url', [], /--url <address> is required/],
  ['an empty header', ['--url', 'https://example.com', '--header', ''], /not a valid header name/],
  [
    'a header of two lines',
    ['--url', 'https://example.com', '--header', 'A\nB'],
    /not a valid header name/,
  ],
  ['an odd brand', ['--url', 'https://example.com', '--brand', 'a/b'], /--brand must have/],
  ['a service', ['--url', 'https://example.com', '--service', 'x.js'], /has no option --service/],
])('%s is wrong usage', async (_, options, message) => {
  const environment = { ROWGATE_KEY: 'k-1' }
  const run = await runAlone(['release', ...list, ...options], { environment })
  expect(run).toMatchObject({ code: 2, output: '' })
  expect(run.messages).toMatch(message)
  expect(run.messages).not.toContain('secret')
})

test.each([
  ['none', {}, /set ROWGATE_KEY/],
  ['an empty one', { ROWGATE_KEY: '' }, /set ROWGATE_KEY/],
  ['one of two lines', { ROWGATE_KEY: 'secret\r\nX: y' }, /not allowed in a header/],
])('a key that is %s is wrong usage, and not shown', async (_, environment, message) => {
  const line = ['release', ...list, '--url', 'https://example.com']
  const run = await runAlone(line, { environment })
  expect(run).toMatchObject({ code: 2, output: '' })
  expect(run.messages).toMatch(message)
  expect(run.messages).not.toContain('secret')
})

test('a key is never an argument', async () => {
  const run = await runAlone([
    'release',
    ...list,
    '--url',
    'https://example.com',
    '--key',
    'secret',
  ])
  expect(run).toMatchObject({ code: 2, output: '' })
  expect(run.messages).not.toContain('secret')
})

test('--insecure allows plain http, and is obeyed', async () => {
  // The host name does not exist: only the attempt matters.
  const line = ['release', ...list, '--url', 'http://nobody.invalid', '--insecure']
  const run = await runAlone(line, { environment: { ROWGATE_KEY: 'k-1' } })
  expect(run.code).toBe(3)
})
