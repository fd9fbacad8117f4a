import { once } from 'node:events'
import { connect as connectHttp2, createServer } from 'node:http2'
import { connect, type AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { toNodeHandler } from '../../src/http/node.ts'
import { noteService, notesPath } from './express-service.ts'
import { startPlain } from '../kit/client-and-tls.ts'
import { openLine, requestBytes } from '../kit/host-line.ts'

test('a client that continues sending after a rejection is disconnected', async () => {
  const { port, close } = await startPlain(toNodeHandler(noteService().service), '127.0.0.1')
  onTestFinished(close)
  const begun = performance.now()
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.write(`PUT ${notesPath} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n`)
  socket.on('error', () => undefined).resume()
  const drip = setInterval(() => socket.write(' '), 50)
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(drip)
  expect(performance.now() - begun).toBeLessThan(4_000)
})

test('a short body may arrive after the rest of its request', async () => {
  const { port, close } = await startPlain(toNodeHandler(noteService().service), '127.0.0.1')
  onTestFinished(close)
  const line = await openLine(port)
  line.write(requestBytes(`PUT ${notesPath}`, ['Content-Length: 4']))
  await pause(30)
  line.write('GET ')
  line.write(requestBytes(`GET ${notesPath}`))
  expect((await line.take(2)).map(({ status }) => status)).toEqual([405, 200])
  line.write(requestBytes(`PUT ${notesPath}`, ['Content-Length: 16384']))
  expect((await line.ended()).map(({ status }) => status)).toEqual([405])
})

test('over HTTP/2 the stream of a body that is too large is closed, and the session continues', async () => {
  const { service } = noteService({ bodyLimit: 1_000 })
  const server = createServer(toNodeHandler(service))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => {
    session.destroy()
    server.close()
  })
  const json = { 'content-type': 'application/json' }
  const stream = session.request({ ':method': 'POST', ':path': notesPath, ...json })
  stream.on('error', () => undefined).resume()
  const gone = once(stream, 'close')
  let sent = 0
  const send = (): void => {
    if (stream.destroyed || stream.closed) return
    sent += 10_000
    stream.write(' '.repeat(10_000), () => setImmediate(send))
  }
  send()
  const [headers] = (await once(stream, 'response')) as [Readonly<Record<string, unknown>>]
  expect(headers).toMatchObject({ ':status': 413 })
  expect(headers).not.toHaveProperty('connection')
  await gone
  expect(sent).toBeLessThan(1_000_000)
  const next = session.request({ ':path': notesPath })
  const [answer] = (await once(next, 'response')) as [Readonly<Record<string, unknown>>]
  expect(answer).toMatchObject({ ':status': 200 })
})

test.each([
  ['{"title":"\u00e4"'],
  ['{"title":', '"\u00e4"}'],
  ['{"title":"ab', 'cdefghijklmnopqrstu"}'],
])('a body that other code reads as text: %s%s', async (...pieces) => {
  const { service } = noteService({ bodyLimit: 30 })
  const handler = toNodeHandler(service)
  const { port, close } = await startPlain((request, response) => {
    request.setEncoding('utf8')
    handler(request, response)
  }, '127.0.0.1')
  onTestFinished(close)
  const line = await openLine(port)
  const length = Buffer.byteLength(pieces.join(''))
  const headers = ['Content-Type: application/json', `Content-Length: ${length}`]
  line.write(requestBytes(`POST ${notesPath}`, headers))
  for (const piece of pieces) {
    await pause(30)
    line.write(piece)
  }
  const [response] = await line.take(1)
  const expected = pieces.length === 1 ? 400 : length > 30 ? 413 : 200
  expect(response?.status).toBe(expected)
})
