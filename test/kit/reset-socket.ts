import type { Socket } from 'node:net'

/** Resets a connection. Node can't reset a socket that is being ended: it would emit no `close`, and keep its handle. */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}
