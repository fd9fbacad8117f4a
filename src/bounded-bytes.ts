/** The bytes of a body, or its beginning. */
export interface BoundedBytes {
  readonly bytes: Uint8Array
  /** False if there are more bytes. */
  readonly isWhole: boolean
}

/** Reads the bytes of a response, after decompression, but not more than `maxBytes`. */
export async function readBytes({ body }: Response, maxBytes: number): Promise<BoundedBytes> {
  const chunks: Uint8Array[] = []
  let length = 0
  // Leaving the loop early cancels the body.
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk.subarray(0, maxBytes - length))
    length += chunk.byteLength
    if (length > maxBytes) return { bytes: Buffer.concat(chunks), isWhole: false }
  }
  return { bytes: Buffer.concat(chunks), isWhole: true }
}

/** Reads the bytes of a response, after decompression. Resolves to undefined if there are more than `maxBytes`. */
export async function boundedBytes(
  response: Response,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const { bytes, isWhole } = await readBytes(response, maxBytes)
  return isWhole ? bytes : undefined
}
